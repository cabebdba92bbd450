"""Texts that a learner sees, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

from flashpath.messages import LANGUAGES as LANGUAGES
from flashpath.messages import Text as Text


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
