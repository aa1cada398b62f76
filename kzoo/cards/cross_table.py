"""The leaderboard as one table: a row a mechanism with its model and tags, a column a task."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kzoo import tasks
from kzoo.cards.explain import TAGGER
from kzoo.cards.markdown import table_of, words_of
from kzoo.cards.protocol import SOLVED, holds, learned, most_frequent_answer
from kzoo.evaluation.report import score_of_seeds, whole_percent

Entries = Sequence[dict[str, Any]]
ALONE = "pairs alone"
ENOUGH = 3  # seeds
FREQUENT = "most frequent answer"


def cross_table(found: Entries) -> list[dict[str, Any]]:
    """Returns the rows of the table: those without tags first, and in each group of tags those first that do most.

    Each has `mechanism`, `tags`, `model` (the class) and `cells`: by task `run` (its name), `score` (the mean over
    seeds), `worst` (the score of the worst seed), `tokens` (the same mean of token accuracies, or None where a seed
    lacks one), `learned` (whether the trained lengths are solved), `seeds` (how many), `going_on` (how many of them
    solve the first scored length), `last_token_alone` (whether it answers with that alone) and `holds`, the greatest
    scored length up to which every seed solves every one, or None. Of several runs of a mechanism with the same tags it
    is the one with the most seeds, and of those the best.

    Args:
        found: entries of the leaderboard.
    """
    runs: dict[tuple[str, str, tuple[str, ...]], dict[str, dict[str, Any]]] = {}
    for entry in found:
        own = runs.setdefault((entry["mechanism"] or entry["name"], entry["model"], tuple(entry["tags"])), {})
        own[entry["task"]] = max(own.get(entry["task"], entry), entry, key=_weight)
    rows = []
    for (mechanism, model, tags), own in runs.items():
        cells = {task: _cell(own[task]) for task in sorted(own)}
        rows.append({"mechanism": mechanism, "tags": list(tags), "model": model, "cells": cells})
    rows.sort(key=lambda row: (len(row["tags"]), row["tags"], -_total(row), row["mechanism"]))
    return rows


def task_order(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the tasks of the rows, those next to each other that the same models are trained on."""
    models: dict[str, Counter[str]] = {}
    for row in rows:
        for task in row["cells"]:
            models.setdefault(task, Counter())[row["model"]] += 1
    return sorted(models, key=lambda task: (max(models[task], key=lambda model: (models[task][model], model)), task))


def complete(rows: Sequence[dict[str, Any]], seeds: int = ENOUGH) -> dict[str, int]:
    """Returns on how many tasks a mechanism has so many seeds or more without tags, those with the most first.

    What a network has as a classifier and as a tagger counts as one mechanism's.
    """
    return {name: len(done) for name, done in _done(rows, seeds).items()}


def full_part(rows: Sequence[dict[str, Any]], seeds: int = ENOUGH) -> tuple[list[str], list[str]]:
    """Returns mechanisms and tasks all pairs of which have so many seeds or more without tags: of those with the most
    tasks as many mechanisms as give the most pairs.
    """
    found, best = _done(rows, seeds), (list[str](), list[str]())
    for count in range(1, len(found) + 1):
        names = list(found)[:count]
        shared = sorted(set.intersection(*(found[name] for name in names)))
        if len(names) * len(shared) > len(best[0]) * len(best[1]):
            best = names, shared
    return best


def _done(rows: Sequence[dict[str, Any]], seeds: int) -> dict[str, set[str]]:
    """Returns the tasks by mechanism for `complete`."""
    found: dict[str, set[str]] = {}
    for row in rows:
        if not row["tags"]:
            done = {task for task, cell in row["cells"].items() if cell["seeds"] >= seeds}
            found.setdefault(row["mechanism"].removesuffix(TAGGER), set()).update(done)
    return {name: found[name] for name in sorted(found, key=lambda name: (-len(found[name]), name)) if found[name]}


def shown(cell: dict[str, Any] | None, key: str = "score") -> str:
    """Returns a cell as "100 (3)": the score, or the one in tokens, in whole percent, and the mean of how many seeds
    it is; in italics what was not learned.
    """
    if cell is None or cell[key] is None:
        return ""
    text = score_of_seeds(cell[key], cell["seeds"])
    return text if cell["learned"] else f"*{text}*"


