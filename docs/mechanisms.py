"""A page a mechanism: its equations, a picture of its attention, and where it works."""

import json
import re
from collections.abc import Iterable
from typing import Any

from docs.docstrings import equations
from docs.pictures import Picture
from docs.tables import mechanisms, of_mechanism
from kzoo.cards.explain import Part, explain
from kzoo.registry import get, names, serialize
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset
from kzoo.training.recipe import Recipe

UP = "../"
KINDS = ("attention", "bias", "position", "encoding")
LINK = re.compile(r"\[([^]]+)\]\((https://arxiv\.org/abs/[^)]+)\)")
INDEX = """# Mechanisms

What distinguishes the models of a task from each other. Each page has the equations, what a trained preset attends to,
and its rows of all tables.

| mechanism | |
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
        index += f"| [{mechanism}]({mechanism}.md) | {_first(parts, mechanism)} |\n"
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
    return f"""# {mechanism}

{_first(parts, mechanism)}

In a [`{model.name}`]({UP}api/kzoo.models/{config["class"]}.md): {model.summary}

{"".join(map(_part, parts))}
## What it attends to

{drawn or "No preset of it is kept, only results."}

## Where it works

Sequence accuracy by length, ours / the paper's. {f"Presets: {presets}." if presets else ""}

{of_mechanism(mechanism, UP)}

## Config

Of the model of `{own[0].name}`; `kzoo train {own[0].name} --output DIR` trains it again.

```json
{json.dumps(_short(config), indent=1)}
```
"""


def _first(parts: list[Part], mechanism: str) -> str:
    """Returns what distinguishes a mechanism: the summary of the part that wraps the others least."""
    wrappers = ("kzoo.layers.DirectionMix", "kzoo.layers.SharedDepth", "kzoo.layers.TransformerBlock")
    inner = [part for part in parts if part.name not in wrappers] or parts
    return inner[0].summary


def _part(part: Part) -> str:
    """Returns a section of a mechanism's page: a part, its equations, and its paper."""
    package, name = part.name.rsplit(".", 1)
    formulas = "".join(f"\\[\n{formula}\n\\]\n\n" for formula in equations(part.docstring))
    cited = dict.fromkeys(LINK.findall(part.docstring))
    source = f"From {', '.join(f'[{who}]({where})' for who, where in cited)}.\n\n" if cited else ""
    return f"## [`{name}`]({UP}api/{package}/{name}.md)\n\n{part.summary}\n\n{formulas}{source}"


def _short(value: Any, depth: int = 0) -> Any:
    """Returns a config without long lists of numbers, which no one reads."""
    if isinstance(value, dict):
        return {key: _short(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list) and len(json.dumps(value)) > 200:
        return f"{len(value)} heads' lines" if value and isinstance(value[0], list) else f"{len(value)} values"
    return value
