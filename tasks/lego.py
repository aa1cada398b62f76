"""Chains of assignments, of Awasthi and Gupta (2023), Appendix C.2, after Zhang et al. (2022), and their hint."""

import string
from itertools import groupby

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Tokens
from kzoo.tasks.classification import ClassificationTask
from kzoo.tasks.hinting import BUDGET, DELIMITER, PAPER, HintingTask, parts
from kzoo.tasks.published import Published, percent
from kzoo.tasks.strata import Stratum
from kzoo.tasks.strata.chains import chain_strata

LETTERS = tuple(string.ascii_lowercase)
SIGNS = ("-", "+")
CHAIN = 12
TRAINED = 6
ALL_VARIABLES = "ours writes the first n variables and must have all of them right, the paper counts the n-th alone"


class LegoTask(HintingTask):
    """Base of the tasks over chains of twelve variables, each the one before it or its negative, in random order."""

    vocabulary: Tokens = (*LETTERS, "=", *SIGNS, "1", ";", "?")
    splits = {
        "train": Split((TRAINED, TRAINED), 1_000_000),
        "validation": Split((TRAINED, TRAINED), 2_000),
        "test": Split((TRAINED, TRAINED), 2_000),
    }
    test_lengths = tuple(range(TRAINED + 1, CHAIN + 1))
    stress_lengths = (TRAINED, CHAIN)
    characters = True
    length_unit = "variables asked, of a chain of 12"
    paper = f"{PAPER}, Table 4; the task is from Zhang et al., 2022 (arXiv:2206.04301)"

    @property
    def strata(self) -> dict[str, Stratum]:
        return chain_strata(self.ask, CHAIN)

    def ask(self, rng: np.random.Generator, signs: np.ndarray, order: np.ndarray) -> Tokens:
        """Returns the source of a chain with these signs, its clauses in this order."""
        return tuple(self.chain(rng, signs, order)[0])

    def chain(
        self, rng: np.random.Generator, signs: np.ndarray | None = None, order: np.ndarray | None = None
    ) -> tuple[str, list[tuple[str, str]]]:
        """Draws a chain; returns its clauses, in random order unless one is given, and each variable with its sign,
        from the root on.
        """
        letters = [LETTERS[i] for i in rng.choice(len(LETTERS), CHAIN, replace=False)]
        flips = rng.integers(0, 2, CHAIN) if signs is None else signs  # 1 keeps the sign
        values = np.cumprod(2 * flips - 1) > 0
        clauses = [f"{a}={SIGNS[s]}{b};" for a, s, b in zip(letters, flips, ["1", *letters], strict=False)]
        found = [(letter, SIGNS[int(value)]) for letter, value in zip(letters, values, strict=True)]
        return "".join(clauses[i] for i in (rng.permutation(CHAIN) if order is None else order)), found

    def follow(self, clauses: Tokens) -> list[tuple[str, str]]:
        """Returns each variable of the clauses with its value's sign, from the root on.

        Raises:
            InputError: the clauses are not those of one chain.
        """
        after: dict[str, tuple[str, str]] = {}
        for closed, clause in groupby(clauses, lambda token: token == ";"):
            text = "" if closed else "".join(clause)
            if len(text) == 4 and text[0] in LETTERS and text[1] == "=" and text[2] in SIGNS:
                after[text[3]] = (text[0], text[2])
        found: list[tuple[str, str]] = []
        variable, sign = "1", "+"
        while variable in after and len(found) <= CHAIN:
            variable, own = after[variable]
            sign = "+" if sign == own else "-"
            found.append((variable, sign))
        if (
            len(found) != CHAIN
            or len({letter for letter, _ in found}) != CHAIN
            or len(clauses) != 5 * CHAIN
            or set(clauses[4::5]) != {";"}
        ):
            raise InputError(f"a source of {self.name} has {CHAIN} clauses like a=-d; that make one chain from 1 on")
        return found


