"""Figures of the unit on streams: what runs when, modelled and measured, and what overlap and graphs save.

Modelled timelines are those that `flashpath run --timeline` writes of the unit's program; measured ones and
times come from the records of an H200.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flashpath import settings
from flashpath.course.figures.drawing import Figure, Picture, Span

_EXPERIMENTS = "units/09-streams-and-events/experiments"
_ONE_STREAM, _PAGEABLE, _WAITS, _IN_DEFAULT_STREAM, _OVERLAPPED = range(5)


@dataclass(frozen=True)
class _Event:
    """A step of one chunk on the model's clock, in microseconds."""

    stream: str
    step: int
    chunk: int
    begin: float
    end: float


# ---- Modelled ------------------------------------------------------------------------------------------


@functools.cache
def _played(way: int) -> tuple[_Event, ...]:
    """What the unit's pipeline does on the virtual A100, in one of its ways."""
    program = settings.content_dir("course") / _EXPERIMENTS / "pipeline.cu"
    with tempfile.TemporaryDirectory(prefix="flashpath-figure-") as folder:
        trace = Path(folder) / "timeline.json"
        command = ["run", str(program), "--device", "A100", "--quiet", "--timeline", str(trace)]
        subprocess.run(
            [sys.executable, "-m", "flashpath.cli", *command, "--", str(way)],
            env=os.environ | {settings.LANG.name: "en"},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        rows = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    names = {row["tid"]: row["args"]["name"] for row in rows if row["ph"] == "M"}
    events: list[_Event] = []
    for step, ending in enumerate((" to device", "halve", " to host")):  # of the names of what runs
        begun = sorted((row["ts"], row["dur"], row["tid"]) for row in rows if row["name"].endswith(ending))
        events += [
            _Event(names[stream], step, chunk, begin, begin + took)
            for chunk, (begin, took, stream) in enumerate(begun)
        ]
    return tuple(events)


def _span(event: _Event) -> Span:
    return Span(event.begin, event.end, event.step, str(event.chunk))


def _end(events: Sequence[_Event]) -> float:
    return max(event.end for event in events)


def _legend(picture: Picture, lang: str) -> Picture:
    names = {
        "en": ("copy in", "kernel", "copy out"),
        "zh": ("拷入", "核函数", "拷出"),
    }[lang]
    return picture.legend(list(enumerate(names)))


def streams(lang: str) -> Figure:
    """The same four chunks in one stream and in three, a row for each stream."""
    one, several, row = {
        "en": ("one stream", "three streams", "stream {}"),
        "zh": ("一个流", "三个流", "流 {}"),
    }[lang]
    longest = _end(_played(_ONE_STREAM))
    picture = Picture()
    for title, way in ((one, _ONE_STREAM), (several, _OVERLAPPED)):
        events = _played(way)
        rows = [
            (row.format(number), [_span(event) for event in events if event.stream == stream])
            for number, stream in enumerate(sorted({event.stream for event in events}), 1)
        ]
        picture.heading(f"{title}: {_end(events):.1f} µs").timeline(rows, "µs", end=longest)
    return _legend(picture, lang).both()


def gaps(lang: str) -> Figure:
    """Three ways that do not overlap and the one that does, a row for each engine."""
    titles, engines = {
        "en": (
            {
                _PAGEABLE: "pageable memory, three streams",
                _IN_DEFAULT_STREAM: "kernels in the default stream",
                _OVERLAPPED: "nothing in the way",
            },
            ("in", "kernels", "out"),
        ),
        "zh": (
            {
                _PAGEABLE: "可分页内存，三个流",
                _IN_DEFAULT_STREAM: "核函数在默认流里",
                _OVERLAPPED: "没有阻碍",
            },
            ("拷入", "核函数", "拷出"),
        ),
    }[lang]
    longest = _end(_played(_ONE_STREAM))
    picture = Picture()
    for way, title in titles.items():
        events = _played(way)
        rows = [
            (engine, [_span(event) for event in events if event.step == step])
            for step, engine in enumerate(engines)
        ]
        picture.heading(f"{title}: {_end(events):.1f} µs").timeline(rows, "µs", end=longest)
    return _legend(picture, lang).both()


# ---- Measured ------------------------------------------------------------------------------------------


def measured(lang: str) -> Figure:
    """Four short kernels in two streams on an H200, as Nsight Systems saw them."""
    row, legend = {
        "en": ("stream {}", ("scale<float>", "scale<double>")),
        "zh": ("流 {}", ("scale<float>", "scale<double>")),
    }[lang]
    file = settings.content_dir("course") / _EXPERIMENTS / "two_streams_h200.txt"
    lines = [line.split(maxsplit=3) for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    kernels = [
        (number, float(begin), float(took), what) for number, begin, took, what in lines if what in legend
    ]
    first = kernels[0][1]
    rows = [
        (
            row.format(stream),
            [
                Span(begin - first, begin - first + took, legend.index(what))
                for number, begin, took, what in kernels
                if number == stream
            ],
        )
        for stream in dict.fromkeys(kernel[0] for kernel in kernels)
    ]
    return Picture().timeline(rows, "µs").legend(list(enumerate(legend))).both()


def gain(lang: str) -> Figure:
    """What overlap and graphs brought on an H200, from the record of the programs."""
    names = {
        "en": (
            "one stream",
            "four streams",
            "one by one",
            "as a graph",
            "05_stream_overlap.cu",
            "09_cuda_graphs.cu",
        ),
        "zh": ("一个流", "四个流", "逐个启动", "作为图启动", "05_stream_overlap.cu", "09_cuda_graphs.cu"),
    }[lang]
    one, several, by_one, as_graph, overlap, graphs = names
    took, each = {"en": ("{} µs", "{} µs a launch"), "zh": ("{} µs", "每次启动 {} µs")}[lang]
    printed = _printed()
    streams_took = [
        1000 * float(ms) for ms in re.findall(r"streams? +([\d.]+) ms", printed["cuda/05_stream_overlap.cu"])
    ]
    launches_took = [float(us) for us in re.findall(r"([\d.]+) us each", printed["cuda/09_cuda_graphs.cu"])]
    picture = Picture().heading(overlap)
    picture.bars(
        [(name, us, took.format(f"{us:g}")) for name, us in zip((one, several), streams_took, strict=True)]
    )
    picture.heading(graphs)
    picture.bars(
        [
            (name, us, each.format(f"{us:g}"))
            for name, us in zip((by_one, as_graph), launches_took, strict=True)
        ]
    )
    return picture.both()


def _printed() -> dict[str, str]:
    """What the programs printed on an H200, by file."""
    file = settings.content_dir("benchmarks/results") / "h200-demonstrations.json"
    return json.loads(file.read_text(encoding="utf-8"))["printed"]
