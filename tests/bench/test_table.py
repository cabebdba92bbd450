from __future__ import annotations

import io
import sys
from dataclasses import replace

import pytest

from flashpath.bench.environment import Environment
from flashpath.bench.record import Record, Time
from flashpath.bench.table import digits, memory, print_table, progress_bar, seconds, table_text
from flashpath.kernels.rung import Score

RECORD = Record(
    implementation="tiled [shared memory]",
    case="4096 × 4096",
    environment=Environment("cuda", gpu="H200"),
    timestamp="now",
    parameters={"m": 4096},
    ladder="matmul",
    language="cuda",
    time=Time(123.4e-6, 120e-6, 130e-6, "graph replay, cold L2", 50),
    gb_per_s=4296.4,
    tflop_per_s=0.0567,
    ratio_to_fastest_peer=0.912,
    fraction_of_ceiling=0.873,
    ceiling="copy",
    peak_memory_bytes=3 * 2**20,
    lines_of_code=120,
    portability=["sm_80", "sm_90a"],
)
FAILED = replace(
    RECORD,
    implementation="broken",
    time=None,
    gb_per_s=None,
    tflop_per_s=None,
    ratio_to_fastest_peer=None,
    fraction_of_ceiling=None,
    peak_memory_bytes=None,
    error="wrong result: [3] of [7] " + "x" * 200,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (2.5, "2.50 s"),
        (0.0123, "12.3 ms"),
        (123.4e-6, "123 µs"),
        (56e-9, "56.0 ns"),
        (0.0, "0.0000 ns"),
    ],
)
def test_seconds(value: float | None, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0 B"),
        (512, "512 B"),
        (2048, "2.00 KiB"),
        (3 * 2**20, "3.00 MiB"),
        (20 * 2**30, "20.0 GiB"),
    ],
)
def test_memory(value: int | None, text: str) -> None:
    assert memory(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(4296.4, "4,296"), (45.77, "45.8"), (1.234, "1.23"), (0.567, "0.567"), (0.0567, "0.0567")],
)
def test_digits(value: float, text: str) -> None:
    assert digits(value) == text


def test_plain_text_is_whole_and_without_colour() -> None:
    text = table_text([RECORD, FAILED])
    assert "\x1b" not in text
    assert "…" not in text.replace(" … ", "")  # the ellipsis of a cut cell, not the one between p20 and p80
    for cell in (
        "matmul · 4096 × 4096 · m=4096",
        "tiled [shared memory]",
        "123 µs",
        "120 µs … 130 µs",
        "4,296",
    ):
        assert cell in text
    for cell in (
        "0.0567",
        "0.912",
        "87% of copy",
        "3.00 MiB",
        "graph replay, cold L2",
        "sm_80 sm_90a",
        "120",
    ):
        assert cell in text
    assert "broken: wrong result: [3] of [7] " + "x" * 200 + "\n" in text


def test_columns_in_which_nothing_stands_are_left_out() -> None:
    assert "peak memory" in table_text([RECORD])
    text = table_text([FAILED])
    assert "peak memory" not in text
    assert "failed" in text
    bare = Record("a", "b", Environment("cpu"), "now", {}, time=RECORD.time)
    assert "beside speed" not in table_text([bare])


def test_skipped_is_not_failed() -> None:
    text = table_text([replace(FAILED, skipped=True, error="needs a GPU of sm_75 or newer")])
    assert "skipped" in text
    assert "failed" not in text
    assert "broken: needs a GPU of sm_75 or newer\n" in text


def test_scores_stand_with_their_reasons() -> None:
    judged = replace(RECORD, readability=Score(3, "needs a tail"), debugging=Score(4, "printf"))
    line = "tiled [shared memory]: readable 3 (needs a tail), debuggable 4 (printf)\n"
    assert line in table_text([judged, replace(judged, case="8192 × 8192")])
    assert "readable" not in table_text([RECORD])


def test_each_case_has_its_table() -> None:
    text = table_text([RECORD, replace(RECORD, case="8192 × 8192")])
    assert text.index("4096 × 4096") < text.index("8192 × 8192")
    assert text.count("beside speed") == 1


def test_a_pipe_gets_the_plain_text_and_a_terminal_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    print_table([RECORD], pipe)
    assert pipe.getvalue() == table_text([RECORD])
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    print_table([RECORD], terminal)
    assert "\x1b[" in terminal.getvalue()


def test_the_progress_bar_needs_a_terminal_and_a_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    outputs: list[str] = []
    for stream, wanted in ((io.StringIO(), True), (Terminal(), False), (Terminal(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress_bar(2, wanted) as advance:
            advance("case [1] · tiled")
            advance("case [1] · naive")
        outputs.append(stream.getvalue())
    assert outputs[:2] == ["", ""]
    assert "case [1] · naive" in outputs[2]
