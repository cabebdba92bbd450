"""Pictures of records: the speed of each implementation by case, and how that lies under the roofline."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flashpath.bench.record import Record
from flashpath.bench.record_files import require_appendable
from flashpath.errors import FlashpathError

FORMATS = (".svg", ".png", ".pdf")
# Colours that readers with any colour vision tell apart (Okabe and Ito), rungs in these, peers in grey.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")
_MARKERS = "osD^vP*X"
_GREYS = ("#555555", "#888888", "#aaaaaa", "#cccccc")


def require_drawable(path: str | os.PathLike[str]) -> None:
    """Raise FlashpathError where no picture could be written: before the timing, not after."""
    if Path(path).suffix.lower() not in FORMATS:
        raise FlashpathError("bench.no-picture", file=path, formats=FORMATS)
    require_appendable(path)


def draw(records: Sequence[Record], path: str | os.PathLike[str]) -> None:
    """Speeds by case on the left; on the right each implementation under the measured ceilings."""
    path = Path(path)
    require_drawable(path)
    timed = [record for record in records if record.time]
    if not timed:
        raise FlashpathError("bench.nothing-to-draw")
    mpl: Any = importlib.import_module("matplotlib")
    # A salt and no date: the same records make the same picture.
    with mpl.rc_context({"svg.hashsalt": "flashpath", "svg.fonttype": "none", "font.size": 9}):
        save(_figure(timed), path)


def save(figure: Any, path: Path) -> None:
    dated = {"Date": None} if path.suffix.lower() == ".svg" else {}
    with path.open("wb") as file:
        figure.savefig(file, format=path.suffix[1:].lower(), metadata=dated, bbox_inches="tight")


def _figure(records: Sequence[Record]) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    has_roofline = any(record.tflop_per_s and record.gb_per_s for record in records)
    figure: Any = Figure(figsize=(12 if has_roofline else 7, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    columns = figure.subplots(1, 2 if has_roofline else 1, squeeze=False)[0]
    styles = line_styles(records)
    draw_speeds(columns[0], records, styles)
    if has_roofline:
        draw_roofline(columns[1], records, styles)
    figure.suptitle(picture_title(records))
    handles, labels = columns[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    return figure


def picture_title(records: Sequence[Record]) -> str:
    environment = records[0].environment
    commit = f", commit {environment.commit[:10]}" if environment.commit else ""
    return f"{records[0].ladder or 'comparison'} on {environment.gpu or environment.cpu}{commit}"


def line_styles(records: Sequence[Record]) -> dict[str, dict[str, Any]]:
    names = list(dict.fromkeys((record.implementation, record.is_peer) for record in records))
    own = [name for name, is_peer in names if not is_peer]
    peers = [name for name, is_peer in names if is_peer]
    styles: dict[str, dict[str, Any]] = {}
    for index, name in enumerate(own):
        styles[name] = {"color": _COLOURS[index % 8], "marker": _MARKERS[(index + index // 8) % 8]}
    for index, name in enumerate(peers):
        styles[name] = {"color": _GREYS[index % 4], "marker": _MARKERS[index % 8], "linestyle": "--"}
    return styles


def _speed(records: Sequence[Record]) -> tuple[str, Callable[[Record], float | None]]:
    """GB/s, or TFLOP/s where arithmetic bounds the cases."""
    bounded_by_arithmetic = any("GEMM" in (record.ceiling or "") for record in records)
    if bounded_by_arithmetic or not any(record.gb_per_s for record in records):
        return "TFLOP/s", lambda record: record.tflop_per_s
    return "GB/s", lambda record: record.gb_per_s


def draw_speeds(axes: Any, records: Sequence[Record], styles: Mapping[str, Mapping[str, Any]]) -> None:
    """A line per implementation over the cases, in the order that they were measured in."""
    unit, speed = _speed(records)
    cases = list(dict.fromkeys(record.case for record in records))
    for name, style in styles.items():
        points = [
            (cases.index(record.case), speed(record)) for record in records if record.implementation == name
        ]
        xs = [x for x, y in points if y]
        ys = [y for _, y in points if y]
        axes.plot(xs, ys, label=name, linewidth=1, markersize=5, **style)
    axes.set_xticks(range(len(cases)), cases, rotation=25, ha="right")
    axes.set_ylabel(unit)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.3)


def draw_roofline(axes: Any, records: Sequence[Record], styles: Mapping[str, Mapping[str, Any]]) -> None:
    """FLOP/s over FLOPs per byte, under the ceilings that were measured in the same run."""
    np: Any = importlib.import_module("numpy")
    placed = [
        (record, 1e3 * record.tflop_per_s / record.gb_per_s, record.tflop_per_s)
        for record in records
        if record.tflop_per_s and record.gb_per_s
    ]
    intensities = np.array([intensity for _, intensity, _ in placed])
    span = np.geomspace(intensities.min() / 8, intensities.max() * 8, 64)
    for name, gb_per_s, tflop_per_s in ceilings(records):
        heights = span * gb_per_s / 1e3 if gb_per_s else np.full_like(span, tflop_per_s or 0.0)
        axes.plot(span, heights, color="#333333", linewidth=1)
        axes.annotate(name, (span[2], heights[2]), fontsize=8, va="bottom")
    for record, intensity, tflop_per_s in placed:
        axes.plot(
            [intensity], [tflop_per_s], markersize=5, **{**styles[record.implementation], "linestyle": ""}
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    axes.set_xlabel("FLOPs per byte")
    axes.set_ylabel("TFLOP/s")
    axes.grid(alpha=0.3, which="both")


def ceilings(records: Sequence[Record]) -> list[tuple[str, float | None, float | None]]:
    """(name, GB/s or None, TFLOP/s or None) of the ceilings that records say they reach a fraction of."""
    found: dict[str, tuple[str, float | None, float | None]] = {}
    for record in records:
        if not (record.ceiling and record.fraction_of_ceiling):
            continue
        if "GEMM" in record.ceiling and record.tflop_per_s:
            limit = record.tflop_per_s / record.fraction_of_ceiling
            found[record.ceiling] = (f"{record.ceiling}, {limit:,.0f} TFLOP/s", None, limit)
        elif record.gb_per_s:
            limit = record.gb_per_s / record.fraction_of_ceiling
            found[record.ceiling] = (f"{record.ceiling}, {limit:,.0f} GB/s", limit, None)
    return list(found.values())
