"""Pictures of results; matplotlib is an extra."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kzoo.errors import BackendError, InputError

ROOM = 200  # tokens, or steps, of a picture


def pyplot() -> Any:
    """Returns matplotlib's pyplot, drawing to files only.

    Raises:
        BackendError: matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise BackendError('pictures need matplotlib; run: pip install "kzoo[plot]"') from None
    matplotlib.use("Agg")
    # Equal data give equal files, and text stays text, also where it has a "$".
    matplotlib.rcParams.update(
        {"svg.hashsalt": "kzoo", "svg.fonttype": "none", "font.size": 11, "text.parse_math": False}
    )
    import matplotlib.pyplot as plt

    return plt


def check_room(what: str, count: int) -> None:
    """Raises `InputError` if a picture has no room for so many tokens, or steps."""
    if count > ROOM:
        raise InputError(f"a picture has room for {ROOM} {what}, not for {count:,}")


def plot_lengths(
    curves: Mapping[str, Sequence[Mapping[str, Any]]],
    path: Path,
    trained: tuple[int, int] | None = None,
    note: str = "",
    unit: str = "",
) -> None:
    """Draws sequence accuracy against length, a curve a preset, and writes it as SVG or PNG by the path's suffix.

    Args:
        curves: rows by the name of their curve; only sequence accuracy is drawn, with its 95 % interval, and the
            paper's numbers as open circles where rows have them.
        path: Path.
        trained: (int, int). The lengths trained on, drawn as a band.
        note: str. Kept in the file's description, to tell which results it shows.
        unit: str. What a length counts.
    """
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for i, (name, rows) in enumerate(curves.items()):
        found = sorted((row for row in rows if row["metric"] == "sequence_accuracy" and row["length"]), key=_length)
        x, y = [row["length"] for row in found], [100 * row["value"] for row in found]
        margins = [[max(0.0, 100 * (row["value"] - row["low"])) for row in found]]
        margins.append([max(0.0, 100 * (row["high"] - row["value"])) for row in found])
        color = f"C{i}"
        axes.errorbar(x, y, yerr=margins, fmt="o-", color=color, capsize=3, markersize=5, label=name)
        paper = [(row["length"], 100 * row["paper"]) for row in found if row.get("paper") is not None]
        if paper:
            label = "the paper" if len(curves) == 1 else None
            axes.plot(*zip(*paper, strict=True), "o", mfc="none", color=color, markersize=11, label=label)
    if trained:
        axes.axvspan(*trained, color="0.88", zorder=0, label=f"trained on {trained[0]} to {trained[1]}")
    axes.set(ylim=(-4, 104), xlim=(0, None), xlabel=f"length ({unit})" if unit else "length")
    axes.set_ylabel("sequence accuracy (%)")
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    save_figure(figure, path, note)


def _length(row: Mapping[str, Any]) -> int:
    return int(row["length"])


def save_figure(figure: Any, path: Path, note: str = "") -> None:
    """Writes a figure as SVG or PNG by the path's suffix, whole or not at all, with a note in its description."""
    if path.suffix not in (".svg", ".png"):
        raise InputError(f"a picture is written as .svg or .png, not {path.suffix or path.name!r}")
    metadata = {"Description": note} if note else {}
    if path.suffix == ".svg":
        metadata["Date"] = None  # type: ignore[assignment]
    beside = path.with_name(f".{path.stem}.new{path.suffix}")
    figure.savefig(beside, metadata=metadata, dpi=150)
    beside.replace(path)
    pyplot().close(figure)
