"""A timeline in the Chrome trace format, drawn as one page that needs nothing else."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.messages import Message, say, spoken

_MOST_BARS = 50_000  # beyond it a browser takes seconds
_TICKS = 10

# Colours that people with any sight can tell apart, dark enough to write on.
_COLOURS = {"kernel": "#1f6fb4", "copy": "#b45f06", "fill": "#7a5195"}
_OTHER_COLOUR = "#5f6b73"
_KINDS = {"kernel": "cli.timeline-kernel", "copy": "cli.timeline-copy", "fill": "cli.timeline-fill"}

_PAGE = """<!doctype html>
<html lang="{lang}">
<meta charset="utf-8">
<title>{title}</title>
<style>
  body {{ font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #1b1f23; background: #fff; }}
  h1 {{ font-size: 1.1rem; margin: 0 0 .2rem; }}
  p {{ margin: .2rem 0 .8rem; color: #57606a; }}
  .key span {{ padding: 0 .5rem; margin-right: .4rem; color: #fff; border-radius: 3px; }}
  .chart {{ display: flex; }}
  .names {{ flex: none; padding-right: .8rem; text-align: right; white-space: nowrap; }}
  .names div, .row {{ height: 26px; line-height: 26px; margin-bottom: 4px; }}
  .scroll {{ flex: auto; overflow-x: auto; }}
  .rows {{ position: relative; min-width: 100%; }}
  .row {{ position: relative; background: #f3f4f6; }}
  .row i {{ position: absolute; top: 2px; height: 22px; line-height: 22px; min-width: 1px; overflow: hidden;
    border-radius: 2px; color: #fff; font: 12px/22px system-ui, sans-serif; white-space: nowrap; }}
  .axis {{ position: relative; height: 20px; color: #57606a; font-size: 12px; }}
  .axis b {{ position: absolute; font-weight: normal; border-left: 1px solid #c9ced3; padding-left: 3px; }}
  @media (prefers-color-scheme: dark) {{
    body {{ color: #e6e6e6; background: #16191d; }} .row {{ background: #22272e; }}
  }}
</style>
<h1>{title}</h1>
<p>{summary}</p>
<p class="key">{key}
  <label>{zoom} <input type="range" min="0" max="12" step="0.1" value="0" id="zoom"></label></p>
<div class="chart">
<div class="names">{names}<div></div></div>
<div class="scroll"><div class="rows" id="rows">
{rows}
<div class="axis">{axis}</div>
</div></div>
</div>
<script>
  document.getElementById("zoom").addEventListener("input", (event) => {{
    const rows = document.getElementById("rows"), view = rows.parentElement;
    const middle = (view.scrollLeft + view.clientWidth / 2) / rows.clientWidth;
    rows.style.width = 100 * 2 ** event.target.value + "%";
    view.scrollLeft = middle * rows.clientWidth - view.clientWidth / 2;
  }});
</script>
</html>
"""


@dataclass(frozen=True)
class Bar:
    """A copy or a kernel: when it started and how long it took, in microseconds."""

    row: tuple[Any, Any]
    name: str
    kind: str
    start: float
    duration: float
    details: Mapping[str, Any]


def write_page(trace: Path, page: Path) -> None:
    """Draw the trace."""
    try:
        content: Any = json.loads(trace.read_bytes())
        about = content.get("otherData", {})
        text = make_page(content["traceEvents"], page.stem, about.get("gpu", "GPU"), about.get("measured_by"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FlashpathError("cli.timeline-unreadable", file=trace, why=str(error)) from None
    page.write_text(text, encoding="utf-8")


def make_page(
    events: Iterable[Mapping[str, Any]], title: str, gpu: str, measured_by: str | None = None
) -> str:
    """The page for a list of trace events; `gpu` is the one that was played, or that was measured."""
    names: dict[tuple[Any, Any], str] = {}
    processes: dict[Any, str] = {}
    bars: list[Bar] = []
    for event in events:
        row = (event.get("pid", 0), event.get("tid", 0))
        if event["ph"] == "X":
            details = event.get("args", {})
            kind = str(event.get("cat", ""))
            bars.append(
                Bar(row, str(event["name"]), kind, float(event["ts"]), float(event.get("dur", 0)), details)
            )
        elif event["ph"] == "M" and event["name"] == "thread_name":
            names[row] = str(event["args"]["name"])
        elif event["ph"] == "M" and event["name"] == "process_name":
            processes[row[0]] = str(event["args"]["name"])
    used = {bar.row for bar in bars}
    rows = [row for row in names if row in used] + sorted(used - names.keys(), key=str)
    several = len({row[0] for row in rows}) > 1
    labels: list[str] = []
    for row in rows:
        label = _stream_name(names.get(row), row[1])
        labels.append(f"{processes.get(row[0], f'GPU {row[0]}')}: {label}" if several else label)
    return _PAGE.format(
        lang=spoken(),
        zoom=html.escape(say("cli.timeline-zoom")),
        title=html.escape(title),
        summary=html.escape(_summary(bars, gpu, measured_by)),
        key="".join(
            f'<span style="background:{_colour(kind)}">{html.escape(_kind_name(kind))}</span>'
            for kind in sorted({bar.kind for bar in bars if bar.kind})
        ),
        names="".join(f"<div>{html.escape(label)}</div>" for label in labels),
        rows="\n".join(_row(row, bars) for row in rows),
        axis=_axis(bars),
    )


def _stream_name(recorded: str | None, number: Any) -> str:
    """Returns the name of a row: streams are named in the language, whatever else a recorder names stays."""
    if recorded == "default stream":
        return say("cli.timeline-default-stream")
    return say("cli.timeline-stream", number=number) if recorded in (None, f"stream {number}") else recorded


def _kind_name(kind: str) -> str:
    return say(_KINDS[kind]) if kind in _KINDS else kind


def _span(bars: Sequence[Bar]) -> tuple[float, float]:
    """The first start, and the time from there to the last end."""
    first = min((bar.start for bar in bars), default=0.0)
    return first, max((bar.start + bar.duration for bar in bars), default=0.0) - first


def _summary(bars: Sequence[Bar], gpu: str, measured_by: str | None) -> str:
    if not bars:
        return say("cli.timeline-empty")
    times = Message("cli.timeline-modelled", {"gpu": gpu})
    if measured_by is not None:
        times = Message("cli.timeline-measured", {"gpu": gpu, "tool": measured_by})
    what = {"count": len(bars), "time": _time(_span(bars)[1]), "times": times}
    if len(bars) > _MOST_BARS:
        return say("cli.timeline-summary-cut", **what, most=_MOST_BARS)
    return say("cli.timeline-summary", **what)


def _row(row: tuple[Any, Any], bars: Sequence[Bar]) -> str:
    first, length = _span(bars)
    drawn = [bar for bar in bars if bar.row == row][:_MOST_BARS]
    return f'<div class="row">{"".join(_bar(bar, first, length or 1.0) for bar in drawn)}</div>'


def _bar(bar: Bar, first: float, length: float) -> str:
    lines = [bar.name, say("cli.timeline-bar", time=_time(bar.duration), start=_time(bar.start - first))]
    lines += [f"{name}: {value}" for name, value in bar.details.items()]
    title = html.escape("\n".join(lines), quote=True)
    left, width = 100 * (bar.start - first) / length, 100 * bar.duration / length
    style = f"left:{left:.5f}%;width:{width:.5f}%;background:{_colour(bar.kind)}"
    return f'<i style="{style}" title="{title}">{html.escape(bar.name)}</i>'


def _colour(kind: str) -> str:
    return next((colour for known, colour in _COLOURS.items() if known in kind.lower()), _OTHER_COLOUR)


def _axis(bars: Sequence[Bar]) -> str:
    _, length = _span(bars)
    ticks = (length * at / _TICKS for at in range(_TICKS))
    return "".join(f'<b style="left:{100 * at / _TICKS}%">{_time(tick)}</b>' for at, tick in enumerate(ticks))


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.4g} {unit}"
    return f"{microseconds:.4g} µs"
