"""What a card says of the training."""

from typing import Any

from kzoo import tasks
from kzoo.cards.explain import explain, explain_task
from kzoo.cards.markdown import code, plain, table_of
from kzoo.evaluation.report import percent
from kzoo.saving.preset import Preset
from kzoo.training.recipe import Recipe
from kzoo.training.stages import Stage

# Said in any case; what else differs from its default is said too.
USUAL = ("batch_size", "sampling", "learning_rate", "schedule", "weight_decay", "clip_norm")
UNSAID = ("fresh", "examples")  # the sentence says them
RESULTS = {"RecurrentClassifier": "causal_results", "SequenceTagger": "execution_trace"}  # others: intermediate


def training(name: str, preset: Preset, task: Any) -> str:
    """Returns the section on how a preset was trained, or that its weights were set."""
    if preset.recipe is None:
        return (
            "## Training\n\nThe recipe is absent: the weights were trained with `model.fit`, and how is not recorded."
        )
    recipe, results = Recipe.from_config(preset.recipe), preset.results or {}
    runs = results["training"]
    if recipe.constructed:
        (part,) = explain(recipe.model)
        return f"""## Training

None: `{part.name}` sets every weight, and `kzoo train {name} --output DIR` does it again. {part.summary}"""
    many = len(recipe.stages) > 1
    said = [_stage(recipe, index, task) for index in range(len(recipe.stages))]
    if many:
        said = [f"{index}. {text}" for index, text in enumerate(said, 1)]
        said.insert(0, f"In {len(said)} stages, each from the weights that the one before ended with.\n")
    said += [f"\n{text}" for text in _splits(task)]
    again = f"{_preparation(recipe)}\n{_again(name, preset, runs)}".strip()
    parts = ["\n".join(said), again, _runs(runs, results["rows"])]
    notes = [f"{_whose(run, many)}: {plain(run['note'])}." for run in runs if "note" in run]
    return "\n\n".join(["## Training", *parts, *notes])


def _splits(task: Any) -> list[str]:
    """Returns what the task says of its training splits."""
    return [text for part in explain_task(task) for text in part.paragraphs if "training split" in text]


def _again(name: str, preset: Preset, runs: list[dict[str, Any]]) -> str:
    devices = plain(" and on ".join(sorted({run.get("device", "a CPU with two cores") for run in runs})))
    command = f"kzoo train {name} --output DIR"
    command += " --import FILE" if preset.metadata.get("defined_in") else ""  # the file that defines its classes
    return f"""`{command}` trains it again. Seconds are those of the training steps on {devices},
compilation included, validation excluded."""


def _stage(recipe: Recipe, index: int, task: Any) -> str:
    """Returns what a stage trains on, with which options, and which weights it keeps."""
    stage = recipe.stages[index]
    train = task.splits[stage.data.split]
    number = f"{stage.data.examples or train.size:,} examples"
    if stage.data.fresh:
        listed = task.pool(stage.data.split, None)  # then an epoch has others of the same list
        number = (
            "fresh examples" if listed is None else f"examples drawn anew each epoch from a list of {len(listed):,}"
        )
    options = {**vars(stage.data), **vars(stage.optimizer)}
    changed = {**stage.data.to_config(), **stage.optimizer.to_config()}
    keys = [*USUAL, *(key for key in changed if key not in (*USUAL, *UNSAID))]
    shown = {key: list(options[key]) if isinstance(options[key], tuple) else options[key] for key in keys}
    if isinstance(shown.get("curriculum"), list):
        shown["curriculum"] = _counted(shown["curriculum"])
    shown |= {**stage.model, "seed": recipe.stage_seed(index)}
    facts = code(", ".join(f"{key} {value}" for key, value in shown.items()))
    text = f"""On {number} of {span(*train.lengths)} (version {recipe.task_version} of the task), by `recipe.json`
({facts}).
{_selection(stage, recipe.task)}"""
    if stage.objective.intermediate:
        results = RESULTS.get(recipe.model["class"], "intermediate")
        text += f"\nUnlike in the paper, the results that `{type(task).__name__}.{results}` gives are targets too."
    if stage.objective.hold > 1:
        text += f"\nUnlike in the paper, the states after each of the last {stage.objective.hold} steps are read."
    learned = stage.objective.learned_alignment
    if learned is not None:
        text += f"""
Unlike in the paper, a loss between its attention and an alignment is added, times {learned.weight:g}. The alignment
is learned from the same examples alone: see `kzoo.{"align_phrases" if learned.phrases else "align"}`."""
    elif stage.objective.attention_supervision:
        weight = stage.objective.attention_supervision
        text += f"\nUnlike in the paper, a loss between its attention and the gold attention is added, times {weight}."
    return text


