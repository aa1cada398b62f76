"""What holds for every task of the registry: a new one is covered by being there."""

import functools
import hashlib
import subprocess
import sys

import numpy as np
import pytest

from kzoo import tasks
from kzoo.errors import InputError

pytestmark = pytest.mark.once

# The first examples of each split and length: they never change unless the task's version does.
CHECKSUMS = {
    "a5": "929e533d0a31694d",
    "addition": "bdc96969fbb526c8",
    "arithmetic": "2d0cd88339fa9fac",
    "binary_addition": "932acf0aa413b541",
    "binary_multiplication": "3202ea2ee15695aa",
    "bucket_sort": "a2662da3932f02dd",
    "carry": "721d5fb35f36657c",
    "cfq": "1472a3a48b5228a1",
    "compute_sqrt": "a3ab21930f547798",
    "cogs_cp_recursion": "2f6972f94ec8c932",
    "cogs_pp_recursion": "8f95b16709ea24b1",
    "copy": "9d5e8042423cf390",
    "count": "40f3bd84cf8eac23",
    "ctl_backward": "9ca945fc32e26d0b",
    "ctl_forward": "89a8c761dbef714c",
    "cycle_navigation": "ba5ae07a1b3d6152",
    "dedupe": "ec639c0c57115155",
    "duplicate_string": "550d790cad1d4267",
    "even_pairs": "adbe3fca0a028c46",
    "fill": "78449cd9a9eb0274",
    "flip_flop": "6c59041bf397c6a5",
    "incrementer": "3b58cacc60ea8eab",
    "inv_recopy": "a040e2ff1dd22766",
    "inv_reverse_recopy": "c1c7561a703bc46d",
    "lego": "4b9dfbbce601a02e",
    "lego_value": "1ab031ae63f57a32",
    "listops": "9748bbd3d3a8b9e9",
    "listops_grammar": "d667c52ac2fc9984",
    "lookup": "4a71aa5fd389a586",
    "missing_duplicate": "8d774e113e8a74b5",
    "modular_arithmetic": "5c64bfa22cf110ac",
    "modular_arithmetic_simple": "fcf1fda8ab838af4",
    "mqar": "dd23f933c73b59c1",
    "multiplication": "d5dee6c6fbc4d550",
    "noisy_lookup": "34d0ecf224584aba",
    "odds_first": "06aabb1c12009a69",
    "parity": "ed169f13cce4856c",
    "parity_check": "f98b1e1c343d72db",
    "parity_class": "8233b2d3bee2c48c",
    "posretrieve": "6585a892aaa20eaf",
    "recopy": "091cd966323cf447",
    "reverse_copy": "44d815e192418a56",
    "reverse_lookup": "e908f2b71fe3e5ff",
    "reverse_recopy": "bf141deb0c4b4705",
    "reverse_string": "932c39f32ca0fa18",
    "s3": "f55d070085843757",
    "s5": "36561e9fc25e15e2",
    "scan": "477b48ebffa63220",
    "scan_around_right": "3bec529fa966afb6",
    "scan_development": "a0b1272f780256b2",
    "scan_jump": "da1453478fd252f1",
    "scan_turn_left": "10e4fd9b1cddd366",
    "scratchpad_sorter": "7f31baa2dfb9ff14",
    "solve_equation": "677f640b3c8f1577",
    "sorted_successor": "67a983c508aff9ea",
    "sorter": "f1e5354a44ee0e04",
    "stack_manipulation": "c3054ecb3b0f9533",
    "successor": "439b03d21a42aed2",
    "sum_digits": "9b105bb4a4917a2b",
    "sum_operands": "a49720f23fde1841",
    "two_ahead": "435b84a1f2470e6d",
}
FINITE = ("scan", "cfq", "scan_development", "scan_jump", "scan_turn_left", "scan_around_right")


