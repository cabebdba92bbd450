"""The language that a command speaks, for words from places that know none."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar

from flashpath import settings
from flashpath.errors import FlashpathError

_spoken: ContextVar[str | None] = ContextVar("spoken", default=None)


def said(en: str, zh: str) -> str:
    """The text in the language that is spoken now."""
    lang = _spoken.get()
    if lang is None:
        try:
            lang = settings.language()
        except FlashpathError:  # of the variable; a command that needs it says so
            lang = "en"
    return zh if lang == "zh" else en


@contextlib.contextmanager
def speaking(lang: str) -> Generator[None]:
    token = _spoken.set(lang)
    try:
        yield
    finally:
        _spoken.reset(token)
