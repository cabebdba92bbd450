"""The judge of guided reading: answers as in a quiz, and where the clone differs from what they rest on."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from flashpath.course.content.exercise import Exercise, Upstream
from flashpath.course.content.quiz import QuizItem
from flashpath.course.grader import answers
from flashpath.course.grader.verdict import Advice, Judged, Line
from flashpath.course.upstream import Clone, find_clone, has_name, has_text, place_in, text_of
from flashpath.messages import spoken, told


def judge(exercise: Exercise, text: str, file: Path, work_folder: Path | None) -> Judged:
    """The verdict does not depend on the clone: what is said of that stands behind the answers."""
    judged = answers.judge(exercise, text, file)
    if exercise.upstream is None or exercise.upstream.commit is None:
        return judged
    said = tuple(about_clone(exercise, find_clone(exercise.upstream, work_folder), work_folder))
    if judged.failure is None:
        return dataclasses.replace(judged, lines=(*judged.lines, *said))
    failure = dataclasses.replace(judged.failure, details=(*judged.failure.details, *said))
    return dataclasses.replace(judged, failure=failure)


def about_clone(exercise: Exercise, clone: Clone | None, work_folder: Path | None) -> Iterator[Line]:
    """What there is to say of the clone: there is none, it is of another version, it differs somewhere."""
    upstream = exercise.upstream
    assert upstream is not None
    words = {
        "name": upstream.name,
        "version": upstream.version,
        "repository": upstream.repository,
        "folder": place_in(work_folder, upstream, spoken()),
    }
    if clone is None:
        none = told("course.grader.clone-none", **words)
        yield from (none, Advice(none))
        return
    words["folder"] = str(clone.root)
    if clone.commit is None:
        yield told("course.grader.clone-unknown", **words)
    elif clone.commit != upstream.commit:
        other = told("course.grader.clone-other", found=clone.version, **words)
        yield from (other, Advice(other))
    differences = [line for item in exercise.items for line in _differences(upstream, item, clone)]
    yield from differences
    if not differences and clone.commit == upstream.commit:
        yield told("course.grader.clone-same", **words)


def _differences(upstream: Upstream, item: QuizItem, clone: Clone) -> Iterator[Line]:
    path, function = item.file or upstream.path, item.function or ""
    text = text_of(clone, path)
    if text is None:
        yield told("course.grader.clone-no-file", id=item.id, path=path)
    elif not has_name(text, function):
        yield told("course.grader.clone-no-function", id=item.id, path=path, function=function)
    else:
        for held in item.holds:
            if not has_text(text, function, held, python=path.endswith(".py")):
                yield told("course.grader.clone-differs", id=item.id, path=path, function=function, text=held)
