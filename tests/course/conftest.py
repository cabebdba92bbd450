"""A learner's home that is thrown away, and a copy of the course that a test may change."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from flashpath import settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where progress is kept during the test; nobody's name is in git's settings."""
    folder = tmp_path / "home"
    monkeypatch.setenv("FLASHPATH_HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    monkeypatch.delenv("FLASHPATH_LANG", raising=False)
    return folder


@pytest.fixture
def course_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Each call gives the course anew in a folder of its own, from then on the one that is read."""
    real = settings.content_dir
    count = 0

    def copy() -> Path:
        nonlocal count
        count += 1
        root = tmp_path / f"course-{count}"
        shutil.copytree(real("course"), root)
        monkeypatch.setattr(settings, "content_dir", lambda name: root if name == "course" else real(name))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
        return root

    return copy
