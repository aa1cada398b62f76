"""A preset: a model as a folder of plain data, and the object over it.

| file              | holds                                                                         |
|-------------------|-------------------------------------------------------------------------------|
| config.json       | the class, from a closed list, and its arguments                              |
| tokenizer.json    | the vocabulary and how sources are closed                                     |
| model.safetensors | the weights                                                                   |
| metadata.json     | mechanism, task, supervision, versions, licence, SHA-256 of each file         |
| recipe.json       | how it was trained, enough to train it again                                  |
| results.json      | its measured accuracy by length                                               |
"""

import importlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from kzoo import checks
from kzoo.backend import ensure_backend
from kzoo.errors import InputError, PresetError
from kzoo.saving import catalogue, documents
from kzoo.saving.documents import PARTS, Row
from kzoo.saving.files import read_json, sha256
from kzoo.tasks.pairs_file import read_beside

DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")


class Preset:
    """What is known of a preset, a recorded run or a recipe; each file is read and checked when it is first asked for.

    Args:
        folder: Path. Where its files are.
        name: str. Its name.

    Attributes:
        kind: str. "preset", "recorded run" (results without weights) or "recipe" (not run).

    Example:

    ```python
    preset = kzoo.Preset.find("onestep_recopy")
    assert preset.mechanism == "onestep" and preset.task == "recopy" and preset.supervision == []
    assert {row["length"] for row in preset.rows} >= {15, 30, 100}
    ```
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        kind = catalogue.kind_of(folder)
        if kind not in (catalogue.PRESET, catalogue.RUN, catalogue.RECIPE):
            raise PresetError(f"{folder} is no preset folder: it has no config.json")
        self.kind = kind
        read_beside(folder)  # what it was trained on, if that was a file of pairs

    @classmethod
    def find(cls, preset: "str | Path | Preset", force: bool = False) -> "Preset":
        """Returns the preset of a bundled name, a folder, or an address on the Hub, which is downloaded if need be.

        Args:
            preset: str or Path, as "onestep_recopy", a folder, "hf://owner/name" or "hf://owner/name@v1".
            force: bool. Whether to download again what is cached. Defaults to False.

        Raises:
            UnknownNameError: nothing has that name.
            PresetError: the folder is not there, or holds no preset.
            HubError: the Hub does not give the preset.
        """
        if isinstance(preset, Preset):
            return preset
        if catalogue.is_on_hub(preset):
            hub: Any = importlib.import_module("kzoo.hub.download")  # only here, since hub/ builds on saving/
            return cls(*hub.fetch_preset(str(preset), force))
        folder = catalogue.find_folder(preset)
        return cls(folder, folder.name)

    @classmethod
    def find_own(cls, preset: "str | Path | Preset") -> "Preset":
        """Returns a preset that may be changed: as `find`, but not one in the cache of the Hub.

        Raises:
            InputError: the preset is on the Hub.
        """
        if not isinstance(preset, Preset) and catalogue.is_on_hub(preset):
            raise InputError(f"{preset} is on the Hub and cannot be changed here: save it to a folder of your own")
        return cls.find(preset)

    @cached_property
    def config(self) -> dict[str, Any]:
        """dict. The model's class and arguments, from config.json."""
        self._check_built()
        return documents.read_config(self.folder)

    @cached_property
    def tokenizer(self) -> dict[str, Any]:
        """dict. The vocabulary, from tokenizer.json."""
        self._check_built()
        return read_json(self.folder / "tokenizer.json")

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """dict. From metadata.json; of a recorded run or a recipe, what its recipe says of mechanism and task."""
        if self.kind == catalogue.PRESET:
            return documents.read_metadata(self.folder)
        return {key: (self.recipe or {}).get(key) for key in ("mechanism", "task", "supervision")}

    @cached_property
    def recipe(self) -> dict[str, Any] | None:
        """dict or None. How it was trained, from recipe.json; see `kzoo.training.Recipe`."""
        path = self.folder / "recipe.json"
        return read_json(path) if path.exists() else None

    @cached_property
    def results(self) -> dict[str, Any] | None:
        """dict or None. The content of results.json: runs and rows."""
        return documents.read_results(self.folder) if (self.folder / "results.json").exists() else None

    @property
    def task(self) -> str | None:
        """str or None. The task that it was trained on."""
        return self.metadata.get("task")

    @property
    def mechanism(self) -> str | None:
        """str or None. What distinguishes it from other models of the task, as "onestep"."""
        return self.metadata.get("mechanism")

    @property
    def supervision(self) -> list[str] | None:
        """list of str. What training had beyond pairs of source and target; empty for nothing, None if not stated."""
        return self.metadata.get("supervision")

    @property
    def parameters(self) -> int | None:
        """int or None. The number of its weights; of a recorded run, what its training says, if it does."""
        runs = (self.results or {}).get("training", []) if self.kind == catalogue.RUN else [self.metadata]
        return next((run["parameters"] for run in runs if "parameters" in run), None)

    @property
    def gives_label(self) -> bool:
        """bool. Whether its model gives one label a source: of a task with longer targets, their last token."""
        model = self.config if self.kind == catalogue.PRESET else (self.recipe or {}).get("model", {})
        return model.get("class") in documents.CLASSIFIERS

    @cached_property
    def weights_sha256(self) -> str | None:
        """str or None. The SHA-256 of model.safetensors."""
        return sha256(self.folder / "model.safetensors") if self.kind == catalogue.PRESET else None

    @property
    def rows(self) -> list[Row]:
        """list of Row. What was measured with its weights, each metric once a length; of a recorded run, all rows."""
        rows = documents.by_length(self._all_rows())
        if self.kind == catalogue.PRESET:
            rows = [row for row in rows if row["weights_sha256"] == self.weights_sha256]
            # The first seed and backend, should there be several: rows of one table belong together.
            rows = list({(row["length"], row["metric"]): row for row in reversed(rows)}.values())
        return sorted(rows, key=lambda row: (row["length"] or 0, row["metric"]))

    @property
    def stratum_rows(self) -> list[Row]:
        """list of Row. What was measured with its weights on strata of the task, in the order of the task."""
        own = [row for row in documents.by_stratum(self._all_rows()) if row["weights_sha256"] == self.weights_sha256]
        first = {(row["stratum"], row["length"], row["metric"]): row for row in reversed(own)}
        return list(reversed(first.values()))

    @property
    def other_rows(self) -> list[Row]:
        """list of Row. What was measured with weights from other training seeds; none of earlier stages."""
        return self._of_others(documents.by_length)

    @property
    def other_stratum_rows(self) -> list[Row]:
        """list of Row. The same on strata of the task."""
        return self._of_others(documents.by_stratum)

    def _of_others(self, chosen: Callable[[list[Row]], list[Row]]) -> list[Row]:
        rows = [row for row in chosen(self._all_rows()) if "stage" not in row]
        return [row for row in rows if self.weights_sha256 not in (None, row["weights_sha256"])]

    def _all_rows(self) -> list[Row]:
        return [] if self.results is None else self.results["rows"]

    def verify(self) -> None:
        """Checks every file that the metadata lists.

        Raises:
            PresetError: a file is missing, or has another size or SHA-256.
        """
        self._check_built()
        for name, entry in self.metadata["files"].items():
            documents.check_file(self.folder / name, entry, "metadata.json")

    def build(
        self, load_weights: bool = True, expected: type | None = None, dtype: str | None = None, budget: float = 1.0
    ) -> Any:
        """Returns the model.

        Args:
            load_weights: bool. False gives the same model with fresh random weights. Defaults to True.
            expected: class that the model must be of.
            dtype: str. The dtype policy that the model computes with, as "mixed_bfloat16"; its weights are float32.
                Defaults to the policy in force.
            budget: float. How many times `kzoo.saving.budget.BUDGET` it may have of parameters, layers, numbers in a
                tensor and steps of loops: it is built within 1 GiB and 10 s otherwise. Defaults to 1.

        Raises:
            PresetError: it has no weights, is damaged, holds another class than `expected`, or is beyond the budget.
            InputError: there is no such dtype policy, or `budget` is out of range.
        """
        self._check_built()
        ensure_backend()
        checks.boolean("load_weights", load_weights)
        if dtype is not None:
            checks.choice("dtype", dtype, DTYPES)
        from kzoo.saving.construct import construct_within
        from kzoo.saving.weights import load_weights as read_weights

        config, tokenizer, metadata = self.config, self.tokenizer, self.metadata
        self.verify()
        needed = documents.needed(metadata)
        model = construct_within(budget, self.folder, config, tokenizer, dtype, blank=load_weights, needed=needed)
        if expected is not None and not isinstance(model, expected):
            raise PresetError(f"{self.name} is a {type(model).__name__}, not a {expected.__name__}")
        if load_weights:
            # The folder may have been replaced since it was verified.
            read_weights(model, self.folder / "model.safetensors", metadata["files"]["model.safetensors"]["sha256"])
        model.task_name = metadata.get("task")
        model.mechanism, model.supervision = self.mechanism, self.supervision
        model.preset_name = self.name
        return model

    def to_dict(self) -> dict[str, Any]:
        """Returns all that is known, each part as in its file."""
        parts = ("config", "tokenizer") if self.kind == catalogue.PRESET else ()
        every = (*parts, "metadata", "recipe", "results")
        found = {part: value for part in every if (value := getattr(self, part)) is not None}
        return {"preset": self.name, "kind": self.kind, "folder": str(self.folder), **found}

    def __repr__(self) -> str:
        return f"Preset({self.name!r}, kind={self.kind!r}, folder={str(self.folder)!r})"

    def _check_built(self) -> None:
        if self.kind != catalogue.PRESET:
            raise PresetError(f"{self.name} is a {self.kind}, without weights: kzoo train {self.name} --output DIR")
        missing = [name for name in PARTS if not (self.folder / name).exists()]
        if missing:
            raise PresetError(f"{self.folder / missing[0]} is missing")


def from_preset(
    preset: str | Path,
    load_weights: bool = True,
    expected: type | None = None,
    dtype: str | None = None,
    budget: float = 1.0,
) -> Any:
    """Returns the model of a preset: `Preset.find(preset).build(...)`.

    Args:
        preset: str or Path. A name, a folder, or an address on the Hub: `hf://owner/name` or `hf://owner/name@v1`.
        load_weights, expected, dtype, budget: see `Preset.build`.

    Raises:
        UnknownNameError, PresetError, HubError, InputError: as `Preset.find` and `Preset.build`.
    """
    return Preset.find(preset).build(load_weights, expected, dtype, budget)


def preset_info(preset: str | Path) -> dict[str, Any]:
    """Returns what is known of a preset, a recorded run or a recipe: `Preset.find(preset).to_dict()`."""
    return Preset.find(preset).to_dict()
