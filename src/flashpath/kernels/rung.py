"""Rungs and ladders: the single source from which tests, benchmarks, lessons and lists are made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.messages import Message, Text, spoken

Language = Literal["pytorch", "cuda", "triton"]


@dataclass(frozen=True)
class Score:
    """A judgement from 1 (poor) to 5 (excellent), worth nothing without its reason."""

    value: int
    reason: Text | str  # read from a record it is a text in English

    def __post_init__(self) -> None:
        if not 1 <= self.value <= 5 or not self.reason:
            raise FlashpathError("kernels.no-score", value=self.value, reason=repr(self.reason))

    def in_(self, lang: str) -> str:
        """Returns the reason in that language, if it is known in it."""
        return self.reason.in_(lang) if isinstance(self.reason, Text) else self.reason


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


Declines = Callable[[Case], Message | None]  # why a case is not taken; None where it is


def short(n: int) -> str:
    """A number in a case's name: 2^20 for a power of two from 2^16 on, else its digits."""
    return f"2^{n.bit_length() - 1}" if n >= 2**16 and n & (n - 1) == 0 else str(n)


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One implementation of an operation, with one idea."""

    name: str
    language: Language = "cuda"
    arch: str = "sm_75"  # the least architecture it runs on, or "any"
    file: Path
    function: Callable[..., Any]
    improves_on: str | None = None
    declines: Declines | None = None
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    """Keyword options of the function and their values, which `flashpath tune` tries in all combinations."""
    compile_for: Callable[[str], object] | None = None  # arch → compiled; raises where it cannot
    readability: int | None = None  # from 1 (poor) to 5 (excellent), as debugging
    debugging: int | None = None
    dev_hours: float | None = None  # entered by hand: how long it took to write and get right
    texts: Mapping[str, Text] = field(default_factory=dict[str, Text], repr=False)  # the ladder's

    @staticmethod
    def reference(folder: Path, function: Callable[..., Any], **more: Any) -> Rung:
        """Returns the first rung of a ladder: PyTorch code in `reference.py`."""
        return Rung(
            name="reference",
            language="pytorch",
            arch="any",
            file=folder / "reference.py",
            function=function,
            readability=5,
            debugging=5,
            **more,
        )

    @property
    def idea(self) -> str:
        """Says what is new in this rung."""
        return self.texts[f"{self.name}-idea"].in_(spoken())

    @property
    def not_counted(self) -> str | None:
        """Says what the rung does beside the virtual GPU, which counts only kernels of its own."""
        text = self.texts.get(f"{self.name}-uncounted")
        return text and text.in_(spoken())

    def score(self, what: Literal["readability", "debugging"]) -> Score | None:
        """Returns that judgement with its reason; None where there is none."""
        value: int | None = getattr(self, what)
        return None if value is None else Score(value, self.texts[f"{self.name}-{what}"])

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)


@dataclass(frozen=True)
class Peer:
    """Another library's function that does not take every case."""

    function: Callable[..., Any]
    declines: Declines


class Choice(NamedTuple):
    """The rung that answers a call, and why it is that one."""

    rung: Rung
    why: Message


def always(rung: str, why: Message) -> Callable[..., tuple[str, Message]]:
    """Returns a ladder's `chooses` by which one rung answers every call."""

    def chosen(*_inputs: Any, where: object = None) -> tuple[str, Message]:
        return rung, why

    return chosen


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """The ordered rungs of one operation, from the reference to the fastest."""

    name: str
    texts: Mapping[str, Text]
    """What the ladder says: `title`, `maths`, and `<rung>-idea`, `-readability`, `-debugging` of rungs."""
    rungs: Sequence[Rung]
    cases: Callable[[], Sequence[Case]]  # what `flashpath bench` runs
    peers: Callable[[str], Mapping[str, Callable[..., Any] | Peer]]  # device → other libraries' functions
    check: Callable[[Any, tuple[Any, ...]], None]  # (output, inputs): raises AssertionError where wrong
    truth: Callable[[tuple[Any, ...]], Any] | None = None
    """Inputs → the exact result, in float64; None where results are right or wrong, and never near."""
    dimensions: tuple[str, ...] = ("n",)  # what a size says, such as ("rows", "n")
    sized: Callable[[tuple[int, ...]], Case] | None = None  # size → the case that stands for the ladder
    sample: tuple[int, ...] = ()  # a size for the virtual GPU: what `flashpath ladder` counts
    more_samples: Callable[[], Sequence[Case]] | None = None
    """As small: cases for the rungs that decline the one of the sample's size."""
    chooses: Callable[..., tuple[str, Message]] | None = None
    """A call → the name of the rung that answers it, and why; None where no operator calls the ladder."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rungs", [replace(rung, texts=self.texts) for rung in self.rungs])

    @property
    def title(self) -> str:
        return self.texts["title"].in_(spoken())

    @property
    def maths(self) -> str:
        return self.texts["maths"].in_(spoken())

    def best(self, *inputs: Any, **options: Any) -> Choice:
        """Returns the rung that answers a call, which is the one that was fastest for such calls, and why.

        The inputs are those of the operator. `where` names a GPU other than the one that the tensors are on:
        then tensors of the device `meta` do. `direction="backward"` asks for the gradients' rung.
        """
        if self.chooses is None:
            raise FlashpathError("kernels.no-choice", ladder=self.name)
        name, why = self.chooses(*inputs, **options)
        return Choice(self._by_name[name], why)

    @functools.cached_property
    def _by_name(self) -> Mapping[str, Rung]:
        return {rung.name: rung for rung in self.rungs}

    def __iter__(self) -> Iterator[Rung]:
        return iter(self.rungs)

    def __len__(self) -> int:
        return len(self.rungs)

    @property
    def reference(self) -> Rung:
        return self.rungs[0]

    def __getitem__(self, name: str) -> Rung:
        if name in self._by_name:
            return self._by_name[name]
        raise FlashpathError("kernels.no-rung", ladder=self.name, name=name, known=list(self._by_name))
