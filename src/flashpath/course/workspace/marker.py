"""`flashpath.toml`: which track a work folder is of, and where its exercises and notes lie."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from flashpath.errors import FlashpathError
from flashpath.messages import LANGUAGES, Message, speaking

NAME = "flashpath.toml"

_HEAD = {
    "en": "# A work folder of flashpath: commands find it, and their files, by what stands here.\n"
    "# A file that you move is found again when its path here is changed.\n",
    "zh": "# flashpath 的学习目录：各命令靠这个文件找到它以及其中的文件。\n"
    "# 移动了某个文件，只要在这里改掉它的路径即可。\n",
}


class WorkspaceError(FlashpathError):
    """A work folder cannot be made, completed or read."""


@dataclass(frozen=True)
class Marker:
    track: str
    lang: str
    started: str  # a date: 2026-01-31
    exercises: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: Mapping[str, str] = field(default_factory=dict[str, str])

    def with_places(self, exercises: Mapping[str, str], notes: Mapping[str, str]) -> Marker:
        """New entries added; where the learner gave another path, that one holds."""
        return replace(self, exercises={**exercises, **self.exercises}, notes={**notes, **self.notes})

    def text(self) -> str:
        lines = [_HEAD[self.lang]]
        lines += [f"{key} = {_quoted(getattr(self, key))}" for key in ("track", "lang", "started")]
        for name in ("exercises", "notes"):
            lines += ["", f"[{name}]"]
            lines += [f"{_quoted(key)} = {_quoted(path)}" for key, path in getattr(self, name).items()]
        return "\n".join(lines) + "\n"


def read(root: Path) -> Marker:
    """What the file of this folder says."""
    file = root / NAME
    try:
        text = file.read_bytes()
    except OSError as error:
        raise WorkspaceError("course.workspace.unreadable", file=file, why=error.strerror) from None
    lang = language_of(text)
    with speaking(lang) if lang is not None else contextlib.nullcontext():
        return _read(file, text)


def language_of(text: bytes) -> str | None:
    """The folder's language, as far as it can be known of a file that may be damaged."""
    found = re.search(rb'^\s*lang\s*=\s*["\']([a-z]+)["\']', text, re.MULTILINE)
    lang = found[1].decode() if found else None
    return lang if lang in LANGUAGES else None


def _read(file: Path, text: bytes) -> Marker:
    try:
        table: dict[str, Any] = tomllib.loads(text.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        line, column, why = _place(text, error)
        raise WorkspaceError(
            "course.workspace.not-toml", file=file, line=line, column=column, why=why
        ) from None
    track, lang = table.get("track"), table.get("lang")
    if not isinstance(track, str) or lang not in LANGUAGES:
        raise WorkspaceError(
            "course.workspace.marker-track", file=file, track=track, lang=lang, languages=LANGUAGES
        )
    return Marker(
        track, cast("str", lang), str(table.get("started", "")), _paths(file, table, "exercises"),
        _paths(file, table, "notes"),
    )  # fmt: skip


def _place(text: bytes, error: ValueError) -> tuple[int, int, str | Message]:
    """Line and column of what is wrong, both from 1, and what it is."""
    if isinstance(error, UnicodeDecodeError):
        before, why = text[: error.start], Message("course.workspace.not-utf8")
    else:
        place = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
        if place is not None:
            return int(place[1]), int(place[2]), str(error)[: place.start()]
        before, why = text.rstrip(), str(error).replace(" (at end of document)", "")
    lines = before.decode("utf-8", "replace").split("\n")
    return len(lines), len(lines[-1]) + 1, why


def _paths(file: Path, table: dict[str, Any], key: str) -> dict[str, str]:
    value = table.get(key, {})
    found = cast("dict[str, Any]", value) if isinstance(value, dict) else {"": value}
    for name, path in found.items():
        if not isinstance(path, str) or not path or Path(path).is_absolute() or ".." in Path(path).parts:
            raise WorkspaceError("course.workspace.marker-path", file=file, key=key, name=name, path=path)
    return found


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
