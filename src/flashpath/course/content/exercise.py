"""One exercise: what is asked, how it is graded, its hints and its mutants.

The fields have the names of the keys in `exercise.toml`. Sizes, grids, references and counts stay the
expressions that the file has; `expressions.evaluate` gives their values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flashpath.course.content.errors import ContentError
from flashpath.course.content.quiz import QuizItem
from flashpath.course.content.table import read
from flashpath.course.expressions import Draw, Drawn, evaluate_integer
from flashpath.messages import Text

KINDS = ("kernel", "debug", "program", "predict", "derive", "note", "read", "report")
LANGUAGES = ("cuda", "triton", "pytorch")
DTYPES = (
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
ROLES = ("input", "output", "inout")
VALUES = (
    "normal", "shifted", "positive", "ties", "specials", "huge", "tiny", "zeros", "integers", "wide",
    "rising", "cliff", "masked", "bits", "indices", "starts",
)  # fmt: skip
# Why a submission is rejected, besides the kinds of the sanitizer's findings.
REASONS = (
    "wrong", "unwritten", "input-changed", "goal", "compile", "launch", "timeout", "crashed", "refused",
    "exit-code", "not-printed", "not-installed", "unanswered", "incomplete",
)  # fmt: skip
SUFFIXES = {"cuda": ".cu", "triton": ".py", "pytorch": ".py", "python": ".py"}

Size = int | Drawn | str  # a number, one that is drawn, or an expression of the sizes before it
Constant = int | float | bool | str


@dataclass(frozen=True)
class Launch:
    kernel: str
    arguments: tuple[str, ...]
    grid: tuple[str, ...]
    block: tuple[str, ...] = ()  # of CUDA
    shared: str = "0"  # of CUDA: bytes of dynamic shared memory
    constants: Mapping[str, Constant] = field(default_factory=dict[str, Constant])
    num_warps: int = 4  # of Triton
    gpu: str = "A100"


@dataclass(frozen=True)
class Program:
    """How a whole program is run."""

    arguments: tuple[str, ...] = ()  # sizes and scalars, on its command line
    exit_code: str = "0"  # an expression of them; only where it is 0 the program prints what is asked
    gpus: tuple[str, ...] = ("A100",)  # of several, the size `gpu` says which, from 0

    def gpu_of(self, sizes: Mapping[str, int]) -> str:
        """Returns the name of the GPU on which a case with these sizes runs."""
        return self.gpus[sizes["gpu"] if len(self.gpus) > 1 else 0]


@dataclass(frozen=True)
class ScalarSpec:
    dtype: str
    value: str | None = None  # an expression of the sizes; drawn where there is none
    values: str | None = None  # how it is drawn; as the case says where there is none


@dataclass(frozen=True)
class ArraySpec:
    dtype: str
    shape: tuple[str, ...]
    role: str = "input"
    values: str | None = None  # as the case says where there is none
    below: str | None = None  # the bound of indices and starts: an expression
    value: str | None = None  # an expression of the sizes and the inputs before it; drawn where there is none

    @property
    def is_input(self) -> bool:
        return self.role != "output"

    @property
    def is_written(self) -> bool:
        return self.role != "input"


@dataclass(frozen=True)
class Tolerance:
    """How far floats may lie from the reference: expressions, one for all outputs or one for each."""

    depth: str | Mapping[str, str] = "1"  # roundings behind one element
    scale: str | Mapping[str, str] | None = None  # the size of what was summed; the result's where none
    exact: bool = False  # data is only moved: every bit of it counts, that of -0 and those of NaN too

    def depth_of(self, output: str) -> str:
        return self.depth if isinstance(self.depth, str) else self.depth.get(output, "1")

    def scale_of(self, output: str) -> str | None:
        return self.scale.get(output) if isinstance(self.scale, Mapping) else self.scale


@dataclass(frozen=True)
class CaseSpec:
    """One or more cases: every combination of its sizes and values."""

    sizes: Mapping[str, tuple[Size, ...]]
    values: tuple[str, ...] = ("normal",)

    def expand(self, draw: Draw) -> Iterator[tuple[dict[str, int], str]]:
        """Sizes and values of each case; `draw(low, high)` chooses what is drawn anew in every run."""
        for chosen in itertools.product(*self.sizes.values()):
            for values in self.values:
                sizes: dict[str, int] = {}
                for name, size in zip(self.sizes, chosen, strict=True):
                    sizes[name] = sized(size, sizes, draw)
                yield sizes, values

    @property
    def is_drawn(self) -> bool:
        return any(isinstance(each, Drawn) for choices in self.sizes.values() for each in choices)


def sized(size: Size, before: Mapping[str, int], draw: Draw) -> int:
    """The number that a size stands for."""
    if isinstance(size, Drawn):
        return size.draw(draw, before)
    return evaluate_integer(size, before) if isinstance(size, str) else size


@dataclass(frozen=True)
class Goal:
    """Efficiency, counted: what a report of one launch must say."""

    name: Text
    count: str
    sizes: Mapping[str, int]
    missed: Text
    at_most: float | None = None
    at_least: float | None = None

    def is_met(self, counted: float) -> bool:
        return (self.at_most is None or counted <= self.at_most) and (
            self.at_least is None or counted >= self.at_least
        )


@dataclass(frozen=True)
class Speed:
    """On a GPU: a share of a rung's speed."""

    rung: str
    at_least: float
    sizes: Mapping[str, int]
    bytes: str
    flops: str | None = None
    problem: Mapping[str, str] = field(default_factory=dict[str, str])
    """The dimensions of the rung's ladder that have another name here, and that name."""


