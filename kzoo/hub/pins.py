"""Presets that are known by a name but not bundled: their address and the digests of their files."""

import os
from dataclasses import dataclass, replace
from typing import Any

from kzoo.errors import InputError, PresetError
from kzoo.hub.address import Address
from kzoo.saving import catalogue
from kzoo.saving.documents import PARTS
from kzoo.saving.files import read_json

OWNER = "KZOO_HUB_OWNER"  # environment variable: takes presets that are not bundled from this owner on the Hub


@dataclass(frozen=True)
class Pin:
    """Where a preset that is not bundled is on the Hub: a commit, and bytes and SHA-256 of each file."""

    address: Address
    files: dict[str, dict[str, Any]]


def pinned(name: str) -> Pin:
    """Returns where a preset that is not bundled is; the environment variable KZOO_HUB_OWNER names another owner.

    Raises:
        PresetError: the record is damaged, or names no commit.
        InputError: KZOO_HUB_OWNER is no name that the Hub allows.
    """
    path = catalogue.bundled_folder() / name / "pin.json"
    record = read_json(path)
    address = Address.parse(str(record.get("address")))
    if not address.pinned or not isinstance(record.get("files"), dict) or not set(PARTS) <= set(record["files"]):
        raise PresetError(f"{path} must have the address of a commit and the files of a preset")
    owner = os.environ.get(OWNER) or address.owner
    try:
        Address.parse(str(replace(address, owner=owner)))
    except InputError:
        raise InputError(f"{OWNER} must name a user or organisation on the Hub, not {owner[:100]!r}") from None
    return Pin(replace(address, owner=owner), record["files"])
