"""Cards: complete, true to their files, and such that the Hub understands their front matter."""

import json
import re
import shutil

import pytest
from huggingface_hub import EvalResult, ModelCard, ModelCardData

import kzoo
from kzoo.cards.card import render_card
from kzoo.cards.explain import explain
from kzoo.errors import PresetError
from kzoo.evaluation.results import preset_rows
from kzoo.hub.address import Address
from kzoo.saving.catalogue import preset_folder
from kzoo.saving.files import sha256
from kzoo.training.recipe import load_recipe

pytestmark = pytest.mark.once
PRESETS = kzoo.list_presets()
SECTIONS = ["Use", "The task", "The model", "Training", "Results", "Limits", "Files", "Licence and citation"]


@pytest.mark.parametrize("name", PRESETS)
def test_the_front_matter_is_the_hubs(name, root):
    card = ModelCard((root / "hub_cards" / f"{name}.md").read_text())
    data = card.data
    assert isinstance(data, ModelCardData)
    assert (data.library_name, data.license, data.model_name) == ("kzoo", "apache-2.0", name)
    classifies = kzoo.preset_info(name)["config"]["class"].endswith("Classifier")
    assert data.pipeline_tag == f"text-{'classification' if classifies else 'generation'}"
    assert {"keras", "jax", "pytorch", "tensorflow"} <= set(data.tags)
    assert any(re.fullmatch(r"arxiv:\d{4}\.\d{5}", tag) for tag in data.tags)
    rows = preset_rows(preset_folder(name), kzoo.preset_info(name)["results"])
    expected = {row["length"]: row["value"] for row in rows if row["metric"] == "sequence_accuracy"}
    assert all(isinstance(result, EvalResult) for result in data.eval_results)
    assert {r.dataset_args.get("length"): r.metric_value for r in data.eval_results} == expected
    assert len(data.eval_results) == len(expected)  # one result a length


@pytest.mark.parametrize("name", PRESETS)
def test_a_card_says_all_there_is_to_say(name, root):
    text = (root / "hub_cards" / f"{name}.md").read_text()
    info, folder = kzoo.preset_info(name), preset_folder(name)
    task = kzoo.tasks.get(info["metadata"]["task"])
    assert re.findall("^## (.*)$", text, re.MULTILINE) == SECTIONS
    for backend in ("jax", "torch", "tensorflow"):
        assert f'"{backend}"' in text and f"kzoo[{backend}]" in text
    for side, tokens in zip(("source", "target"), task.examples("train", size=1)[0], strict=True):
        assert f"| {side} | `{('' if task.characters else ' ').join(tokens)}` |" in text
    for path, explanation in explain(info["config"]):
        assert f"### `{path}`\n\n{explanation}" in text and "arxiv.org/abs/" in explanation
    assert f"{info['metadata']['parameters']:,} parameters" in text and f"![accuracy by length]({name}.svg)" in text
    for file in folder.iterdir():
        assert f"| {file.name} | {file.stat().st_size:,} | `{sha256(file)}` |" in text
    low, high = task.splits["train"].lengths
    marked = [int(length) for length in re.findall(r"^\| (\d+) \(trained\) \|", text, re.MULTILINE)]
    measured = {row["length"] for row in preset_rows(folder, info["results"])} - {None}
    trained = set() if load_recipe(name).constructed else {length for length in measured if low <= length <= high}
    assert set(marked) == trained
    start = load_recipe(name).init_from
    assert re.findall("starts from the weights of `(.*)`", text) == ([] if start is None else [start])


def test_parts_are_explained_with_their_paper_and_equations(python):
    config = kzoo.preset_info("onestep_recopy")["config"]
    found = dict(explain(config))
    assert list(found) == [
        "kzoo.models.RecurrentSeq2Seq",
        "kzoo.layers.DirectionMix",
        "kzoo.layers.MonotonicAttention",
    ]
    for text in found.values():
        assert "https://arxiv.org/abs/2305.20019" in text and "\n    " in text and "Args:" not in text
    assert "Differences from the paper" in found["kzoo.layers.MonotonicAttention"]
    assert explain({"class": "os.system", "config": {"x": [{"class": 3}, None]}}) == []
    code = "from kzoo.cli.main import main; sys.exit(main(['card', 'onestep_recopy']))"
    done = python(code, without=["keras", "jax", "torch", "tensorflow"])
    assert done.returncode == 0 and "### `kzoo.layers.DirectionMix`" in done.stdout, done.stderr


def test_a_card_for_the_hub_tells_its_address():
    text = render_card("onestep_recopy", Address("someone", "my_copy"))
    assert 'kzoo.from_preset("hf://someone/my_copy")' in text and "kzoo evaluate hf://someone/my_copy" in text
    assert "# my_copy" in text and "(my_copy.svg)" in text
    assert ModelCard(text).data.model_name == "my_copy"


def test_a_card_tells_what_no_paper_has():
    assert "are from Ray Chowdhury" in render_card("onestep_recopy")
    card = render_card("waypoint_inv_recopy")
    assert "The task is from Ray Chowdhury" in card and "`kzoo.layers.WaypointAttention` is of kzoo itself" in card


def test_results_of_other_weights_make_no_card(tmp_path):
    folder = shutil.copytree(preset_folder("onestep_recopy"), tmp_path / "onestep_recopy")
    results = json.loads((folder / "results.json").read_text())
    for row in results["rows"]:
        row["weights_sha256"] = "0" * 64
    (folder / "results.json").write_text(json.dumps(results))
    with pytest.raises(PresetError, match="belong to other weights"):
        render_card(folder)