@dataclass(frozen=True)
class Mutant:
    """A wrong answer that must be rejected, and what it teaches."""

    name: str
    rejected_for: str
    hint: Text
    source: str  # the whole file: the solution with its edits, or as it is given
    edits: tuple[tuple[str, str], ...] = ()
    with_words: tuple[str, ...] = ()  # an answer that makes this mistake has all of these words
    without_words: tuple[str, ...] = ()  # and none of these


@dataclass(frozen=True)
class CommonAnswer:
    """A wrong answer that many give, and what it misses."""

    answer: float
    hint: Text


@dataclass(frozen=True)
class Question:
    """A question of `predict`: a number that the learner foretells and the grader counts."""

    id: str
    ask: Text
    explain: Text
    count: str
    launch: Launch
    sizes: Mapping[str, int]
    source: Path | None = None
    rung: str | None = None
    tolerance: float = 0.0
    common: tuple[CommonAnswer, ...] = ()


@dataclass(frozen=True)
class Upstream:
    """A file of another project's, which the learner has cloned."""

    repository: str
    path: str
    version: str
    commit: str | None = None  # of that version; None of what is no repository, such as a paper

    @property
    def name(self) -> str:
        """What the folder of a clone is called."""
        return self.repository.rstrip("/").rpartition("/")[2].removesuffix(".git")


@dataclass(frozen=True)
class Exercise:
    unit: str  # without the number: first-kernel
    name: str
    kind: str
    title: Text
    minutes: int
    folder: Path
    language: str | None = None
    skeleton: Path | None = None
    solution: Path | None = None
    launch: Launch | None = None
    program: Program | None = None
    scalars: Mapping[str, ScalarSpec] = field(default_factory=dict[str, ScalarSpec])
    arrays: Mapping[str, ArraySpec] = field(default_factory=dict[str, ArraySpec])
    reference: Mapping[str, str] = field(default_factory=dict[str, str])
    reference_file: Path | None = None
    tolerance: Tolerance = Tolerance()
    cases: tuple[CaseSpec, ...] = ()
    goals: tuple[Goal, ...] = ()
    atomics: bool = False  # whether a launch of its goals may use atomics
    speed: Speed | None = None
    hints: tuple[Text, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    function: str | None = None
    arguments: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    required: tuple[str, ...] = ()  # what the answer's text must hold, without comments and blanks
    questions: tuple[Question, ...] = ()
    items: tuple[QuizItem, ...] = ()
    upstream: Upstream | None = None
    counterpart: str | None = None
    least: int = 30

    @property
    def id(self) -> str:
        return f"{self.unit}/{self.name}"

    @property
    def outputs(self) -> dict[str, ArraySpec]:
        """The arrays that a kernel writes, or the values that a program prints."""
        return {name: each for name, each in self.arrays.items() if each.is_written}

    def task(self, lang: str) -> str:
        """What is asked, as Markdown; a quiz has no more to say than its questions."""
        return "" if self.kind == "quiz" else self._text("task", lang)

    def explanation(self, lang: str) -> str:
        """The solution, explained; empty where a question's own explanation is all there is."""
        return self._text("explanation", lang) if self._file("explanation", lang).exists() else ""

    def template(self, lang: str) -> str:
        """Returns the text of a note or report that the learner fills in."""
        return self._text("template", lang)

    def _file(self, stem: str, lang: str) -> Path:
        return self.folder / f"{stem}.{'zh' if lang == 'zh' else 'en'}.md"

    def _text(self, stem: str, lang: str) -> str:
        return read(self._file(stem, lang))

    def solution_text(self) -> str:
        if self.solution is None:
            raise ContentError("course.content.no-solution", self.folder, None, kind=self.kind)
        return read(self.solution)


def quiz_exercise(unit: str, folder: Path, items: tuple[QuizItem, ...]) -> Exercise:
    """The quiz of a unit, as an exercise."""
    return Exercise(
        unit=unit,
        name="quiz",
        kind="quiz",
        title=Text("Quiz", "小测验"),
        minutes=max(5, len(items)),
        folder=folder,
        items=items,
    )
