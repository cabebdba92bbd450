"""Sections of documents that a program writes: between two comments, everything else is left as it is."""

from __future__ import annotations

from flashpath.errors import FlashpathError


def with_section(text: str, name: str, made: str) -> str:
    """A document with its section of that name made anew."""
    first, last = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise FlashpathError(
            f"The document has no place for its section {name!r}.",
            f"Put the lines {first.strip()} and {last.strip()} where it belongs.",
        )
    return before + begin + made + end + after
