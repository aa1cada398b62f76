"""Calculations in line: zeros, reversal, interleaving, and back to what a person writes."""

import numpy as np
import pytest
from keras import ops

import kzoo
from kzoo.errors import InputError

pytestmark = pytest.mark.once


def of(task, **layout):
    return kzoo.CalculationPreprocessor.from_task(kzoo.tasks.get(task), **layout)


def shown(preprocessor, ids):
    """Returns ids as characters, with ^ and $ for start and end."""
    tokenizer = preprocessor.tokenizer
    symbols = {tokenizer.start_id: "^", tokenizer.end_id: "$"}
    return "".join(symbols.get(i, tokenizer.tokens[i]) for i in ids)


@pytest.mark.parametrize(
    "task, layout, pair, source, target, ends",
    [
        ("addition", {}, ("12+9", "21"), "^012+009$", "120$", [4, 8]),
        ("addition", {"digits": 5}, ("12+9", "21"), "^00012+00009$", "12000$", [6, 12]),
        ("addition", {"aligned": True}, ("12+95", "107"), "^+001925$", "701$", [8]),
        ("addition", {"aligned": True, "digits": 4}, ("12+95", "107"), "^+00001925$", "7010$", [10]),
        ("multiplication", {}, ("12*9", "108"), "^012*9$", "801$", [4, 6]),
        ("multiplication", {"aligned": True}, ("12*9", "108"), "^*091929$", "801$", [8]),
        ("binary_addition", {}, ("011+11", "1001"), "^0110+0011$", "1001$", [5, 10]),
        ("binary_addition", {"aligned": True}, ("0110+1", "111"), "^+0000101001$", "11100$", [12]),
        ("sum_digits", {}, ("12+9+105", "126"), "^0012+0009+0105$", "6210$", [5, 10, 15]),
        ("sum_digits", {"aligned": True}, ("12+9+105", "126"), "^+000001100295$", "6210$", [14]),
        ("sum_operands", {}, ("12+9+105+1", "127"), "^00012+00009+00105+00001$", "72100$", [24]),
        ("sum_operands", {"running": True}, ("12+9+105", "126"), "^00012+00009+00105$", "50100+41100+62100$", [18]),
        ("sum_operands", {"running": True}, ("9+9", "18"), "^009+009$", "900+810$", [8]),
        ("sum_digits", {"running": True}, ("12+9+105", "126"), "^0012+0009+0105$", "5010+4110+6210$", [5, 10, 15]),
        ("successor", {}, ("99", "100"), "^099$", "001$", [4]),
        ("successor", {"digits": 2}, ("99", "100"), "^099$", "001$", [4]),
        ("parity", {}, ("0110", "0010"), "^0110$", "0100$", [5]),
        ("parity_class", {}, ("11", "0"), "^11$", "0$", [3]),
        ("recopy", {}, ("4 7", "4 4 4 7 7 7 7 7"), "^47$", "44477777$", [3]),
    ],
)
def test_the_layout(task, layout, pair, source, target, ends):
    preprocessor = of(task, **layout)
    ids, written = preprocessor.encode(*pair)
    assert (shown(preprocessor, ids), shown(preprocessor, written)) == (source, target)
    assert preprocessor.sources([ids])["encoder_ends"].tolist() == [ends]
    assert preprocessor.decode(written) == pair[1]
    assert preprocessor.steps(ids) >= len(written)
    tensors = preprocessor.tensors(np.array([ids], "int32"))
    assert ops.convert_to_numpy(tensors["encoder_ends"]).tolist() == [ends]
    if "limits" in tensors:
        assert ops.convert_to_numpy(tensors["limits"]).tolist() == [preprocessor.steps(ids)]
    again = kzoo.CalculationPreprocessor(**preprocessor.get_config())
    assert again.encode(*pair) == (ids, written) and again.get_config() == preprocessor.get_config()


