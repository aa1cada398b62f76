"""A grammar that derives targets from sources phrase by phrase, and its estimation from pairs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from kzoo.errors import InputError

Span = tuple[int, int]
Node = tuple[Span, str]  # a span of the source and the part of the target that it derives
Table = Mapping[str | None, Mapping["Rule", float]]

REPEATED, PARTS = (2, 3, 4), (1, 2, 3)  # how often a word repeats what is before it, or what is beside it
BESIDE = 0.1  # the weight of putting phrases together without a word; a word that does it is preferred to a silent one
MOST = 10**6  # combinations of phrases that a pair may have
PRIOR = 0.3  # uses of a word that are added to what was counted, shared as at the start


class Rule(NamedTuple):
    """What a word does: it stands for a token, repeats the phrase before it, or combines the phrases beside it.

    Args:
        kind: str. "emit", "repeat" or "combine". Two phrases without a word between them are combined too.
        token: str. What is emitted, a token or nothing.
        times: int. How often the whole is repeated.
        left: int. How often the left phrase is repeated in it; so `right`.
        swapped: bool. Whether the right phrase comes first.
    """

    kind: str
    token: str = ""
    times: int = 1
    left: int = 1
    right: int = 1
    swapped: bool = False

    def __call__(self, *phrases: str) -> str:
        """Returns the target of the targets of its phrases."""
        if self.kind != "combine":
            return self.token + "".join(phrases) * self.times
        left, right = phrases[0] * self.left, phrases[1] * self.right
        return (right + left if self.swapped else left + right) * self.times


JOIN = Rule("combine")


class Step(NamedTuple):
    """One way to derive a part of a target from a span: a rule, whose it is, its weight, and the phrases it is of."""

    word: str | None
    rule: Rule
    weight: float
    phrases: tuple[Node, ...]

    @property
    def joins(self) -> bool:
        """bool. Whether it is a word that joins two phrases, as "and" does."""
        return self.word is not None and self.rule._replace(swapped=False) == JOIN


Chart = dict[Node, tuple[float, list[Step]]]  # the summed weight of all derivations, and their last steps


def initial_table(words: Sequence[str], tokens: Sequence[str]) -> dict[str | None, dict[Rule, float]]:
    """Returns the weights before any pair was seen: the three kinds are equally likely, and the rules of a kind."""
    swaps = (False, True)
    emit = [Rule("emit", token) for token in ("", *tokens)]
    repeat = [Rule("repeat", times=times) for times in REPEATED]
    powers = [(left, right, times) for left in PARTS for right in PARTS for times in (1, *REPEATED)]
    combine = [Rule("combine", "", times, left, right, swap) for swap in swaps for left, right, times in powers]
    own = {rule: 1 / 3 / len(rules) for rules in (emit, repeat, combine) for rule in rules}
    beside = {Rule("combine", swapped=swap): BESIDE / len(swaps) for swap in swaps}
    return {**{word: own for word in words}, None: beside}


def derivations(source: Sequence[str], target: str, table: Table) -> Chart:
    """Returns every way to derive parts of a target from spans of a source, bottom-up.

    Args:
        source: sequence of str.
        target: str. Each character is a token.
        table: mapping of word to the weights of its rules; None has those of phrases with no word between them.

    Raises:
        InputError: there are too many.
    """
    parts = {target[a:b] for a in range(len(target) + 1) for b in range(a, len(target) + 1)}
    kinds = {word: _by_kind(table[word]) for word in {None, *source}}
    found: Chart = {}
    left = MOST
    derived: dict[Span, list[tuple[Node, str]]] = {}
    for width in range(1, len(source) + 1):
        for start in range(len(source) - width + 1):
            span = (start, start + width)
            steps: dict[str, list[Step]] = defaultdict(list)
            for word, kind, inner in _last_steps(source, span):
                left -= prod(len(derived[own]) for own in inner) * len(kinds[word].get(kind, ()))
                if left < 0:
                    shown = " ".join(source)
                    raise InputError(
                        f"{shown!r:.60} has too many derivations: give shorter pairs with these tokens too"
                    )
                for rule, weight in kinds[word].get(kind, ()):
                    for choice in product(*[derived[own] for own in inner]):
                        made = rule(*[text for _, text in choice])
                        if made in parts:
                            steps[made].append(Step(word, rule, weight, tuple(node for node, _ in choice)))
            derived[span] = [((span, made), made) for made in steps]
            for made, own in steps.items():
                found[span, made] = (
                    sum(step.weight * prod(found[node][0] for node in step.phrases) for step in own),
                    own,
                )
    return found


def _by_kind(rules: Mapping[Rule, float]) -> dict[str, list[tuple[Rule, float]]]:
    found: dict[str, list[tuple[Rule, float]]] = defaultdict(list)
    for rule, weight in rules.items():
        found[rule.kind].append((rule, weight))
    return found


def _last_steps(source: Sequence[str], span: Span) -> Iterator[tuple[str | None, str, tuple[Span, ...]]]:
    """Yields which word may do what to which phrases of a span."""
    start, stop = span
    if stop - start == 1:
        yield source[start], "emit", ()
        return
    for middle in range(start + 1, stop - 1):
        yield source[middle], "combine", ((start, middle), (middle + 1, stop))
    yield source[stop - 1], "repeat", ((start, stop - 1),)
    for middle in range(start + 1, stop):
        yield None, "combine", ((start, middle), (middle, stop))


def expected_uses(source: Sequence[str], target: str, table: Table, uses: dict[str | None, dict[Rule, float]]) -> float:
    """Adds to `uses` how often each rule is used in a derivation of the target, in the mean over all of them.

    Returns:
        float. The summed weight of all derivations, 0 if there is none.
    """
    chart = derivations(source, target, table)
    root = ((0, len(source)), target)
    if root not in chart:
        return 0.0
    outside: dict[Node, float] = defaultdict(float, {root: 1.0 / chart[root][0]})
    for node in reversed(chart):  # spans come after those they are made of
        if node in outside:
            for step in chart[node][1]:
                share = outside[node] * step.weight * prod(chart[phrase][0] for phrase in step.phrases)
                uses[step.word][step.rule] += share
                for phrase in step.phrases:
                    outside[phrase] += share / chart[phrase][0]
    return chart[root][0]


def estimated(prior: Table, uses: Table, least: float) -> dict[str | None, dict[Rule, float]]:
    """Returns the weights after a step of expectation maximisation; rules with less than `least` are left out."""
    found: dict[str | None, dict[Rule, float]] = {}
    for word, rules in prior.items():
        counted, mass = uses.get(word, {}), sum(rules.values())
        share = mass / (sum(counted.values()) + PRIOR * mass)
        weights = {rule: share * (counted.get(rule, 0.0) + PRIOR * own) for rule, own in rules.items()}
        found[word] = {rule: weight for rule, weight in weights.items() if weight > least}
    return found


def best_steps(chart: Chart) -> dict[Node, Step]:
    """Returns the last step of the likeliest derivation of each node; of equal ones first that where a word joins two
    phrases, then that where one repeats.
    """
    best: dict[Node, float] = {}
    found: dict[Node, Step] = {}
    for node, (_, steps) in chart.items():
        weights = [step.weight * prod(best[phrase] for phrase in step.phrases) for step in steps]
        best[node] = max(weights)
        alike = [step for step, weight in zip(steps, weights, strict=True) if weight > 0.999 * best[node]]
        found[node] = min(alike, key=lambda step: (not step.joins, step.rule.kind != "repeat"))
    return found
