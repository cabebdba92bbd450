"""The error of a file under `course/`: which file, which key, what is wrong, what to write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from flashpath.course.speech import did_you_mean, said
from flashpath.errors import FlashpathError

_CHINESE = {
    "unit": "单元", "exercise": "练习", "one exercise": "唯一的练习",
    "track": "学习路线", "resource": "资源", "week": "周",
}  # fmt: skip


class ContentError(FlashpathError):
    """A file of the course says something that cannot be."""

    def __init__(self, file: Path, key: str | None, wrong: str, write: str | None = None) -> None:
        place = f"{shown(file)}: {key}" if key else shown(file)
        super().__init__(f"{place}: {wrong}", write)
        self.file = file
        self.key = key


class UnknownName(FlashpathError):
    """There is no unit, exercise, track or resource of that name."""

    def __init__(self, what: str, name: str, known: Iterable[str], fix: str = "", fix_zh: str = "") -> None:
        super().__init__(
            said(f"There is no {what} {name!r}.", f"没有{_in_chinese(what)} {name!r}。"),
            " ".join(filter(None, (did_you_mean(name, known), said(fix, fix_zh or fix)))),
        )


def _in_chinese(what: str) -> str:
    """ "exercise", "exercise of first-kernel"."""
    kind, _, whose = what.replace(" in ", " of ").partition(" of ")
    return f" {whose} 的{_CHINESE.get(kind, kind)}" if whose else _CHINESE.get(kind, kind)


def shown(file: Path) -> str:
    """The file as an author calls it: from `units/` or `tracks/` on."""
    parts = file.parts
    for start in range(len(parts) - 1, -1, -1):
        if parts[start] in ("units", "tracks"):
            return "/".join(parts[start:])
    return file.name
