"""The cards of the presets, as they are in hub_cards/, and their pictures."""

import re
from pathlib import Path

from docs.places import ROOT, BuildError
from kzoo.cards.card import render_card
from kzoo.cards.markdown import table_of
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

CARDS = ROOT / "hub_cards"
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def card_pages() -> tuple[dict[str, str], list[Path]]:
    """Returns the pages of the cards by path, the index first, and their pictures.

    Raises:
        BuildError: a card is not that of its preset.
    """
    pages, index = {}, []
    for name in catalogue.list_presets():
        path = CARDS / f"{name}.md"
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if text != render_card(name):
            raise BuildError(f"hub_cards/{name}.md is stale: kzoo card {name} --output hub_cards")
        preset = Preset.find(name)
        pages[f"cards/{name}.md"] = _relinked(FRONT_MATTER.sub("", text), preset)
        claim = text.split(f"# {name}\n\n", 1)[1].split("\n\n")[0]
        index.append([f"[{name}]({name}.md)", claim, ", ".join(preset.supervision or []) or "none"])
    table = table_of(["preset", "", "supervision"], index)
    first = f"# Presets\n\nTrained models, each with a card.\n\n{table}\n"
    return {"cards/index.md": first, **pages}, [CARDS / f"{name}.svg" for name in catalogue.list_presets()]


def _relinked(text: str, preset: Preset) -> str:
    """Returns a card whose links lead to the pages of the reference, of its mechanism and of its task."""
    text = re.sub(r"\[`(kzoo\.\w+)\.(\w+)`\]\(\.\./[^)]*\)", r"[`\1.\2`](../api/\1/\2.md)", text)
    mechanism = f"[{preset.mechanism}](../mechanisms/{preset.mechanism}.md)"
    about = f"Mechanism {mechanism}, task [{preset.task}](../tasks/{preset.task}.md)."
    return text.replace("\n## Usage", f"\n{about}\n\n## Usage", 1)
