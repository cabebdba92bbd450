"""In a Chinese work folder everything is said in Chinese, what goes wrong before it is opened included."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def chinese(folder: Any) -> Any:
    marker = folder.root / "flashpath.toml"
    marker.write_text(marker.read_text().replace('lang = "en"', 'lang = "zh"'), encoding="utf-8")
    return folder


def has_no_english(text: str) -> bool:
    """But for paths, names and what SQLite and TOML say."""
    rest = re.sub(
        r"（[^）]*）|`[^`]*`|'[^']*'|[\w./~-]*/[\w./-]*|FLASHPATH_HOME|flashpath \w+|TOML|git|pip install.*",
        "",
        text,
    )
    return not re.search(r"[A-Za-z]{3,} [A-Za-z]{3,}", rest.replace("warning", "").replace("error", ""))


def test_a_damaged_progress_file(chinese: Any) -> None:
    chinese.home.mkdir(exist_ok=True)
    (chinese.home / "progress.sqlite3").write_bytes(b"rubbish" * 1000)
    done = chinese.run("next")
    assert done.code == 0
    assert "进度文件已损坏" in done.err
    assert has_no_english(done.err), done.err


def test_a_newer_format(chinese: Any) -> None:
    chinese.run("next")
    with sqlite3.connect(chinese.home / "progress.sqlite3") as file:
        file.execute("PRAGMA user_version = 99")
    done = chinese.run("progress")
    assert done.code == 1
    assert "由更新版本的 flashpath 写成（格式 99" in done.err
    assert "请升级" in done.err


def test_a_home_that_cannot_be_written(chinese: Any, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    done = chinese.run("next", FLASHPATH_HOME=str(tmp_path / "taken" / "home"))
    assert done.code == 1
    assert "无法保存进度" in done.err
    assert has_no_english(done.err), done.err


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        (b'track = "small"\nlang = "zh"\nstarted 2026\n', 3, 9),
        (b'track = "small"\nlang = "zh"\nstarted = "', 3, None),
        (b'track = "small"\nlang = "zh"\nx = "\xff"\n', 3, 6),
    ],
)
def test_a_marker_that_is_no_toml(chinese: Any, text: bytes, line: int, column: int | None) -> None:
    (chinese.root / "flashpath.toml").write_bytes(text)
    done = chinese.run("next")
    assert done.code == 1
    assert f"不是有效的 TOML：第 {line} 行第 {column or ''}" in done.err
    assert "请改正那一行" in done.err
    (chinese.root / "flashpath.toml").write_bytes(text.replace(b"zh", b"en"))
    assert f"is no TOML: line {line}, column {column or ''}" in chinese.run("next").err


def test_a_task_that_there_is_not(chinese: Any) -> None:
    done = chinese.run("progress", "--tick", "read-papr")
    assert "没有名为 'read-papr' 的任务或检查点" in done.err
    assert "你是不是想说 read-paper？" in done.err
    far = chinese.run("progress", "--tick", "prerequisites")
    assert "你是不是想说" not in far.err
    assert "flashpath progress --all" in far.err


def test_names_that_there_are_not(chinese: Any) -> None:
    for words in (
        ["grade", "nothing/here"],
        ["grade", "first/nothing"],
        ["read", "nowhere"],
        ["start", "nope"],
    ):
        done = chinese.run(*words, "--lang", "zh")
        assert done.code == 1
        assert "没有" in done.err, words
        assert has_no_english(done.err), done.err
