"""Phrases aligned from pairs alone, in languages with other words than SCAN's and against SCAN's gold attention."""

import numpy as np
import pytest

import kzoo
from kzoo.errors import InputError
from kzoo.tasks.scan import ScanLength
from kzoo.training.alignment import phrase_grammar
from kzoo.training.alignment.align_phrases import align_phrases
from kzoo.training.alignment.phrase_grammar import Rule, derivations, expected_uses, initial_table
from kzoo.training.recipe import Recipe
from kzoo.training.train import train

pytestmark = pytest.mark.once


def language():
    """Returns pairs of a language where "bis" doubles, "vor" joins and "nach" joins the other way round."""
    words = {"ba": "x", "di": "y", "gu": "z"}
    phrases = {(word,): (token,) for word, token in words.items()}
    phrases |= {(*source, "bis"): target * 2 for source, target in phrases.items()}
    pairs = list(phrases.items())
    for one, a in phrases.items():
        for two, b in phrases.items():
            pairs += [((*one, "vor", *two), a + b), ((*one, "nach", *two), b + a)]
    return pairs


def test_docstring_example(run_examples):
    run_examples(align_phrases)


def test_repetitions_and_joins_are_found():
    pairs = language()
    alignment = kzoo.align_phrases(pairs)
    found = {pair.source: alignment.positions(i).tolist() for i, pair in enumerate(alignment.pairs)}
    assert found["ba", "bis"] == [0, 1]
    assert found["ba", "bis", "vor", "di", "bis"] == [0, 1, 3, 4]
    assert found["ba", "bis", "nach", "di"] == [3, 1, 0]
    assert found["ba", "nach", "di", "bis"] == [3, 2, 0]
    index = alignment.pairs.index((("ba", "bis", "vor", "di"), ("x", "x", "y")))
    assert alignment.read(index) == [("x", "ba (0)", "move"), ("x", "bis (1)", "move"), ("y", "di (3)", "move")]
    assert all((rows.sum(axis=1) == 1).all() for rows in alignment.posteriors)
    said = alignment.describe()
    assert said.startswith(f"{len(pairs)} pairs, read forward") and "the other way" not in said


@pytest.mark.slow
def test_it_agrees_with_the_parse_of_scan():
    task = kzoo.tasks.get("scan")
    short = [row for row in task.rows("train") if len(row.source) <= 4]  # from which it learns what words do
    rows = [*short, *task.examples("train", 150)]
    alignment = kzoo.align_phrases(rows)
    compared = 0
    for i, row in enumerate(rows):
        gold = np.array(task.gold_attention(row.source)[:-1])
        within = gold >= 0  # the third repetition of two words at the start has no word left, read backward
        assert (alignment.positions(i) == gold)[within].all()
        assert np.ptp(alignment.posteriors[i][~within], axis=1).tolist() == [0.0] * int((~within).sum())
        compared += within.sum()
    assert compared > 2_000


def test_the_summed_weight_is_that_of_all_derivations():
    """Of two words "a b" and the target "xx": by hand, every way there is."""
    table = initial_table(["a", "b"], ["x"])
    x, nothing, twice = Rule("emit", "x"), Rule("emit"), Rule("repeat", times=2)
    chart = derivations(("a", "b"), "xx", table)
    total, steps = chart[(0, 2), "xx"]
    beside = table[None][Rule("combine")] + table[None][Rule("combine", swapped=True)]
    expected = table["a"][x] * (table["b"][twice] + beside * table["b"][x])
    assert total == pytest.approx(expected) and len(steps) == 3
    assert nothing in table["a"] and sum(table["a"].values()) == pytest.approx(1.0)


def test_expected_uses_count_every_word_once():
    table = initial_table(["a", "b", "c"], ["x", "y"])
    uses = {key: {rule: 0.0 for rule in rules} for key, rules in table.items()}
    weight = expected_uses(("a", "b", "c"), "xyx", table, uses)
    assert weight > 0
    assert [sum(uses[word].values()) for word in "abc"] == pytest.approx([1.0] * 3)
    assert expected_uses(("a",), "xyx", table, uses) == 0.0
    # The expectation is the logarithm's derivative by that of the weight.
    rule, step = Rule("repeat", times=2), 1e-6
    more = {**table, "c": {**table["c"], rule: table["c"][rule] * (1 + step)}}
    slope = (derivations(("a", "b", "c"), "xyx", more)[(0, 3), "xyx"][0] - weight) / weight / step
    assert uses["c"][rule] == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize(
    "pairs, sentence",
    [
        ([], "no pairs"),
        ([("a", "x"), ("b " * 17, "x")], "pair 1: the source must have 1 to 16 tokens, not 17"),
        ([("a", "x " * 101)], "pair 0: the target must have 1 to 100 tokens, not 101"),
        ([("a", "x"), ("b", "x y")], "pair 1 is not derived by repeating and combining phrases: 'b'"),
    ],
)
def test_what_is_wrong_with_pairs_is_said(pairs, sentence):
    with pytest.raises(InputError, match=sentence):
        kzoo.align_phrases(pairs)
    with pytest.raises(InputError, match="seed"):
        kzoo.align_phrases([("a", "x")], seed=-1)


def test_too_many_derivations_are_an_error_and_no_wait(monkeypatch):
    pairs = [(" ".join("abcdefghi"), " ".join("ihgfedcba"))]
    monkeypatch.setattr(phrase_grammar, "MOST", 10**4)
    with pytest.raises(InputError, match="'a b c d e f g h i' has too many derivations: give shorter pairs"):
        kzoo.align_phrases(pairs)


CONFIG = {
    "format": 2,
    "task": "scan",
    "supervision": [],
    "model": {
        "class": "RecurrentSeq2Seq",
        "config": {"attention": "waypoint", "embedding_units": 6, "encoder_units": 4},
    },
    "stages": [
        {
            "data": {"batch_size": 16},
            "budget": {"epochs": 1},
            "objective": {"attention_supervision": {"from": "phrases", "weight": 3.0}},
            "selection": {"by": "last"},
        }
    ],
    "evaluation": {"lengths": [None], "examples": 4},
}


def test_a_recipe_says_phrases_and_trains_on_its_pairs_alone(monkeypatch, tmp_path):
    recipe = Recipe.from_config(CONFIG)
    assert recipe.supervision == () and recipe.to_config()["stages"] == CONFIG["stages"]
    for told, sentence in (
        ({"from": "phrases", "steps": 3}, "from phrases has no steps"),
        ({"from": "alignment", "phrases": True}, "from alignment has no phrases"),
        ({"from": "phrase"}, "did you mean 'phrases'"),
    ):
        stage = {**CONFIG["stages"][0], "objective": {"attention_supervision": told}}
        with pytest.raises(InputError, match=sentence):
            Recipe.from_config({**CONFIG, "stages": [stage]})

    def refuse(*_, **__):
        raise AssertionError("training from pairs alone asked the task for more")

    own = [row for row in ScanLength().rows("train") if len(row.source) <= 3]
    assert len(own) >= 48
    for name in ("gold_attention", "solve", "intermediate", "stratum_examples"):
        monkeypatch.setattr(ScanLength, name, refuse)
    monkeypatch.setattr(ScanLength, "examples", lambda self, *args, **options: own)
    monkeypatch.setattr("kzoo.training.train._write", lambda *_: None)
    train(recipe, tmp_path / "run")
