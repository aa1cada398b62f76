"""What presets do and how far they go, in a sentence or two each, for those who have never seen the project."""

from docs.places import BuildError
from docs.results import first_broken, reach
from kzoo import tasks
from kzoo.cards.explain import explain_task, in_words
from kzoo.errors import KzooError
from kzoo.gallery import exhibit_of
from kzoo.saving.preset import Preset

UP = "../"


def overview(names: list[str]) -> str:
    """Returns a list of presets: the mechanism in words the first time, the task, and how far it is right.

    Raises:
        BuildError: there is no such preset, or nothing is written of its mechanism.
    """
    lines, told = [], set[str]()
    for name in names:
        try:
            preset = Preset.find(name)
        except KzooError as error:
            raise BuildError(f"the overview names {name}: {error}") from error
        mechanism = str(preset.mechanism)
        text = in_words(mechanism)
        if text is None:
            raise BuildError(f"kzoo/cards/mechanisms.json says nothing of {mechanism}")
        page = f"[{mechanism}]({UP}mechanisms/{mechanism}.md)"
        said = f"**{page}.** {text}" if mechanism not in told else f"{page} again:"
        lines.append(f"- {said} *{how_far(preset)}*{_watch(name)}")
        told.add(mechanism)
    return "\n".join(lines)


def how_far(preset: Preset) -> str:
    """Returns what a preset was trained on, up to which length it is right, and what comes then."""
    task = tasks.get(str(preset.task))
    about = explain_task(task)[0].summary.split(". ")[0].rstrip(".").split(":", 1)[-1].strip()
    low, high = task.splits["train"].lengths
    points = [[row["length"], row["value"], None] for row in preset.rows if row["metric"] == "sequence_accuracy"]
    far, broken = reach(points), first_broken(points)
    built = "constructed" in (preset.supervision or [])
    trained = "Not trained" if built else f"Trained on {low} to {high} {task.length_unit}"
    told = "never right" if far is None else f"right up to {far:,}"
    then = "the longest measured" if broken is None else f"{100 * broken[1]:.3g} % at {broken[0]:,}"
    extra = "" if built or not preset.supervision else f" Training had {' and '.join(preset.supervision)}."
    return f"{task.name} ({about}): {trained}; {told}, {then}.{extra}"


def _watch(name: str) -> str:
    page = exhibit_of(name)
    return f" [Watch]({UP}gallery/index.html#page={page}&preset={name})" if page else ""
