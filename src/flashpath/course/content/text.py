"""Texts that a learner sees, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Text:
    en: str
    zh: str

    def in_(self, lang: str) -> str:
        return self.zh if lang == "zh" else self.en


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
