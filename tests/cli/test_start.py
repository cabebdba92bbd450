"""`flashpath start`, as a person and as a program use it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.harness.command_line import Ended, run_here


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def begun_nothing(here: Path) -> dict[str, str]:
    """A learner who has begun nothing, and whose git knows no name."""
    return {
        "FLASHPATH_HOME": str(here.parent / "home"),
        "GIT_CONFIG_GLOBAL": str(here.parent / "none"),
        "LC_ALL": "C",
    }


def flashpath(here: Path, *words: str, **more: str) -> Ended:
    """In this process, as nothing here is about the process; Control-C is, and has one of its own."""
    return run_here(*words, folder=here, environment={**begun_nothing(here), **more})


def test_without_a_track_all_are_listed(here: Path) -> None:
    shown = flashpath(here, "start")
    assert shown.returncode == 0, shown.stderr
    for name, expected, stars in (
        ("cuda-triton-flash", "11 weeks", "★★★☆☆"),
        ("flash-attention-source", "10–12 weeks · 140–168 hours", "★★★★★"),
        ("flashinfer-14-days", "14 days · 42 hours", "★★★★☆"),
        ("dl-research", "9 weeks · 54–72 hours", "★★★★☆"),
    ):
        part = shown.stdout[shown.stdout.index(name) :]
        assert re.search(rf"{expected}.*{stars}", part.splitlines()[1])
    assert "学习计划" in flashpath(here, "start", "--lang", "zh").stdout
    assert "学习计划" in flashpath(here, "start", FLASHPATH_LANG="zh").stdout
    listed = json.loads(flashpath(here, "start", "--json").stdout)
    assert {each["name"]: each["difficulty"] for each in listed}["flash-attention-source"] == 5
    assert list(here.iterdir()) == []


def test_a_folder_is_made_and_completed(here: Path) -> None:
    made = flashpath(here, "start", "flash-attention-source", "--lang", "zh", "--into", "源码")
    assert made.returncode == 0, made.stderr
    assert "已创建" in made.stdout
    assert "cd 源码" in made.stdout
    assert "flashpath next" in made.stdout
    root = here / "源码"
    note = root / "第1周/笔记/04-环境配置记录.md"
    assert "Python" in note.read_text(encoding="utf-8")
    (root / "第1周/笔记/01-算法理解笔记.md").write_text("我的笔记", encoding="utf-8")
    (root / "第2周/README.md").unlink()

    again = flashpath(
        root / "第1周", "start", "flash-attention-source", FLASHPATH_HOME=str(here.parent / "home")
    )
    assert again.returncode == 0, again.stderr
    assert "新增 1 个文件" in again.stdout
    assert (root / "第1周/笔记/01-算法理解笔记.md").read_text(encoding="utf-8") == "我的笔记"
    assert not (root / "第1周/flash-attention-source").exists()


def test_the_folder_is_named_as_the_track_and_used_from_anywhere(here: Path) -> None:
    made = json.loads(flashpath(here, "start", "flashinfer-14-days", "--json").stdout)
    assert made["root"] == str((here / "flashinfer-14-days").resolve())
    assert made["is_new"]
    assert made["lang"] == "en"
    assert made["git"] in ("begun", "none", "inside")
    assert made["notes"]["day-14"] == "notes/day-14.md"
    for path in made["exercises"].values():
        assert (here / "flashinfer-14-days" / path).is_file()
    again = json.loads(flashpath(here, "start", "flashinfer-14-days", "--json").stdout)
    assert not again["is_new"]
    assert set(again["files"]) == {"same"}


def test_the_folder_may_follow_the_track(here: Path) -> None:
    made = json.loads(flashpath(here, "start", "flashinfer-14-days", "learning", "--json").stdout)
    assert made["root"] == str((here / "learning").resolve())
    assert made["track"] == "flashinfer-14-days"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["start", "cuda-triton-flsh"], 1, "cuda-triton-flash"),
        (["start", "cuda-triton-flash", "--lang", "fr"], 1, "en, zh"),
        (["start", "cuda-triton-flash", "--into", "full"], 1, "is not empty"),
        (["start", "cuda-triton-flash", "--into", "full", "--lang", "zh"], 1, "不是空目录"),
        (["start", "cuda-triton-flash", "--into", "full/thesis.tex"], 1, "is a file"),
        (["start", "cuda-triton-flash", "--into", "/proc/flashpath"], 1, "cannot be written"),
        (["start", "cuda-triton-flash", "full"], 1, "is not empty"),
        (["start", "cuda-triton-flash", "one", "--into", "two"], 1, "flashpath start TRACK FOLDER"),
        (["start", "cuda-triton-flash", "dl-research"], 1, "flashpath start cuda-triton-flash"),
        (["start", "cuda-triton-flash", "one", "two"], 2, "unexpected extra argument"),
    ],
)
def test_what_cannot_be_done_is_told_in_words(here: Path, words: list[str], code: int, says: str) -> None:
    (here / "full").mkdir()
    (here / "full/thesis.tex").touch()
    done = flashpath(here, *words)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in here.iterdir()] == ["full"]


@pytest.mark.usefixtures("hears_control_c")
def test_ctrl_c_leaves_a_folder_that_the_next_start_completes(here: Path) -> None:
    """Stopped at several moments; what is there then is whole, and the next start adds the rest."""
    whole = flashpath(here, "start", "cuda-triton-flash", "--into", "whole", "--json")
    assert whole.returncode == 0, whole.stderr
    wanted = {path.relative_to(here / "whole") for path in (here / "whole").rglob("*.md")}
    for number, until in enumerate(("flashpath.toml", "README.md", "week-04/README.md", "exercises")):
        root = here / f"stopped-{number}"
        running = subprocess.Popen(
            [sys.executable, "-m", "flashpath.cli", "start", "cuda-triton-flash", "--into", str(root)],
            env={**os.environ, **begun_nothing(here)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while running.poll() is None and not (root / until).exists():
            time.sleep(0.0005)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
        assert running.returncode in (0, 130)
        assert b"Traceback" not in said
        again = flashpath(here, "start", "cuda-triton-flash", "--into", str(root), "--json")
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["kept"] == []
        for path in wanted:
            assert (root / path).read_bytes() == (here / "whole" / path).read_bytes()
        assert not list(root.rglob("*.flashpath-tmp"))


def test_help_has_an_example(here: Path) -> None:
    assert "flashpath start flash-attention-source --lang zh" in flashpath(here, "start", "--help").stdout
