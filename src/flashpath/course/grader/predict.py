"""Predicted counts: the grader runs the kernel that a question is about, counts, and compares."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from flashpath.course.content.exercise import Exercise, Question
from flashpath.course.content.quiz_answers import as_number, is_near
from flashpath.course.grader.answers import ItemResult, is_unanswered, judge_all, shown
from flashpath.course.grader.cases import make_case
from flashpath.course.grader.goals import figure
from flashpath.course.grader.launching import blank_outputs, run, session_for
from flashpath.course.grader.verdict import CountFailed, Judged
from flashpath.course.sandbox import KernelSession
from flashpath.errors import FlashpathError
from flashpath.messages import told


def judge(exercise: Exercise, text: str, file: Path, seed: int) -> Judged:
    """All predictions; only the kernels of answered questions are run, each built once."""
    with Counter(exercise, seed) as counter:
        return judge_all(
            [question.id for question in exercise.questions],
            text,
            file,
            lambda place, answer: judge_question(counter, exercise.questions[place], answer),
        )


class Counter:
    """Counts what questions ask for on the virtual GPU; questions about one kernel share its session."""

    def __init__(self, exercise: Exercise, seed: int = 0) -> None:
        self.exercise = exercise
        self.seed = seed
        self._sessions: dict[object, KernelSession] = {}
        self._open = ExitStack()

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def count(self, question: Question) -> float:
        """What the question asks for, counted."""
        launch, exercise = question.launch, self.exercise
        rng = np.random.default_rng(self.seed)
        case = make_case(exercise, question.sizes, "normal", rng, only=launch.arguments)
        outputs = blank_outputs(exercise, launch, question.sizes)
        session = self._session(question)
        launched = run(session, exercise, launch, case, outputs, counts=(question.count,), sanitize=False)
        if launched is None:
            raise FlashpathError("course.grader.empty-grid", id=exercise.id, what=question.id)
        value = float(launched[0].counts[question.count])
        if math.isnan(value):  # the kernel is the exercise's own too
            raise CountFailed(exercise.id, question.count, told("course.grader.no-value"))
        return value

    def _session(self, question: Question) -> KernelSession:
        launch = question.launch
        built = tuple(launch.constants.items()), launch.num_warps, launch.gpu, launch.arguments
        key = question.source, question.rung, launch.kernel, built
        if key not in self._sessions:
            source, name = _source(question)
            session = session_for(self.exercise, launch, source, name)
            self._sessions[key] = self._open.enter_context(session)
        return self._sessions[key]


def judge_question(counter: Counter, question: Question, answer: Any) -> ItemResult:
    """One prediction: right ones are explained, wrong ones that many give have a remark."""
    if is_unanswered(answer):
        return ItemResult(question.id, None, told("course.grader.item-unanswered", id=question.id))
    number = as_number(answer)
    if number is None:
        how = told("course.grader.how-number")
        line = told("course.grader.item-form", id=question.id, answer=shown(answer), how=how)
        return ItemResult(question.id, None, line)
    truth = counter.count(question)
    if is_near(number, truth, question.tolerance):
        line = told(
            "course.grader.item-counted", id=question.id, counted=figure(truth), explain=question.explain
        )
        return ItemResult(question.id, True, line)
    for common in question.common:
        if is_near(number, common.answer, 0.0):
            line = told("course.grader.item-common", id=question.id, answer=shown(answer), remark=common.hint)
            return ItemResult(question.id, False, line)
    return ItemResult(
        question.id, False, told("course.grader.item-wrong", id=question.id, answer=shown(answer))
    )


def _source(question: Question) -> tuple[str, str]:
    if question.source is not None:
        return question.source.read_text(encoding="utf-8"), question.source.name
    assert question.rung is not None
    from flashpath.kernels import ladder

    name, _, rung = question.rung.partition("/")
    file = ladder(name)[rung].file
    return file.read_text(encoding="utf-8"), file.name
