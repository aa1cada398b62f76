"""The recursion cases of COGS: the sentence can be put together again from its logical form."""

import re

import pytest

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.tasks.recursion import CLAUSAL, NOUNS, PREPOSITIONS, VERBS
from kzoo.tasks.recursion import NAMES as NAMES_OF_PEOPLE

pytestmark = pytest.mark.once
NAMES = ("cogs_pp_recursion", "cogs_cp_recursion")
PAST = {base: past for past, base in VERBS.items()}


def sentence(target):
    """Returns the words that a logical form tells, by their columns."""
    text, words = " ".join(target), {}
    fronted = [re.fullmatch(r" ?\* (\w+) \( x _ (\d+) \) ", part) for part in text.split(";")[:-1]]
    nouns = {int(m[2]): ("the", m[1]) for m in fronted}
    for term in text.split(";")[-1].strip().split(" AND "):
        relation, arguments = re.fullmatch(r"([\w. ]+) \( (.*) \)", term).groups()
        first, *second = arguments.split(" , ")
        column = int(first.removeprefix("x _ "))
        kind = relation.split(" . ")
        if len(kind) == 1:
            nouns[column] = ("a", kind[0])
        elif kind[1] == "nmod":
            words[column + 1] = kind[2]
        else:
            words[column] = PAST[kind[0]]
            if kind[1] == "ccomp":
                words[column + 1] = "that"
            elif not second[0].startswith("x"):
                words[column + (1 if kind[1] == "theme" else -1)] = second[0]
    for column, (article, noun) in nouns.items():
        words |= {column - 1: article, column: noun}
    assert sorted(words) == list(range(len(words)))
    found = [words[i] for i in range(len(words))]
    return (found[0][0].upper() + found[0][1:], *found[1:], ".")


def depth(source):
    prepositions = sum(word in PREPOSITIONS for word in source)
    return prepositions or sum(word in CLAUSAL for word in source)


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_comes_back_from_its_logical_form(name):
    task = tasks.get(name)
    for length in (1, 2, 3, 12, 20):
        for source, target in task.examples("test", 60, length=length):
            assert sentence(target) == source and depth(source) == length
            assert set(source) | set(target) <= set(task.vocabulary)
    for stratum in task.strata:
        for source, target in task.stratum_examples(stratum, 50, length=4):
            assert sentence(target) == source and depth(source) == 4


@pytest.mark.parametrize("name", NAMES)
def test_gold_attention_is_on_what_a_token_is_about(name):
    task = tasks.get(name)
    for source, target in task.examples("test", 40, length=4):
        *gold, end = task.gold_attention(source)
        assert len(gold) == len(target) and end == len(source)
        for token, column in zip(target, gold, strict=True):
            if token.isdigit():
                assert column == int(token)
            elif token in NOUNS or token in NAMES_OF_PEOPLE:
                assert source[column] == token
        fronted = [column for token, column in zip(target, gold, strict=True) if token == "*"]
        assert [column for token, column in zip(target, gold, strict=True) if token == ";"] == [*fronted, -1][1:]


def test_strata():
    task = tasks.get("cogs_pp_recursion")
    for source, _ in task.stratum_examples("subject", 50, length=3):
        verb = next(i for i, word in enumerate(source) if word in VERBS)
        assert sum(word in PREPOSITIONS for word in source[:verb]) == 3
    one = [source for source, _ in task.stratum_examples("one_preposition", 50, length=5)]
    assert all(len({w for w in s if w in PREPOSITIONS}) == 1 for s in one)
    clauses = tasks.get("cogs_cp_recursion")
    repeated = [source for source, _ in clauses.stratum_examples("one_verb", 50, length=5)]
    assert all(len({w for w in s if w in CLAUSAL}) == 1 for s in repeated)
    assert not any(
        word.lower() in ("a", "the") for s, _ in clauses.stratum_examples("names_only", 20, length=3) for word in s
    )


def test_by_hand():
    solve = lambda text, name=NAMES[0]: " ".join(tasks.get(name).solve(tuple(text.split())))  # noqa: E731
    assert solve("The dog saw the cat on a shelf .") == (
        "* dog ( x _ 1 ) ; * cat ( x _ 4 ) ; see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , x _ 4 ) "
        "AND cat . nmod . on ( x _ 4 , x _ 7 ) AND shelf ( x _ 7 )"
    )
    assert solve("A girl hoped that Ben said that the bird danced .", NAMES[1]) == (
        "* bird ( x _ 8 ) ; girl ( x _ 1 ) AND hope . agent ( x _ 2 , x _ 1 ) AND hope . ccomp ( x _ 2 , x _ 5 ) "
        "AND say . agent ( x _ 5 , Ben ) AND say . ccomp ( x _ 5 , x _ 9 ) AND dance . agent ( x _ 9 , x _ 8 )"
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("Ada saw", "has a name or an article as its word 3, not 'the end'"),
        ("Ada cat .", "has a verb as its word 2, not 'cat'"),
        ("Ada said the cat slept .", "has \"that\" as its word 3, not 'the'"),
        ("Ada saw a cat in Ben .", "has an article as its word 6, not 'Ben'"),
        ("Ada slept . .", "ends with its first point"),
        ("Ada slept", "has a point as its word 3, not 'the end'"),
        ("", "has a name or an article as its word 1"),
    ],
)
def test_what_is_no_sentence(text, message):
    with pytest.raises(InputError, match=message):
        tasks.get(NAMES[0]).solve(tuple(text.split()))
    with pytest.raises(InputError, match="a sentence has at most 128 tokens, not 9,001"):
        tasks.get(NAMES[0]).solve((*("Ada", "said", "that") * 3000, "."))
    with pytest.raises(InputError, match="at most 128 tokens"):
        tasks.get(NAMES[0]).examples("test", 1, length=60)
