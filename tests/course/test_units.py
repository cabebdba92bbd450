"""Every unit and track of the course: new ones are tested by being there."""

from __future__ import annotations

import pytest

from flashpath.course import making
from flashpath.course.content import Course, load_course
from flashpath.course.content.check import check_unit
from flashpath.course.content.lesson import check_both
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


@pytest.mark.parametrize("name", TRACKS)
def test_everything_that_a_track_names_is_there(course: Course, name: str) -> None:
    track = course.track(name)
    assert track.units
    assert set(track.units) <= set(course.unit_ids)


def test_resources_are_read(course: Course) -> None:
    assert all(each.title.in_(lang) for each in course.resources.values() for lang in LANGUAGES)
