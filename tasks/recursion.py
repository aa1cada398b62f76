"""Sentences to logical forms, deeper than in training: the recursion cases of COGS (Kim and Linzen, 2020)."""

import numpy as np

from kzoo.errors import InputError
from kzoo.registry import register
from kzoo.tasks.base import Example, Split, Task, Tokens
from kzoo.tasks.classification import held_out
from kzoo.tasks.strata import Stratum

NAMES = ("Ada", "Ben", "Clara", "David", "Ella", "Felix", "Grace", "Hugo", "Ida", "Jonas")
NOUNS = tuple("bird book bottle box cat chair child cup doctor dog garden girl house key king letter".split())
NOUNS += tuple("painter room shelf table teacher tree".split())
PREPOSITIONS = ("in", "on", "beside")
TRANSITIVE = {"drew": "draw", "found": "find", "heard": "hear", "helped": "help", "kept": "keep", "saw": "see"}
INTRANSITIVE = {"danced": "dance", "laughed": "laugh", "slept": "sleep", "smiled": "smile"}
CLAUSAL = {"believed": "believe", "hoped": "hope", "noticed": "notice", "said": "say", "thought": "think"}
VERBS = TRANSITIVE | INTRANSITIVE | CLAUSAL
ARTICLES = ("A", "The", "a", "the")
SYMBOLS = ("(", ")", "_", "x", ",", ";", "*", "AND", "agent", "theme", "ccomp", "nmod")
COLUMNS = 128  # source tokens that a logical form can name
VOCABULARY = (*NAMES, *ARTICLES, *NOUNS, *PREPOSITIONS, *VERBS, "that", ".", *VERBS.values(), *SYMBOLS)


Written = list[tuple[str, int]]  # tokens of a logical form, each with the column that it is about


def written_at(column: int, text: str) -> Written:
    """Returns the tokens of a text, all about one column."""
    return [(token, column) for token in text.split()]


class Sentence:
    """A sentence as it is read, from the left: what the logical form says of the words so far.

    Args:
        source: tuple of str.
    """

    def __init__(self, source: Tokens) -> None:
        self.source, self.place = source, 0
        self.definite: Written = []
        self.terms: list[tuple[int, Written]] = []  # by the column of what they are about

    def logical_form(self) -> Written:
        """Returns the logical form: definite nouns first, then terms in the order of what they are about."""
        if len(self.source) > COLUMNS:
            raise InputError(f"a sentence has at most {COLUMNS} tokens, not {len(self.source):,}")
        self.clause()
        self.take((".",), "a point")
        if self.place < len(self.source):
            raise InputError("a sentence ends with its first point")
        terms = sorted(self.terms, key=lambda term: term[0])
        return self.definite + [
            token for k, (column, term) in enumerate(terms) for token in (written_at(column, "AND") if k else []) + term
        ]

    def relation(self, column: int, name: Written, other: Written) -> None:
        """Adds a term between a column and another, or a name."""
        own = [*name, *written_at(column, f"( x _ {column} ,"), *other, *written_at(column, ")")]
        self.terms.append((column, own))

    def take(self, allowed: tuple[str, ...], what: str) -> str:
        """Returns the next word, one of those allowed."""
        word = self.source[self.place] if self.place < len(self.source) else "the end"
        if word not in allowed:
            raise InputError(f"a sentence has {what} as its word {self.place + 1}, not {word!r:.40}")
        self.place += 1
        return word

    def clause(self) -> int:
        """Reads a clause; returns the column of its verb."""
        subject = self.noun_phrase((*NAMES, *ARTICLES))
        column, word = self.place, self.take(tuple(VERBS), "a verb")
        verb = VERBS[word]
        self.relation(column, written_at(column, f"{verb} . agent"), subject)
        if word in TRANSITIVE:
            self.relation(column, written_at(column, f"{verb} . theme"), self.noun_phrase((*NAMES, *ARTICLES)))
        if word in CLAUSAL:
            self.take(("that",), '"that"')
            inner = self.clause()
            self.relation(column, written_at(column, f"{verb} . ccomp"), written_at(inner, f"x _ {inner}"))
        return column

    def noun_phrase(self, allowed: tuple[str, ...]) -> Written:
        """Reads a name, or a noun with its prepositional phrase; returns how the logical form names it."""
        word = self.take(allowed, "a name or an article" if NAMES[0] in allowed else "an article")
        if word in NAMES:
            return written_at(self.place - 1, word)
        column, noun = self.place, self.take(NOUNS, "a noun")
        about = f"{noun} ( x _ {column} )"
        if word.lower() == "the":
            self.definite += written_at(column, f"* {about} ;")
        else:
            self.terms.append((column, written_at(column, about)))
        if set(self.source[self.place : self.place + 1]) & set(PREPOSITIONS):
            preposition = self.take(PREPOSITIONS, "a preposition")
            name = [*written_at(column, f"{noun} . nmod ."), (preposition, column + 1)]
            self.relation(column, name, self.noun_phrase(ARTICLES))
        return written_at(column, f"x _ {column}")


