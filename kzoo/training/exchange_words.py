"""Data augmentation: words that the pairs treat alike change places."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kzoo import checks
from kzoo.errors import InputError
from kzoo.tasks.base import Example, Tokens
from kzoo.training.alignment.pairs import read_pairs

Kind = dict[str, Tokens]  # words that may change places, each with the tokens that stand for it, in one order
Frame = tuple[Tokens, Tokens]  # what stands before and behind a word


def exchange_words(pairs: Iterable[Any], seed: int = 0) -> list[Example]:
    """Returns pairs in which words that may change places did, and with them the tokens that stand for them.

    A model that reads a word only alone in training does not learn how it combines with others. Where the pairs say
    that two words are alike, what is said with one is right with the other too. The words of a kind are found in the
    pairs whose target is one token: each of them stands in the same sources, the same words before and behind it, and
    gives a token of its own there. Of "walk" to "W", "jump" to "J", "turn left" to "L" and "turn right" to "R", "walk"
    and "jump" are of one kind, and "left" and "right" of another. Then in each pair the words of each kind, and their
    tokens, are replaced by a random permutation of theirs.

    It takes for granted that words of a kind are alike in all pairs, which the pairs need not show. A training that
    uses it sees what a test by a held-out word asks for, so its results are of another kind than those without.

    From [Akyurek and Andreas, 2023](https://arxiv.org/abs/2201.12926), whose symmetries come from a lexicon that an
    alignment gives. Difference: only pairs with a target of one token tell which words are alike.

    Args:
        pairs: iterable of (source, target), texts of tokens separated by spaces, or sequences of tokens.
        seed: int. Of the permutations. Defaults to 0.

    Returns:
        list of Example, as many as there are pairs and in their order.

    Raises:
        InputError: a pair is not valid, or no words may change places.

    Example:

    ```python
    pairs = [("walk", "W"), ("jump", "J"), ("walk twice", "W W"), ("look", "K"), ("look twice", "K K")]
    tokens = {"walk": "W", "jump": "J", "look": "K"}
    for source, target in kzoo.exchange_words(pairs):
        assert target == (tokens[source[0]],) * len(source)
    ```
    """
    examples = read_pairs(pairs)
    checks.integer("seed", seed, 0, 2**31 - 1)
    kinds = exchangeable(examples)
    if not kinds:
        raise InputError("no words may change places: no pairs with a target of one token differ in one word")
    random = np.random.default_rng(seed)
    return [_exchanged(example, kinds, random) for example in examples]


def exchangeable(pairs: Iterable[Example]) -> list[Kind]:
    """Returns the words of each kind, see `exchange_words`."""
    frames: dict[Frame, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for source, target in pairs:
        if len(target) == 1:
            for i, word in enumerate(source):
                frames[source[:i], source[i + 1 :]][word].add(target[0])
    stands_for: dict[str, dict[Frame, str]] = defaultdict(dict)
    unclear = set()  # words with several tokens in a frame, or with one that another word has there too
    for frame, words in frames.items():
        uses = Counter(token for tokens in words.values() for token in tokens)
        for word, (token, *others) in words.items():
            stands_for[word][frame] = token
            if others or uses[token] > 1:
                unclear.add(word)
    alike: dict[frozenset[Frame], Kind] = defaultdict(dict)
    for word, tokens in stands_for.items():
        if word not in unclear:
            alike[frozenset(tokens)][word] = tuple(tokens[frame] for frame in sorted(tokens))
    return [kind for kind in alike.values() if len(kind) > 1]


def _exchanged(example: Example, kinds: Sequence[Kind], random: np.random.Generator) -> Example:
    source, target = example
    for kind in kinds:  # one after another: a token may depend on the words of several kinds
        words = dict(zip(kind, [list(kind)[i] for i in random.permutation(len(kind))], strict=True))
        tokens = {old: new for word in kind for old, new in zip(kind[word], kind[words[word]], strict=True)}
        source = tuple(words.get(word, word) for word in source)
        target = tuple(tokens.get(token, token) for token in target)
    return Example(source, target)