@pytest.mark.parametrize("task", ["sum_digits", "sum_operands"])
def test_every_sum_so_far(task):
    """Sums of the last one, two, three operands, each from its last digit, as long as an operand with its zeros."""
    preprocessor = of(task, running=True)
    for source, target in kzoo.tasks.get(task).examples("train", 100):
        ids, written = preprocessor.encode(source, target)
        text, numbers = shown(preprocessor, ids)[1:-1], [int(part) for part in "".join(source).split("+")]
        sums = [sum(numbers[-k:]) for k in range(1, len(numbers) + 1)]
        width = len(text.split("+")[0])
        assert [int(part[::-1]) for part in shown(preprocessor, written)[:-1].split("+")] == sums
        assert {len(part) for part in shown(preprocessor, written)[:-1].split("+")} == {width}
        assert preprocessor.decode(written) == "".join(target)
        assert len(written) == preprocessor.steps(ids) == len(text) + 1


@pytest.mark.parametrize("task", ["addition", "multiplication", "sum_digits", "binary_addition"])
@pytest.mark.parametrize("aligned", [False, True])
def test_every_example_comes_back(task, aligned):
    preprocessor = of(task, aligned=aligned)
    for source, target in kzoo.tasks.get(task).examples("train", 200):
        ids, written = preprocessor.encode(source, target)
        assert preprocessor.decode(written) == "".join(target)
        assert len(written) == preprocessor.number_layout.written(ids[1:-1]) + 1 == preprocessor.steps(ids)


def test_rows_of_several_lengths():
    x, y, weight = of("addition")([("1+2", "3"), ("12+9", "21")])
    assert x["encoder_ends"].tolist() == [[3, 6], [4, 8]]
    assert weight.tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]] and y.shape == (2, 4)
    assert x["encoder_padding_mask"].sum(axis=1).tolist() == [7, 9]


def test_zeros_of_an_output_are_left_out():
    preprocessor = of("addition")
    assert preprocessor.decode([3, 0, 0, 12]) == "3" and preprocessor.decode([0, 0, 12]) == "0"
    assert preprocessor.decode([12]) == ""


@pytest.mark.parametrize(
    "task, text, message",
    [
        ("addition", "123", r"a source is a number, '\+' and a number, not '123'"),
        ("addition", "1+", "a source is a number"),
        ("addition", "1+2+3", "a source is a number"),
        ("sum_digits", "1+2", r"a source is 3 numbers with '\+' between them, not '1\+2'"),
        ("sum_operands", "12", r"a source is two or more numbers with '\+' between them, not '12'"),
        ("sum_operands", "1++2", "a source is two or more numbers"),
        ("multiplication", "12*34", "and one digit, not '12\\*34'"),
        ("successor", "", "a source is one number, not ''"),
        ("addition", "1-2", "unknown token '-'"),
    ],
)
def test_what_is_no_source(task, text, message):
    with pytest.raises(InputError, match=message):
        of(task).encode_source(text)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"operator": "-"}, "unknown operator '-'"),
        ({"digits": 3}, "digits and aligned are for numbers"),
        ({"zeros": 1, "aligned": True}, "aligned lays operands side by side, and there is no operator"),
        ({"operator": "+", "single": True, "operands": 3}, "single is for two operands, not 3"),
        ({"lowest_first": True}, "lowest_first is for numbers, whose results are written as they stand"),
        ({"zeros": 1, "lowest_first": True, "reversed_target": True}, "lowest_first is for numbers"),
        ({"operator": "+", "zeros": 1, "aligned": True, "operands": None}, "needs to know how many there are"),
        ({"operator": "+", "zeros": 1, "running": True}, "running is for sums written from their last digit"),
        ({"zeros": 1, "reversed_target": True, "running": True}, "running is for sums"),
        ({"operands": 1}, "operands must be an integer from 2"),
        ({"zeros": -1}, "zeros must be an integer from 0"),
        ({"characters": 1}, "characters must be true or false"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(InputError, match=message):
        kzoo.CalculationPreprocessor("0123456789+", **options)


def test_a_target_that_is_no_sum():
    with pytest.raises(InputError, match="the target of a sum is 21 here, not '22'"):
        of("sum_operands", running=True).encode("12+9", "22")
    with pytest.raises(InputError, match="a target has at most 4 digits here, not 5"):
        of("sum_operands", running=True).encode("+".join(["99"] * 102), "10098")


def test_a_target_without_room_and_a_vocabulary_without_zero():
    with pytest.raises(InputError, match="a target has at most 3 digits here, not 4"):
        of("addition").encode("12+9", "1234")
    with pytest.raises(InputError, match="filled up with the token '0'"):
        kzoo.CalculationPreprocessor("ab", zeros=1)
