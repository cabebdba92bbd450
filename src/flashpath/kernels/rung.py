"""Rungs and ladders: the single source from which tests, benchmarks, lessons and lists are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.bench.implementation import Implementations

Language = Literal["pytorch", "cuda", "triton"]


@dataclass(frozen=True)
class Score:
    """A judgement from 1 (poor) to 5 (excellent), worth nothing without its reason."""

    value: int
    reason: str

    def __post_init__(self) -> None:
        if not 1 <= self.value <= 5 or not self.reason:
            raise FlashpathError(f"A score is 1 to 5 with a reason, not {self.value} ({self.reason!r}).")


@dataclass(frozen=True)
class Case:
    """One problem to run: its inputs, and what the problem itself costs whatever the implementation.

    `bytes` counts each input read once and each output written once, `flops` the arithmetic; both are 0
    where they mean nothing. `dtype` names the input type, which chooses the arithmetic ceiling.
    """

    name: str
    inputs: Callable[[str], tuple[Any, ...]]  # device ("cuda", "cpu") → fresh random arguments
    bytes: int = 0
    flops: int = 0
    dtype: str = "float32"
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Rung:
    """One implementation of an operation, with one idea."""

    name: str
    language: Language
    arch: str  # the least architecture it runs on: "sm_75", or "any"
    idea: str
    file: Path
    function: Callable[..., Any]
    improves_on: str | None = None
    declines: Callable[[Case], str | None] | None = None  # why it does not take a case; None where it does
    compile_for: Callable[[str], object] | None = None  # arch → compiled; raises where it cannot
    readability: Score | None = None
    debugging: Score | None = None
    dev_hours: float | None = None  # entered by hand: how long it took to write and get right

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)


@dataclass(frozen=True)
class Ladder:
    """The ordered rungs of one operation, from the reference to the fastest."""

    name: str
    title: str
    maths: str
    rungs: Sequence[Rung]
    cases: Callable[[], Sequence[Case]]  # what `flashpath bench` runs
    peers: Callable[[str], Implementations]  # device → other libraries' functions
    check: Callable[[Any, tuple[Any, ...]], None]  # (output, inputs): raises AssertionError where wrong

    def __iter__(self):
        return iter(self.rungs)

    def __len__(self) -> int:
        return len(self.rungs)

    @property
    def reference(self) -> Rung:
        return self.rungs[0]

    def __getitem__(self, name: str) -> Rung:
        for rung in self.rungs:
            if rung.name == name:
                return rung
        raise FlashpathError(
            f"The ladder {self.name!r} has no rung {name!r}.",
            "Its rungs: " + ", ".join(rung.name for rung in self.rungs),
        )
