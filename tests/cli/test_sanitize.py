"""`flashpath sanitize` and `flashpath explain-finding`: what a person and a program see of a finding."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from flashpath import settings
from flashpath.cli import app, output
from flashpath.errors import FlashpathError
from flashpath.vgpu.findings import KINDS

SOURCE = """extern "C" __global__ void clear(int n, float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    x[i] = 0;
}

extern "C" __global__ void clean(float* x) { x[threadIdx.x] = 1; }
"""


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever language this machine speaks."""
    monkeypatch.setenv("FLASHPATH_LANG", "en")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sanitize") / "clear.cu"
    path.write_text(SOURCE)
    return path


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done.output


def clear(file: Path, *words: str) -> str:
    launch = shlex.split("--kernel clear --grid 4 --block 32 --arg n=100 --arg f32[n]")
    return run("sanitize", str(file), *launch, *words, code=1)


NOTED = """__global__ void maximum(int n, int* largest, int* x) {
  int seen = *largest;
  while (seen < int(blockIdx.x)) {
    int before = atomicCAS(largest, seen, int(blockIdx.x));
    if (before == seen) break;
    seen = before;
  }
  if (threadIdx.x WITHIN n) x[threadIdx.x] = 1;
}
"""


@pytest.mark.parametrize(
    ("within", "code", "said"),
    [
        ("<", 0, "maximum: 1 note, and nothing wrong under one schedule"),
        ("<=", 1, "maximum: 1 finding, 1 note under one schedule"),
    ],
)
def test_notes_are_counted_apart(tmp_path: Path, within: str, code: int, said: str) -> None:
    source = tmp_path / "maximum.cu"
    source.write_text(NOTED.replace("WITHIN", within))
    launch = shlex.split("--grid 8 --block 32 --arg n=8 --arg zeros:i32[1] --arg zeros:i32[8]")
    assert said in run("sanitize", str(source), *launch, code=code)


def test_a_finding_with_its_lines_and_what_to_do(file: Path) -> None:
    text = clear(file)
    assert "1. out-of-bounds: a write of 4 bytes" in text
    assert "   ▸   4     x[i] = 0;   ← block (3, 0, 0), thread (4, 0, 0)" in text
    assert "       3   if (i <= n)" in text
    assert "→ Compare the index with the array's length" in text
    assert "flashpath explain-finding out-of-bounds says more." in text
    assert text.splitlines()[-1] == "clear: 1 finding under one schedule"


def test_nothing_found(file: Path) -> None:
    text = run("sanitize", str(file), *shlex.split("--kernel clean --grid 1 --block 32 --arg f32[32]"))
    assert text == "✓ clean: nothing found under one schedule; --seeds 20 tries twenty\n"
    text = run(
        "sanitize", str(file), *shlex.split("--kernel clean --grid 1 --block 32 --arg f32[32] --seeds 3")
    )
    assert text == "✓ clean: nothing found under 3 schedules\n"


def test_json(file: Path) -> None:
    found = json.loads(clear(file, "--json", "--seeds", "2"))
    assert found["kernel"] == "clear"
    assert found["seeds"] == 2
    (finding,) = found["findings"]
    assert finding["kind"] == "out-of-bounds"
    assert finding["message"].startswith("a write of 4 bytes at ")
    assert finding["said"]["code"] == "vgpu.access-into"
    assert (finding["line"], finding["block"], finding["thread"]) == (4, [3, 0, 0], [4, 0, 0])
    assert (finding["other"], finding["seed"], finding["count"]) == (None, 0, 2)


def test_both_parties_of_a_race_are_shown(tmp_path: Path) -> None:
    commands = run("explain-finding", "race", "--lang", "en", "--save", str(tmp_path)).splitlines()
    assert commands[0].startswith("flashpath sanitize race_bug.cu --grid 1 --block 64 --arg 'x=f32[64]'")
    _, verb, name, *options = shlex.split(commands[0])
    text = run(verb, str(tmp_path / name), *options, code=1)
    rows = [line for line in text.splitlines() if "←" in line]
    assert len(rows) == 2
    assert "tile[t] = x[t];   ← block (0, 0, 0), thread (" in rows[0]
    assert "// written by another thread: when?   ← read: block (0, 0, 0), thread (" in rows[1]
    _, verb, name, *options = shlex.split(commands[1])
    assert "nothing found" in run(verb, str(tmp_path / name), *options)


