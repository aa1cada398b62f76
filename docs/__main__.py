"""`python -m docs` builds the site from the repository's own files; see `--help`."""

import argparse
import sys
from pathlib import Path

from docs.builder import build
from docs.places import SITE, BuildError


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m docs", description="Builds the site, for any static host.")
    parser.add_argument("--output", type=Path, default=SITE, help=f"the folder to write (default: {SITE})")
    options = parser.parse_args(arguments)
    try:
        pages = build(options.output)
    except BuildError as error:
        print(f"the site was not built: {error}", file=sys.stderr)
        return 1
    print(f"{len(pages)} pages in {options.output}; to look at them: python -m http.server -d {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
