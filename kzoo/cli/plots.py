"""`kzoo plot`: one verb a picture."""

import argparse
import fnmatch
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kzoo
from kzoo.cli.arguments import PRESETS, bundled_by_pattern, import_argument, lengths, preset_argument, words
from kzoo.cli.output import rows_of_first_seed
from kzoo.errors import InputError, UnknownNameError, did_you_mean
from kzoo.evaluation.report import percent
from kzoo.saving.documents import Row
from kzoo.saving.preset import Preset

PICTURE = "a .png, .svg or .pdf file"
ANIMATION = "a .gif file, or a picture, .png, .svg or .pdf"


def plot_parsers(plot: argparse.ArgumentParser) -> None:
    """Adds the pictures to the verb."""
    sub = plot.add_subparsers(title="pictures", required=True, metavar="PICTURE")
    one = sub.add_parser("attention", help="where a preset looked for an input")
    _about(one, "4 7 9 8", "attention.png")
    one.add_argument("--steps", type=int, help="of a model with shared depth (default: the preset's)")
    one.set_defaults(run=draw_attention)
    writing = sub.add_parser("writing", help="how a preset writes token by token: an animation, or a strip a token")
    _about(writing, "5 3 1 4 2", "writing.gif", ANIMATION)
    writing.set_defaults(run=draw_writing)
    gates = sub.add_parser("gates", help="how open the copy gates of a preset were for an input, by step")
    _about(gates, "101 d a b", "gates.png")
    gates.add_argument("--steps", type=int, help="so many steps (default: the preset's)")
    gates.set_defaults(run=draw_gates)
    biases = sub.add_parser("biases", help="where the biases of a preset's heads let them look, for an input")
    _about(biases, "123+748", "biases.png")
    biases.set_defaults(run=draw_biases)
    many = sub.add_parser("lengths", help="accuracy against length of presets")
    many.add_argument("presets", nargs="+", metavar="PRESET", help=PRESETS)
    many.add_argument("--output", type=Path, default=Path("lengths.png"), help=PICTURE)
    many.set_defaults(run=draw_lengths)
    board = sub.add_parser("leaderboard", help="scores by mechanism and task; of one task, accuracy against length")
    board.add_argument(
        "task", nargs="?", metavar="TASK", help="curves of its runs, as copy (default: all as a heat map)"
    )
    board.add_argument(
        "--output", type=Path, default=Path("leaderboard.png"), help=f"{PICTURE} (default: leaderboard.png)"
    )
    board.add_argument("--mechanisms", type=words, help="these alone, as stack,*_tagger; of a TASK in colour")
    board.set_defaults(run=draw_leaderboard)
    probe = sub.add_parser("probe", help="what the states of a decoder say; without --input, how often, by length")
    preset_argument(probe, "+")
    probe.add_argument("--input", help='as "5 17 43 78 92"')
    probe.add_argument("--position", type=int, help="counted from 0, the source first (default: the delimiter)")
    probe.add_argument("--lengths", type=lengths, help="as 10,20,50 or 10:100:10 (default: 5,10,20,50,100)")
    probe.add_argument("--examples", type=int, default=200, help="examples a length (default: 200)")
    probe.add_argument("--output", type=Path, default=Path("probe.png"), help=PICTURE)
    probe.set_defaults(run=draw_probe)
    for picture in sub.choices.values():
        import_argument(picture)


def _about(parser: argparse.ArgumentParser, example: str, name: str, kind: str = PICTURE) -> None:
    """Adds the preset, the input and the file of a picture."""
    preset_argument(parser)
    parser.add_argument("text", metavar="INPUT", help=f'as "{example}"')
    parser.add_argument("--output", type=Path, default=Path(name), help=f"{kind} (default: {name})")


def draw_attention(options: argparse.Namespace) -> None:
    model = kzoo.from_preset(options.preset, budget=options.budget)
    from kzoo.inspection.attention import plot_attention

    plot_attention(model, options.text, options.output, steps=options.steps)
    print(options.output)


def draw_writing(options: argparse.Namespace) -> None:
    model = kzoo.from_preset(options.preset)
    from kzoo.inspection.writing import animate_writing, plot_writing

    (animate_writing if options.output.suffix == ".gif" else plot_writing)(model, options.text, options.output)
    print(options.output)