# Splits that take minutes to draw: a part stands for the whole.
PARTS = {("listops", "train"): 4_000}
HINTING = (
    "sorter",
    "scratchpad_sorter",
    "sorted_successor",
    "count",
    "fill",
    "incrementer",
    "carry",
    "lego",
    "lego_value",
    "two_ahead",
)
HINTS = ("sorted_successor", "count", "fill", "carry", "two_ahead")
TRAINING = ("train", "train_repeated", "uniform", "uniform_repeated", "windows", "wide_windows", "varied", "clustered")
TRAINING += ("carries",)
PARTS |= {(name, split): 2_000 for name in HINTING for split in TRAINING}
CALCULATION = ("successor", "addition", "multiplication", "parity", "parity_class")
PARTS |= {(name, "train"): 2_000 for name in CALCULATION}
LATER = [name for name in tasks.names() if hasattr(tasks.get(name), "level")]
PARTS |= {
    (name, "train"): 1_000 for name in (*LATER, "flip_flop", "mqar", "sum_digits", "sum_operands", "listops_grammar")
}
PARTS |= {(f"cogs_{kind}_recursion", "train"): 1_000 for kind in ("pp", "cp")}
PARTS |= {(name, "long"): 2_000 for name in ("arithmetic", "listops")}
# How many examples of the training split are there more than once, as in the published data.
REPEATED = {("ctl_forward", "train"): 480, ("ctl_backward", "train"): 480}
REPEATED |= {("scan_jump", split): 1_466 for split in ("train", "train_all")}
REPEATED |= {("scan_turn_left", split): 2_188 for split in ("train", "train_all")}


@pytest.fixture(scope="module", params=tasks.names())
def task(request):
    if request.param == "cfq":
        return tasks.get("cfq", folder=request.getfixturevalue("cfq_json"))
    return tasks.get(request.param)


class Drawn:
    """The examples of a task, each split and length drawn once for all tests."""

    def __init__(self, task):
        self.task = task
        self.some = functools.cache(lambda split, length: task.examples(split, 300, length=length))
        self.whole = functools.cache(self.draw)
        self.keys = functools.cache(lambda split, length: {task.key(example) for example in self.whole(split, length)})

    def draw(self, split, length):
        """Returns a whole split; of those that take minutes, a part."""
        return self.task.examples(split, PARTS.get((self.task.name, split)), length=length)


@pytest.fixture(scope="module")
def drawn(task):
    return Drawn(task)


def parts(task):
    """Every split without a length, and the test split at every length that the paper reports."""
    return [(split, None) for split in task.splits] + [("test", n) for n in task.test_lengths if n is not None]


def test_name_and_declarations(task):
    assert tasks.get(task) is task and task.name in tasks.names()
    assert {"train", "validation", "test"} <= set(task.splits)
    assert len(set(task.vocabulary)) == len(task.vocabulary)
    assert task.paper and task.length_unit and task.test_lengths
    for shares in task.published.accuracy.values():
        assert set(shares) <= set(task.test_lengths) and all(0 <= share <= 1 for share in shares.values())


def test_bytes_never_change(task):
    digest = hashlib.sha256()
    for split, length in parts(task):
        for source, target in task.examples(split, 20, length=length):
            digest.update(f"{' '.join(source)}\t{' '.join(target)}\n".encode())
    assert digest.hexdigest()[:16] == CHECKSUMS[task.name]


def test_examples_are_a_pure_function(task, drawn):
    for split, length in parts(task):
        again = type(task)(**task.get_config())
        assert drawn.some(split, length) == again.examples(split, 300, length=length)
    if task.name != "cfq":
        assert task.examples("train", 50, seed=1) != task.examples("train", 50)


def test_examples_are_right(task, drawn):
    vocabulary = set(task.vocabulary)
    for split, length in parts(task):
        for source, target in drawn.some(split, length):
            assert isinstance(source, tuple) and isinstance(target, tuple) and source and target
            solved = task.solve(source)
            assert (solved[: len(target)] if task.name == "lego" else solved) == target  # which asks for a beginning
            assert vocabulary.issuperset(source) and vocabulary.issuperset(target)


