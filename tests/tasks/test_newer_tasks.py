"""The tasks of later benchmarks: answers by another way, the papers' own counts, and what their rules leave out."""

import itertools

import numpy as np
import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.tasks.bracketed import expression
from kzoo.tasks.chomsky import SCORES
from kzoo.tasks.listops_grammar import probabilities, tree
from kzoo.tasks.word_problems import elements

pytestmark = pytest.mark.once
CHOMSKY = [name for name in tasks.names() if getattr(tasks.get(name), "level", "")]


def pairs(name, lengths=(3, 8, 40, 61), n=25):
    task = tasks.get(name)
    return [x for length in lengths for x in task.examples("test", n, length=length)]


def number(bits):
    return sum(1 << i for i, bit in enumerate(bits) if bit == "1")


ANSWERS = {
    "even_pairs": lambda s: str(int(s[0] != s[-1])),
    "parity_check": lambda s: str(sum(map(int, s)) % 2),
    "cycle_navigation": lambda s: str(sum({"-": -1, "0": 0, "+": 1}[x] for x in s) % 5),
    "modular_arithmetic_simple": lambda s: str(eval("".join(s)) % 5),
    "modular_arithmetic": lambda s: str(eval("".join(s)) % 5),
    "reverse_string": lambda s: "".join(s)[::-1],
    "duplicate_string": lambda s: "".join(s) * 2,
    "odds_first": lambda s: "".join(s[::2] + s[1::2]),
    "bucket_sort": lambda s: "".join(str(i) * s.count(str(i)) for i in range(5)),
    "binary_addition": lambda s: f"{sum(number(p) for p in ''.join(s).split('+')):b}"[::-1],
    "binary_multiplication": lambda s: f"{number(''.join(s).split('*')[0]) * number(''.join(s).split('*')[1]):b}"[::-1],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name):
    for source, target in pairs(name):
        assert "".join(target) == ANSWERS[name](source)
    if name not in ("modular_arithmetic_simple",):
        assert all(len(x.source) == 40 for x in tasks.get(name).examples("test", 5, length=40))


def test_there_are_fifteen_of_the_hierarchy():
    levels = [tasks.get(name).level for name in CHOMSKY]
    assert [levels.count(x) for x in ("regular", "deterministic context-free", "context-sensitive")] == [4, 4, 7]
    assert set(SCORES) <= set(CHOMSKY) and SCORES["parity_check"]["transformer"] == 52.0


def test_an_equation_has_the_solution():
    for source, (x,) in pairs("solve_equation"):
        left, right = "".join(source).split("=")
        solutions = [n for n in range(5) if (eval(left.replace("x", str(n))) - int(right)) % 5 == 0]
        assert solutions == [int(x)]
    with pytest.raises(InputError, match="the shortest is 3"):
        tasks.get("solve_equation").examples("test", 1, length=2)


def test_expressions_have_their_length():
    rng = np.random.default_rng(0)
    for length in [*range(1, 30), 200]:
        source = expression(rng, length, ("+", "-", "*"))
        assert len(source) == length and 0 <= int(tasks.get("modular_arithmetic").solve(tuple(source))[0]) < 5
    for wrong in ("(1+2", "1+2", "()", "(1+2)3", "(1-)", "--1", "(1+2+3)", "-(1+2)"):
        with pytest.raises(InputError, match="each operation in brackets"):
            tasks.get("modular_arithmetic").solve(tuple(wrong))


def test_results_within_an_expression():
    task = tasks.get("modular_arithmetic")
    assert task.intermediate(tuple("((1+-2)*(3))")) == [(2, "1"), (5, "3"), (6, "4"), (9, "3"), (10, "3"), (11, "2")]
    for source, target in pairs("modular_arithmetic", n=40):
        within = task.intermediate(source)
        assert within[-1] == (len(source) - 1, target[0])
        assert [place for place, _ in within] == [
            i for i, token in enumerate(source) if token.isdigit() or token == ")"
        ]
        for place, result in within:
            start, depth = place, source[place] == ")"
            while depth:
                start -= 1
                depth += {")": 1, "(": -1}.get(source[start], 0)
            sign = -1 if negated(source, place) else 1
            assert int(result) == sign * eval("".join(source[start : place + 1])) % 5


