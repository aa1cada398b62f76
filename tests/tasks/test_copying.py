import hashlib

import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.tasks.copying import repeats

pytestmark = pytest.mark.once

X = tuple("4798")
GOLDEN = {
    "copy": (X, X),
    "reverse_copy": (X, X[::-1]),
    "recopy": (X, tuple("444777779999988888")),
    "reverse_recopy": (X, tuple("888889999977777444")),
    "inv_recopy": (tuple("444777779999988888"), X),
    "inv_reverse_recopy": (tuple("888889999977777444"), X),
    "dedupe": (tuple("444777999998"), X),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values(name):
    source, target = GOLDEN[name]
    task = tasks.get(name)
    assert task.solve(source) == target
    *places, end = task.gold_attention(source)
    assert tuple(source[i] for i in places) == target and end == len(source)


def test_posretrieve_golden_values():
    task = tasks.get("posretrieve")
    found = "".join(task.solve(tuple("5427969573")))
    assert found == "5:6;4:9;2:2;7:5;9:3;6:9;9:3;5:6;7:5;3:7;"
    assert task.solve(("1",)) == ("1", ":", "n/a", ";")
    # The 7 points behind the end.
    assert task.gold_attention(("2", "0", "7")) == tuple(map(int, "0020110122323"))


def test_repeats():
    assert [repeats(digit) for digit in "0123456789"] == [1, 1, 1, 1, 3, 3, 3, 5, 5, 5]


def test_recopy_is_what_models_were_trained_on():
    text = "\n".join(f"{' '.join(s)}\t{' '.join(t)}" for s, t in tasks.get("recopy").examples("train"))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "10fb3328cba0ef47"


@pytest.mark.parametrize(
    ("name", "side"),
    [("copy", 0), ("reverse_copy", 0), ("recopy", 0), ("reverse_recopy", 0), ("posretrieve", 0)]
    + [("inv_recopy", 1), ("inv_reverse_recopy", 1)],
)
def test_length_counts_digits(name, side):
    task = tasks.get(name)
    lengths = [len(example[side]) for example in task.examples("train", 600)]
    assert set(lengths) == set(range(5, 11))
    assert {len(example[side]) for example in task.examples("validation", 600)} == set(range(10, 16))
    assert {len(example[side]) for example in task.examples("test", 50, length=30)} == {30}


def test_dedupe_length_counts_draws():
    for source, target in tasks.get("dedupe").examples("test", 500, length=30):
        assert 30 <= len(source) <= 150 and len(target) <= 30 and (len(source) - 30) % 2 == 0
    mean = sum(len(target) for _, target in tasks.get("dedupe").examples("test", 500, length=100)) / 500
    assert 89 < mean < 92  # a tenth of the neighbours are equal


@pytest.mark.parametrize("name", ["inv_recopy", "inv_reverse_recopy"])
@pytest.mark.parametrize("source", ["44", "4444", "77777444477777", "778877788"])
def test_inverse_tasks_refuse_other_runs(name, source):
    with pytest.raises(InputError, match="threes"):
        tasks.get(name).solve(tuple(source))
    with pytest.raises(InputError, match="threes"):
        tasks.get(name).gold_attention(tuple(source))


def test_published_numbers():
    assert tasks.get("inv_recopy").published.accuracy["monotonic"] == {15: 1.0, 30: 1.0, 100: 0.988}
    assert tasks.get("recopy").published.accuracy["mix_onestep_pr"] == {15: 0.999, 30: 0.884, 100: 0.302}
    assert tasks.get("copy").published.accuracy["onestep_minus_sigmoid"][100] == 0.998
    assert tasks.get("dedupe").published.accuracy["monotonic"] == {None: 0.997, 15: 0.983, 30: 0.943, 100: 0.75}
    assert {len(tasks.get(name).published.accuracy) for name in list(GOLDEN)[:6]} == {21}
