"""A page a mechanism: what it does, a picture of its attention, where it works and breaks, and its equations."""

import json
from collections.abc import Iterable
from typing import Any

from docs.docstrings import description
from docs.pictures import Picture
from docs.results import REACH, verdict
from docs.tables import mechanisms, of_mechanism
from kzoo.cards.explain import Part, explain, in_words
from kzoo.gallery import exhibit_of
from kzoo.registry import get, names, serialize
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset
from kzoo.training.recipe import Recipe

UP = "../"
KINDS = ("attention", "bias", "position", "encoding")
INDEX = """# Mechanisms

What distinguishes the models of a task from each other. Each page says what a mechanism does, shows what a trained
preset attends to, and has its equations and its rows of all tables.

| mechanism | what it does, and where it breaks |
|---|---|
"""


def mechanism_pages(pictures: dict[str, list[Picture]]) -> dict[str, str]:
    """Returns the pages by path, the index first."""
    runs = [Preset.find(name) for name in catalogue.names_of(catalogue.PRESET, catalogue.RUN)]
    pages, index = {}, ""
    for mechanism in mechanisms():
        own = sorted((run for run in runs if run.mechanism == mechanism), key=lambda run: run.kind != catalogue.PRESET)
        config = configuration(own[0])
        parts = [part for part in explain(config) if part.name.startswith("kzoo.layers")] or explain(config)
        pages[f"mechanisms/{mechanism}.md"] = _page(mechanism, own, config, parts, pictures.get(mechanism, []))
        index += f"| [{mechanism}]({mechanism}.md) | {words(mechanism, parts)} |\n"
    return {"mechanisms/index.md": INDEX + index, **pages}


def configuration(preset: Preset) -> dict[str, Any]:
    """Returns the config of a preset's model; of a run without weights, of what its recipe names."""
    if preset.kind == catalogue.PRESET:
        return preset.config
    model = Recipe.from_config(preset.recipe or {}).model
    return {**model, "config": {key: _spelled_out(key, value) for key, value in model["config"].items()}}


def _spelled_out(key: str, value: Any) -> Any:
    """Returns the config that a registered name stands for; any other value as it is."""
    kind = next((kind for kind in KINDS if key == kind or key.endswith(f"_{kind}")), None)
    return serialize(get(kind, value)) if kind and isinstance(value, str) and value in names(kind) else value


def _page(
    mechanism: str, own: list[Preset], config: dict[str, Any], parts: list[Part], pictures: Iterable[Picture]
) -> str:
    model = explain({"class": config["class"]})[0]
    drawn = "\n\n".join(picture.markdown(UP) for picture in pictures)
    presets = ", ".join(f"[{run.name}]({UP}cards/{run.name}.md)" for run in own if run.kind == catalogue.PRESET)
    shown = json.dumps(_short(config), indent=1).replace("\n", "\n    ")
    return f"""# {mechanism}

{words(mechanism, parts)}{_gallery(own)}

## What it attends to

{drawn or "No preset of it is kept, only results."}

## Where it works, and where it breaks

{verdict(mechanism, UP)}

Right means at least {100 * REACH:.0f} % of the outputs without a mistake, at each measured length up to this one; after
a semicolon, what training had beyond pairs. All runs, sequence accuracy by length, ours / the paper's.
{f"Presets: {presets}." if presets else ""}

{of_mechanism(mechanism, UP)}

## How it works

In a [`{model.name}`]({UP}api/kzoo.models/{config["class"]}.md): {model.summary}

{"".join(map(_part, parts))}
## Config

??? note "The model of `{own[0].name}`"

    `kzoo train {own[0].name} --output DIR` trains it again.

    ```json
    {shown}
    ```
"""


def _gallery(own: list[Preset]) -> str:
    """Returns a link to the page of the gallery where a preset of the mechanism runs; nothing where none does."""
    for preset in own:
        page = exhibit_of(preset.name)
        if page is not None:
            place = f"{UP}gallery/index.html#page={page}&preset={preset.name}"
            return f"\n\n[Watch it work, step by step, on an input of yours]({place}){{ .md-button }}"
    return ""


def words(mechanism: str, parts: list[Part]) -> str:
    """Returns what a mechanism does, for those who know none; else what the part says of itself that makes it."""
    return in_words(mechanism) or _first(parts, mechanism)


def _first(parts: list[Part], mechanism: str) -> str:
    """Returns what distinguishes a mechanism: the summary of the part that wraps the others least."""
    wrappers = ("kzoo.layers.DirectionMix", "kzoo.layers.SharedDepth", "kzoo.layers.TransformerBlock")
    inner = [part for part in parts if part.name not in wrappers] or parts
    return inner[0].summary


def _part(part: Part) -> str:
    """Returns a section of a mechanism's page: a part as its docstring describes it, with its equations and paper."""
    package, name = part.name.rsplit(".", 1)
    return f"### [`{name}`]({UP}api/{package}/{name}.md)\n\n{part.summary}\n\n{description(part.docstring)}\n\n"


def _short(value: Any, depth: int = 0) -> Any:
    """Returns a config without long lists of numbers, which no one reads."""
    if isinstance(value, dict):
        return {key: _short(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], list):
        return f"lines of {len(value)} heads"
    if isinstance(value, list) and len(json.dumps(value)) > 200:
        return f"{len(value)} values"
    return value