def test_results_within_an_equation():
    task, expressions = tasks.get("solve_equation"), tasks.get("modular_arithmetic")
    assert task.intermediate(tuple("((1+x)-2)=3")) == [(2, "1"), (4, "0+x"), (5, "1+x"), (7, "2"), (8, "4+x")]
    assert task.intermediate(tuple("(1-(-x))=3")) == [(1, "1"), (5, "0-x"), (6, "0-x"), (7, "1+x")]
    assert task.intermediate(tuple("-x=3")) == [(1, "0-x")]
    for source, (number,) in pairs("solve_equation", n=40):
        within = [(place, eval(result.replace("x", number)) % 5) for place, result in task.intermediate(source)]
        filled = expressions.intermediate(tuple("".join(source[:-2]).replace("x", number)))
        assert within == [(place, int(result)) for place, result in filled]
        assert within[-1][1] == int(source[-1])


def test_results_so_far_follow_from_what_stands_before_them():
    task = tasks.get("modular_arithmetic")
    assert task.causal_results(tuple("((1+-2)*(3))")) == [(2, "1"), (5, "4"), (6, "4"), (9, "3"), (10, "2"), (11, "2")]
    for source, target in pairs("modular_arithmetic", n=40):
        so_far = task.causal_results(source)
        assert [place for place, _ in so_far] == [place for place, _ in task.intermediate(source)]
        assert so_far[-1] == (len(source) - 1, target[0])
        for place, result in so_far[:-1]:  # at each, the bracket around might close
            start, depth = place + 1, 1
            while depth and start:
                start -= 1
                depth += {")": 1, "(": -1}.get(source[start], 0)
            assert (result,) == (task.solve((*source[start : place + 1], ")")) if not depth else target)


def test_results_so_far_of_an_equation():
    task, expressions = tasks.get("solve_equation"), tasks.get("modular_arithmetic")
    assert task.causal_results(tuple("((1+x)-2)=3")) == [(2, "1"), (4, "1+x"), (5, "1+x"), (7, "4+x"), (8, "4+x")]
    assert task.causal_results(tuple("(4-(-x-2))=3"))[1:] == [(5, "0-x"), (7, "3-x"), (8, "1+x"), (9, "1+x")]
    for source, (number,) in pairs("solve_equation", n=40):
        within = [(place, eval(result.replace("x", number)) % 5) for place, result in task.causal_results(source)]
        filled = expressions.causal_results(tuple("".join(source[:-2]).replace("x", number)))
        assert within == [(place, int(result)) for place, result in filled]


def negated(source, place):
    """Whether a minus before a digit is its sign: no number and no bracket ends before it."""
    if source[place] == ")" or place == 0 or source[place - 1] != "-":
        return False
    return place == 1 or source[place - 2] not in "01234)"


def test_a_stack():
    empty = 0
    for source, target in pairs("stack_manipulation", n=60):
        stack = ""
        for token in source:
            empty += token == "POP" and not stack
            stack = stack[:-1] if token == "POP" else stack + token[-1]
        assert "".join(target) == stack[::-1] + "_"
    assert empty  # pops of an empty stack are met
    with pytest.raises(InputError, match="is bits, then actions"):
        tasks.get("stack_manipulation").solve(("POP", "1"))


