"""The grader: cases, references, tolerances, goals; a Grade for every kind of exercise.

grade.py            grade(): one answer, judged by the judge of its kind
verdict.py          Grade and GoalResult, and what judges hand over
messages.py         all that is said, in English and Chinese

cases.py            sizes, values and inputs of one run, from a secret seed
values.py dtypes.py how inputs are filled, in which types
poison.py           what outputs hold before a launch
reference.py        what is expected, in float64
tolerance.py        how far a float may lie from it, and why
compare.py          which elements differ, which were never stored

kernel.py           the judge of CUDA C++ and Triton: cases (trial.py, launching.py), goals.py
speed.py on_gpu.py  on a GPU, the share of a rung's speed
sharing.py          whether threads share the work: one that does all of it, all that do all of it
counting.py         counts of a launch, and whose mistake it is where one has no value
function.py         the judge of pytorch and derive, with forbidden.py and returned.py
program.py          the judge of whole programs, with printing.py and program_words.py
predict.py          the judge of predicted counts
answers.py          the judge of quizzes
reading.py          the judge of guided reading: answers, and the learner's clone
notes.py            the judge of notes and reports
misconceptions.py   the mutant that fails as the answer does
describe.py pictures.py failing.py    what went wrong, in words and marks
"""

from __future__ import annotations

from flashpath.course.grader.answers import ItemResult, answers_template, judge_item
from flashpath.course.grader.grade import grade
from flashpath.course.grader.verdict import GoalResult, Grade

__all__ = ["GoalResult", "Grade", "ItemResult", "answers_template", "grade", "judge_item"]
