"""Problem sets: graded in one go, and what is left of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashpath.course.answer_file import read_answer
from flashpath.course.learner.grading import grade_and_keep
from flashpath.course.learner.review import pass_quiz
from flashpath.course.state import StoreError
from flashpath.course.workspace.sets import answers_of
from flashpath.errors import FlashpathError
from flashpath.messages import Message

if TYPE_CHECKING:
    from flashpath.course.content import Problem, ProblemSet
    from flashpath.course.grader import Grade
    from flashpath.course.grader.answers import ItemResult
    from flashpath.course.grader.verdict import Line
    from flashpath.course.learner.learner import Learner


@dataclass(frozen=True)
class ProblemResult:
    """One problem: whether it is solved, and what was seen of it now."""

    problem: Problem
    number: int
    solved: bool
    answer: ItemResult | None = None  # of a question that its file answers
    grade: Grade | None = None  # of an exercise that was graded now

    @property
    def is_wrong(self) -> bool:
        """Whether what was handed in now is not right."""
        return (self.answer is not None and self.answer.right is False) or (
            self.grade is not None and not self.grade.passed
        )

    def to_json(self) -> dict[str, Any]:
        said = self.answer.said if self.answer is not None else None
        return {
            "number": self.number,
            "id": self.problem.id,
            "kind": "question" if self.problem.question is not None else "exercise",
            "solved": self.solved,
            "said": self.grade.headline if self.grade is not None else said,
        }


@dataclass(frozen=True)
class SetGrade:
    """A problem set after grading."""

    problem_set: ProblemSet
    results: tuple[ProblemResult, ...]
    failure: Message | None = None  # why the file of answers cannot be read
    details: tuple[Line, ...] = ()

    @property
    def solved(self) -> int:
        return sum(result.solved for result in self.results)

    @property
    def passed(self) -> bool:
        return self.solved == len(self.results)

    def to_json(self) -> dict[str, Any]:
        return {
            "set": self.problem_set.id,
            "passed": self.passed,
            "solved": self.solved,
            "count": len(self.results),
            "failure": None if self.failure is None else self.failure.text(),
            "problems": [result.to_json() for result in self.results],
        }


def grade_set(learner: Learner, problem_set: ProblemSet) -> SetGrade:
    """Judges the answers in the set's file, and grades those exercises that were begun and not passed yet."""
    from flashpath.course.grader.answers import judge_item, read_answers

    quiz = answers_of(problem_set)
    file = learner.folder.file(quiz.id)
    if problem_set.questions and not file.exists():
        raise FlashpathError("course.no-set-answers", path=file, track=learner.track.name)
    text = read_answer(file, quiz.id) if problem_set.questions else ""
    given, failure = read_answers(text, [item.id for item in quiz.items], file)
    answers = {item.id: judge_item(item, given.get(item.id)) for item in quiz.items}
    if failure is None:
        _keep(learner, problem_set, {name for name, answer in answers.items() if answer.right})
    graded = dict(_graded(learner, problem_set))
    progress = learner.progress()
    results = tuple(
        ProblemResult(
            problem,
            number,
            progress.is_solved(problem)
            or (problem.question is not None and answers[problem.id].right is True)
            or (problem.id in graded and graded[problem.id].passed),
            None if problem.question is None or failure is not None else answers[problem.id],
            graded.get(problem.id),
        )
        for number, problem in enumerate(problem_set.problems, 1)
    )
    return SetGrade(
        problem_set,
        results,
        None if failure is None else failure.headline,
        () if failure is None else failure.details,
    )


def _graded(learner: Learner, problem_set: ProblemSet) -> Iterator[tuple[str, Grade]]:
    passed = learner.progress().passed
    for name in problem_set.exercises:
        exercise = learner.course.exercise(name)
        path = learner.file_of(exercise)
        if name not in passed and learner.is_begun(exercise, path):
            yield name, grade_and_keep(learner, exercise, path)


def _keep(learner: Learner, problem_set: ProblemSet, right: set[str]) -> None:
    """Right answers count for the quizzes that they are of, and come again as those of `review` do."""
    try:
        known = learner.store.reviews.all()
        new = [name for name in right if name not in known or not known[name].ever_right]
        for name in new:
            learner.store.reviews.answer(name, True, "")
        for unit in dict.fromkeys(name.partition("/")[0] for name in new):
            pass_quiz(learner, learner.course.unit(unit))
    except StoreError as error:
        learner.warn(error)
        learner.warn(Message("course.not-recorded"))
