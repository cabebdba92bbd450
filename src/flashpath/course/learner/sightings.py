"""What the machine saw of a learner's work without being asked to grade it: `seen:…` of a track's tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from flashpath import settings
from flashpath.course.content.proof import RAN
from flashpath.course.state.database import FILE_NAME
from flashpath.course.workspace import marker
from flashpath.errors import FlashpathError


def saw(names: Iterable[str]) -> None:
    """Keeps what was seen, if anybody learns here. No command fails because it could not be kept."""
    if not (settings.home_dir() / FILE_NAME).exists():
        return
    from flashpath.course.state import Store

    with contextlib.suppress(FlashpathError, OSError), Store() as store:
        known = store.seen()
        for name in names:
            if name not in known:
                store.see(name)


def saw_run(file: Path, arguments: Sequence[str] = ()) -> None:
    """Keeps that a program of a work folder ended well, also with which arguments."""
    if in_work_folder(file):
        saw({f"{RAN}{file.name}", " ".join((f"{RAN}{file.name}", *arguments))})


def in_work_folder(file: Path) -> bool:
    try:
        return any((folder / marker.NAME).is_file() for folder in file.resolve().parents)
    except OSError:
        return False