def cross_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Returns the table in Markdown: rows without tags, then apart from them those with tags, each by their model.

    Below the rows stands what the most frequent answer has, where answers are one token. A third table has the scores
    in tokens, where they say more.
    """
    order = task_order(rows)
    parts = [
        "## All tasks",
        "The score in percent, the mean over (so many) seeds; empty: not run. Of several runs of a mechanism in the "
        "same model with the same tags it is the one with the most seeds, and of those the best. In italics what was "
        f"not learned: at the longest trained length, too, it has less than {100 * SOLVED:.0f} %, so that it does not "
        "tell how a mechanism goes on, but that it needs more training, or another one. `kzoo plot leaderboard` draws "
        "it.",
        _completeness(rows),
    ]
    alone, told = ([row for row in rows if bool(row["tags"]) is tagged] for tagged in (False, True))
    parts += _section(f"Trained on {ALONE}", alone, order)
    parts += _section("With more, which the tags say", told, order)
    in_tokens = _section("", alone, order, "tokens")
    if in_tokens:
        parts += [
            "### Tokens, trained on pairs alone",
            "The same mean of token accuracies, where it is another: the share of right tokens, each given the true "
            "ones before it; a tagger's are all given at once. It tells apart what is wrong at one token and what is "
            "wrong at all, where no sequence is right as a whole. The Chomsky paper's accuracy counts tokens, too.",
            *in_tokens,
        ]
    return "\n\n".join(parts)


def _completeness(rows: Entries) -> str:
    by_count: dict[int, list[str]] = {}
    for name, count in complete(rows).items():
        by_count.setdefault(count, []).append(name)
    found = "; ".join(f"{', '.join(names)} {count}" for count, names in by_count.items() if count > 1)
    return (
        f"Tasks with {ENOUGH} seeds or more on {ALONE}, a network's as a classifier and as a tagger counted as one: "
        f"{found or 'two or more of none'}." + (_full_part(rows) if found else "")
    )


def _full_part(rows: Entries) -> str:
    names, shared = full_part(rows)
    return f" Without a gap: {len(names)} mechanisms on {len(shared)} tasks ({', '.join(shared)})."


def _section(title: str, rows: Entries, order: Sequence[str], key: str = "score") -> list[str]:
    """Returns a title, and a table a model of the rows that have a cell of these tasks."""
    parts = [f"### {title}"] if rows and title else []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        columns = [task for task in order if any(_tells(row["cells"].get(task), key) for row in own)]
        own = [row for row in own if any(shown(row["cells"].get(task), key) for task in columns)]
        parts += [f"`{model}`:", _table(own, columns, key)] if own else []
    return parts


def _tells(cell: dict[str, Any] | None, key: str) -> bool:
    """Returns whether a cell says anything under this key, of tokens what its score does not say."""
    return shown(cell, key) != "" and (key == "score" or shown(cell, key) != shown(cell))


def _table(rows: Entries, columns: Sequence[str], key: str) -> str:
    lines = [[words_of(row["mechanism"]), *(shown(row["cells"].get(task), key) for task in columns)] for row in rows]
    told = bool(rows[0]["tags"])
    for line, row in zip(lines, rows, strict=True):
        line += [", ".join(row["tags"])] if told else []
    shares = {} if key == "tokens" else frequent_answers(rows[0]["model"], columns)
    if shares:
        own = [whole_percent(shares[task]) if task in shares else "" for task in columns]
        lines.append([f"*the {FREQUENT}*", *own, *([""] if told else [])])
    return table_of(["mechanism", *columns, *(["tags"] if told else [])], lines)


def frequent_answers(model: str, columns: Sequence[str]) -> dict[str, float]:
    """Returns by task what the most frequent answer has, where a model of this class answers with one token."""
    shares = {task: most_frequent_answer(tasks.get(task), model) for task in columns}
    return {task: share for task, share in shares.items() if share is not None}


def frequent_rows(rows: Entries) -> list[dict[str, Any]]:
    """Returns the same as rows of the table, one a model on pairs alone with its tasks; their cells have no seeds."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        if not row["tags"]:
            found.setdefault(row["model"], {}).update(dict.fromkeys(row["cells"]))
    shares = {model: frequent_answers(model, list(columns)) for model, columns in found.items()}
    return [
        {
            "mechanism": FREQUENT,
            "tags": [],
            "model": model,
            "cells": {t: {"score": x, "seeds": None} for t, x in own.items()},
        }
        for model, own in shares.items()
    ]


def _weight(entry: dict[str, Any]) -> tuple[int, float, float]:
    return len(entry["seeds"]), entry["score"]["mean"], entry["score"]["min"]


def _total(row: dict[str, Any]) -> float:
    return float(sum(cell["score"] for cell in row["cells"].values()))


def _cell(entry: dict[str, Any]) -> dict[str, Any]:
    own = [seed["accuracy"] for seed in entry["seeds"].values()]
    tokens = [seed["token_score"] for seed in entry["seeds"].values()]
    return {
        "run": entry["name"],
        "score": entry["score"]["mean"],
        "worst": entry["score"]["min"],
        "tokens": None if None in tokens else sum(tokens) / len(tokens),
        "learned": learned(entry["trained"]),
        "seeds": len(own),
        "going_on": sum(holds([seed], entry["lengths"]) is not None for seed in own),
        "last_token_alone": entry["last_token_alone"],
        "holds": holds(own, entry["lengths"]),
    }
