"""Help names what exists, in both languages."""

from __future__ import annotations

import re

import pytest

from flashpath.cli import messages
from flashpath.cli.learning.messages import MESSAGES
from flashpath.course.content import load_course
from flashpath.messages import Text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_examples_name_exercises_that_exist(lang: str) -> None:
    course = load_course()
    checked = 0
    for key, text in (MESSAGES | messages.MESSAGES).items():
        if isinstance(text, Text):
            for unit, name in re.findall(r"(?<![\w/])(first-kernel|reduction)/([a-z-]+)", text.in_(lang)):
                if key != "progress-help":  # which ticks a checkpoint
                    assert course.exercise(f"{unit}/{name}"), key
                    checked += 1
    assert checked > 10


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_brackets_of_shapes_are_not_read_as_markup(lang: str) -> None:
    for key in ("validate-help", "validate-input"):
        text = MESSAGES[key]
        assert isinstance(text, Text)
        assert text.in_(lang).count("\\[") == text.in_(lang).count("[") > 0
