"""What the files under `course/` say: units, lessons, exercises, tracks, resources (docs/authoring.md)."""

from __future__ import annotations

from flashpath.course.content.course import Course, Part, load_course
from flashpath.course.content.errors import ContentError, UnknownName
from flashpath.course.content.exercise import (
    ArraySpec,
    CaseSpec,
    CommonAnswer,
    Exercise,
    Goal,
    Launch,
    Mutant,
    Question,
    ScalarSpec,
    Speed,
    Tolerance,
    Upstream,
)
from flashpath.course.content.problem_set import Problem, ProblemSet
from flashpath.course.content.proof import Proof
from flashpath.course.content.quiz import QuizItem
from flashpath.course.content.resources import Resource, ResourceUse
from flashpath.course.content.text import Texts
from flashpath.course.content.track import Correction, Day, Formula, Stage, Task, Track, Week
from flashpath.course.content.unit import Checkpoint, Figure, Unit
from flashpath.course.expressions import Drawn, ExpressionError, evaluate
from flashpath.messages import Text

__all__ = [
    "ArraySpec",
    "CaseSpec",
    "Checkpoint",
    "CommonAnswer",
    "ContentError",
    "Correction",
    "Course",
    "Day",
    "Drawn",
    "Exercise",
    "ExpressionError",
    "Figure",
    "Formula",
    "Goal",
    "Launch",
    "Mutant",
    "Part",
    "Problem",
    "ProblemSet",
    "Proof",
    "Question",
    "QuizItem",
    "Resource",
    "ResourceUse",
    "ScalarSpec",
    "Speed",
    "Stage",
    "Task",
    "Text",
    "Texts",
    "Tolerance",
    "Track",
    "Unit",
    "UnknownName",
    "Upstream",
    "Week",
    "evaluate",
    "load_course",
]
