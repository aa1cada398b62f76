"""The verbs on presets: info, export, card, download, publish."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import kzoo
from kzoo.cli.arguments import PRESET, preset_argument
from kzoo.cli.output import example_of, print_json, show_preset
from kzoo.errors import InputError
from kzoo.hub.publish import Publication
from kzoo.saving import catalogue
from kzoo.saving.preset import Preset


def info_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo info`."""
    sub.add_argument("preset", help=PRESET)


def info(options: argparse.Namespace) -> None:
    if options.json:
        found = Preset.find(options.preset)
        return print_json({**found.to_dict(), "example": example_of(found)})
    show_preset(options.preset)


def export_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo export`."""
    preset_argument(sub)
    sub.add_argument("--format", required=True, help="keras, safetensors, saved_model, onnx or torch")
    sub.add_argument("--output", required=True, type=Path, help="the file, or the folder of a saved_model, to write")


def export(options: argparse.Namespace) -> None:
    model = kzoo.from_preset(options.preset, budget=options.budget)
    path = kzoo.export(model, options.output, format=options.format)
    if options.json:
        return print_json({"preset": options.preset, "format": options.format, "path": str(path)})
    print(path)


def card_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo card`."""
    sub.add_argument("presets", nargs="*", metavar="PRESET", help="names or folders (default: all)")
    sub.add_argument("--output", type=Path, help="the folder to write to (default: print the card)")


def card(options: argparse.Namespace) -> None:
    from kzoo.cards.card import render_card, write_card

    for preset in options.presets or catalogue.list_presets():
        print(render_card(preset) if options.output is None else write_card(preset, options.output))


def download_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo download`."""
    sub.add_argument("preset", help="a name, or hf://owner/name[@revision]")
    sub.add_argument("--force", action="store_true", help="download again what is cached")


def download(options: argparse.Namespace) -> None:
    preset = Preset.find(options.preset, force=options.force)
    if options.json:
        return print_json({"preset": preset.name, "folder": str(preset.folder)})
    print(preset.folder)


def publish_parser(sub: argparse.ArgumentParser) -> None:
    """Adds the arguments of `kzoo publish`."""
    sub.add_argument("preset", nargs="?", help="a folder, or a bundled name")
    sub.add_argument("address", help="hf://owner/name; with --all, hf://owner")
    sub.add_argument(
        "--all", action="store_true", help="every bundled preset, the data of the tasks, and a collection of them"
    )
    sub.add_argument("--page", type=Path, help="with --all: the folder of a built page, for a static Space")
    sub.add_argument("--tag", help='a tag for the commit, as "v1"')
    sub.add_argument("--private", action="store_true", help="make the repository private")
    sub.add_argument("--dry-run", action="store_true", help="check and show what would be sent, and send nothing")


def publish(options: argparse.Namespace) -> None:
    if options.all != (options.preset is None) or (options.page and not options.all):
        raise InputError("kzoo publish takes PRESET hf://owner/name, or --all hf://owner, and only that a --page")
    plan = {"tag": options.tag, "private": options.private, "dry_run": options.dry_run}
    if options.all:
        from kzoo.hub.everything import publish_all

        return _show_all(publish_all(options.address, **plan, page=options.page), options.json)
    done = kzoo.upload_preset(options.address, options.preset, **plan)
    if options.json:
        return print(done.to_json())
    if options.dry_run:
        print("nothing was sent; this would be:")
    elif not done.changed:
        print("nothing was sent, all of it is there:")
    print(done)


def _show_all(publications: Iterable[Publication], as_json: bool) -> None:
    """Prints a line a repository, as each is done."""
    for done in publications:
        if as_json:
            print(json.dumps(asdict(done)), flush=True)
        else:
            size = sum(entry["bytes"] for entry in done.files.values())
            files = f"  {len(done.files)} files, {size:,} bytes, {len(done.changed)} to send" if done.files else ""
            print(f"{done.address}{f', tag {done.tag}' if done.tag else ''}{files}", flush=True)