def test_sizes(task, drawn):
    for split, declared in task.splits.items():
        size = PARTS.get((task.name, split))
        assert len(drawn.whole(split, None)) == (size or declared.size)
    assert task.examples("train", 0) == []
    assert len(task.examples("train", 2)) == 2


def test_no_source_twice(task, drawn):
    if not task.distinct:
        return
    for split, length in parts(task):
        repeated = REPEATED.get((task.name, split), 0)
        assert len(drawn.keys(split, length)) == len(drawn.whole(split, length)) - repeated


def test_train_and_test_share_nothing(task, drawn):
    if task.name in HINTS:  # they are trained on only
        return
    train, validation = drawn.keys("train", None), drawn.keys("validation", None)
    if task.name in FINITE or "lookup" in task.name:
        assert not train & validation
    for length in task.test_lengths:
        test = drawn.keys("test", length)
        if length is None and task.name not in FINITE:  # drawn from the trained lengths
            assert len(test & train) < 0.01 * len(test)
        else:
            assert not test & train and not test & validation


def test_gold_attention(task, drawn):
    for split, length in parts(task):
        for source, target in drawn.some(split, length)[:50]:
            places = task.gold_attention(source)
            if places is not None:
                assert len(places) == len(target) + 1
                # Only what is read from its end may arrive at the start, and what looks for one more definite noun.
                least = -1 if "after" in source else 0
                starts = task.name.startswith("cogs") * [token == ";" for token in target]
                for k, place in enumerate(places):
                    assert (-1 if any(starts[k : k + 1]) else least) <= place <= len(source)


def test_wrong_requests(task):
    with pytest.raises(InputError, match="did you mean 'train'"):
        task.examples("trains")
    with pytest.raises(InputError, match="length"):
        task.examples("train", 5, length=0)
    with pytest.raises(InputError, match="the number of examples must be an integer from 0"):
        task.examples("train", -1)
    for source in (("no-such-token",), ()):
        with pytest.raises(InputError) as error:
            task.solve(source)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "method", ["solve", "check_source", "gold_attention", "intermediate", "causal_results", "execution_trace"]
)
@pytest.mark.parametrize("source", [None, 5, [1, 2], [None], [["1"]], {"1": "2"}, {"1"}, b"12", iter("12")])
def test_a_source_that_is_no_list_of_tokens_is_refused_in_a_sentence(task, method, source):
    needed = {"causal_results": "intermediate"}.get(method, method)
    own = any(needed in vars(c) for c in type(task).__mro__[:-2])
    if needed in ("gold_attention", "intermediate", "execution_trace") and not own:
        return  # the task has none, whatever is asked
    with pytest.raises(
        InputError, match=f"^a source of {task.name} must be a list of texts, a token each, not "
    ) as error:
        getattr(task, method)(source)
    assert "\n" not in str(error.value)


def test_there_is_room_for_every_target(task):
    if task.target_room is None:
        return  # the answers have tokens of their own, or none is known
    longest = [len(target) + 1 - len(source) for source, target in task.examples("test", 200)]
    for stratum in task.strata:
        examples = task.stratum_examples(stratum, 20, length=task.strata[stratum].shortest)
        longest += [len(target) + 1 - len(source) for source, target in examples]
    assert max(longest) <= task.target_room


def test_a_source_may_be_a_list_an_array_or_a_text(task):
    source, target = task.examples("test", 1)[0]
    for given in (list(source), np.array(source), task.text(source)):
        assert task.solve(given)[: len(target)] == target


def test_tasks_import_no_keras():
    code = "import sys, kzoo.tasks; kzoo.tasks.get('recopy').examples(size=1); sys.exit('keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("name", tasks.names())
def test_docstring_example(name, run_examples):
    run_examples(type(tasks.get(name)))
