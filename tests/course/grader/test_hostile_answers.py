"""Answers that are no answers: pipes, gigabytes, orders to a terminal, lines that compilers quote."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from flashpath.course.answer_file import MOST_BYTES, read_answer
from flashpath.course.content import load_course
from flashpath.course.grader import grade
from flashpath.course.grader.verdict import plain
from flashpath.course.sandbox.machine_paths import MachinePaths, bounded
from flashpath.errors import FlashpathError


def test_an_answer_is_a_plain_file_of_a_size_that_a_person_writes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.cu"
    os.mkfifo(pipe)
    large = tmp_path / "large.cu"
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    latin = tmp_path / "latin.cu"
    latin.write_bytes(b"// caf\xe9\n")
    refused = {
        pipe: "not-plain",
        Path(os.devnull): "not-plain",
        large: "too-large",
        latin: "not-utf8",
        tmp_path: "is-folder",
    }
    for path, code in refused.items():
        with pytest.raises(FlashpathError) as caught:
            read_answer(path, "unit/exercise")
        assert caught.value.code == f"course.answer-{code}"
    with pytest.raises(FlashpathError, match="flashpath reset unit/exercise"):
        read_answer(tmp_path / "none.cu", "unit/exercise")
    marked = tmp_path / "marked.cu"
    marked.write_bytes(b"\xef\xbb\xbfint i;\r\n")
    assert read_answer(marked, "unit/exercise") == "int i;\n"


def test_an_answer_gives_no_orders_to_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "count.py"
    spoof = "\\x1b[2J\\x1b[H\\x1b[1;32mRight: 67 cases.\\x9b8m"
    file.write_text(
        f'def sectors(first, stride, size):\n    print("{spoof}")\n    raise ValueError("{spoof}")\n'
    )
    result = grade(load_course().exercise("coalescing/count-sectors"), file, seed=1)
    assert not result.passed
    assert not set(str(result)) & {"\x1b", "\x9b", "\r", "\x07"}
    assert plain("a\tb\nc\x1b[0m") == "a\tb\nc\ufffd[0m"


@pytest.mark.parametrize("line", ['"' * 60_000, "/" * 200_000, "x(" * 100_000, "(" * 100_000])
def test_what_a_compiler_quotes_is_looked_through_in_no_time(line: str, tmp_path: Path) -> None:
    started = time.perf_counter()
    assert len(MachinePaths(tmp_path).hidden_in("\n".join([line] * 3))) < 5_000
    assert time.perf_counter() - started < 1.0


def test_long_messages_are_cut() -> None:
    assert len(bounded("a\n" * 100_000)) < 2_000
    assert bounded("a\nb") == "a\nb"


def test_a_line_of_quotes_is_judged_in_no_time(tmp_path: Path) -> None:
    file = tmp_path / "copy.cu"
    file.write_text("__global__ void copy(int n, const float* x, float* out) {\n" + '"' * 60_000 + "\n}\n")
    started = time.perf_counter()
    result = grade(load_course().exercise("coalescing/coalesced-copy"), file, seed=1)
    assert result.reason == "compile"
    assert time.perf_counter() - started < 20.0
