"""`kzoo data`: the examples of a task, as JSON lines or as a folder for the package datasets."""

import argparse
from pathlib import Path

from kzoo import tasks
from kzoo.errors import InputError
from kzoo.hub.datasets import json_lines
from kzoo.saving.files import expand, replace_folder, write_bytes
from kzoo.tasks import Task

ALL = "all"


def data_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo data`."""
    sub.add_argument("task", help='a task, as "recopy", or a file of pairs (.tsv)')
    sub.add_argument("--split", default="train", help='a split of the task (default: train), or "all" with a folder')
    sub.add_argument("--length", type=int, help="only this length (default: those of the split)")
    sub.add_argument("--examples", type=int, help="how many (default: as the split has)")
    sub.add_argument("--seed", type=int, default=0, help="seed of the examples (default: 0)")
    sub.add_argument(
        "--output",
        type=Path,
        help="a .jsonl file to write, or with --split all a folder, as datasets.load_dataset reads it "
        "(default: print them)",
    )


def data(options: argparse.Namespace) -> None:
    task = tasks.get(options.task)
    if options.split == ALL:
        if options.output is None or options.output.suffix:
            raise InputError("--split all writes a file a split: give --output a folder")
        if options.length is not None:
            raise InputError("--split all has the lengths of each split, so it does not go with --length")
        _write_folder(task, options)
        return print(options.output)
    text = _lines(task, options.split, options)
    if options.output is None:
        return print(text, end="")
    write_bytes(expand(options.output), text.encode())
    print(options.output)


def _lines(task: Task, split: str, options: argparse.Namespace) -> str:
    """Returns the examples of a split as JSON lines."""
    return json_lines(task, split, options.examples, options.seed, options.length)


def _write_folder(task: Task, options: argparse.Namespace) -> None:
    """Writes a file a split, and the README.md that tells the package datasets which it is."""
    folder = expand(options.output)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{options.output} exists and is not empty; nothing was written")
    with replace_folder(folder) as new:
        for split in task.splits:
            write_bytes(new / f"{split}.jsonl", _lines(task, split, options).encode())
        write_bytes(new / "README.md", _readme(task, options.seed).encode())


def _readme(task: Task, seed: int) -> str:
    files = "".join(f"  - split: {split}\n    path: {split}.jsonl\n" for split in task.splits)
    paper = f"\n{task.paper}.\n" if task.paper else ""
    head = f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n\n"
    return (
        f"{head}# {task.name}\n\n{task.about()}\n{paper}\n"
        f"Version {task.version} of kzoo's task `{task.name}`, seed {seed}; length counts {task.length_unit}.\n"
    )
