"""The leaderboard as one table: which run stands in a cell, what stands apart, and in which order."""

import json
import re

import pytest

from kzoo import tasks
from kzoo.cards.cross_table import complete, cross_markdown, cross_table, frequent_rows, full_part, shown, task_order
from kzoo.cards.leaderboard import as_json, entries
from kzoo.cards.markdown import words_of
from kzoo.cards.protocol import holds, most_frequent_answer
from kzoo.cli.main import main
from kzoo.evaluation.report import whole_percent

pytestmark = pytest.mark.once


def entry(mechanism, task, *scores, tags=(), name=None, model="A", tokens=None, trained=1.0):
    seeds = {
        i: {"accuracy": {20: score, 30: score}, "score": score, "token_score": tokens} for i, score in enumerate(scores)
    }
    score = {"mean": sum(scores) / len(scores), "min": min(scores)}
    own = {"mechanism": mechanism, "task": task, "name": name or f"{mechanism}_{task}", "model": model}
    own |= {"last_token_alone": False, "trained": trained}
    return own | {"tags": list(tags), "lengths": [20, 30], "seeds": seeds, "score": score}


def test_a_cell_is_the_run_with_the_most_seeds_and_of_those_the_best():
    found = [
        entry("one", "copy", 1.0, name="lucky"),
        entry("one", "copy", 0.8, 0.6, 0.4, name="worse"),
        entry("one", "copy", 1.0, 0.9, 0.5, name="better"),
        entry("one", "copy", 1.0, 1.0, 1.0, 1.0, tags=["longer inputs"], name="told"),
    ]
    alone, told = cross_table(found)
    cell = alone["cells"]["copy"]
    own = {"run": "better", "score": pytest.approx(0.8), "worst": 0.5, "tokens": None, "seeds": 3, "holds": None}
    assert cell == own | {"last_token_alone": False, "going_on": 2, "learned": True}
    assert told["tags"] == ["longer inputs"] and told["cells"]["copy"]["holds"] == 30
    assert shown(cell) == "80 (3)" and shown(None) == ""
    for trained, text in ((0.9, "0 (1)"), (None, "0 (1)"), (0.89, "*0 (1)*")):  # not learned
        assert shown(cross_table([entry("one", "copy", 0.0, trained=trained)])[0]["cells"]["copy"]) == text


def test_rows_and_columns_have_an_order():
    found = [
        entry("told", "copy", 1.0, tags=["gold attention"]),
        entry("weak", "copy", 0.1),
        entry("strong", "copy", 0.9),
        entry("strong", "addition", 0.9),
        entry("other", "addition", 1.0, model="B"),
        entry("other", "parity", 0.5, model="B"),
        entry("another", "addition", 0.2, model="B"),
    ]
    rows = cross_table(found)
    assert [row["mechanism"] for row in rows] == ["strong", "other", "another", "weak", "told"]
    assert task_order(rows) == ["copy", "addition", "parity"]  # those of A, then those of B


def test_on_how_many_tasks_a_mechanism_is_complete():
    found = [
        entry("one", "copy", 1.0, 0.5, 0.5),
        entry("one", "parity", 1.0, 0.5),
        entry("one_tagger", "copy", 1.0, 0.5, 0.5, model="B"),
        entry("one_tagger", "s3", 1.0, 0.5, 0.5, 0.1, model="B"),
        entry("told", "copy", 1.0, 0.5, 0.5, tags=["gold attention"]),
        entry("two", "copy", 1.0, 0.5, 0.5),
    ]
    rows = cross_table(found)
    assert list(complete(rows).items()) == [("one", 2), ("two", 1)]
    assert complete(rows, seeds=4) == {"one": 1} and complete(rows, seeds=2) == {"one": 3, "two": 1}
    assert full_part(rows) == (["one"], ["copy", "s3"]) and full_part(rows, seeds=5) == ([], [])
    more = cross_table([*found, entry("three", "copy", 1.0, 0.5, 0.5)])
    assert full_part(more) == (["one", "three", "two"], ["copy"])
    told = "counted as one: one 2. Without a gap: 1 mechanisms on 2 tasks (copy, s3).\n"
    assert told in cross_markdown(rows)


def test_what_the_most_frequent_answer_has():
    found = [entry("one", "parity_check", 1.0, model="TransformerDecoder"), entry("two", "copy", 1.0, model="B")]
    found.append(entry("told", "even_pairs", 1.0, tags=["gold attention"], model="TransformerDecoder"))
    own, other = frequent_rows(cross_table(found))
    assert (own["mechanism"], own["model"], own["tags"]) == ("most frequent answer", "TransformerDecoder", [])
    assert list(own["cells"]) == ["parity_check"] and own["cells"]["parity_check"]["seeds"] is None
    assert own["cells"]["parity_check"]["score"] == pytest.approx(0.5, abs=0.05) and other["cells"] == {}


