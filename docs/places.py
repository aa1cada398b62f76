"""Where things are, and which of kzoo's packages have pages of their own."""

from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
WORK = ROOT / "build" / "docs"  # the builder's input; what is slow to make is kept there between builds
SITE = ROOT / "build" / "site"

# The public packages, and whether each of their names has a page of its own.
PACKAGES = {
    "kzoo": False,
    "kzoo.layers": True,
    "kzoo.models": True,
    "kzoo.tasks": True,
    "kzoo.preprocessing": False,
    "kzoo.training": False,
    "kzoo.training.callbacks": False,
    "kzoo.evaluation": False,
    "kzoo.inspection": False,
    "kzoo.metrics": False,
    "kzoo.data": False,
}


class BuildError(Exception):
    """The site cannot be built; the message says what to mend."""