@register("task", "lego")
class Lego(LegoTask):
    """LEGO: the values of the variables, in the order of the chain. Length counts the variables that are asked.

    A source always has twelve clauses, in random order; the training split draws chains with replacement. Training asks
    for the first six variables of the chain; examples of length n ask for the first n, which is how far the chain was
    followed.

    Example:

    ```python
    task = kzoo.tasks.get("lego")
    source = tuple("b=-a;a=+1;d=+c;c=-b;e=+d;f=+e;g=+f;h=+g;i=+h;j=+i;k=+j;l=-k;")
    assert "".join(task.solve(source)) == "a+b-c+d+e+f+g+h+i+j+k+l-"
    ```

    The paper does not say how the values are written. Here a variable's name goes before its sign, so that accuracy at
    length n means that n variables were found and valued without a mistake; the paper's is of the n-th alone, as the
    metric `last_token_accuracy` is. At the twelfth that is 100 % for `canon_lego`, whose single block reads each token
    together with the three before it, so that it finds a clause by the variable it ends with (of its five seeds two are
    right at all twelve, two at eleven, and one learns more slowly); 99.1 % for `tempered_lego`, of which another seed
    never left chance; and 98.6 % for `hinted_lego`. It is 46 % for `plain_lego`, which was trained as the first:
    without tempering it never left chance. With two blocks and no such layer a variable must be seen from its clause's
    other end whatever it is: `RelativeBias` with `query_bias` has scores for offsets alone, and left chance at the
    second variable after 2,500 batches of 64. `ShawBias`, whose scores depend on the query too, was still there after
    6,000.
    """

    name = "lego"
    target_steps = (0.4, 0)  # 2 tokens for the 5 of a clause
    published = Published(
        percent(
            range(7, 13),
            plain=(99.9, 99.4, 94.8, 84.5, 67.6, 41.3),
            hinted=(99.9, 99.9, 98.4, 91.9, 79.3, 56.5),
        ),
        not_comparable=dict.fromkeys(("plain", "hinted"), ALL_VARIABLES),
        budget=BUDGET,
    )

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        if length > CHAIN:
            raise InputError(f"a length of {self.name} is at most {CHAIN}, not {length}")
        source, found = self.chain(rng)
        return Example(tuple(source), tuple("".join(map("".join, found[:length]))))

    def solve(self, source: Tokens) -> Tokens:
        return tuple("".join(map("".join, self.follow(tuple(source)))))

    def stratum_example(self, source: Tokens, length: int | None) -> Example:
        return Example(source, self.solve(source)[: 2 * (length or CHAIN)])


@register("task", "two_ahead")
class TwoAhead(LegoTask):
    """The LEGO hint: given the value of one of the first four variables, the sign of the one two steps down the chain.

    The question stands behind the clauses. Length means nothing here. `hinted_lego` has not learned it, 51 % of 500
    questions, and learned the task more slowly than `tempered_lego`, which was never asked: it brings nothing here. Its
    answer is two links away and is one token, while each token of the task is one link away: two layers can write the
    task, and an answer at two links needs a third.

    Example:

    ```python
    task = kzoo.tasks.get("two_ahead")
    clauses = "b=-a;a=+1;d=+c;c=-b;e=+d;f=+e;g=+f;h=+g;i=+h;j=+i;k=+j;l=-k;"
    assert task.solve(tuple(clauses + "|b=-1;d=?|")) == ("+",)
    ```
    """

    name = "two_ahead"
    vocabulary = (*LegoTask.vocabulary, DELIMITER)
    target_steps = (0, 1)
    test_lengths = (TRAINED,)

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        source, found = self.chain(rng)
        return Example(*self.question(rng, source, found))

    def ask(self, rng: np.random.Generator, signs: np.ndarray, order: np.ndarray) -> Tokens:
        return self.question(rng, *self.chain(rng, signs, order))[0]

    def question(self, rng: np.random.Generator, source: str, found: list[tuple[str, str]]) -> tuple[Tokens, Tokens]:
        """Returns a source with a random question behind its clauses, and the answer."""
        given = int(rng.integers(4))
        (first, value), (second, asked) = found[given], found[given + 2]
        return tuple(f"{source}|{first}={value}1;{second}=?|"), (asked,)

    def solve(self, source: Tokens) -> Tokens:
        clauses, *rest = parts(tuple(source))
        found = self.follow(clauses)
        for (first, value), (second, asked) in zip(found, found[2:], strict=False):
            if [*map("".join, rest)] == [f"{first}={value}1;{second}=?", ""]:
                return (asked,)
        raise InputError(f"a source of {self.name} ends like |a=-1;f=?| with a value and the variable two steps on")


