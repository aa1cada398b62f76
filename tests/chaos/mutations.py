"""Damaged files of presets, checkpoints and recipes: each is a function of a random generator."""

import copy
import hashlib
import json
import shutil
import struct
from pathlib import Path

import numpy as np

from kzoo.errors import KzooError
from kzoo.saving.weights import named_variables

DEEP = json.loads("[" * 60 + "]" * 60)
VALUES = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    7,
    64,
    10**12,
    10**30,
    0.5,
    -0.1,
    1e308,
    [],
    [0],
    [1, 2],
    ["0", "0"],
    {},
    DEEP,
]
VALUES += [
    "",
    "x",
    "4",
    "é",
    "a b",
    "\x00",
    "../x",
    "\ud800",
    "onestep",
    "content",
    "RecurrentSeq2Seq",
    "os.system",
    "F16",
]
VALUES += [{"class": "onestep"}, {"class": "MonotonicAttention", "config": {}}, {"class": "DirectionMix", "config": {}}]
VALUES += [{"class_name": "Lambda", "config": {"function": "x"}}, "x" * 100_000, list(range(1000))]
KEYS = ["x", "dtype", "name", "config", "class", "units", "step", "", "attention", "../x.json", "shape", "é"]
NUMBERS = [struct.pack("<f", value) for value in (np.nan, np.inf, -np.inf, 1e38, -1.0)]
PATTERNS = [*NUMBERS, b"\xff\xff\xff\xff", b'"', b"{", b"}", b"e", b"9"]


def mutate_bytes(rng, content):
    """Returns other bytes: flipped, cut, doubled, moved or overwritten."""
    content, at = bytearray(content), rng.randrange(len(content) + 1)
    end = min(len(content), at + rng.choice([1, 2, 4, 8, 100]))
    kind = rng.randrange(7)
    if kind == 0:
        at = min(at, len(content) - 1)
        content[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del content[at:end]
    elif kind == 2:
        del content[at:]
    elif kind == 3:
        content[at:at] = rng.randbytes(rng.choice([1, 4, 100]))
    elif kind == 4:
        content[at:at] = content[at:end]
    elif kind == 5:
        content += rng.randbytes(rng.choice([1, 4, 8]))
    else:
        content[at : at + 4] = rng.choice(PATTERNS)
    return bytes(content)


def nodes(value, path=()):
    """Returns the paths to every value inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in [(*path, key), *nodes(item, (*path, key))]]


def mutate_value(rng, value):
    """Returns another JSON value: somewhere inside, something is replaced, removed, added, renamed or swapped."""
    value = copy.deepcopy(value)
    path = rng.choice(nodes(value))
    parent = value
    for key in path[:-1]:
        parent = parent[key]
    kind = rng.randrange(6)
    if kind <= 2:
        parent[path[-1]] = copy.deepcopy(rng.choice(VALUES))
    elif kind == 3:
        del parent[path[-1]]
    elif isinstance(parent, list):
        parent.insert(path[-1], copy.deepcopy(rng.choice([*VALUES, parent[path[-1]]])))
    elif kind == 4:
        parent[rng.choice(KEYS)] = parent.pop(path[-1]) if rng.random() < 0.5 else copy.deepcopy(rng.choice(VALUES))
    else:
        other = rng.choice(list(parent))
        parent[path[-1]], parent[other] = parent[other], parent[path[-1]]
    return value


def mutate_json(rng, text):
    """Returns another text for a JSON file: mostly valid JSON with other content."""
    if rng.random() < 0.25:
        return mutate_bytes(rng, text)
    text = json.dumps(mutate_value(rng, json.loads(text)))
    if rng.random() < 0.1:  # a key twice
        text = text.replace("{", '{"format": 1, ', 1)
    if rng.random() < 0.05:
        text = text.replace("0.5", rng.choice(["NaN", "Infinity", "1e999", "-0.0", "0.5000"]))
    return text.encode()


def mutate_weights(rng, content):
    """Returns another safetensors file; half of the time only its header is another."""
    if rng.random() < 0.4:
        return mutate_bytes(rng, content)
    size = struct.unpack("<Q", content[:8])[0]
    text, payload = content[8 : 8 + size], content[8 + size :]
    kind = rng.randrange(5)
    if kind == 0:
        text = mutate_bytes(rng, text)
    elif kind == 1:  # two tensors trade places
        header = json.loads(text)
        first, second = rng.sample([name for name in header if name != "__metadata__"], 2)
        part = rng.choice(["data_offsets", "shape", "dtype"])
        header[first][part], header[second][part] = header[second][part], header[first][part]
        text = json.dumps(header).encode()
    elif kind == 2:  # an offset or a size is a little off
        header = json.loads(text)
        entry = header[rng.choice([name for name in header if name != "__metadata__"])]
        entry[part := rng.choice(["data_offsets", "shape"])][rng.randrange(len(entry[part]))] += rng.choice(
            [-4, -1, 1, 4]
        )
        text = json.dumps(header).encode()
    elif kind == 3:  # the same tensor twice, under one name or two
        entry = text[1 : text.index(b"}") + 1]
        text = b"{" + (entry if rng.random() < 0.5 else entry.replace(b'"', b'"x', 1)) + b"," + text[1:]
    else:
        text = json.dumps(mutate_value(rng, json.loads(text))).encode()
    lie = rng.choice([0] * 8 + [1, -1, 2**40])
    return struct.pack("<Q", max(0, len(text) + lie)) + text + payload


def unique(pairs):
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def read_weights(content):
    """Reads a safetensors file in the plainest way, for comparison; what nobody may accept fails."""
    size = struct.unpack("<Q", content[:8])[0]
    header, payload = json.loads(content[8 : 8 + size], object_pairs_hook=unique), content[8 + size :]
    header.pop("__metadata__", None)
    assert {entry["dtype"] for entry in header.values()} == {"F32"}
    assert np.isfinite(np.frombuffer(payload, "<f4")).all()
    return {
        name: np.frombuffer(payload[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in header.items()
    }


def assert_holds(model, content, label):
    """Checks that a model has exactly the numbers of a weights file."""
    expected, found = read_weights(content), named_variables(model)
    assert expected.keys() == found.keys(), label
    for name, variable in found.items():
        assert variable.numpy().tobytes() == expected[name].tobytes(), f"{label}: {name}"


def attempt(label, call):
    """Returns what `call` returns, or None if it is refused; anything but a sentence of kzoo fails."""
    try:
        return call()
    except KzooError as error:
        assert str(error) and len(str(error)) < 1500 and "\n" not in str(error), f"{label}: {error}"
        return None
    except Exception as error:
        raise AssertionError(f"{label}: {type(error).__name__}: {error}") from error


class Damaged:
    """A copy of a preset in which one file at a time is replaced."""

    def __init__(self, preset, folder):
        self.folder = Path(shutil.copytree(preset, folder))
        self.whole = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.replaced = {}

    def __call__(self, name, content, described=True):
        """Replaces a file, with metadata that fit or do not; all others are whole again. Returns the folder."""
        files = {name: content}
        if described and name != "metadata.json":
            metadata = json.loads(self.whole["metadata.json"])
            metadata["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            files["metadata.json"] = json.dumps(metadata).encode()
        for other in {*self.replaced, *files}:
            (self.folder / other).write_bytes(files.get(other, self.whole[other]))
        self.replaced = files
        return self.folder
