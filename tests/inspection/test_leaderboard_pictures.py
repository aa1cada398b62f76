"""Pictures of the leaderboard: what is on them, and that they leave matplotlib as it is."""

import matplotlib
import pytest
from matplotlib.figure import Figure

from kzoo.cli.main import main
from kzoo.errors import InputError, UnknownNameError
from kzoo.inspection import plot_cross_table, plot_task_lengths

pytestmark = pytest.mark.once


def row(mechanism, tags=(), model="Reader", **scores):
    return {
        "mechanism": mechanism,
        "model": model,
        "tags": list(tags),
        "cells": {t: {"score": s, "seeds": 3} for t, s in scores.items()},
    }


def entry(mechanism, *seeds, tags=(), task="copy"):
    found = {i: {"accuracy": dict(zip((10, 20, 100), own, strict=True))} for i, own in enumerate(seeds)}
    return {"mechanism": mechanism, "task": task, "tags": list(tags), "seeds": found, "score": {"mean": seeds[0][-1]}}


ROWS = [
    row("one", copy=1.0, addition=0.999),
    row("one", model="Writer", copy=0.5),
    row("three", addition=0.0),
    row("most frequent", model="Writer", copy=0.2),
    row("two", ["gold attention"], copy=0.0),
]
ROWS[3]["cells"]["copy"]["seeds"] = None  # not trained
CURVES = [entry("m0", (1, 1, 1)), entry("m1", (1, 0.995, 1)), entry("told", (1, 1, 1), tags=["gold attention"])]
CURVES += [entry(f"m{i}", (1, 0.9 - i / 20, 0.5 - i / 20), (1, 0.5, 0.1)) for i in range(2, 9)]


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_heat_map(tmp_path, suffix):
    before = dict(matplotlib.rcParams)
    figure = plot_cross_table(ROWS, ["copy", "addition"], tmp_path / f"a.{suffix}", note="the note")
    assert isinstance(figure, Figure) and dict(matplotlib.rcParams) == before
    reader, writer, told, bar = figure.axes
    titles = [axes.get_title(loc="left") for axes in (reader, writer, told)]
    assert titles == [*(f"{model}, trained on pairs alone" for model in ("Reader", "Writer")), "Reader, had more"]
    texts = [[text.get_text() for text in axes.texts if text.get_text()] for axes in (reader, writer, told)]
    assert texts == [["100 (3)", ">99 (3)", "0 (3)"], ["50 (3)", "20"], ["0 (3)", "gold attention"]]
    assert [label.get_text() for label in reader.get_yticklabels()] == ["one", "three"]
    tasks = [[label.get_text() for label in axes.get_xticklabels()] for axes in (reader, writer, told)]
    assert tasks == [["copy", "addition"], ["copy"], ["copy"]]  # no column that a map has no score of
    assert bar.get_xlabel() == "score (%)" and reader.images[0].get_array().mask.sum() == 1  # not run
    assert len({axes.get_xlim() for axes in (reader, writer, told)}) == 1  # cells are of one size
    assert [path.name for path in tmp_path.iterdir()] == [f"a.{suffix}"]


def test_the_curves_of_a_task(tmp_path):
    before = dict(matplotlib.rcParams)
    figure = plot_task_lengths(CURVES, tmp_path / "a.svg", trained=(5, 10), unit="digits", frequent=0.25)
    assert isinstance(figure, Figure) and dict(matplotlib.rcParams) == before
    axes = figure.axes[0]
    labels = [text.get_text().replace("\n", " ").replace("\u00a0", " ") for text in axes.get_legend().get_texts()]
    assert labels[:3] == ["m0 (1), m1 (1)", "told (1); gold attention", "m2 (2)"]  # alike, but not where one had more
    assert labels[5:] == ["4 others", "the most frequent answer", "trained on 5 to 10"]
    assert axes.get_legend().get_title().get_text().count("\n") == 1
    assert axes.get_xlabel() == "length (digits, logarithmic)" and axes.get_ylabel() == "sequence accuracy (%)"
    assert axes.containers[0].lines[0].get_linestyle() == "-" and axes.containers[1].lines[0].get_linestyle() == "--"
    assert [list(line.get_ydata()) for line in axes.lines if line.get_label() == labels[-2]] == [[25, 25]]
    low, high = axes.containers[2].lines[2][0].get_segments()[2][:, 1]  # the seeds of m2 at 100
    assert low == pytest.approx(10) and high == pytest.approx(40)


