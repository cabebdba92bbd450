"""Texts that a learner sees, in both languages."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Texts:
    """A list of texts, as long in both languages."""

    en: tuple[str, ...] = ()
    zh: tuple[str, ...] = ()

    def in_(self, lang: str) -> tuple[str, ...]:
        return self.zh if lang == "zh" else self.en

    def __len__(self) -> int:
        return len(self.en)


NO_TEXTS = Texts()


def as_markdown(text: str) -> str:
    """Returns a text in which names such as __shared__ are code: Markdown would make them bold."""
    spans = re.split(r"(`[^`]*`)", text)
    return "".join(
        span if span.startswith("`") else re.sub(r"\b__\w+?__\b", r"`\g<0>`", span) for span in spans
    )