def test_square_roots():
    for source, target in pairs("compute_sqrt"):
        root, value = int("".join(target), 2), int("".join(source), 2)
        assert root**2 <= value < (root + 1) ** 2 and len(target) == -(-len(source) // 2)


def test_rows_of_square_roots():
    task = tasks.get("compute_sqrt")
    assert [" ".join(row) for row in task.execution_trace("11011")] == [  # 27, in pairs 01 10 11
        "b a b a b _.",
        "0. 1. 1. 0. 1. 1.",
        "01 1. 0. 1. 1. _.",
        "11 00 1. 1. _. _.",
        "01 10 01 _. _. _.",
    ]
    for n in range(1, 30):
        for source, target in pairs("compute_sqrt", (n,), 5):
            marks, *rows = task.execution_trace(source)
            assert all(len(row) == n + 1 and {*row} <= {*task.row_symbols} for row in (marks, *rows))
            assert len(rows) == len(target) + 1 and "".join(symbol[1] for symbol in rows[-1]).rstrip(".") == "".join(
                target
            )
            number = int("".join(source), 2)
            for step, row in enumerate(rows):  # what is left is that of the pairs so far, and all pairs to come
                root, pairs_to_come = int("0" + "".join(target[:step]), 2), len(target) - step
                left = sum(int(s[0].replace("_", "0")) << (n - c) for c, s in enumerate(row))
                assert left >> (n + 1 - len(target) - pairs_to_come) == number - (root << pairs_to_come) ** 2


def test_rows_of_products():
    task = tasks.get("binary_multiplication")
    assert [" ".join(row) for row in task.execution_trace("011*11")] == [  # 6 * 3
        "00 01 01 0_ 0_< 0_ 0_",
        "0_ 10 11 01 0_ 0_< 0_",
        "0_ 1_ 00 01 11 0_ 0_<",
    ]
    for n in range(1, 30):
        for source, target in pairs("binary_multiplication", (n,), 5):
            rows, (first, *second) = task.execution_trace(source), "".join(source).split("*")
            assert all(len(row) == n + 1 and {*row} <= {*task.row_symbols} for row in rows)
            assert "".join(symbol[0] for symbol in rows[-1])[: len(target)] == "".join(target)
            for step, row in enumerate(rows):  # the sum of the first number as often as the bits so far say
                so_far = number("0" if not step else second[0][:step] if second else "1")
                assert number("".join(symbol[0] for symbol in row)) == number(first) * so_far
                assert "".join(symbol[1] for symbol in row)[step:].rstrip("_") == first


def test_missing_duplicates():
    for source, (bit,) in pairs("missing_duplicate"):
        whole = "".join(source).rstrip(".").replace("?", bit)
        assert whole[: len(whole) // 2] == whole[len(whole) // 2 :] and len(source) - len(whole) == len(source) % 2
    with pytest.raises(InputError, match="are not the same"):
        tasks.get("missing_duplicate").solve(tuple("01?111"))


@pytest.mark.parametrize("name, size, solvable", [("s3", 6, True), ("a5", 60, False), ("s5", 120, False)])
def test_word_problems(name, size, solvable):
    task = tasks.get(name)
    group = elements(task.points, task.even)
    assert len(group) == len(task.vocabulary) == size and group[0] == tuple(range(task.points))
    for source, target in pairs(name, (5, 30), 5):
        state = np.arange(task.points)
        for token, answer in zip(source, target, strict=True):
            state = np.array(group[int(token[1:])])[state]  # g_t after what came before
            assert group[int(answer[1:])] == tuple(state)
    commutators = {
        tuple(a[b[a.index(b.index(i))]] for i in range(task.points)) for a, b in itertools.product(group, group)
    }
    assert (len(commutators) < size / 2 + 1) == (name != "a5")  # of A5 all elements are commutators


def test_flip_flops():
    task, reads = tasks.get("flip_flop"), []
    for source, (bit,) in task.examples("train", 800):
        text = "".join(source)
        assert text[0] == "w" and text[-1] == "r" and bit == text[text.rindex("w") + 1]
        kept = ""
        for name, value in zip(text[::2], text[1::2], strict=False):
            kept = value if name == "w" else kept
            assert name != "r" or value == kept
        reads.append(text[2:-1:2].count("i") / (len(text[2:-1:2])))
    assert np.mean(reads) == pytest.approx(0.8, abs=0.01)
    sparse = task.stratum_examples("sparse", 200, length=256)
    assert np.mean(["".join(x.source).count("r") for x in sparse]) == pytest.approx(3.7, abs=0.5)  # as the paper's data


def test_recall():
    for source, target in tasks.get("mqar").examples("test", 50, length=60):
        known = dict(zip(source[:120:2], source[1:120:2], strict=True))
        queries = [token for token in source[120:] if token != "."]
        assert len(source) == 240 and sorted(queries) == sorted(known) and len(set(known.values())) == 60
        assert target == tuple(known[q] for q in queries)
    spread = tasks.get("mqar").stratum_examples("slots", 100, length=20)
    first = np.mean([[i for i, x in enumerate(s[40:]) if x != "."][10] for s, _ in spread])
    assert all(len(s) == 160 for s, _ in spread) and first < 40  # queries crowd after the pairs
    with pytest.raises(InputError, match="at most 256 pairs"):
        tasks.get("mqar").examples("test", 1, length=257)


@pytest.mark.parametrize(
    "name, source, message",
    [
        ("mqar", "k1 v7 k1 v8 k1 .", "is pairs of a new key and a value"),
        ("flip_flop", "w 0 r 1 r", "the bit behind r is that of the latest w"),
        ("sum_digits", "1 + 2", "is three numbers with"),
        ("sum_digits", "1 + 2 + 3 + 4", "is three numbers with"),
        ("sum_operands", "1 + 2 0 0 0", "is numbers of up to three digits"),
    ],
)
def test_sources_that_the_task_excludes(name, source, message):
    with pytest.raises(InputError, match=message):
        tasks.get(name).solve(tuple(source.split()))


def test_where_all_sources_are_those_of_training():
    for name, length, size in (("even_pairs", 5, 40), ("flip_flop", 8, 5_000), ("fill", 4, 400), ("count", 2, 15_000)):
        task = tasks.get(name)
        known = {example.source for example in task.examples("train", size, length=length)}
        found = task.examples("test", 200, length=length)
        assert np.mean([example.source in known for example in found]) > 0.4 and length in task.seen_lengths


@pytest.mark.parametrize("name, operands, digits", [("sum_digits", 3, 24), ("sum_operands", 24, 3)])
def test_sums(name, operands, digits):
    found = tasks.get(name).examples("test", 200, length=24)
    equal = 0
    for source, target in found:
        numbers = "".join(source).split("+")
        assert len(numbers) == operands and max(map(len, numbers)) == digits
        assert int("".join(target)) == sum(map(int, numbers)) and all(str(int(x)) == x for x in numbers)
        equal += len(set(map(len, numbers))) == 1
    assert 70 < equal < 130


def test_lists_follow_the_published_grammar():
    known = probabilities()[1]
    assert known[1] == 0.75 and known[2] == known[3] == 0
    assert known[4] == pytest.approx(0.25 * 0.25 * 0.75**2) and 0.98 < known.sum() <= 1
    assert known[:101].sum() > 0.97
    rng = np.random.default_rng(0)
    drawn = [tree(rng, 8) for _ in range(3000)]
    # Of 8 tokens: [ a b c d e f ] has six, which no operation takes; two operations, of together four digits.
    assert all(len(x) == 8 and sum(t.startswith("[") for t in x) == 2 for x in drawn)
    task = tasks.get("listops_grammar")
    assert task.solve(("[MED", "1", "4", "2", "9", "]")) == ("3",) and task.solve(
        ("[MAX", "[MIN", "4", "2", "]", "1", "]")
    ) == ("2",)
    assert task.intermediate(("[SM", "7", "[MAX", "1", "8", "]", "9", "]")) == [
        (1, "7"), (3, "1"), (4, "8"), (2, "8"), (5, "5"), (6, "4"), (0, "4"), (7, "4")
    ]  # fmt: skip
    for wrong in (("[MED", "]"), ("1", "2"), ("[MIN", "1"), ("]",)):
        with pytest.raises(InputError, match="a source of listops_grammar is"):
            task.solve(wrong)
    with pytest.raises(InputError, match="have 1, or 4 to"):
        task.examples("test", 1, length=3)


@pytest.mark.parametrize("stratum, most", [("ten_arguments", 10), ("fifteen_arguments", 15)])
def test_lists_of_more_numbers_than_in_training(stratum, most):
    def arguments(source):
        open_lists = [0]
        for token in source:
            if token.startswith("["):
                open_lists.append(0)
            else:
                if token == "]":
                    yield open_lists.pop()
                open_lists[-1] += 1

    examples = tasks.get("listops_grammar").stratum_examples(stratum, 20, length=100)
    numbers = [n for x in examples for n in arguments(x.source)]
    assert all(len(x.source) == 100 for x in examples) and (min(numbers), max(numbers)) == (2, most)


SCAN = {
    "jump": (14_670, 7_706, 13_204),
    "turn_left": (21_890, 1_208, 19_702),
    "around_right": (15_225, 4_476, 15_225),
}


@pytest.mark.parametrize("name", SCAN)
def test_the_published_counts_of_scan(name):
    train, test, different = SCAN[name]
    task = tasks.get(f"scan_{name}")
    whole = task.examples("train_all")
    assert (len(whole), len(task.examples("test"))) == (train, test)
    assert len({x.source for x in whole}) == different
    assert sorted(task.examples("train") + task.examples("validation")) == sorted(whole)


def test_the_development_set_of_scan_is_made_of_its_training_commands():
    task, whole = tasks.get("scan_development"), tasks.get("scan").examples("train_all")
    splits = {split: task.examples(split) for split in task.splits}
    assert sorted(sum(splits.values(), [])) == sorted(whole)
    assert {len(x.target) for x in splits["test"]} == set(range(16, 23))
    sources = {split: {" ".join(x.source) for x in found} for split, found in splits.items()}
    assert "walk around left twice" in sources["test"]  # its parts are in training, the whole is not
    assert {"walk around left", "walk left twice"} <= sources["train"] | sources["validation"]
