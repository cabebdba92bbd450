"""The language that a command speaks, for words from places that know none."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from flashpath.messages import speaking as speaking
from flashpath.messages import spoken


def said(en: str, zh: str) -> str:
    """TRANSITION: the text in the language that is spoken now."""
    return zh if spoken() == "zh" else en


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Names near the one given; where there are few, all of them."""
    every = list(known)
    near = difflib.get_close_matches(name, every, cutoff=0.5) or [
        each for each in every if name and name in each
    ]
    if near:
        return said(f"Did you mean {' or '.join(near[:3])}?", f"你是不是想说 {' 或 '.join(near[:3])}？")
    if not 0 < len(every) <= 16:
        return ""
    return said(
        f"There {'is' if len(every) == 1 else 'are'}: {', '.join(every)}.", f"可选：{'、'.join(every)}。"
    )
