"""A task from a file of pairs: its splits by length, its name, and what is told of bad lines."""

import pytest

import kzoo
from kzoo import tasks
from kzoo.errors import InputError, UnknownNameError

pytestmark = pytest.mark.once


def lines(count=60):
    """Returns different pairs: words in letters, of 2 to 7 tokens, and the same in capitals."""
    words = [[*"abcab"[i % 3 : i % 3 + 2], *"abcab"[: i % 6], *(["c"] * (i // 36))] for i in range(count)]
    return [f"{' '.join(word)}\t{' '.join(word).upper()}" for word in words]


@pytest.fixture
def write(tmp_path):
    """A function that writes lines to a file of pairs and returns its path."""

    def write(lines, name="Upper case.tsv", end="\n"):
        path = tmp_path / name
        path.write_bytes(end.join(lines).encode())
        return path

    return write


def test_the_examples_in_the_docstring(run_examples):
    run_examples(tasks.PairsFile)


def test_the_longest_sources_are_held_out(write):
    task = tasks.get(str(write(lines())))
    found = {split: {len(row.source) for row in task.rows(split)} for split in task.splits}
    assert max(found["train"] | found["validation"]) < min(found["test"])
    everything = [row for split in task.splits for row in task.rows(split)]
    assert sorted(everything) == sorted({tuple(tuple(side.split()) for side in line.split("\t")) for line in lines()})
    for split, about in task.splits.items():
        assert about.size == len(task.rows(split)) and about.lengths == (min(found[split]), max(found[split]))
    length = max(found["test"])
    assert {len(row.source) for row in task.examples("test", length=length)} == {length} <= set(task.test_lengths)
    assert task.vocabulary == ("A", "B", "C", "a", "b", "c")


def test_blank_lines_windows_ends_and_a_mark_at_the_beginning_change_nothing(write):
    plain = tasks.get(write(lines()))
    other = tasks.get(write(["\ufeff", *lines(), "", "  "], end="\r\n"))
    assert other.lists == plain.lists


def test_a_first_line_of_names_is_no_pair(write):
    plain, other = tasks.get(write(lines())), tasks.get(write(["source\ttarget", *lines()]))
    assert other.lists == plain.lists
    with pytest.raises(InputError, match="has the token 'source', which no trained pair has"):
        tasks.get(write([*lines(), "source " * 9 + "\ttarget"]))


def test_a_file_of_another_suffix(write):
    with pytest.raises(InputError, match=r"pairs.csv is no file of pairs: its name ends with .tsv, its lines are"):
        tasks.get(str(write(lines(), "pairs.csv")))


def test_it_is_known_by_a_name_that_its_content_has(write):
    path = write(lines())
    task = tasks.get(path)
    assert task.name.startswith("upper_case_") and tasks.get(task.name) is task and task.name in tasks.names()
    write(lines(50))
    assert tasks.get(path).name != task.name and tasks.get(task.name) is task
    with pytest.raises(UnknownNameError, match="is a file of pairs, which is known once it is read"):
        tasks.get("mine_0123abcd")


def test_sources_of_one_length_are_held_out_too(write):
    task = tasks.get(write([f"{i // 10} {i % 10}\t{i % 10}" for i in range(100)]))
    assert task.rows("test") == task.rows("validation") and task.test_lengths == (2,)


BAD = {
    "no tab": ("a b", "line 62 has 0 tabs, and a pair is source<TAB>target"),
    "two tabs": ("a\tb\tc", "line 62 has 2 tabs"),
    "no source": (" \tA", "line 62 has no source"),
    "no target": ("a\t", "line 62 has no target"),
    "too long": ("a\t" + "A " * 1001, "line 62 has a target of 1,001 tokens, and at most 1,000 are taken"),
    "a symbol": ("a <end>\tA", "line 62 has the token <end>, which every model has for itself"),
    "another target": (lines()[0].split("\t")[0] + "\tB", "line 62 has the source of line 1 with another target"),
    "an unknown token": ("a " * 30 + "z\tA", "line 62 has the token 'z', which no trained pair has"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_pair_is_told_by_its_line(case, write):
    line, message = BAD[case]
    with pytest.raises(InputError) as caught:
        tasks.get(write([*lines(), "", line]))
    assert message in str(caught.value) and "Upper case.tsv: line" in str(caught.value)


def test_of_many_bad_lines_the_first_are_told(write):
    with pytest.raises(InputError, match="line 5 has 0 tabs, .*; and 4 more lines"):
        tasks.get(write(["a"] * 9))


def test_what_is_no_file_of_pairs_is_one_sentence(write, tmp_path):
    with pytest.raises(InputError, match=r"none.tsv cannot be read \(No such file"):
        tasks.get(tmp_path / "none.tsv")
    (tmp_path / "b.tsv").write_bytes(b"a\tb\xff")
    with pytest.raises(InputError, match=r"b.tsv is no text in UTF-8 \(byte 3\)"):
        tasks.get(tmp_path / "b.tsv")
    with pytest.raises(InputError, match="has [0-9] different pairs, and at least 10 are needed"):
        tasks.get(write(lines(9)))


def test_the_recipe_for_it_needs_nothing_but_the_pairs(write):
    recipe = kzoo.load_recipe(write(lines()))
    assert recipe.task == tasks.get(recipe.task).name and recipe.supervision == () and recipe.mechanism == "waypoint"
    assert recipe.model == {"class": "RecurrentSeq2Seq", "config": {"attention": "waypoint"}}
    assert recipe.stages[0].budget.epochs == 500  # 1 batch an epoch
    again = kzoo.Recipe.from_config(recipe.to_config() | {"task": str(write(lines()))})
    assert again == recipe
