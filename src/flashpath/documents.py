"""Sections of documents that a program writes: between two comments, everything else is left as it is."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from flashpath.errors import FlashpathError
from flashpath.messages import speaking


def language_of(document: Path) -> str:
    """Returns the language of a document, which its name says: `page.md` or `page.zh.md`."""
    return "zh" if document.name.endswith(".zh.md") else "en"


def with_section(text: str, name: str, made: str) -> str:
    """A document with its section of that name made anew."""
    first, last = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise FlashpathError("messages.no-section", name=name, first=first.strip(), last=last.strip())
    return before + begin + made + end + after


def wrapped(paragraph: str) -> str:
    """Returns a paragraph in lines as long as those of the documents."""
    return textwrap.fill(paragraph, 118, break_on_hyphens=False, break_long_words=False)


def write_section(document: Path, name: str, made: Callable[[], str], *, check: bool) -> int:
    """Writes a section in the document's language; with `check` it only compares. Returns the exit code."""
    try:
        text = document.read_text(encoding="utf-8")
        with speaking(language_of(document)):
            section = made()
        wanted = with_section(text, name, section)
    except (FlashpathError, OSError, ValueError) as error:
        print(f"error: {document}: {error}", file=sys.stderr)
        return 1
    if check:
        if text != wanted:
            print(f"{document} is out of date: leave out --check.", file=sys.stderr)
        return int(text != wanted)
    document.write_text(wanted, encoding="utf-8")
    return 0