class RecursionTask(Task):
    """Base of the two tasks; length is the depth of the recursion.

    A logical form is that of COGS: `x _ 3` is what the word in column 3, counted from 0, stands for. It names the
    definite nouns first, as `* cat ( x _ 1 ) ;`, then terms joined by `AND`, in the order of the columns that they are
    about: a noun with what describes it, a verb with its agent, its theme and its clause.

    Differences from COGS: the words are fewer, and kzoo's own; recursion is all that training lacks, so that numbers of
    its cases stand beside no number of COGS; training has depth 1 and 2, without 0.
    """

    splits = {"train": Split((1, 2), 24_000), "validation": Split((1, 2), 1_000), "test": Split((3, 12), 1_000)}
    test_lengths: tuple[int | None, ...] = (3, 5, 8, 12)
    length_unit = "depth of recursion"
    paper = "Kim and Linzen, 2020 (arXiv:2010.05465)"
    vocabulary = (*VOCABULARY, *map(str, range(COLUMNS)))

    def draw_source(self, rng: np.random.Generator, depth: int) -> Tokens:
        """Draws a sentence of a depth."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator, length: int) -> Example:
        source = self.draw_source(rng, length)
        return Example(source, self.solve(source))

    def solve(self, source: Tokens) -> Tokens:
        return tuple(token for token, _ in Sentence(source).logical_form())

    def gold_attention(self, source: Tokens) -> tuple[int, ...]:
        """Returns the column that each token is about; of ";" that of the next definite noun, or the start without one.

        So a model knows before the next token whether it is "*".
        """
        form = Sentence(source).logical_form()
        columns = [column for _, column in form]
        definite = [k for k, (token, _) in enumerate(form) if token == "*"]
        for k, (token, _) in enumerate(form):
            if token == ";":
                columns[k] = next((columns[j] for j in definite if j > k), -1)
        return (*columns, len(source))

    def belongs(self, example: Example, split: str) -> bool:
        return split == "test" or held_out(example.source) == (split == "validation")


def pick(rng: np.random.Generator, words: tuple[str, ...]) -> str:
    """Draws a word."""
    return words[int(rng.integers(len(words)))]


def noun_phrase(
    rng: np.random.Generator, depth: int = 0, prepositions: tuple[str, ...] = PREPOSITIONS, names: bool = True
) -> list[str]:
    """Draws a noun phrase with so many prepositional phrases within each other; without one it may be a name."""
    if depth == 0 and names and rng.random() < 0.5:
        return [pick(rng, NAMES)]
    found = [pick(rng, ("a", "the")), pick(rng, NOUNS)]
    if depth == 0:
        return found
    return [*found, pick(rng, prepositions), *noun_phrase(rng, depth - 1, prepositions, names=False)]


def written(words: list[str]) -> Tokens:
    """Returns a sentence of words: its first letter is large, and it ends with a point."""
    return (words[0][0].upper() + words[0][1:], *words[1:], ".")


@register("task", "cogs_pp_recursion")
class PrepositionalRecursion(RecursionTask):
    """Logical forms of sentences whose object has prepositional phrases within each other: a key in a box on a table.

    Example:

    ```python
    task = kzoo.tasks.get("cogs_pp_recursion")
    assert " ".join(task.solve(tuple("Ada saw a key in the box .".split()))) == (
        "* box ( x _ 6 ) ; see . agent ( x _ 1 , Ada ) AND see . theme ( x _ 1 , x _ 3 ) "
        "AND key ( x _ 3 ) AND key . nmod . in ( x _ 3 , x _ 6 )"
    )
    ```
    """

    name = "cogs_pp_recursion"

    @property
    def strata(self) -> dict[str, Stratum]:
        def subject(rng: np.random.Generator, depth: int) -> Tokens:
            return written([*noun_phrase(rng, depth), pick(rng, tuple(TRANSITIVE)), *noun_phrase(rng)])

        def one(rng: np.random.Generator, depth: int) -> Tokens:
            return self.draw_source(rng, depth, (pick(rng, PREPOSITIONS),))

        return {
            "subject": Stratum("the phrases are the subject's, as they never are in training", subject),
            "one_preposition": Stratum("one preposition again and again", one),
        }

    def draw_source(self, rng: np.random.Generator, depth: int, prepositions: tuple[str, ...] = PREPOSITIONS) -> Tokens:
        return written([*noun_phrase(rng), pick(rng, tuple(TRANSITIVE)), *noun_phrase(rng, depth, prepositions)])


@register("task", "cogs_cp_recursion")
class ClausalRecursion(RecursionTask):
    """Logical forms of sentences with clauses within each other, as that one said that another hoped that a cat slept.

    Example:

    ```python
    task = kzoo.tasks.get("cogs_cp_recursion")
    assert " ".join(task.solve(tuple("The king said that Ada slept .".split()))) == (
        "* king ( x _ 1 ) ; say . agent ( x _ 2 , x _ 1 ) AND say . ccomp ( x _ 2 , x _ 5 ) "
        "AND sleep . agent ( x _ 5 , Ada )"
    )
    ```
    """

    name = "cogs_cp_recursion"

    @property
    def strata(self) -> dict[str, Stratum]:
        def one(rng: np.random.Generator, depth: int) -> Tokens:
            return self.draw_source(rng, depth, (pick(rng, tuple(CLAUSAL)),))

        def names(rng: np.random.Generator, depth: int) -> Tokens:
            words = [word for _ in range(depth) for word in (pick(rng, NAMES), pick(rng, tuple(CLAUSAL)), "that")]
            return written([*words, pick(rng, NAMES), pick(rng, tuple(INTRANSITIVE))])

        return {
            "one_verb": Stratum("one verb again and again", one),
            "names_only": Stratum("names, no nouns", names),
        }

    def draw_source(self, rng: np.random.Generator, depth: int, verbs: tuple[str, ...] = tuple(CLAUSAL)) -> Tokens:
        words: list[str] = []
        for _ in range(depth):
            words += [*noun_phrase(rng), pick(rng, verbs), "that"]
        words += noun_phrase(rng)
        if rng.random() < 0.5:
            return written([*words, pick(rng, tuple(INTRANSITIVE))])
        return written([*words, pick(rng, tuple(TRANSITIVE)), *noun_phrase(rng)])
