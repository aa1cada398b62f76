"""The code in the README runs, one section after another, and its tables are true."""

import re

import numpy as np
import pytest

import kzoo
from kzoo import registry
from kzoo.cards.leaderboard import by_seed
from kzoo.evaluation.report import percent
from kzoo.exporting.export import FORMATS

COUNTS = ("no", "one", "two", "three", "four", "five")


def section(root, title):
    """Returns the text of a section of the README, and its Python blocks."""
    text = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", (root / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
    return text, re.findall(r"```python\n(.*?)```", text, re.DOTALL)


@pytest.mark.once
def test_the_weights_without_kzoo(root, python):
    _, (block,) = section(root, "The weights without kzoo")
    assert len(block.strip().splitlines()) <= 22
    done = python(block + "print(encodings.tolist())", without=["keras", "jax", "torch", "tensorflow", "kzoo"])
    assert done.returncode == 0, done.stderr
    model = kzoo.from_preset("onestep_recopy")
    import keras

    found = keras.ops.convert_to_numpy(model.encode(model.preprocessor.sources([[4, 7, 9, 8]]))[0])[0]
    np.testing.assert_allclose(np.array(eval(done.stdout)), found, atol=1e-5)


@pytest.mark.once
@pytest.mark.slow
def test_fine_tuning(root, python, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    registry.names("task")  # so that all of kzoo's are there before
    monkeypatch.setattr(registry, "_CLASSES", {**registry._CLASSES, "task": dict(registry._CLASSES["task"])})
    _, (task, tune, publish) = section(root, "Fine-tuning on your own strings")
    assert len(task.split("@register")[1].strip().splitlines()) <= 11  # a task in ten lines
    names = {"__name__": "mine"}
    exec(task, names)
    exec(tune, names)
    assert names["history"]["accuracy_at_40"][-1] >= 0.9 and names["history"]["loss"][-1] < names["history"]["loss"][0]
    told = "from kzoo.cli.main import main; main(['generate', sys.argv[1], '4 7 9', '1 2 3 4 5 6 7 8 9 0 1 2'])"
    done = python(told, tmp_path / "onestep_complement", KERAS_BACKEND="jax")
    assert done.stdout.splitlines() == ["5 2 0", "8 7 6 5 4 3 2 1 0 9 8 7"], done.stderr
    exec(publish, names)
    again = kzoo.from_preset(names["folder"])
    assert again.task_name == "complement" and kzoo.evaluate(again, lengths=[40], examples=50)[40] >= 0.9


@pytest.mark.once
def test_adding_a_mechanism(root, monkeypatch):
    for kind in ("attention", "bias"):
        registry.names(kind)  # so that all of kzoo's are there before
        monkeypatch.setitem(registry._CLASSES, kind, dict(registry._CLASSES[kind]))
    text, (attention, bias) = section(root, "Adding to the zoo")
    names = {"__name__": "mine"}
    exec(attention, names)
    assert 'RecurrentSeq2Seq.from_task("recopy", attention="UniformAttention")' in text
    reader = kzoo.models.RecurrentSeq2Seq.from_task("recopy", attention="UniformAttention")
    weights = reader.trace("4 7 9 8")["weights"]
    np.testing.assert_allclose(weights, 1 / weights.shape[-1], atol=1e-6)
    exec(bias, names)
    scores = names["DistanceBias"]()(kzoo.layers.BiasInputs(query_length=2, key_length=3))
    assert np.array(scores).tolist() == [[[[0, -1, -2], [-1, 0, -1]]]]
    answer = names["model"].trace("4 7 9")
    assert answer["weights"].shape[-1] > 3 and np.isfinite(answer["weights"]).all()


@pytest.mark.once
@pytest.mark.slow
def test_the_onnx_file_without_kzoo(root, python, tmp_path):
    text, (block,) = section(root, "Export")
    kzoo.export(kzoo.from_preset("onestep_recopy"), tmp_path / "onestep_recopy.onnx", format="onnx")
    place = f"import os; os.chdir({str(tmp_path)!r})\n"
    done = python(place + block, without=["keras", "jax", "torch", "tensorflow", "kzoo"])
    assert done.stdout.strip() == "4 4 4 7 7 7 7 7 9 9 9 9 9 8 8 8 8 8", done.stderr


@pytest.mark.once
def test_the_table_of_exports(root):
    text, _ = section(root, "Export")
    header, _, *rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    assert [name.strip("| ") for name in header] == list(FORMATS)
    families = set(registry.classes("model"))
    assert {row[0] for row in rows} == families
    for row in rows:
        assert row[1:] == [", ".join(FORMATS[format].backends) for format in FORMATS]


def rounded(share):
    """Returns percent as the cards have it: what is not quite 100 is never 100."""
    return float(percent(share).removesuffix(" %"))


@pytest.mark.once
def test_the_table_of_results(root):
    """Every number of ours in the table is that of the preset's rows; neither seeds nor supervision are left out."""
    text, _ = section(root, "Results")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "](hub_cards/" in line
    ]
    rows = [row for row in rows if len(row) == 6]
    assert len(rows) >= 10
    for name, _, tested, ours, _, words in rows:
        preset = kzoo.Preset.find(re.match(r"\[`(\w+)`\]", name)[1])
        found = {row["length"]: row["value"] for row in preset.rows if row["metric"] == "sequence_accuracy"}
        lengths = [None] if tested.startswith("test split") else [int(n.replace(",", "")) for n in tested.split(" / ")]
        said = [float(number) for number in re.findall(r"[\d.]+", re.sub(r"\(.*?\)", "", ours))][: len(lengths)]
        assert said == [rounded(found[length]) for length in lengths], name
        assert bool(preset.supervision) == (words != "none"), name
        seeds = [own["accuracy"] for own in by_seed(preset, str(preset.task), whole=lengths == [None]).values()]
        seeds = [accuracy for accuracy in seeds if set(lengths) <= set(accuracy)]
        if len(seeds) < 2:
            continue
        worst = [rounded(min(accuracy[length] for accuracy in seeds)) for length in lengths]
        as_said = f"{COUNTS[len(seeds)]} seeds alike" if worst == said else f"{COUNTS[len(seeds)]} seeds, the worst "
        as_said += "" if worst == said else " / ".join(f"{share:g}" for share in worst)
        own_words = re.search(f"{COUNTS[len(seeds)]} seeds?(?! alike|, the worst)", ours)
        assert own_words or as_said in ours.replace(".0", ""), f"{name}: {as_said}"