def _counted(values: list[int]) -> str:
    """Returns a curriculum with equal neighbours counted, as "13 (8 parts), 17 (3 parts)"."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][0] == value:
            runs[-1][1] += 1
        else:
            runs.append([value, 1])
    return "[" + ", ".join(f"{value} ({n} parts)" if n > 1 else str(value) for value, n in runs) + "]"


def _runs(runs: list[dict[str, Any]], rows: list[dict[str, Any]]) -> str:
    """Returns the table of the runs, by stage where there are several, and of each seed what all stages took."""
    last = max(run.get("stage", 0) for run in runs)
    after = {
        (row["training_seed"], row.get("stage", last)): percent(row["value"])
        for row in rows
        if last and row["metric"] == "sequence_accuracy" and row["length"] is None and "stratum" not in row
    }
    staged = [*(["stage"] if last else []), *(["on the test split after it"] if after else [])]
    header = ["seed", "epochs", "steps", "examples seen", "seconds", "backend", *staged]
    lines = []
    for seed in dict.fromkeys(run["seed"] for run in runs):
        own = [run for run in runs if run["seed"] == seed]
        for run in own:
            stage = run.get("stage", 0)
            lines.append(_row(seed, [run], [str(stage + 1), after.get((seed, stage), "")][: len(staged)]))
        if len(own) > 1:
            lines.append(_row(seed, own, ["all", ""][: len(staged)]))
    return table_of(header, lines)


def _row(seed: int, runs: list[dict[str, Any]], more: list[str]) -> list[str]:
    numbers = [sum(run[key] for run in runs) for key in ("epoch", "steps", "examples_seen", "seconds")]
    cells = [str(seed), *(f"{number:,.0f}" for number in numbers)]
    if len(runs) > 1 and numbers[-1] >= 360:
        cells[-1] += f" ({numbers[-1] / 3600:.1f} hours)"
    return [*cells, ", ".join(sorted({run["backend"] for run in runs})), *more]


def _whose(run: dict[str, Any], many: bool) -> str:
    return f"Seed {run['seed']}" + (f", stage {run['stage'] + 1}" if many and "stage" in run else "")


def _preparation(recipe: Recipe) -> str:
    """Returns where the weights start, how calculations are laid out, and where biases come from."""
    text, layout = "", recipe.layout
    hints = recipe.model["config"].get("hints") or ()
    if hints:
        named = ", ".join(map(code, hints))
        text += f"\nBatches of the task and of its hint {named} come in turn; each has a head of its own."
    if recipe.init_from:
        text += f"\nIt starts from the weights of {code(recipe.init_from)}, whose steps are not counted here."
    if layout.get("digits"):
        digits = plain(layout["digits"])
        text += f"\nOperands are filled with zeros to {digits} digits, longer ones by what the result needs."
    if layout.get("filled"):
        text += "\nNumbers are filled up with zeros to one width."
    if layout.get("aligned"):
        text += "\nThe digits of the operands are interleaved."
    if layout.get("running"):
        text += "\nIt writes all sums so far, from the last operand on, and accuracy asks that each of them is right."
    if recipe.calibration:
        options = {**recipe.calibration}
        preset = options.pop("preset")
        told = ", ".join(f"{key} {value}" for key, value in options.items())
        text += f"\nIts biases were found by `kzoo.calibrate` in {code(preset)} ({code(told)}):"
        text += "\nthis is the second stage of attention bias calibration, which starts from new weights."
    return text


def span(low: int, high: int) -> str:
    """Returns how a text names the lengths from one to another."""
    return f"length {low}" if low == high else f"lengths {low} to {high}"


def _selection(stage: Stage, task: str) -> str:
    """Returns which epoch's weights a stage keeps, and by which lengths that was decided."""
    if stage.selection.by == "last":
        averaged = stage.optimizer.ema_momentum is not None
        return "The moving average of the weights is kept." if averaged else "The last weights are kept."
    length = stage.selection.length
    lengths = span(length, length) if length else span(*tasks.get(task).splits["validation"].lengths)
    return f"The weights of the epoch with the best accuracy on validation examples of {lengths} are kept."
