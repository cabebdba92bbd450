"""The pages of the documentation that lessons name: `docs/attention`, `docs/results/attention`."""

from __future__ import annotations

from pathlib import Path

from flashpath import settings
from flashpath.course.content.errors import UnknownName
from flashpath.messages import LANGUAGES, did_you_mean

ROOM = "docs/"


def page_text(name: str, lang: str) -> str:
    """Returns a page in that language, or in English where it is written in English only."""
    return page_file(name, lang).read_text(encoding="utf-8")


def page_file(name: str, lang: str) -> Path:
    """Finds a page by the name that a lesson has of it, with or without its ending and its language."""
    folder = settings.content_dir("docs").resolve()
    stem = name.removeprefix(ROOM).removesuffix(".md")
    for each in LANGUAGES:
        stem = stem.removesuffix(f".{each}")
    for file in (folder / f"{stem}.{lang}.md", folder / f"{stem}.md"):
        if file.is_file() and file.resolve().is_relative_to(folder):
            return file
    pages = {each.relative_to(folder).as_posix().partition(".")[0] for each in folder.rglob("*.md")}
    known = sorted(f"{ROOM}{page}" for page in pages)
    raise UnknownName("course.no-such-page", name=name, advice=did_you_mean(name, known))
