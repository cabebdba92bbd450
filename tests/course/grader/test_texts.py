"""Everything that is said is said in both languages, with the same values, and is said somewhere."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from flashpath.course import grader
from flashpath.course.grader.texts import keys, pair, say

SOURCE = "".join(
    file.read_text(encoding="utf-8")
    for file in Path(grader.__file__).parent.glob("*.py")
    if file.name != "texts.py"
)


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", keys())
def test_both_languages_say_the_same(key: str) -> None:
    english, chinese = pair(key)
    assert english.strip()
    assert re.search(r"[\u4e00-\u9fff]|^✓|^\W*\{", chinese), f"{key} has no Chinese"
    assert _fields(english) == _fields(chinese)
    assert not re.search(r"[\u4e00-\u9fff]", english)


@pytest.mark.parametrize("key", keys())
def test_every_text_is_used(key: str) -> None:
    family = re.match(r"(noun|nouns|how|goal|missed)-", key)
    assert f'"{key}"' in SOURCE or f"'{key}'" in SOURCE or (family and f'"{family[0]}{{' in SOURCE)


def test_values_are_put_in() -> None:
    assert say("en", "passed", cases=3) == "Right: 3 cases."
    assert "3" in say("zh", "passed", cases=3)