def test_how_far_every_seed_holds():
    assert holds([{20: 1.0, 30: 0.9}, {20: 0.95, 30: 0.89}], [20, 30]) == 20
    assert holds([{20: 0.5, 30: 1.0}], [20, 30]) is None and holds([{}], [20]) is None


def test_whole_percent_is_never_rounded_to_all_or_nothing():
    assert [whole_percent(x) for x in (0, 0.001, 0.004, 0.5, 0.994, 0.9999, 1)] == [
        "0",
        "<1",
        "<1",
        "50",
        "99",
        ">99",
        "100",
    ]


def test_the_table_of_the_page_has_every_cell_and_marks_what_had_more():
    rows = cross_table(entries())
    text, in_tokens = cross_markdown(rows).split("### Tokens")
    alone, more = text.split("### With more")
    shares = {(row["mechanism"], task): cell for row in rows for task, cell in row["cells"].items()}
    assert f"| {shown(shares['nope', 'copy'], 'tokens')} |" in in_tokens
    assert len(re.findall(r"\(\d+\)", text)) == sum(len(row["cells"]) for row in rows)
    no_row = ("| mechanism |", "---", "*the most frequent answer*")
    lines = [line for line in text.splitlines() if line.startswith("|") and not any(word in line for word in no_row)]
    models = {told: list(dict.fromkeys(r["model"] for r in rows if bool(r["tags"]) is told)) for told in (False, True)}
    rows.sort(key=lambda row: (bool(row["tags"]), models[bool(row["tags"])].index(row["model"])))  # stable
    assert [line.split(" | ")[0].strip("| ") for line in lines] == [words_of(row["mechanism"]) for row in rows]
    for row, line in zip(rows, lines, strict=True):
        assert (line in more and line.endswith(f"| {', '.join(row['tags'])} |")) if row["tags"] else line in alone


def test_models_stand_apart_and_the_most_frequent_answer_below():
    found = [
        entry("one", "parity_check", 0.5),
        entry("one", "parity_check", 1.0, model="B"),
        entry("two", "copy", 1.0),
    ]
    rows = cross_table(found)
    assert [(row["mechanism"], row["model"]) for row in rows] == [("one", "B"), ("two", "A"), ("one", "A")]
    text = cross_markdown(rows)
    own, others = text.split("`B`:")[1].split("`A`:")
    one, two = words_of("one"), words_of("two")
    assert one == "[one](which_mechanism.md#one)" and words_of(None) == ""
    assert f"| {one} | 100 (1) |\n| *the most frequent answer* | 5" in own and f"| {two} | 100 (1) |  |" in others
    for name in ("copy", "lookup", "s3"):
        assert most_frequent_answer(tasks.get(name), "TransformerDecoder") is None
    assert 0.45 < most_frequent_answer(tasks.get("parity_check"), "TransformerDecoder") < 0.55
    assert 0.1 < most_frequent_answer(tasks.get("s3"), "RecurrentClassifier") < 0.25  # the last of six products


def test_tokens_stand_apart_where_they_say_more():
    found = [
        entry("one", "copy", 0.0, 0.0, tokens=0.75),
        entry("one", "parity_check", 0.5, tokens=0.5),
        entry("two", "copy", 0.0),
        entry("three", "copy", 1.0, tokens=1.0),
        entry("other", "copy", 1.0, tokens=1.0, model="B"),
        entry("told", "copy", 0.0, tokens=0.5, tags=["gold attention"]),
    ]
    text = cross_markdown(cross_table(found)).split("### Tokens")[1]
    one, three, *left_out = (words_of(name) for name in ("one", "three", "two", "other", "told"))
    assert "| mechanism | copy |" in text and f"| {one} | 75 (2) |" in text and f"| {three} | 100 (1) |" in text
    assert not any(word in text for word in (*left_out, "`B`", "parity"))
    assert "### Tokens" not in cross_markdown(cross_table(found[1:2]))


def test_the_table_is_in_the_data(capsys):
    assert main(["results", "--leaderboard", "*_copy", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = {entry["name"] for entry in found["entries"]}
    assert len(names) > 10 and {cell["run"] for row in found["table"] for cell in row["cells"].values()} <= names
    assert {task for row in found["table"] for task in row["cells"]} == {x["task"] for x in found["entries"]}
    assert json.dumps(as_json(entries())["table"], allow_nan=False)
