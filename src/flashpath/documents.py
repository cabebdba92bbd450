"""Sections of documents that a program writes: between two comments, everything else is left as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from flashpath.errors import FlashpathError


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


def write_section(document: Path, name: str, made: Callable[[], str], *, check: bool) -> int:
    """For a program's `DOCUMENT [--check]`: its exit code. With `check` the document is only looked at."""
    try:
        text = document.read_text(encoding="utf-8")
        wanted = with_section(text, name, made())
    except (FlashpathError, OSError, ValueError) as error:
        print(f"error: {document}: {error}", file=sys.stderr)
        return 1
    if check:
        if text != wanted:
            print(f"{document} is out of date: leave out --check.", file=sys.stderr)
        return int(text != wanted)
    document.write_text(wanted, encoding="utf-8")
    return 0
