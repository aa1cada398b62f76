"""A page a task and a page a paper."""

import re

from docs.places import DOCS, BuildError
from docs.tables import relink, tables
from kzoo import registry, tasks
from kzoo.cards.explain import Part, explain
from kzoo.cards.markdown import table_of
from kzoo.errors import InputError
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

UP = "../"
CHART = '<div class="kzoo-results" data-task="{}"></div>\n\n'


def task_pages() -> dict[str, str]:
    """Returns the pages of the tasks by path, the index first."""
    presets: dict[str, list[str]] = {}
    for name in catalogue.names_of(catalogue.PRESET):
        presets.setdefault(str(Preset.find(name).task), []).append(name)
    pages, index = {}, []
    for name in tasks.names():
        task = tasks.get(name)
        pages[f"tasks/{name}.md"] = _task(name, presets.get(name, []))
        first = _written(task, 1) if _shipped(task) is None else [("", "")]
        index.append([f"[{name}]({name}.md)", *(f"`{text}`" if text else "" for text in first[0]), task.length_unit])
    table = table_of(["task", "a source", "its target", "length counts"], index)
    return {"tasks/index.md": f"# Tasks\n\nPure functions of a seed, a split and a length.\n\n{table}\n", **pages}


def _task(name: str, presets: list[str]) -> str:
    task, cls = tasks.get(name), registry.classes("task")[name].__name__
    strata = [[f"`{stratum}`", known.about] for stratum, known in task.strata.items()]
    found = tables().get(name)
    parts = [f"# {name}", f"::: kzoo.tasks.{cls}\n    options: {{show_root_heading: false}}"]
    parts += [_shipped(task) or _data(task)]
    if strata:
        parts += ["## Strata", "`kzoo evaluate NAME --stress`", table_of(["stratum", ""], strata)]
    if found:
        parts += ["## Results", f"{found.source}. Ours / the paper's.", CHART.format(name) + found.markdown(UP)]
        parts += [relink(found.notes, UP)]
    if presets:
        parts.append("Presets: " + ", ".join(f"[{preset}]({UP}cards/{preset}.md)" for preset in presets) + ".")
    return "\n\n".join(filter(None, parts)) + "\n"


def _shipped(task: tasks.Task) -> str | None:
    """Returns why the data of a task are not here; None if they are."""
    try:
        return None if task.splits else ""
    except InputError as error:
        return f"Its data are not here: {error}."


def _data(task: tasks.Task) -> str:
    """Returns the sections with examples and splits."""
    splits = [[split, "{} to {}".format(*own.lengths), f"{own.size:,}"] for split, own in task.splits.items()]
    examples = table_of(["source", "target"], [[f"`{a}`", f"`{b}`"] for a, b in _written(task, 3)])
    sizes = table_of(["split", task.length_unit, "examples"], splits)
    return f"## Examples\n\n{examples}\n\n## Splits\n\n{sizes}\n\n`kzoo data {task.name} --split test`"


def _written(task: tasks.Task, number: int) -> list[tuple[str, str]]:
    """Returns the shortest of some examples as they are typed."""
    join = ("" if task.characters else " ").join
    found = sorted(task.examples("train", size=50), key=lambda pair: (len(pair[0]), pair[0]))
    return [(join(source), join(target)) for source, target in dict(found).items()][:number]


def paper_pages() -> dict[str, str]:
    """Returns the pages of the papers by path, the index first.

    A page begins with the text of docs/pages/papers, whose first line names the paper on arXiv; what follows is
    gathered: the mechanisms and tasks that cite it, its tables beside ours, and how ours differ.
    """
    pages, index = {}, []
    for path in sorted((DOCS / "pages" / "papers").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        match = re.match(r"# (.+)\n\n.*?<https://arxiv\.org/abs/(\d{4}\.\d{4,5})>", text, re.DOTALL)
        if match is None:
            raise BuildError(f"{path} must begin with a title and the address of the paper on arXiv")
        pages[f"papers/{path.name}"] = text.rstrip() + "\n\n" + _paper(match[2])
        index.append([f"[{match[1]}]({path.name})", f"<https://arxiv.org/abs/{match[2]}>"])
    table = table_of(["paper", ""], index)
    return {
        "papers/index.md": f"# Papers\n\nWhere the mechanisms and the published numbers are from.\n\n{table}\n",
        **pages,
    }


def _paper(arxiv: str) -> str:
    everything = explain({"class": "", "config": [{"class": name} for name in _documented()]})
    parts = [part for part in everything if f"arxiv.org/abs/{arxiv}" in part.docstring]
    cited = table_of(["", ""], [[_link(part), part.summary] for part in parts])
    differences = [(part, text) for part in parts for text in _differences(part)]
    listed = "\n".join(f"- {_link(part)}: {text}" for part, text in differences)
    sections = [
        f"## What of it is here\n\n{cited}",
        f"## Where ours differs, and what is wrong in the source\n\n{listed}",
    ]
    own = [name for name, table in tables().items() if table.source.split(";")[0].count(arxiv)]
    sections.append(
        "## Its tables, ours beside them\n\nSequence accuracy: ours / the paper's. What cannot stand beside one of the "
        "paper's says why below its table."
    )
    for name in own:
        table = tables()[name]
        notes = f"\n\n{relink(table.notes, UP)}" if table.notes else ""
        sections.append(f"### [{name}]({UP}tasks/{name}.md)\n\n{table.source}.\n\n{table.markdown(UP)}{notes}")
    return "\n\n".join(sections) + "\n"


def _documented() -> list[str]:
    """Returns the names of all classes of layers, models and tasks."""
    from docs.reference import public_names

    return [name for package in ("kzoo.layers", "kzoo.models", "kzoo.tasks") for name in public_names(package)]


def _differences(part: Part) -> list[str]:
    """Returns the paragraphs of a docstring that say how it differs from the paper, or what is wrong in the source."""
    paragraphs = [" ".join(text.split()) for text in part.docstring.split("\n\n")]
    return [text for text in paragraphs if re.match(r"Differences?\b", text) or "misprint" in text]


def _link(part: Part) -> str:
    package, name = part.name.rsplit(".", 1)
    return f"[`{name}`]({UP}api/{package}/{name}.md)"
