"""Texts that a learner sees, in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from flashpath.messages import Message


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


_KINDS = {
    "kernel": "course.kind-kernel",
    "debug": "course.kind-debug",
    "program": "course.kind-program",
    "predict": "course.kind-predict",
    "derive": "course.kind-derive",
    "note": "course.kind-note",
    "read": "course.kind-read",
    "report": "course.kind-report",
    "quiz": "course.kind-quiz",
}


def kind_name(kind: str, lang: str) -> str:
    """Returns what a kind of exercise is called."""
    return Message(_KINDS[kind]).text(lang)


_FENCE = re.compile(r"\s*(```+|~~~+)")


def lines_outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the lines of Markdown, and of each whether it stands outside of code and its fences."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        is_fence = mark is not None and (not fence or mark[1].startswith(fence))
        yield line, not fence and not is_fence
        if mark is not None and is_fence:
            fence = "" if fence else mark[1]
