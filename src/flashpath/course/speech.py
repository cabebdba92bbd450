"""The language that a command speaks, for words from places that know none."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from flashpath.messages import say, spoken
from flashpath.messages import speaking as speaking


def said(en: str, zh: str) -> str:
    """TRANSITION: the text in the language that is spoken now."""
    return zh if spoken() == "zh" else en


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Names near the one given; where there are few, all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, cutoff=0.5) or [
        other for other in names if name and name in other
    ]
    if near:
        return say("messages.did-you-mean", names=say("messages.or").join(near[:3]))
    return say("messages.there-are", count=len(names), names=names) if 0 < len(names) <= 16 else ""
