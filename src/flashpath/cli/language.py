"""The language that a command line is answered in."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from flashpath import settings

_MARKER = "flashpath.toml"


def language_of(words: Sequence[str]) -> str:
    """Returns the language of `--lang`, else of FLASHPATH_LANG, else of the work folder, else of the locale.

    A language that there is not counts as none here: the command itself refuses it.
    """
    own = words[: words.index("--")] if "--" in words else words
    for word, following in zip(own, [*own[1:], ""], strict=True):
        option, equals, value = word.partition("=")
        named = (value if equals else following).lower()
        if option == "--lang" and named in settings.LANGUAGES:
            return named
    if settings.LANG.value is None and (lang := _language_here()) is not None:
        return lang
    return settings.language_or_english()


def _language_here() -> str | None:
    """Returns the language of the work folder around this one; None where there is none."""
    with contextlib.suppress(OSError):  # the current folder may be gone
        here = Path.cwd().resolve()
        for folder in (here, *here.parents):
            if (folder / _MARKER).is_file():
                from flashpath.course.workspace import marker

                return marker.language_of((folder / _MARKER).read_bytes())
    return None
