"""The card of a preset, rendered from its files alone."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kzoo import tasks
from kzoo.cards.bibtex import bibtex
from kzoo.cards.explain import Part, explain
from kzoo.cards.front_matter import front_matter
from kzoo.cards.limits import limits
from kzoo.cards.markdown import code, plain, table_of
from kzoo.cards.row_tables import length_of, listed, other_seeds, strata_table
from kzoo.cards.training import span, training
from kzoo.errors import PresetError
from kzoo.evaluation.report import percent, table
from kzoo.hub.address import Address
from kzoo.saving import catalogue
from kzoo.saving.documents import Row
from kzoo.saving.files import sha256, write_bytes
from kzoo.saving.preset import Preset
from kzoo.tasks.classification import ClassificationTask
from kzoo.training.recipe import Recipe
from kzoo.training.stages import Data

OWN = "A mechanism of our own"  # says the docstring of one that no paper has


def render_card(preset: str | Path | Preset, address: Address | None = None, picture: bool = True) -> str:
    """Returns the card of a preset as Markdown with YAML front matter.

    Args:
        preset: str, Path or Preset.
        address: Address. Where on the Hub the card will be; None is the card of a preset that kzoo has by name.
        picture: bool. Whether it shows its picture, which stands beside it. Defaults to True.

    Raises:
        PresetError: a file of the preset is missing or damaged, or it has no results for its weights.
    """
    preset = Preset.find(preset)
    preset.verify()
    if preset.results is None:
        raise PresetError(
            f"{preset.folder} has no results.json, so no card can be written: kzoo evaluate {preset.folder} --write"
        )
    if not any(row["metric"] == "sequence_accuracy" for row in preset.rows):
        raise PresetError(f"the results in {preset.folder} belong to other weights: evaluate the preset again")
    try:
        return "\n\n".join(_Card(preset, address, picture).parts()) + "\n"
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = " ".join(str(error).split())
        raise PresetError(
            f"no card can be made of the files in {preset.folder} ({type(error).__name__}: {said:.200})"
        ) from error


def write_card(preset: str | Path | Preset, folder: Path, address: Address | None = None) -> Path:
    """Writes `<preset>.md` and its picture `<preset>.svg` into a folder; returns the card's path."""
    from kzoo.inspection.plots import plot_lengths

    preset = Preset.find(preset)
    text, card = render_card(preset, address), _Card(preset, address)
    plot_lengths(
        {card.title: preset.rows},
        folder / f"{card.title}.svg",
        card.trained,
        note=f"results {sha256(preset.folder / 'results.json')}",
        unit=card.task.length_unit,
    )
    write_bytes(folder / f"{card.title}.md", text.encode())
    return folder / f"{card.title}.md"