def test_a_curve_of_the_last_token_alone():
    last = entry("last", (1, 0.5, 0)) | {"last_token_alone": True, "apart": ["last token alone"]}
    axes = plot_task_lengths([CURVES[0], last]).axes[0]
    assert [container.lines[0].get_linestyle() for container in axes.containers] == ["-", ":"]
    assert "dotted: answers with the last token alone" in axes.get_legend().get_title().get_text()


def test_lengths_are_whole_numbers():
    figure = plot_task_lengths([entry("one", (1, 1, 1)) | {"seeds": {0: {"accuracy": {4: 1, 7: 1, 22: 0}}}}])
    ticks = figure.axes[0].get_xticks()
    assert len(ticks) > 3 and all(float(tick).is_integer() for tick in ticks)


def test_nothing_is_cut_off():
    for figure in (
        plot_cross_table(
            [row("a_mechanism_with_a_long_name", ["longer inputs"] * 4, a_task_with_a_long_name=1)],
            ["a_task_with_a_long_name"],
        ),
        plot_task_lengths(
            [entry("a_mechanism_with_a_long_name", (1, 1, 1), tags=["longer inputs"] * 4)], trained=(5, 10)
        ),
    ):
        box, size = figure.get_tightbbox(), figure.get_size_inches()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= size[0] + 0.01 and box.y1 <= size[1] + 0.01


def test_what_cannot_be_drawn(tmp_path):
    with pytest.raises(InputError, match="needs a row and a task"):
        plot_cross_table([], ["copy"])
    with pytest.raises(InputError, match="needs a row and a task"):
        plot_cross_table(ROWS, ["dedupe"])
    with pytest.raises(InputError, match="of one task, not of copy, parity"):
        plot_task_lengths([*CURVES, entry("m", (1, 1, 1), task="parity")])
    with pytest.raises(InputError, match="of one task, not of none"):
        plot_task_lengths([])
    with pytest.raises(InputError, match=r"written as \.png"):
        plot_cross_table(ROWS, ["copy"], tmp_path / "a.doc")


def test_curves_that_are_chosen_are_in_colour():
    axes = plot_task_lengths(CURVES, chosen=["m8", "m1"]).axes[0]
    labels = [text.get_text().replace("\u00a0", " ") for text in axes.get_legend().get_texts()]
    assert labels == ["m1 (1)", "m8 (2)", "8 others"]
    with pytest.raises(UnknownNameError, match="unknown mechanism or run on copy 'm44'; did you mean 'm4'"):
        plot_task_lengths(CURVES, chosen=["m44"])
    many = [entry(f"m{i}", (1, i / 20, 0)) for i in range(11)]
    with pytest.raises(InputError, match="there are 10 colours, and 11 different curves"):
        plot_task_lengths(many, chosen=[f"m{i}" for i in range(11)])


def test_the_command(tmp_path, capsys):
    chosen = ["copy", "--mechanisms", "alibi"]
    for words, found in (
        ([], "most frequent answer"),
        (["copy"], "trained on 5 to 10"),
        (chosen, "trained on 5 to 10"),
    ):
        path = tmp_path / "a.svg"
        assert main(["plot", "leaderboard", *words, "--output", str(path)]) == 0
        assert capsys.readouterr().out.strip() == str(path) and found in path.read_text(encoding="utf-8")
    assert main(["plot", "leaderboard", "cop", "--output", str(tmp_path / "b.svg")]) == 2
    assert "unknown task of the leaderboard 'cop'; did you mean 'copy'" in capsys.readouterr().err
    assert main(["plot", "leaderboard", "--mechanisms", "stack,nope_*", "--output", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    assert all(word in text for word in ("stack", "nope_tagger", "mqar")) and "waypoint" not in text
    assert "dedupe" not in text  # a task that none of them has
    assert main(["plot", "leaderboard", "--mechanisms", "alibbi", "--output", str(tmp_path / "b.svg")]) == 2
    assert "unknown mechanism of the leaderboard 'alibbi'; did you mean 'alibi'" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]
