"""Publishing all of kzoo at once: the presets, the data of their tasks, the page to try them, and a list of it all."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.hub.address import SCHEME, Address
from kzoo.hub.connection import hub_api, hub_errors, with_retries
from kzoo.hub.datasets import data_files
from kzoo.hub.publish import Publication, describe, send, upload_preset
from kzoo.saving import catalogue

COLLECTION = "kzoo: length generalisation"
SPACE, DATA = "kzoo", "kzoo_{}"  # names of the repositories


def publish_all(
    owner: str, tag: str | None = None, private: bool = False, dry_run: bool = False, page: Path | None = None
) -> Iterator[Publication]:
    """Publishes every bundled preset, a data set for each task, a static Space, and a collection of them.

    Whatever was published before and is the same is left alone: a run that was interrupted is simply made again.

    Args:
        owner: str. A user or an organisation, as "you" or "hf://you".
        tag: str. A tag for each commit, as "v1".
        private: bool. Whether new repositories are private. Defaults to False.
        dry_run: bool. Whether to check only, asking nothing of the Hub. Defaults to False.
        page: Path. The folder of the page for the Space, with an index.html, as `kzoo gallery` and `python -m docs`
            write them. Defaults to no Space.

    Yields:
        Publication, one a repository; the last one is the collection, which has no files.

    Raises:
        InputError: `owner` is no name of the Hub, or `page` has no index.html; and all that `upload_preset` raises.
    """
    name = owner.removeprefix(SCHEME)
    Address.parse(f"{SCHEME}{name}/kzoo")
    if page is not None and not (page / "index.html").is_file():
        raise InputError(f"{page} has no index.html")
    done: list[tuple[str, Address]] = []
    for preset in catalogue.list_presets():
        yield upload_preset(f"{SCHEME}{name}/{preset}", preset, tag, private, dry_run)
        done.append(("model", Address(name, preset)))
    for kind, address, files in _others(name, page):
        described = describe(files)
        if dry_run:
            yield Publication(f"{SCHEME}{kind}s/{address.repository}", tag, described, list(files))
        else:
            with hub_errors(address):
                commit, changed = send(address, files, tag, private, kind)
            yield Publication(f"{SCHEME}{kind}s/{address.repository}@{commit}", tag, described, changed)
        done.append((kind, address))
    slug = f"{name}/{COLLECTION}" if dry_run else _collect(name, done, private)
    yield Publication(f"collection {slug}, {len(done)} items", None, {}, [])


def _others(owner: str, page: Path | None) -> Iterator[tuple[str, Address, dict[str, bytes]]]:
    """Yields kind, address and files of the data sets and of the Space."""
    for task in map(tasks.get, tasks.names()):
        address = Address(owner, DATA.format(task.name))
        try:
            files = data_files(task, address)
        except InputError as error:  # data that are not part of kzoo, as CFQ's
            print(f"kzoo: no data set of {task.name}: {error}", file=sys.stderr)
            continue
        yield "dataset", address, files
    if page is not None:
        yield "space", Address(owner, SPACE), space_files(page, owner)


def space_files(page: Path, owner: str) -> dict[str, bytes]:
    """Returns the files of a static Space: a page that was built, and the card that tells the Hub what it is."""
    from huggingface_hub import SpaceCardData

    card = SpaceCardData(
        title="kzoo",
        sdk="static",
        app_file="index.html",
        license="apache-2.0",
        short_description="Small models that go on beyond their lengths",
        models=[f"{owner}/{preset}" for preset in catalogue.list_presets()],
        tags=["length-generalization"],
    )
    files = {path.relative_to(page).as_posix(): path.read_bytes() for path in sorted(page.rglob("*")) if path.is_file()}
    return {**files, "README.md": f"---\n{card.to_yaml()}\n---\n\n# kzoo\n\nThe page of the presets.\n".encode()}


def _collect(owner: str, items: list[tuple[str, Address]], private: bool) -> str:
    """Puts repositories into the owner's collection, which is made if it is not there; returns its address."""
    api: Any = hub_api()
    with hub_errors(Address(owner, SPACE)):
        collection = with_retries(
            lambda: api.create_collection(COLLECTION, namespace=owner, private=private, exists_ok=True)
        )
        for kind, address in items:
            item = {"item_id": address.repository, "item_type": kind, "exists_ok": True}
            with_retries(partial(api.add_collection_item, collection.slug, **item))
    return str(collection.slug)
