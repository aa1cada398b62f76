"""What is published of a preset: its files and its card, checked before anything is sent."""

import importlib.util
import sys
import tempfile
from pathlib import Path

from kzoo.backend import installed
from kzoo.cards.card import render_card, write_card
from kzoo.errors import PresetError
from kzoo.hub.address import Address
from kzoo.saving.catalogue import is_on_hub
from kzoo.saving.documents import FILES
from kzoo.saving.files import MAX_JSON
from kzoo.saving.preset import Preset
from kzoo.saving.safetensors_file import MAX_WEIGHTS, read_tensors
from kzoo.training.recipe import check_remote, load_recipe

CARD = "README.md"
OPTIONAL = ("recipe.json", CARD)  # without a recipe the card says so; the card is written anew


def contents(preset: str | Path, address: Address) -> dict[str, bytes]:
    """Returns the files of a preset by the name they get on the Hub, its card and picture among them.

    Args:
        preset: str or Path. A folder, or the name of a bundled preset.
        address: Address. Where it will be; the card tells.

    Raises:
        PresetError: a file is missing, damaged, too large or does not belong to the others, the results are not of
            these weights, the README.md is not the card of these files, or the preset does not load.
        InputError: the recipe begins with weights of a folder of this machine.
    """
    if is_on_hub(preset):
        raise PresetError(f"{preset} is on the Hub already: publish a folder")
    found = Preset.find(preset)
    folder = found.folder
    for name in (*FILES, CARD):
        path, limit = folder / name, MAX_WEIGHTS if name.endswith(".safetensors") else MAX_JSON
        if name not in OPTIONAL and not path.is_file():
            hint = f": kzoo evaluate {preset} --write" if name == "results.json" else ""
            raise PresetError(f"{path} is missing, and a preset is published whole{hint}")
        if path.is_file() and path.stat().st_size > limit:
            raise PresetError(f"{path} is larger than {limit:,} bytes")
    found.verify()
    names = [name for name in FILES if (folder / name).is_file()]
    unlisted = sorted({*names} - {*found.metadata["files"], "metadata.json"})
    if unlisted:
        raise PresetError(f"{folder / 'metadata.json'} does not list {', '.join(unlisted)}")
    _check_numbers(found)
    if found.recipe is not None:
        check_remote(load_recipe(folder))
    picture = importlib.util.find_spec("matplotlib") is not None
    card = render_card(found, address, picture)
    if (folder / CARD).is_file() and (folder / CARD).read_text(encoding="utf-8", errors="replace") != card:
        raise PresetError(f"{folder / CARD} is not the card of these files: delete it, and kzoo will write it")
    if installed():
        found.build(budget=10_000)  # what one publishes is one's own
    else:
        print("kzoo: no Keras backend is installed, so whether the preset loads was not tried", file=sys.stderr)
    files = {name: (folder / name).read_bytes() for name in names}
    files[CARD] = card.encode()
    if not picture:
        print('kzoo: the card has no picture, which needs matplotlib: pip install "kzoo[plot]"', file=sys.stderr)
        return files
    with tempfile.TemporaryDirectory() as beside:
        drawn = write_card(found, Path(beside), address).with_suffix(".svg")
        return {**files, drawn.name: drawn.read_bytes()}


def _check_numbers(preset: Preset) -> None:
    """Holds weights, results and metadata against each other."""
    folder = preset.folder
    tensors = read_tensors(folder / "model.safetensors")
    count, claimed = sum(array.size for array in tensors.values()), preset.metadata["parameters"]
    if count != claimed:
        raise PresetError(f"{folder / 'metadata.json'} speaks of {claimed:,} parameters, and the weights are {count:,}")
    if not any(row["metric"] == "sequence_accuracy" for row in preset.rows):
        raise PresetError(f"the results in {folder} belong to other weights: evaluate the preset again")
    tasks = {row.get("task") for row in (preset.results or {"rows": []})["rows"]}
    if tasks != {preset.task}:
        raise PresetError(f"the results in {folder} are of another task than {preset.task}")
