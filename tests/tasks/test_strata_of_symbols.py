"""Strata of other tasks have what they say, read off the sources in another way."""

import math
import re

import pytest

from kzoo import tasks
from kzoo.errors import InputError

pytestmark = pytest.mark.once
N = 60


def sources(name, stratum, length, **config):
    return [e.source for e in tasks.get(name, **config).stratum_examples(stratum, N, 0, length)]


def test_copying():
    found = {name: sources("copy", name, 30) for name in tasks.get("copy").strata}
    assert all(len(source) == 30 for many in found.values() for source in many)
    assert {len(set(source)) for source in found["one_digit"]} == {1}
    assert all(source[:2] * 15 == source and source[0] != source[1] for source in found["alternating"])
    assert all(source[:3] * 10 == source and len(set(source)) == 3 for source in found["period_3"])
    assert all(len(set(source)) <= 2 for source in found["two_digits"])
    for source in found["runs"]:
        runs = [len(run[0]) for run in re.finditer(r"(.)\1*", "".join(source))]
        assert all(3 <= run <= 8 for run in runs[:-1])
    assert all(a != b for source in found["no_neighbours"] for a, b in zip(source, source[1:], strict=False))
    for name, digits in (("low_digits", "0123"), ("middle_digits", "456"), ("high_digits", "789")):
        assert all(set(source) <= set(digits) for source in found[name])
    assert all(list(source) == sorted(source) for source in found["ascending"])
    assert all(list(source) == sorted(source, reverse=True) for source in found["descending"])
    for name in ("inv_recopy", "inv_reverse_recopy"):  # the length is the target's
        assert {len(e.target) for e in tasks.get(name).stratum_examples("runs", 9, 0, 12)} == {12}
    assert {len(source) for source in sources("dedupe", "fives", 6)} == {30}


@pytest.mark.parametrize("name", ["lookup", "reverse_lookup", "noisy_lookup", "ctl_forward", "ctl_backward"])
def test_lookup(name):
    forward = tasks.get("lookup" if "lookup" in name else "ctl_forward")
    module = __import__(type(forward).__module__, fromlist=["TABLES"])

    def trace(source):
        task = tasks.get(name)
        code, *applied = task.program(source) if "lookup" in name else task.write(source)
        values = [module.CODES.index(code)]
        for table in applied:
            values.append(module.TABLES[table][values[-1]])
        return values, applied

    length = 9
    for source in sources(name, "fixed_points", length):
        assert len(set(trace(source)[0])) == 1
    for source in sources(name, "two_cycles", length):
        values, _ = trace(source)
        assert len(set(values)) == 2 and all(a != b for a, b in zip(values, values[1:], strict=False))
    assert all(len(set(trace(source)[1])) == 1 for source in sources(name, "one_table", length))
    for source in sources(name, "two_tables", length):
        applied = trace(source)[1]
        assert len(set(applied)) == 2 and applied[:-2] == applied[2:]


def test_arithmetic():
    task = tasks.get("arithmetic")
    for depth in (3, 5, 8):
        own = [name for name, stratum in task.strata.items() if stratum.has(depth)]
        assert set(task.strata) - set(own) == (
            {"few_tokens", "many_tokens"} if depth == 3 else {"many_tokens"} if depth == 5 else set()
        )
        found = {name: ["".join(s) for s in sources("arithmetic", name, depth)] for name in own}
        for name, texts in found.items():
            deepest = [max(text[:i].count("(") - text[:i].count(")") for i in range(len(text))) for text in texts]
            assert set(deepest) == {depth}, name
        assert all(text.startswith("(" * depth) for text in found["left_spine"])
        assert all(text.endswith(")" * depth) for text in found["right_spine"])
        assert {len(text) for text in found["longest"]} == {min(4 * 12, 4 * (2**depth - 1)) + 1}
        assert not any("*" in text for text in found["plus_only"])
        assert not any("+" in text for text in found["times_only"] + found["odd_products"])
        assert {task.solve(tuple(text))[0] for text in found["odd_products"]} <= set("1379")


def test_listops():
    task = tasks.get("listops")
    for depth in (2, 7):
        own = [name for name, stratum in task.strata.items() if stratum.has(depth)]
        assert set(task.strata) - set(own) == ({"few_tokens", "many_tokens"} if depth == 2 else set())
        found = {name: sources("listops", name, depth) for name in own}
        assert {task.depth(source) for many in found.values() for source in many} == {depth}
        assert all(all(token.startswith("[") for token in s[:depth]) for s in found["left_spine"])
        assert all(s[-depth:] == ("]",) * depth for s in found["right_spine"])
        for kind, token in {"maximum": "[MAX", "median": "[MED", "minimum": "[MIN", "sum": "[SM"}.items():
            assert {t for s in found[f"{kind}_only"] for t in s if t.startswith("[")} == {token}
        assert {len(s) for s in found["four_arguments"]} == {5 * depth + 1}


@pytest.mark.parametrize("name, few, many", [("arithmetic", 37, 45), ("listops", 34, 40)])
def test_sources_that_are_short_or_long_for_their_depth(name, few, many):
    task = tasks.get(name)
    counts = {kind: [len(s) for s in sources(name, kind, 7)] for kind in ("few_tokens", "many_tokens")}
    assert max(counts["few_tokens"]) <= few and min(counts["many_tokens"]) >= many
    drawn = [len(e.source) for e in task.examples("test", 200, length=7)]
    assert min(drawn) < few and max(drawn) >= many  # of what the test split has
    with pytest.raises(InputError, match="there are no inputs of length 10 with at most"):
        task.stratum_examples("few_tokens", 5, 0, 10)


def test_chains():
    task = tasks.get("lego")
    for name in task.strata:
        for source in sources("lego", name, 12):
            clauses = [clause for clause in "".join(source).split(";") if clause]
            order = {clause[0]: i for i, clause in enumerate(clauses)}
            needs = [order[clause[3]] - i for i, clause in enumerate(clauses) if clause[3] != "1"]
            minus = sum(clause[2] == "-" for clause in clauses)
            if name == "in_order":
                assert set(needs) == {-1}
            if name == "backward":
                assert set(needs) == {1}
            if name == "far_apart":
                assert min(map(abs, needs)) > 1
            assert minus == {"plus_only": 0, "minus_only": 12, "one_minus": 1}.get(name, minus)
    assert {len(e.target) for e in task.stratum_examples("in_order", 5, 0, 7)} == {14}


def test_commands():
    task = tasks.get("scan")
    test = {example.source for example in task.rows("test")}
    for name in task.strata:
        found = {e.source for e in task.stratum_examples(name, 10_000)}
        assert found <= test
        if name in task.vocabulary:
            assert found == {source for source in test if name in source}
    assert all("around" in s and "thrice" in s for s in sources("scan", "around_thrice", None))
    for source in sources("scan", "same_phrases", None):
        half = math.ceil(len(source) / 2)
        assert source[: half - 1] == source[half:]
    assert all(len({"left", "right"} & set(s)) == 1 for s in sources("scan", "one_side", None))