def test_wrong_options(file: Path) -> None:
    text = run("sanitize", str(file), "--kernel", "clean", "--grid", "x", "--block", "1", code=2)
    assert "error: --grid is 'x'." in text
    run("sanitize", str(file), *shlex.split("--kernel clean --grid 1 --block 1 --seeds 0"), code=2)
    text = run(
        "sanitize", str(file), *shlex.split("--kernel clean --grid 1 --block 1 --seeds 1000001"), code=2
    )
    assert "seeds is 1000001." in text


def test_a_kernel_that_cannot_run_is_no_finding(file: Path, tmp_path: Path) -> None:
    launch = shlex.split("--kernel clean --grid 1 --block 32 --arg f32[32]")
    wrong = tmp_path / "wrong.cu"
    wrong.write_text("__global__ void clean(float* x) { y = 1; }")
    assert "identifier" in run("sanitize", str(wrong), *launch, code=2)
    assert "nothere.cu" in run("sanitize", str(tmp_path / "nothere.cu"), *launch, code=2)
    assert "clean" in run("sanitize", str(file), *launch[:-2], code=2)  # its argument is missing
    help_text = " ".join(run("sanitize", "--help").split())
    assert "2 where the kernel could not be run" in help_text


def test_in_chinese(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_LANG", "zh")
    text = clear(file, "--seeds", "2")
    assert "1. out-of-bounds：在全局内存地址" in text
    assert "处写入 4 字节：距数组开头 400 字节，而数组只有 400 字节" in text
    assert "   遇到 2 次" in text
    assert "x[i] = 0;   ← 线程块 (3, 0, 0)，线程 (4, 0, 0)" in text
    assert "→ 访问之前先把下标与数组长度比较" in text
    assert "详见 flashpath explain-finding out-of-bounds。" in text
    assert text.splitlines()[-1] == "clear：发现 1 个问题（在 2 种调度下）"
    text = run("sanitize", str(file), *shlex.split("--kernel clean --grid 1 --block 32 --arg f32[32]"))
    assert text == "✓ clean：在一种调度下没有发现问题；--seeds 20 会试二十种\n"


# ---- What findings mean --------------------------------------------------------------------------------


def test_all_kinds_are_listed() -> None:
    rows = run("explain-finding", "--lang", "en").splitlines()
    assert [row.split()[0] for row in rows] == list(KINDS)
    assert rows[0].endswith("two threads use the same memory, and nothing says who comes first")
    assert "两个线程使用同一块内存" in run("explain-finding", "--lang", "zh")


def test_a_text_is_plain_in_a_pipe() -> None:
    text = run("explain-finding", "missing-wait", "--lang", "en")
    assert text.startswith("# missing-wait: ")
    assert "\x1b" not in text
    assert "```cuda\n#include <cuda_pipeline.h>" in text
    assert "flashpath explain-finding missing-wait --save ." in text
    assert "flashpath sanitize missing_wait_bug.cu --grid 1 --block 64" in text


def test_a_text_is_laid_out_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(output, "console", lambda: Console(file=screen, force_terminal=True, width=90))
    run("explain-finding", "race", "--lang", "zh")
    assert "\x1b[" in screen.getvalue()
    assert "```" not in screen.getvalue()
    shown = "".join(line.strip() for line in screen.getvalue().splitlines())
    assert "甚至同时执行，结果取决于这一次" in shown  # a line ends there in the file


def test_an_unknown_kind() -> None:
    with pytest.raises(FlashpathError, match="no finding 'rase'") as error:
        run("explain-finding", "rase")
    assert error.value.fix is not None
    assert "Did you mean race?" in error.value.fix


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_TW", "FLASHPATH_LANG": "en"}, "en"),
        ({"FLASHPATH_LANG": "ZH"}, "zh"),
    ],
)
def test_the_language(variables: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "FLASHPATH_LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert settings.language() == language
    assert settings.language("zh") == "zh"


def test_a_language_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_LANG", "fr")
    with pytest.raises(FlashpathError, match="FLASHPATH_LANG is 'fr'"):
        settings.language()
    with pytest.raises(FlashpathError, match="The language is 'de'"):
        settings.language("de")