class _Card:
    """What the sections of a card draw on."""

    def __init__(self, preset: Preset, address: Address | None, picture: bool = True) -> None:
        self.preset, self.address, self.picture = preset, address, picture
        self.title = address.name if address else preset.name
        own = preset.name if catalogue.bundled(preset.name) else f"./{preset.name}"  # a folder beside
        self.name = str(address or own)  # as `from_preset` takes it
        self.task: Any = tasks.get(str(preset.task))
        recipe = None if preset.recipe is None else Recipe.from_config(preset.recipe)
        self.constructed = recipe is not None and recipe.constructed
        self.trained = None if recipe is None else trained_lengths(recipe, self.task)
        self.published = preset.mechanism in self.task.published.accuracy
        self.rows = preset.rows
        self.model: list[Part] = explain(preset.config)
        self.model_task: list[Part] = explain({"class": type(self.task).__name__})

    def parts(self) -> list[str]:
        return [
            front_matter(self.title, self.preset, self.task),
            f"# {self.title}\n\n{self.claim()}{self.asked()}\n\n{supervision(self.preset.supervision)}",
            self.usage(),
            self.results(),
            training(self.name, self.preset, self.task),
            limits(self.preset, self.constructed),
            self.references(),
            self.citation(),
        ]

    def claim(self) -> str:
        return claim(self.rows, self.task, self.trained, self.constructed)

    def asked(self) -> str:
        """Returns what of longer targets a classifier answers with."""
        last = self.preset.gives_label and self.task.last_answers
        return " It answers with the last token of a target alone: a sequence is right where that is." if last else ""

    def usage(self) -> str:
        source, target = self.task.examples("train", size=1)[0]
        answer = self.written(target[-1:] if self.preset.gives_label else target)
        modules = sorted({*self.preset.metadata.get("defined_in", {}).values()})
        imports = "".join(
            "# first run the script that defines its classes\n" if module == "__main__" else f"import {module}\n"
            for module in modules
        )
        return f"""## Usage

```python
import kzoo                      # KERAS_BACKEND=jax, torch or tensorflow: the same weights, the same outputs
{imports}
model = kzoo.from_preset("{self.name}")
model.generate("{self.written(source)}")    # the task's answer: {answer}
kzoo.evaluate(model, lengths={list(self.task.test_lengths)})
```"""

    def results(self) -> str:
        header, found = table(self.rows, not self.constructed)
        low, high = self.trained or (0, 0)
        for cells in found:
            if cells[0].isdigit() and low <= int(cells[0]) <= high or cells[0] == f"{low}-{high}":
                cells[0] += " (trained)"
        picture = f"![accuracy by length]({self.title}.svg)\n\n" if self.picture else ""
        text = f"## Results\n\n{picture}{table_of(header, found)}"
        seeds = other_seeds(self.preset.rows, self.preset.other_rows, self.task.published.statistic)
        if seeds:
            text += f"\n\nOther training seeds:\n\n{seeds}"
        own, others = self.preset.stratum_rows, self.preset.other_stratum_rows
        strata = strata_table(own, others, self.task)
        if strata:
            number = 1 + len({row["training_seed"] for row in others})
            least = f"; behind a stroke the least of {number} training seeds" if others else ""
            text += f"\n\nBy stratum, sequence accuracy{least}:\n\n{strata}"
        backends = ", ".join(sorted({row["backend"] for row in [*self.rows, *self.preset.stratum_rows]}))
        source = f" The paper: {self.task.paper}." if self.task.paper else ""
        return (
            f"{text}\n\nLength counts {self.task.length_unit}. Measured on {backends} with greedy decoding, example "
            f"seed {self.rows[0]['seed']}; 95 % Wilson intervals over examples.{source}"
        )

    def references(self) -> str:
        weights = self.preset.metadata["files"]["model.safetensors"]
        documented = [*self.model_task, *self.model]
        parts = [f"- {self.link(part)}: {part.summary}{after(part)}" for part in documented]
        elsewhere = self.preset.metadata.get("defined_in", {})
        parts += [f"- {code(name)}, which is no part of kzoo but of {code(elsewhere[name])}" for name in elsewhere]
        cited = [f"<https://arxiv.org/abs/{n}>" for n in re.findall(r"arXiv:(\d{4}\.\d{4,5})", self.task.paper or "")]
        own = [part.name for part in self.model if OWN in part.docstring]
        what = "The method and the task are" if self.published else "The task is"
        told = [f"- {self.link(part)}: {' '.join(part.differences)}" for part in documented if part.differences]
        differences = "\n\nWhere they differ from the papers:\n\n" + "\n".join(told) if told else ""
        source = f" {what} from {self.task.paper}: {', '.join(cited)}." if self.task.paper else ""
        ours = f" `{'`, `'.join(own)}` {'is' if len(own) == 1 else 'are'} kzoo's own." if own else ""
        license = plain(str(self.preset.metadata["license"]).capitalize())
        return (
            f"## Model and references\n\n{self.preset.metadata['parameters']:,} parameters; `model.safetensors` has "
            f"{weights['bytes']:,} bytes, SHA-256 `{weights['sha256']}`. What it is made of, with the papers that are "
            "named there:\n\n" + "\n".join(parts) + f"{differences}\n\n"
            f"Licence: {license}.{source}{ours}"
        )

    def citation(self) -> str:
        entries = bibtex(self.task.paper, [part.docstring for part in self.model])
        return "## Citation\n\n```bibtex\n" + "\n\n".join(entries) + "\n```"

    def link(self, part: Part) -> str:
        return f"`{part.name}`" if self.address else f"[`{part.name}`](../{part.source})"

    def written(self, tokens: Sequence[str]) -> str:
        return ("" if self.task.characters else " ").join(tokens)


def after(part: Part) -> str:
    """Returns the papers that a docstring links to, behind its summary."""
    links = re.findall(r"\[([^\]]+)\]\((https://(?:arxiv\.org/abs|doi\.org)/[^)\s]+)\)", part.docstring)
    papers = {url: " ".join(text.split()) for text, url in links}
    return f" ({'; '.join(f'[{text}]({url})' for url, text in papers.items())})" if papers else ""


def trained_lengths(recipe: Recipe, task: Any) -> tuple[int, int] | None:
    """Returns the lengths that a recipe trains on; None where it sets the weights."""
    lengths = [_lengths_of(stage.data, task) for stage in recipe.stages]
    return (min(low for low, _ in lengths), max(high for _, high in lengths)) if lengths else None


def _lengths_of(data: Data, task: Any) -> tuple[int, int]:
    low, high = task.splits[data.split].lengths
    if data.curriculum and task.length_unit == "tokens":  # which are what a curriculum counts
        high = min(high, max(data.curriculum))
    return low, high


def supervision(words: list[str] | None) -> str:
    """Returns the line that says what training had beyond pairs of source and target."""
    if words is None:
        return "Supervision beyond pairs of source and target: not stated."
    return f"Supervision beyond pairs of source and target: **{', '.join(words) or 'none'}**."


def claim(rows: list[Row], task: Any, trained: tuple[int, int] | None, constructed: bool) -> str:
    """Returns the one sentence that a preset's results support; no lengths that were trained are not known."""
    accuracies = [row for row in rows if row["metric"] == "sequence_accuracy"]
    equal: dict[str, list[str]] = {}
    for row in accuracies:
        equal.setdefault(percent(row["value"]), []).append(length_of(row))
    found = "; ".join(f"{share} {listed(lengths)}" for share, lengths in equal.items())
    n = min(row["n"] for row in accuracies)
    what = "accuracy" if isinstance(task, ClassificationTask) else "sequence accuracy"
    origin = "constructed, not trained" if constructed else "trained on lengths that no recipe states"
    if trained is not None:
        origin = f"trained on {span(*trained)} ({task.length_unit})"
    return f"Task `{task.name}`, {origin}. Test {what} by length: {found} (at least {n:,} examples each)."
