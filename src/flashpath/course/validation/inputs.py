"""What a validated function is called with: declared once, made at many sizes and with many values."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.bench.device import load_torch
from flashpath.errors import FlashpathError

FLOATS = ("float64", "float32", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
DTYPES = (*FLOATS, *INTEGERS, "bool")

_DECLARED = re.compile(r"(?P<dtype>\w+)\s*\[(?P<sizes>[^\]]*)\]\s*(?:<\s*(?P<below>\w+))?")


@dataclass(frozen=True)
class Input:
    """One argument: a tensor of some dtype whose sizes are letters or numbers, or a constant."""

    name: str
    dtype: str | None  # None: a constant
    sizes: tuple[str | int, ...] = ()
    constant: Any = None
    below: str | int | None = None  # integers: from 0 up to this

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def letters(self) -> tuple[str, ...]:
        return tuple(size for size in self.sizes if isinstance(size, str))

    def make(self, sizes: Mapping[str, int], values: str, generator: Any, device: str) -> Any:
        """The argument itself; a float64 tensor becomes the dtype's at the very end."""
        torch = load_torch()
        if self.dtype is None:
            return self.constant
        shape = [sizes[size] if isinstance(size, str) else size for size in self.sizes]
        dtype = getattr(torch, self.dtype)
        if not self.is_float:
            low, high = (0, 2) if self.dtype == "bool" else (0 if self.dtype == "uint8" else -8, 9)
            if self.below is not None:
                low, high = 0, max(1, sizes[self.below] if isinstance(self.below, str) else self.below)
            return torch.randint(low, high, shape, generator=generator).to(dtype).to(device)
        made = _filled(values, torch.randn(shape, generator=generator, dtype=torch.float64))
        return made.to(dtype).to(device)


def parse_input(text: str) -> Input:
    """`x: float32[m, n]` → Input; whatever is no such thing is refused with words."""
    name, colon, rest = (part.strip() for part in text.partition(":"))
    if not colon or not name.isidentifier():
        raise FlashpathError("course.validation.input-without-name", text=text)
    declared = _DECLARED.fullmatch(rest)
    if declared is None:
        try:
            return Input(name, None, constant=ast.literal_eval(rest))
        except (ValueError, SyntaxError):
            raise FlashpathError("course.validation.input-neither", text=text) from None
    if declared["dtype"] not in DTYPES:
        raise FlashpathError(
            "course.validation.input-dtype", name=name, dtype=declared["dtype"], known=list(DTYPES)
        )
    sizes: list[str | int] = []
    for size in filter(None, (part.strip() for part in declared["sizes"].split(","))):
        if not (size.isdecimal() or size.isidentifier()):
            raise FlashpathError("course.validation.input-size", name=name, size=size)
        sizes.append(int(size) if size.isdecimal() else size)
    below = declared["below"]
    return Input(
        name,
        declared["dtype"],
        tuple(sizes),
        below=int(below) if below and below.isdecimal() else below,
    )


def _sprinkled(x: Any, *values: tuple[int, int, float]) -> Any:
    """A few elements replaced: from which, every how many, by what."""
    flat = x.reshape(-1).clone()
    for first, every, value in values:
        flat[first::every] = value
    return flat.reshape(x.shape)


def _filled(values: str, x: Any) -> Any:
    """Values of a kind, made of standard normal ones in float64."""
    match values:
        case "zeros" | "ones":
            return x * 0 + (values == "ones")
        case "large" | "tiny":
            return x * (1e3 if values == "large" else 1e-6)
        case "mean 100" | "mean −1000":
            return x + (100 if values == "mean 100" else -1000)
        case "±inf":
            infinite = float("inf")
            return _sprinkled(x, (1, 17, infinite), (3, 17, -infinite), (5, 17, 0.0), (6, 17, -0.0))
        case "NaN":
            return _sprinkled(x, (2, 13, float("nan")))
        case _:
            return x


def edge_sizes(inputs: Sequence[Input], wanted: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int]]:
    """From nothing to odd and large: each letter at each edge, the others ordinary; then all at once."""
    letters = sorted({letter for each in inputs for letter in each.letters})
    if not letters:
        yield {}
        return
    edges = {letter: tuple(wanted.get(letter, EDGES)) for letter in letters}
    usual = {letter: edges[letter][len(edges[letter]) // 2] for letter in letters}
    seen: set[tuple[int, ...]] = set()
    ones = ({**usual, letter: size} for letter in letters for size in edges[letter])
    all_at_once = (
        dict(zip(letters, together, strict=True))
        for together in itertools.zip_longest(*edges.values(), fillvalue=1)
    )
    for sizes in itertools.chain(ones, all_at_once):
        key = tuple(sizes.values())
        if key not in seen:
            seen.add(key)
            yield sizes


EDGES = (0, 1, 2, 7, 31, 33, 64, 127, 257, 1000)
