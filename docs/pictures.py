"""Pictures of what presets do inside, drawn by `kzoo plot`; drawn again only if the weights or the plots change."""

import contextlib
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from docs.places import ROOT, WORK, BuildError
from kzoo import tasks
from kzoo.cards.explain import explain
from kzoo.cli.main import main
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset

KEPT = WORK / "pictures"
GATED, BIASED = "kzoo.layers.CopyGate", ("kzoo.layers.CalibratedBias", "kzoo.layers.WindowedBias")


@dataclass(frozen=True)
class Picture:
    """A picture that a command draws.

    Args:
        preset: Preset.
        verb: str. "attention", "gates" or "biases".
        text: str. The input.
    """

    preset: Preset
    verb: str
    text: str

    @property
    def command(self) -> str:
        """str. As typed."""
        return f'kzoo plot {self.verb} {self.preset.name} "{self.text}"'

    @property
    def file(self) -> Path:
        """Path. Where it is kept; the name tells all that it depends on."""
        drawing = b"".join(path.read_bytes() for path in sorted((ROOT / "kzoo" / "inspection").glob("*.py")))
        key = hashlib.sha256(drawing + f"{self.command} {self.preset.weights_sha256}".encode()).hexdigest()[:16]
        return KEPT / f"{self.preset.name}_{self.verb}_{key}.svg"

    def draw(self) -> bool:
        """Returns whether there is such a picture, drawn if it was not yet; of some models nothing can be traced."""
        if not self.file.is_file():
            KEPT.mkdir(parents=True, exist_ok=True)
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = main(["plot", self.verb, self.preset.name, self.text, "--output", str(self.file)])
            if code:
                self.file.write_bytes(b"")  # not tried again
        return self.file.stat().st_size > 0

    def markdown(self, up: str) -> str:
        """Returns the picture with the command as its caption."""
        alternative = f"{self.verb} of {self.preset.name} for {self.text}"
        return f"![{alternative}]({up}assets/pictures/{self.file.name})\n\n`{self.command}`"


def pictures() -> dict[str, list[Picture]]:
    """Returns the pictures of each mechanism that has a preset, drawn: of the first preset that can be traced."""
    found: dict[str, list[Picture]] = {}
    for name in catalogue.names_of(catalogue.PRESET):
        preset = Preset.find(name)
        mechanism = str(preset.mechanism)
        if mechanism not in found:
            parts = {part.name for part in explain(preset.config)}
            verbs = ["attention", *(["gates"] if GATED in parts else []), *(["biases"] if parts & {*BIASED} else [])]
            own = [Picture(preset, verb, example(str(preset.task))) for verb in verbs]
            drawn = [picture for picture in own if picture.draw()]
            if drawn:
                found[mechanism] = drawn
    if not found:
        raise BuildError("kzoo plot draws nothing")
    return found


def example(task: str) -> str:
    """Returns a short source of a task, as it is typed."""
    known = tasks.get(task)
    sources = [source for source, _ in known.examples("train", size=50)]
    return ("" if known.characters else " ").join(min(sources, key=lambda source: (abs(len(source) - 6), source)))
