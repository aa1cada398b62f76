"""Presets that are small on disk and would cost much: refused, or built within a GiB and ten seconds."""

import hashlib
import json
import random
import resource
import struct
import time
from pathlib import Path
from typing import Any

import kzoo
from kzoo.errors import KzooError
from kzoo.saving.documents import FORMAT
from tests.chaos.forks import DONE, forked
from tests.chaos.place import Attack, Place, Tried

SECONDS, BYTES = 10.0, 2**30  # of processor time, and of memory
SIZES = [1, 2, 3, 4, 6, 8, 10, 50, 100, 600, 1_000, 1_024, 4_096, 10_000, 65_536]
NUMBERS = [10**4, 10**6, 8 * 10**6, 30 * 10**6, 100 * 10**6]  # in the weights file
LINES = [[1, None, offset % 10_000, 0.5] for offset in range(20_000)]


def block(**config: Any) -> dict[str, Any]:
    return {"class": "TransformerBlock", "config": {"attention": {"class": "MultiHeadAttention", "config": config}}}


def calibrated(lines: list[list[Any]]) -> dict[str, Any]:
    return {"class": "CalibratedBias", "config": {"lines": lines}}


PLAIN = {"units": 4, "layers": 1, "heads": 1, "hidden_units": 4}
WIDE = [[[slope, part, offset, 0.0] for slope in (-1, 1) for part in range(100) for offset in (-9_999, 9_999)]]
# What it is called: class, tokens of the vocabulary, arguments.
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "a long mirrored bias": ("TransformerDecoder", 4, {"block": block(bias={"class": "mirrored", "config": {}})}),
    "65,000 tokens": ("TransformerDecoder", 65_000, {}),
    "20,000 lines": ("TransformerSeq2Seq", 4, {"self_bias": calibrated([LINES])}),
    "lines of many parts": ("TransformerSeq2Seq", 4, {"self_bias": calibrated([*WIDE, *[[]] * 1023]), "heads": 1024}),
    "600 layers": ("TransformerDecoder", 4, {"units": 2, "layers": 600}),
    "100 layers of both kinds": ("TransformerSeq2Seq", 4, {"layers": 100, "encoder_layers": 100}),
    "90,000 hints": ("TransformerDecoder", 4, {"hints": ["sorter"] * 90_000}),
    "1,024 heads": ("TransformerSeq2Seq", 4, {"heads": 1_024, "units": 1_024}),
    "10,000 steps": ("TransformerClassifier", 4, {"steps": 10_000}),
    "a memory of 1,024 cells": ("RecurrentClassifier", 4, {"reader": {"class": "dnc", "config": {"cells": 1_024}}}),
    "100 recurrent layers": ("RecurrentClassifier", 4, {"reader": {"class": "lstm", "config": {"layers": 100}}}),
}
CASES["a long mirrored bias"][2]["block"]["config"]["attention"]["config"]["bias"]["config"]["longest"] = 10_000


def costs(place: Place, rng: random.Random) -> Attack:
    """The known cases, and then models of sizes that each pass their check."""
    chosen = list(CASES.items())
    rng.shuffle(chosen)
    for name, (cls, tokens, config) in chosen:
        yield _tried(place, name, cls, tokens, config, rng.choice(NUMBERS[1:]))
    while True:
        cls = rng.choice(["TransformerDecoder", "TransformerSeq2Seq", "TransformerClassifier", "RecurrentSeq2Seq"])
        sizes = ["embedding_units", "encoder_units"] if cls == "RecurrentSeq2Seq" else ["units", "heads"]
        sizes += {"TransformerDecoder": ["layers"], "TransformerSeq2Seq": ["layers", "encoder_layers"]}.get(cls, [])
        config = {size: rng.choice(SIZES) for size in sizes}
        yield _tried(place, f"{cls} {config}", cls, rng.choice([4, 100, 65_000]), config, rng.choice(NUMBERS))


def _tried(place: Place, name: str, cls: str, tokens: int, config: dict[str, Any], numbers: int) -> Tried:
    plain = PLAIN if cls in ("TransformerDecoder", "TransformerSeq2Seq") else {}
    folder = write_preset(place.fresh(), cls, tokens, {**plain, **config}, numbers)
    ended = forked(lambda: measured(folder))
    return Tried(1, [] if ended.how == DONE and not ended.value else [f"{name}: {ended.value}"])


def measured(folder: Path) -> str | None:
    """Builds a preset in this process; returns what it took, if that is too much."""
    before, start = _memory(), time.process_time()
    try:
        kzoo.from_preset(folder)
    except KzooError as error:
        if "\n" in str(error) or len(str(error)) > 1500:
            return f"said {error!s:.300}"
    seconds, size = time.process_time() - start, _memory() - before
    if seconds <= SECONDS and size <= BYTES:
        return None
    return f"{seconds:.1f} s of processor time and {size / 2**20:,.0f} MiB"


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def write_preset(folder: Path, cls: str, tokens: int, config: dict[str, Any], numbers: int) -> Path:
    """Writes a preset whose weights file has so many numbers, all 0, and takes no room on the disk."""
    folder.mkdir()
    special = {"labels": 3} if cls.endswith("Classifier") else {}
    vocabulary = [format(number, "x") for number in range(tokens)]
    tokenizer = {"tokens": vocabulary, **({"labels": ["0", "1", "2"]} if special else {})}
    config = {"vocabulary_size": tokens + 3, **special, **config}
    model = {"format": FORMAT, "class": cls, "config": config}
    for name, content in (("config.json", model), ("tokenizer.json", tokenizer)):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    header = b"{}"
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + 4 * numbers)
    files = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            files[path.name] = {
                "bytes": path.stat().st_size,
                "sha256": hashlib.file_digest(file, "sha256").hexdigest(),
            }
    metadata = {"format": FORMAT, "mechanism": None, "task": "addition", "supervision": [], "paper": None}
    metadata |= {"license": "apache-2.0", "parameters": numbers, "files": files}
    (folder / "metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    return folder
