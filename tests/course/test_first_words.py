"""What a lesson's code uses is explained where it first stands, or before."""

from __future__ import annotations

import functools
import re

import pytest

from flashpath.course.content import load_course
from flashpath.course.content.directives import markdown
from flashpath.course.content.lesson import load_lesson

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

# What somebody who knows C++, but not CUDA, meets for the first time.
TERMS = (
    "threadIdx", "blockIdx", "blockDim", "__global__", "__shared__", "__syncthreads", "__restrict__",
    "__launch_bounds__", "#pragma unroll", "__shfl_down_sync", "template",
)  # fmt: skip


@functools.cache
def _lessons(lang: str) -> dict[str, tuple[str, str]]:
    """Code and prose of each lesson that is ready, by its unit, in the order of the course."""
    course = load_course()
    texts = {
        unit.name: markdown(course, load_lesson(unit, lang))
        for unit in course.units
        if unit.is_ready and unit.name != "environment"  # which shows one program, to run it
    }
    return {name: ("\n".join(_FENCE.findall(text)), _FENCE.sub("", text)) for name, text in texts.items()}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_explained_where_it_first_stands(term: str, lang: str) -> None:
    lessons = _lessons(lang)
    used = next(unit for unit, (code, _) in lessons.items() if term in code)
    said = next((unit for unit, (_, prose) in lessons.items() if term in prose), None)
    order = list(lessons)
    assert said is not None, f"{term} is in the code of {used}, and no lesson says what it is"
    assert order.index(said) <= order.index(used), f"{term} is used in {used}, and explained in {said}"


@pytest.mark.parametrize(("lang", "words"), [("en", "grid-stride loop"), ("zh", "网格跨步循环")])
def test_the_first_lesson_shows_the_loop_that_is_its_goal(lang: str, words: str) -> None:
    _, prose = _lessons(lang)["first-kernel"]
    loop = prose[prose.index(words) :][:600]
    assert re.search(r"for \(.*[+]= gridDim", loop)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_size_of_a_warp_is_said_before_it_counts(lang: str) -> None:
    course = load_course()
    text = markdown(course, load_lesson(course.unit("environment"), lang))
    text = re.sub(r"(?ms)^#.*?$|^```.*?^```", "", text)
    first = text.index("warp")
    assert "32" in text[first : first + 80]
