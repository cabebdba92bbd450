"""Records over the length of sequences: tables, pictures, and attention beside the naive one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from flashpath.bench import lengths
from flashpath.bench.beside_naive import beside_naive, markdown, verdict
from flashpath.bench.environment import Environment
from flashpath.bench.record import Record, Time
from flashpath.errors import FlashpathError


def record(
    implementation: str, sequence: int, milliseconds: float | None, direction: str = "forward", **more: object
) -> Record:
    seconds = None if milliseconds is None else milliseconds / 1e3
    made = Record(
        implementation=implementation,
        case=f"{direction} {sequence}",
        environment=Environment("cuda", gpu="H200"),
        timestamp="2026-01-01T00:00:00+00:00",
        parameters={"direction": direction, "sequence": sequence, "dim": 64, "causal": True},
        ladder="attention",
        language="triton",
        time=None if seconds is None else Time(seconds, seconds, seconds, "events", 5),
        tflop_per_s=None if seconds is None else 1 / seconds,
        peak_memory_bytes=2**20,
    )
    return replace(made, **more)


def measured() -> list[Record]:
    naive = {"language": "pytorch"}
    return [
        record("naive", 512, 3.0, peak_memory_bytes=2**24, **naive),
        record("naive", 1024, None, peak_memory_bytes=None, error="out of memory: 9 GiB more", **naive),
        record("naive_backward", 512, 9.0, "backward", peak_memory_bytes=2**25, **naive),
        record("flash", 512, 1.0, distance=1.5e-3),
        record("flash", 1024, 4.0),
        record("slow", 512, 2.0),
        record("back", 512, 2.0, "backward"),
        record("library", 512, 0.5, is_peer=True, language=None),
        record("wmma", 512, None, skipped=True, error="is the backward direction"),
    ]


def test_a_table_has_a_row_for_each_that_ran_and_a_column_for_each_length() -> None:
    speed, memory, distance, backward, *_ = lengths.tables(measured())
    assert speed.splitlines() == [
        "**forward, dim 64, causal: TFLOP/s**",
        "",
        "| implementation | 512 | 1024 |",
        "| --- | ---: | ---: |",
        "| `naive` | 333 | out of memory |",
        "| `flash` | 1,000 | 250 |",
        "| `slow` | 500 | – |",
        "| `library` (peer) | 2,000 | – |",
    ]
    assert "| `naive` | 16.0 MiB | out of memory |" in memory
    assert "| `flash` | 1.5e-03 | – |" in distance
    assert backward.startswith("**backward, dim 64, causal: TFLOP/s**")


def test_the_fastest_rung_beside_naive_attention() -> None:
    first, second, step, long = beside_naive(measured())
    assert (first.rung, first.speed, first.memory) == ("flash", pytest.approx(3), 16)
    assert (second.direction, second.speed) == ("backward", pytest.approx(4.5))
    # naive's gradient begins with the forward direction: it is the whole of a step.
    assert (step.direction, step.speed, step.memory) == ("both", pytest.approx(3), 32)
    assert (long.sequence, long.speed, long.memory) == (1024, None, None)
    text = markdown([first, second, step, long])
    assert "- Speed: 3.00 to 4.50 times; the learning plans promise 2 to 4, and 3 of 3 problems have" in text
    assert "| 1024 | forward | `flash` | out of memory | 4.00 ms | – | – |" in text
    assert verdict([], (2, 4)) == "not measured; the learning plans promise 2 to 4 times"
    assert beside_naive([replace(each, parameters={}) for each in measured()]) == []


def without_dates(records: Sequence[Record], path: Path) -> bytes:
    lengths.draw(records, path, lengths.peak_memory, "bytes", log=True)
    return path.read_bytes()


def test_pictures_over_length_are_the_same_for_the_same_records(tmp_path: Path) -> None:
    picture = without_dates(measured(), tmp_path / "a.svg")
    assert picture == without_dates(measured(), tmp_path / "b.svg")
    text = picture.decode()
    assert "tokens of a sequence" in text
    assert "backward, dim 64, causal" in text
    assert ">library<" in text
    with pytest.raises(FlashpathError, match="nothing to draw"):
        lengths.draw([measured()[-1]], tmp_path / "c.svg", lengths.speed, "TFLOP/s")
