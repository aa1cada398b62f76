"""From pairs to which phrase of the source, and which of its repetitions, each target token comes from."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from kzoo import checks
from kzoo.data.alignment import Alignment
from kzoo.errors import InputError
from kzoo.training.alignment.pairs import read_pairs_to_align
from kzoo.training.alignment.phrase_grammar import (
    Node,
    Rule,
    Span,
    Step,
    Table,
    best_steps,
    derivations,
    estimated,
    expected_uses,
    initial_table,
)

PAIRS, ITERATIONS = 200, 4  # of expectation maximisation, for each length of sources
LEAST, LIKELY = 1e-4, 1e-3  # rules of less weight are left out; for the derivations first those of less than the second
LONGEST_SOURCE, LONGEST_TARGET = 16, 100  # tokens: a chart has an entry for all parts of both


def align_phrases(pairs: Iterable[Any], seed: int = 0) -> Alignment:
    """Learns from pairs of source and target alone how phrases repeat, and aligns each target token to its repetition.

    `kzoo.align` explains a target token by one source token. In a language of commands, as SCAN's, what is written
    depends on a phrase and on how often it was repeated. Here a grammar derives the target of each span of the source
    from those of smaller spans: a word stands for one token or none, repeats the phrase before it, or combines the two
    beside it, in either order, with repetitions of either and of both; phrases with no word between them are put
    together in either order. What each word does is estimated by expectation maximisation over all derivations, from
    short sources to long ones, of pairs that are drawn. It is an inversion transduction grammar ([Wu,
    1997](https://aclanthology.org/J97-3002/)) with repetitions; that words repeat and combine is what it knows
    of the language beforehand.

    The likeliest derivation of a pair gives the positions. Phrases that a word joins, as "and" does, are read in the
    order of the target, from the end of the source where it swaps them. The first repetition of a phrase that its last
    word repeats is aligned to the first word of the phrase, the next to the next: so the position says which
    repetition it is. Where the source has no such word, every position is as likely.

    Args:
        pairs: iterable of (source, target), texts of tokens separated by spaces, or sequences of tokens; sources of at
            most 16 tokens, targets of at most 100.
        seed: int. Of the drawing of pairs. Defaults to 0.

    Returns:
        Alignment. Its posteriors are those of the likeliest derivation, 0 or 1 where it has a position.

    Raises:
        InputError: a pair is not valid or not derived, which is told by its index.

    Example:

    ```python
    pairs = [("jump", "J"), ("walk", "W"), ("jump twice", "J J"), ("walk twice", "W W"), ("jump and walk", "J W")]
    alignment = kzoo.align_phrases([*pairs, ("jump twice and walk", "J J W")])
    assert alignment.positions(5).tolist() == [0, 1, 3]
    ```
    """
    examples = read_pairs_to_align(pairs, (LONGEST_SOURCE, LONGEST_TARGET))
    checks.integer("seed", seed, 0, 2**31 - 1)
    letters = {token: chr(i + 1) for i, token in enumerate(sorted({t for pair in examples for t in pair.target}))}
    texts = [(pair.source, "".join(letters[token] for token in pair.target)) for pair in examples]
    table = _estimate(texts, [*letters.values()], seed)
    total, posteriors, kinds = 0.0, [], []
    likely = {
        word: {rule: weight for rule, weight in rules.items() if weight > LIKELY} for word, rules in table.items()
    }
    for index, (source, target) in enumerate(texts):
        root = ((0, len(source)), target)
        charts = (derivations(source, target, rules) for rules in (likely, table))
        chart = next((chart for chart in charts if root in chart), None)
        if chart is None:
            raise InputError(
                f"pair {index} is not derived by repeating and combining phrases: {' '.join(source)!r:.60}"
            )
        total += log(chart[root][0])
        positions = _positions(best_steps(chart), root)
        posteriors.append(_posterior(positions, len(source)))
        moves = np.diff(positions, prepend=-2) != 0
        kinds.append(np.stack([~moves, moves, np.zeros_like(moves)], axis=1).astype("float32"))
    return Alignment(examples, "forward", {"forward": total}, posteriors, kinds)


def _estimate(texts: Sequence[tuple[tuple[str, ...], str]], tokens: Sequence[str], seed: int) -> Table:
    """Returns the weights of all rules after expectation maximisation, the short sources first."""
    prior = initial_table(sorted({word for source, _ in texts for word in source}), tokens)
    table: Table = prior
    random = np.random.default_rng(seed)
    for longest in sorted({len(source) for source, _ in texts}):
        short = [pair for pair in texts if len(pair[0]) <= longest]
        drawn = random.permutation(len(short))[:PAIRS]
        for _ in range(ITERATIONS):
            uses: dict[str | None, dict[Rule, float]] = defaultdict(lambda: defaultdict(float))
            for i in drawn:
                source, target = short[i]
                expected_uses(source, target, table, uses)
            table = estimated(prior, uses, LEAST)
    return table


def _posterior(positions: np.ndarray, size: int) -> np.ndarray:
    """Returns the posterior (T, size + 1) of positions; of those that are none in the source, the same for all."""
    known = (positions >= 0) & (positions <= size)
    found = np.full((len(positions), size + 1), 1.0 / (size + 1), "float32")
    found[known] = np.eye(size + 1, dtype="float32")[positions[known]]
    return found


def _positions(best: Mapping[Node, Step], root: Node) -> np.ndarray:
    """Returns the position of each target token by its likeliest derivation; it may be one beside the source."""
    top = best[root]
    backward = top.joins and top.rule.swapped
    found = []
    for (start, stop), length, times in _phrases(best, root):
        for k in range(length):
            repetition = k * times // length
            found.append(stop - 1 - repetition if backward else start + repetition)
    return np.array(found)


def _phrases(best: Mapping[Node, Step], node: Node) -> list[tuple[Span, int, int]]:
    """Returns the phrases that words join, in the order of the target: span, target tokens, and repetitions."""
    step = best[node]
    if step.joins:
        return [found for own in step.phrases[:: -1 if step.rule.swapped else 1] for found in _phrases(best, own)]
    return [(node[0], len(node[1]), step.rule.times if step.rule.kind == "repeat" else 1)]
