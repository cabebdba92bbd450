"""Records of cases that have a length, `parameters["sequence"]`: tables and pictures over it.

A kind is what the other parameters say: direction, dimension, mask.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flashpath.bench.plot import line_styles, picture_title, require_drawable, save
from flashpath.bench.record import Record
from flashpath.bench.report import cell, name
from flashpath.bench.table import NO_VALUE, digits, distance, median, memory
from flashpath.errors import FlashpathError

LENGTH = "sequence"
Value = Callable[[Record], float | None]


def has_length(record: Record) -> bool:
    return LENGTH in record.parameters


def speed(record: Record) -> float | None:
    return record.tflop_per_s


def peak_memory(record: Record) -> float | None:
    return record.peak_memory_bytes or None


def kind(record: Record) -> str:
    """`forward, dim 64, causal`: the parameters in words, without the length."""
    words: list[str] = []
    for key, value in record.parameters.items():
        if key == LENGTH:
            continue
        if isinstance(value, bool):
            words.append(key if value else f"not {key}")
        else:
            words.append(value if isinstance(value, str) else f"{key} {value}")
    return ", ".join(words)


def kinds(records: Iterable[Record]) -> dict[str, list[Record]]:
    grouped: dict[str, list[Record]] = {}
    for record in records:
        if has_length(record):
            grouped.setdefault(kind(record), []).append(record)
    return grouped


def lengths(records: Iterable[Record]) -> list[int]:
    return sorted({record.parameters[LENGTH] for record in records})


# ---- Tables ----------------------------------------------------------------------------------------------


def tables(records: Sequence[Record]) -> list[str]:
    """Returns, for each kind, the tables of SHOWN that were measured: implementations by lengths."""
    parts: list[str] = []
    for words, of_kind in kinds(records).items():
        for what, show in SHOWN.items():
            if any(show(record) != NO_VALUE for record in of_kind):
                parts.append(f"**{words}: {what}**\n\n{table(of_kind, show)}")
    return parts


SHOWN: Mapping[str, Callable[[Record], str]] = {
    "TFLOP/s": lambda record: digits(record.tflop_per_s),
    "memory beside the inputs": lambda record: memory(record.peak_memory_bytes),
    "distance from float64, in units of its largest element": distance,
}


def table(records: Sequence[Record], show: Callable[[Record], str]) -> str:
    """Markdown. Those that were skipped at every length have no row."""
    columns = lengths(records)
    rows = [["implementation", *map(str, columns)], ["---", *["---:"] * len(columns)]]
    for implementation in dict.fromkeys(record.implementation for record in records):
        found = {each.parameters[LENGTH]: each for each in records if each.implementation == implementation}
        if all(each.skipped for each in found.values()):
            continue
        cells = [_cell(found.get(length), show) for length in columns]
        rows.append([name(next(iter(found.values()))), *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(record: Record | None, show: Callable[[Record], str]) -> str:
    if record is None or record.skipped:
        return NO_VALUE
    return cell(show(record)) if record.time else median(record)  # failed, or out of memory


# ---- Pictures --------------------------------------------------------------------------------------------


def draw(
    records: Sequence[Record], path: str | os.PathLike[str], value: Value, label: str, *, log: bool = False
) -> None:
    """A panel for each kind, in it a line for each implementation over the length."""
    path = Path(path)
    require_drawable(path)
    shown = [record for record in records if has_length(record) and value(record)]
    if not shown:
        raise FlashpathError("bench.nothing-to-draw-of", label=label)
    mpl: Any = importlib.import_module("matplotlib")
    # A salt and no date: the same records make the same picture.
    with mpl.rc_context({"svg.hashsalt": "flashpath", "svg.fonttype": "none", "font.size": 9}):
        save(_figure(shown, value, label, log), path)


def _figure(records: Sequence[Record], value: Value, label: str, log: bool) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    grouped, every = kinds(records), line_styles(records)
    columns = min(2, len(grouped))
    rows = math.ceil(len(grouped) / columns)
    figure: Any = Figure(figsize=(5 * columns + 2.2, 3.2 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False).flatten()
    handles: dict[str, Any] = {}
    for panel, (words, of_kind) in zip(panels, grouped.items(), strict=False):
        for implementation, style in every.items():
            points = sorted(
                (each.parameters[LENGTH], value(each))
                for each in of_kind
                if each.implementation == implementation
            )
            if points:
                xs, ys = zip(*points, strict=True)
                (handles[implementation],) = panel.plot(xs, ys, linewidth=1, markersize=4, **style)
        _finish(panel, words, label, lengths(of_kind), log)
    for panel in panels[len(grouped) :]:
        panel.set_visible(False)
    figure.suptitle(picture_title(records))
    figure.legend(list(handles.values()), list(handles), loc="outside right upper", frameon=False)
    return figure


def _finish(panel: Any, words: str, label: str, ticks: Sequence[int], log: bool) -> None:
    panel.set_title(words, fontsize=9)
    panel.set_xscale("log", base=2)
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.set_xlabel("tokens of a sequence")
    panel.set_ylabel(label)
    if log:
        panel.set_yscale("log")
    else:
        panel.set_ylim(bottom=0)
    panel.grid(alpha=0.3)
