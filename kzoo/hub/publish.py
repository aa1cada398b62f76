"""Publishing a preset on the Hub: checked, in one commit, then tagged."""

import hashlib
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kzoo.errors import AccessError, HubError, InputError
from kzoo.hub.address import Address
from kzoo.hub.connection import TIMEOUT, hub_api, hub_errors, with_retries
from kzoo.hub.contents import contents


@dataclass(frozen=True)
class Publication:
    """What was published, or would be.

    Args:
        address: str. Where it is: `hf://owner/name@commit`; before it is sent, without the commit.
        tag: str or None.
        files: dict of `bytes` and `sha256` by file name.
        changed: list of str. The files that the commit changed; before it is sent, all.
    """

    address: str
    tag: str | None
    files: dict[str, dict[str, Any]]
    changed: list[str]

    def to_json(self) -> str:
        """Returns one JSON object; saved as `presets/<name>/pin.json` it makes the preset known by its name."""
        return json.dumps(asdict(self), indent=1)

    def __str__(self) -> str:
        lines = [f"{entry['bytes']:>12,}  {entry['sha256'][:12]}  {name}" for name, entry in self.files.items()]
        return "\n".join([self.address + (f", tag {self.tag}" if self.tag else ""), *lines])


def upload_preset(
    uri: str, preset: str | Path, tag: str | None = None, private: bool = False, dry_run: bool = False
) -> Publication:
    """Publishes a preset on the Hugging Face Hub: weights, config, results and card in one commit, then the tag.

    The preset is checked first (see `kzoo.hub.contents`). If anything fails, or the process is killed, the repository
    is as it was or has the whole commit; doing it again completes what is missing and changes nothing else.

    Args:
        uri: str. `hf://owner/name`. The repository is made if it is not there.
        preset: str or Path. A folder, or the name of a bundled preset.
        tag: str. A tag for the commit, as "v1". A tag is never moved.
        private: bool. Whether a new repository is private. Nothing is sent to one that is public. Defaults to False.
        dry_run: bool. Whether to check only, asking nothing of the Hub. Defaults to False.

    Returns:
        Publication. Printed, it lists the files.

    Raises:
        InputError: `uri` is no address, has a revision, or `tag` cannot be one.
        PresetError: the preset is damaged or not complete.
        AccessError: there is no token, or it may not write there.
        HubError: someone else published meanwhile, the tag stands for something else, or the Hub refuses.
        UnreachableError: the Hub gives no answer.

    Example:

    ```python
    plan = kzoo.upload_preset("hf://you/onestep_recopy", "onestep_recopy", tag="v1", dry_run=True)
    assert "model.safetensors" in plan.files
    ```
    """
    address = Address.parse(uri)
    if address.revision is not None:
        raise InputError(f"a preset is published at hf://owner/name, and tagged with `tag`; not at {uri}")
    if tag is not None:
        Address.parse(f"{address}@{tag}")
        if address.at(tag).pinned or tag == "main":
            raise InputError(f"a tag may not look like a commit or the main branch, as {tag!r} does")
    files = contents(preset, address)
    described = describe(files)
    if dry_run:
        return Publication(str(address), tag, described, list(files))
    with hub_errors(address):
        commit, changed = send(address, files, tag, private)
    return Publication(str(address.at(commit)), tag, described, changed)


def describe(files: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    """Returns bytes and SHA-256 of files by name."""
    return {name: {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()} for name, text in files.items()}


def send(
    address: Address, files: dict[str, bytes], tag: str | None, private: bool, kind: str = "model"
) -> tuple[str, list[str]]:
    """Commits and tags; returns the commit and the names of the files that it changed.

    Args:
        address: Address.
        files: dict of bytes by name.
        tag: str or None.
        private: bool. Whether a new repository is private.
        kind: str. "model", "dataset" or "space" (a static one). Defaults to "model".
    """
    from huggingface_hub import CommitOperationAdd, get_token

    api, repository = hub_api(), address.repository
    if get_token() is None:
        raise AccessError("publishing needs a token that may write: hf auth login, or set HF_TOKEN")
    made = {"repo_type": kind, **({"space_sdk": "static"} if kind == "space" else {})}
    with_retries(lambda: api.create_repo(repository, private=private or None, exist_ok=True, **made))
    info = with_retries(lambda: api.repo_info(repository, repo_type=kind, files_metadata=True, timeout=TIMEOUT))
    if private and not info.private:
        raise HubError(f"{address} is there already and public; nothing was sent")
    changed = _changed(info, files)
    commit = str(info.sha)
    found = _tagged(api, repository, tag, kind)
    if found is not None and (changed or found != commit):
        raise HubError(f"{address} has a tag {tag!r} already, for commit {found}; nothing was sent, choose another")
    if changed:
        # Sent a second time because the first answer was lost, the files are no change any more and make no commit.
        done = with_retries(
            lambda: api.create_commit(
                repository,
                [CommitOperationAdd(name, files[name]) for name in changed],
                commit_message=f"{address.name}{f' {tag}' if tag else ''}: {', '.join(changed)}",
                parent_commit=commit,
                repo_type=kind,
            )
        )
        commit = str(done.oid)
    if tag is not None and found is None:
        try:
            with_retries(lambda: api.create_tag(repository, tag=tag, revision=commit, exist_ok=True, repo_type=kind))
        except Exception:
            print(f"kzoo: {address.at(commit)} is published, but not tagged: try again", file=sys.stderr)
            raise
        if _tagged(api, repository, tag, kind) != commit:
            raise HubError(f"{address.at(commit)} is published, but someone else has taken the tag {tag!r} for another")
    return commit, changed


def _tagged(api: Any, repository: str, tag: str | None, kind: str) -> str | None:
    """Returns the commit that a tag stands for; None if there is no such tag."""
    refs = with_retries(lambda: api.list_repo_refs(repository, repo_type=kind))
    return {ref.name: ref.target_commit for ref in refs.tags}.get(tag)


def _changed(info: Any, files: dict[str, bytes]) -> list[str]:
    """Returns the names of the files that the Hub has not, or not like this."""
    there = {file.rfilename: file.lfs.sha256 if file.lfs else file.blob_id for file in info.siblings or []}

    def same(name: str, content: bytes) -> bool:
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()  # as git counts
        return there.get(name) in (blob, hashlib.sha256(content).hexdigest())

    return [name for name, content in files.items() if not same(name, content)]
