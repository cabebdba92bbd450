"""Every unit and track of the course: new ones are tested by being there."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from flashpath.course import making
from flashpath.course.content import Course, load_course
from flashpath.course.content.check import check_unit
from flashpath.course.content.lesson import check_both
from flashpath.course.workspace.beginnings import file_name
from flashpath.course.workspace.pages import exercises_of
from flashpath.errors import FlashpathError
from flashpath.messages import LANGUAGES


def _course() -> Course | None:
    try:
        return load_course()
    except FlashpathError:  # there is no content beside the package
        return None


COURSE = _course()
UNITS = COURSE.unit_ids if COURSE else ()
TRACKS = COURSE.track_names if COURSE else ()


@pytest.fixture
def course() -> Course:
    if COURSE is None:
        pytest.skip("there is no course beside the package")
    return COURSE


@pytest.mark.parametrize("name", UNITS)
def test_everything_that_a_unit_names_is_there(course: Course, name: str) -> None:
    check_unit(course, course.unit(name))


@pytest.mark.parametrize("name", UNITS)
def test_both_languages_have_the_same_structure(course: Course, name: str) -> None:
    unit = course.unit(name)
    if unit.is_ready:
        check_both(unit)
    else:
        assert not any(unit.lesson_file(lang).exists() for lang in LANGUAGES), "a planned unit has no lesson"


@pytest.mark.parametrize("name", UNITS)
def test_outputs_and_figures_are_what_is_made(course: Course, name: str) -> None:
    unit = course.unit(name)
    if unit.is_ready:
        assert making.differences(unit, making.make(course, unit)) == []


@pytest.mark.parametrize("name", UNITS)
def test_commands_of_a_task_name_files_that_the_learner_has(course: Course, name: str) -> None:
    for exercise in exercises_of(course.unit(name)):
        there = {file_name(exercise), *(each.source.name for each in exercise.questions if each.source)}
        texts = list(exercise.folder.glob("task.*.md")) if exercise.kind != "quiz" else []
        texts += [exercise.skeleton] if exercise.skeleton is not None else []
        for text in texts:
            named = re.findall(
                r"flashpath (?:run|sanitize|profile|explain) (?:-\S+ )*([\w-]+\.(?:cu|py))",
                text.read_text(encoding="utf-8"),
            )
            assert set(named) - {"FILE.cu", "FILE.py"} <= there, text  # those are any file


@pytest.mark.parametrize("name", UNITS)
def test_right_answers_stand_in_every_place(course: Course, name: str) -> None:
    """Nobody should guess by the place: with six choices or more, none holds most of the right answers."""
    for exercise in exercises_of(course.unit(name)):
        single = [item.choices for item in exercise.items if item.kind == "choice"]
        places = Counter(each[0] for each in single if len(each) == 1)
        if places.total() >= 6:
            assert max(places.values()) * 2 <= places.total(), exercise.id


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", UNITS)
def test_right_answers_are_not_the_longest(course: Course, name: str, lang: str) -> None:
    """Nobody should guess by the length: of four choices or more, the longest is right in half at most."""
    for exercise in exercises_of(course.unit(name)):
        single = [item for item in exercise.items if item.kind == "choice" and len(item.choices) == 1]
        longest = 0
        for item in single:
            lengths = [len(option) for option in item.options.in_(lang)]
            right = lengths[item.choices[0] - 1]
            longest += right == max(lengths) and lengths.count(right) == 1
        if len(single) >= 4:
            assert longest * 2 <= len(single), f"{exercise.id}: {longest} of {len(single)} in {lang}"


@pytest.mark.parametrize("name", TRACKS)
def test_everything_that_a_track_names_is_there(course: Course, name: str) -> None:
    track = course.track(name)
    assert track.units
    assert set(track.units) <= set(course.unit_ids)


def test_resources_are_read(course: Course) -> None:
    assert all(each.title.in_(lang) for each in course.resources.values() for lang in LANGUAGES)