@register("task", "lego_value")
class LegoValue(LegoTask, ClassificationTask):
    """LEGO with one answer: the sign of the variable that is asked behind the clauses. Length n asks for the n-th.

    So accuracy at length n is that of the n-th variable alone, and nothing but the model's depth follows the chain.
    Training asks for one of the first six variables. The intermediate results are the values of these six, each at the
    first token of its clause: the paper trains on all six of each chain too.

    Example:

    ```python
    task = kzoo.tasks.get("lego_value")
    clauses = "b=-a;a=+1;d=+c;c=-b;e=+d;f=+e;g=+f;h=+g;i=+h;j=+i;k=+j;l=-k;"
    assert task.solve(tuple(clauses + "?b")) == ("-",)
    assert task.intermediate(tuple(clauses + "?b"))[:2] == [(0, "-"), (5, "+")]
    ```

    The paper's numbers are those of `lego`, and stand beside none here: its models are decoders, it does not say where
    they write the values, and 41.3 % at the twelfth variable is less than guessing one of two signs would give. Small
    "rel" and "rel_gate" classifiers of 8 and 14 steps still knew the first variable alone after 900 batches of 32.
    """

    name = "lego_value"
    labels = SIGNS
    splits = {
        "train": Split((1, TRAINED), 1_000_000),
        "validation": Split((1, TRAINED), 2_000),
        "test": Split((1, TRAINED), 2_000),
    }
    length_unit = "place in the chain of the variable asked, of 12"
    results_are_causal = False

    def write(self, rng: np.random.Generator, split: str, length: int, repeated: bool) -> Example:
        if length > CHAIN:
            raise InputError(f"a length of {self.name} is at most {CHAIN}, not {length}")
        source, found = self.chain(rng)
        letter, sign = found[length - 1]
        return Example((*source, "?", letter), (sign,))

    def ask(self, rng: np.random.Generator, signs: np.ndarray, order: np.ndarray) -> Tokens:
        source, found = self.chain(rng, signs, order)
        return (*source, "?", found[-1][0])

    def solve(self, source: Tokens) -> Tokens:
        return (self.asked(source)[0],)

    def intermediate(self, source: Tokens) -> list[tuple[int, str]]:
        _, values = self.asked(source)
        places = {source[i]: i for i in range(0, 5 * CHAIN, 5)}
        return sorted((places[letter], sign) for letter, sign in values[:TRAINED])

    def asked(self, source: Tokens) -> tuple[str, list[tuple[str, str]]]:
        """Returns the sign of the variable that a source asks for, and all variables with theirs.

        Raises:
            InputError: it asks for none.
        """
        values = self.follow(tuple(source[: 5 * CHAIN]))
        signs = dict(values)
        mark, letter = source[5 * CHAIN :] if len(source) == 5 * CHAIN + 2 else ("", "")
        if mark != "?" or letter not in signs:
            raise InputError(f"a source of {self.name} ends like ?d with one of its variables")
        return signs[letter], values

    def stratum_example(self, source: Tokens, length: int | None) -> Example:
        letter, sign = self.follow(source[: 5 * CHAIN])[(length or CHAIN) - 1]
        return Example((*source[:-1], letter), (sign,))