def draw_biases(options: argparse.Namespace) -> None:
    model = kzoo.from_preset(options.preset, budget=options.budget)
    from kzoo.inspection.heads import plot_biases

    plot_biases(model, options.text, options.output)
    print(options.output)


def draw_gates(options: argparse.Namespace) -> None:
    model = kzoo.from_preset(options.preset, budget=options.budget)
    from kzoo.inspection.gates import plot_gates

    plot_gates(model, options.text, options.output, options.steps)
    print(options.output)


def draw_lengths(options: argparse.Namespace) -> None:
    from kzoo import tasks
    from kzoo.inspection.plots import plot_lengths

    curves: dict[str, Sequence[Row]] = {}
    found = set()
    for preset in bundled_by_pattern(options.presets):
        source = Preset.find(preset)
        if not source.rows:
            raise InputError(f"{preset} has no results: kzoo evaluate {preset} --write")
        own = rows_of_first_seed(source)
        one = len(own) == len(source.rows)
        curves[source.name if one else f"{source.name}, seed {own[0]['training_seed'] or 0}"] = own
        found.add(str(source.task))
    chosen = [tasks.get(name) for name in sorted(found)]
    if len(chosen) > 1:
        print(f"kzoo: these are of different tasks ({', '.join(sorted(found))}), so are their lengths", file=sys.stderr)
    units = {task.length_unit for task in chosen}
    trained = chosen[0].splits["train"].lengths if len(chosen) == 1 else None
    plot_lengths(curves, options.output, trained, unit=units.pop() if len(units) == 1 else "")
    print(options.output)


def draw_leaderboard(options: argparse.Namespace) -> None:
    from kzoo import tasks
    from kzoo.cards.cross_table import cross_table, frequent_rows, task_order
    from kzoo.cards.leaderboard import entries
    from kzoo.cards.protocol import most_frequent_answer
    from kzoo.inspection.leaderboard_pictures import plot_cross_table, plot_task_lengths

    found = entries()
    rows = cross_table(found)
    order = task_order(rows)
    if options.task is None:
        shown = _chosen_rows(rows, options.mechanisms) if options.mechanisms else rows
        plot_cross_table([*shown, *frequent_rows(shown)], order, options.output)
    else:
        if options.task not in order:
            raise UnknownNameError(did_you_mean("task of the leaderboard", options.task, order))
        task = tasks.get(options.task)
        runs = {row["cells"][options.task]["run"] for row in rows if options.task in row["cells"]}
        own = [entry for entry in found if entry["name"] in runs]
        band, chosen = task.splits["train"].lengths, options.mechanisms or ()
        frequent = None if task.last_answers else most_frequent_answer(task, own[0]["model"])
        plot_task_lengths(own, options.output, band, unit=task.length_unit, chosen=chosen, frequent=frequent)
    print(options.output)


def _chosen_rows(rows: Sequence[dict[str, Any]], patterns: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the rows of the mechanisms that one of these names or patterns is of."""
    known = {str(row["mechanism"]) for row in rows}
    names = {pattern: fnmatch.filter(known, pattern) for pattern in patterns}
    for pattern, own in names.items():
        if not own:
            raise UnknownNameError(did_you_mean("mechanism of the leaderboard", pattern, known))
    return [row for row in rows if any(row["mechanism"] in own for own in names.values())]


def draw_probe(options: argparse.Namespace) -> None:
    models = {Path(preset).name: kzoo.from_preset(preset, budget=options.budget) for preset in options.presets}
    from kzoo import tasks
    from kzoo.inspection.probe import probe_accuracies
    from kzoo.inspection.probe_pictures import plot_probe, plot_probe_accuracies

    if options.input is None:
        chosen = options.lengths or [5, 10, 20, 50, 100]
        curves = {name: probe_accuracies(model, chosen, options.examples) for name, model in models.items()}
        trained = tasks.get("sorter").splits["train"].lengths
        plot_probe_accuracies(curves, options.output, trained)
        for name, found in curves.items():
            for mechanism, rows in found.items():
                shares = (f"{percent(row['value'])} at {length}" for length, row in rows.items())
                print(f"{name}, {mechanism}: {', '.join(shares)}")
    elif len(models) > 1:
        raise InputError(f"--input is probed in one preset, not in {len(models)}")
    else:
        plot_probe(next(iter(models.values())), options.input, options.output, options.position)
    print(options.output)
