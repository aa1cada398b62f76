"""Presets from the Hub, through huggingface_hub's own cache."""

import sys
from pathlib import Path
from typing import Any

from kzoo.errors import HubError, NotOnHubError, PresetError, UnreachableError
from kzoo.hub.address import SCHEME, Address, is_commit
from kzoo.hub.connection import LIBRARY, TIMEOUT, hub_api, hub_errors, with_retries
from kzoo.hub.pins import pinned
from kzoo.saving.documents import PARTS, check_file
from kzoo.saving.files import MAX_JSON
from kzoo.saving.safetensors_file import MAX_WEIGHTS

FILES = (*PARTS, "recipe.json", "results.json", "README.md")  # nothing else is ever asked for


def fetch(address: Address, force: bool = False) -> Path:
    """Returns the folder of a preset on the Hub: in the cache, downloaded into it if need be.

    A commit that is cached costs no request. For a branch or a tag the Hub is asked where it points, in one request;
    without an answer the copy in the cache is taken, and stderr says so.

    Args:
        address: Address.
        force: bool. Whether to download again what is cached. Defaults to False.

    Raises:
        NotOnHubError: the repository, the revision or a file of the preset is not on the Hub.
        AccessError: the Hub wants a token, or another one.
        UnreachableError: the Hub gives no answer, and the cache has no copy.
        PresetError: a file is larger than kzoo loads.
    """
    if address.pinned and not force and (cached := _cached(address)):
        return cached
    try:
        with hub_errors(address):
            commit = _find_commit(address)
            if not force and (cached := _cached(address)) and cached.name == commit:
                return cached
            return with_retries(lambda: _snapshot(address, force_download=force))
    except UnreachableError as error:
        if force:
            raise
        copy = _cached(address)
        if copy is None:
            raise UnreachableError(f"{error}, and it is not in the cache") from error
        print(f"kzoo: {error}; taking the copy in the cache, {address.at(copy.name)}", file=sys.stderr)
        return copy


def fetch_preset(preset: str, force: bool = False) -> tuple[Path, str]:
    """Returns the folder and the name of a preset on the Hub, given by its address or by a name pinned to one.

    Raises:
        PresetError: a file of a pinned preset is another than kzoo was released with; and all that `fetch` raises.
    """
    if preset.startswith(SCHEME):
        address = Address.parse(preset)
        return fetch(address, force), address.name
    return _fetch_pinned(preset, force), preset


def _fetch_pinned(name: str, force: bool) -> Path:
    pin = pinned(name)
    folder = fetch(pin.address, force)
    for file, entry in pin.files.items():
        if file in FILES:
            check_file(folder / file, entry, f"kzoo's own record of {name}")
    return folder


def _snapshot(address: Address, **options: Any) -> Path:
    from huggingface_hub import constants, snapshot_download

    folder = snapshot_download(
        address.repository,
        revision=address.revision,
        allow_patterns=list(FILES),
        endpoint=constants.ENDPOINT,
        etag_timeout=TIMEOUT,
        **LIBRARY,
        **options,
    )
    return Path(folder)


def _cached(address: Address) -> Path | None:
    """Returns the folder in the cache if the whole preset is there; asks nobody."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = _snapshot(address, local_files_only=True)
    except LocalEntryNotFoundError:
        return None
    return folder if all((folder / name).is_file() for name in PARTS) else None


def _find_commit(address: Address) -> str:
    """Returns the commit of a revision that holds a preset of a sane size: one request, before any download."""
    info = with_retries(
        lambda: hub_api().model_info(
            address.repository, revision=address.revision, files_metadata=True, timeout=TIMEOUT
        )
    )
    sizes = {file.rfilename: file.size for file in info.siblings or []}
    missing = [name for name in PARTS if name not in sizes]
    if missing:
        raise NotOnHubError(f"{address} is no preset of kzoo: it has no {', '.join(missing)}")
    for name in FILES:
        limit = MAX_WEIGHTS if name.endswith(".safetensors") else MAX_JSON
        size = sizes.get(name) or 0
        if type(size) is not int or not 0 <= size <= limit:
            raise PresetError(f"{address}: {name} has {size!s:.30} bytes, and kzoo loads at most {limit:,}")
    if not is_commit(info.sha):  # it names a folder of the cache
        raise HubError(f"the Hub's answer for {address} names no commit: {str(info.sha)!r:.80}")
    return str(info.sha)
