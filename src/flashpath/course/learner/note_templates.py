"""Notes from templates: `course/templates/NAME.LANG.md`, with the words in braces filled in."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from flashpath import settings
from flashpath.errors import FlashpathError
from flashpath.messages import LANGUAGES

TEMPLATES = ("daily", "weekly", "source-file", "environment", "note")
LEAST = 30  # characters of one's own that make a note a written one


def has_template(name: str, lang: str) -> bool:
    """Says whether a note of that name begins with questions of its own."""
    return name not in TEMPLATES and _file(name, lang).is_file()


def template(name: str, lang: str) -> str:
    file = _file(name, lang)
    if not file.is_file():
        raise FlashpathError("course.no-template", name=name, lang=lang, known=TEMPLATES)
    return file.read_text(encoding="utf-8")


def _file(name: str, lang: str) -> Path:
    return settings.content_dir("course") / "templates" / f"{name}.{lang}.md"


def fill(which: str, language: str, /, **words: str) -> str:
    """The note to begin with. Other braces, as C++ has them, stay."""
    text = template(which, language)
    for key, word in words.items():
        text = text.replace(f"{{{key}}}", word)
    # A word that is empty leaves no gap of two lines.
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def is_written(text: str) -> bool:
    """Whether somebody wrote in it: `LEAST` characters under its headings that are not the template's.

    Completeness is looked at, never content.
    """
    theirs = _lines_of_templates()
    own, is_below_a_heading = 0, False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            is_below_a_heading = is_below_a_heading or stripped.startswith("## ")
        elif stripped and is_below_a_heading and not stripped.startswith((">", "<!--")):
            own += 0 if theirs.fullmatch(stripped) else len("".join(stripped.split()))
    return own >= LEAST


@functools.cache
def _lines_of_templates() -> re.Pattern[str]:
    """Any line of any template, whatever stands where it has words in braces."""
    lines = {
        line.strip()
        for name in TEMPLATES
        for lang in LANGUAGES
        for line in template(name, lang).splitlines()
        if line.strip() and not re.fullmatch(r"\{\w+\}", line.strip())
    }
    return re.compile("|".join(re.sub(r"\\\{\w+\\\}", ".*", re.escape(line)) for line in sorted(lines)))
