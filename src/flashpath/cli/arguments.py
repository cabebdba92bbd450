"""A kernel's arguments, written on the command line: "2.0", "n=1024", "x=f32[n]", "zeros:i32[8,8]", …"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    import numpy as np

_TYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool",
}  # fmt: skip
_FILLS = ("random", "zeros", "ones", "arange")
_ARRAY = re.compile(
    r"(?:(?P<fill>[a-z]+):)?(?P<type>[a-z]+\d*)\[(?P<shape>[^\]]*)\](?::(?P<low>[^.]+(?:\.\d+)?)\.\.(?P<high>.+))?"
)
_WORDS = {"true": True, "false": False, "null": None}
_INTEGER_RANGE = (0, 99)


@dataclass(frozen=True)
class Argument:
    """What is passed, and what its owner calls it; the name may be empty."""

    name: str
    value: Any


def parse_extents(text: str, option: str) -> tuple[int, ...]:
    """The extents of a grid or a block: "32", "16,16"."""
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(part.strip().isdecimal() for part in parts):
        raise FlashpathError("cli.not-extents", option=option, text=text)
    return tuple(map(int, parts))


def parse_arguments(texts: Sequence[str], seed: int = 0) -> list[Argument]:
    """The values of a launch. A number that has a name may stand in the shapes of the arrays after it."""
    import numpy as np

    generator = np.random.default_rng(seed)
    names: dict[str, int] = {}
    found: list[Argument] = []
    for text in texts:
        name, equals, written = text.partition("=")
        if not equals or not name.strip().isidentifier():
            name, written = "", text
        name, written = name.strip(), written.strip()
        value = _value(text, written, names, generator)
        if name and type(value) is int:
            names[name] = value
        found.append(Argument(name, value))
    return found


def _value(text: str, written: str, names: dict[str, int], generator: np.random.Generator) -> Any:
    if written.lower() in _WORDS:
        return _WORDS[written.lower()]
    if array := _ARRAY.fullmatch(written):
        try:
            return _array(text, array, names, generator)
        except FlashpathError:
            raise
        except (MemoryError, ValueError, OverflowError):  # NumPy's, of extents or dimensions beyond its own
            raise FlashpathError("cli.arg-too-large", text=text) from None
    number = _integer(written, names)
    if number is not None:
        return number
    try:
        return float(written)
    except ValueError:
        raise FlashpathError("cli.arg-unknown", text=text, written=written) from None


def _integer(written: str, names: dict[str, int]) -> int | None:
    """Numbers and names, multiplied and raised: "4*n", "2**20"; None where it is something else."""
    product = 1
    for factor in re.split(r"(?<!\*)\*(?!\*)", written):
        base, *exponents = (_atom(part.strip(), names) for part in factor.split("**"))
        exponent = exponents[0] if exponents else 1
        if base is None or exponent is None or len(exponents) > 1 or not 0 <= exponent <= 64:
            return None
        product *= base**exponent
    return product


def _atom(written: str, names: dict[str, int]) -> int | None:
    if written in names:
        return names[written]
    return int(written) if re.fullmatch(r"[+-]?\d+", written) else None


def _array(text: str, array: re.Match[str], names: dict[str, int], generator: np.random.Generator) -> Any:
    import ml_dtypes
    import numpy as np

    fill = array["fill"] or "random"
    if fill not in _FILLS:
        raise FlashpathError("cli.arg-no-such-fill", text=text, fill=fill, fills=_FILLS)
    if array["type"] not in _TYPES:
        raise FlashpathError("cli.arg-no-such-type", text=text, type=array["type"], types=list(_TYPES))
    name = _TYPES[array["type"]]
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    shape = [_integer(extent.strip(), names) for extent in array["shape"].split(",")]
    if any(extent is None or extent < 0 for extent in shape):
        if names:
            raise FlashpathError("cli.arg-no-shape", text=text, shape=array["shape"], names=list(names))
        raise FlashpathError("cli.arg-no-shape-without-names", text=text, shape=array["shape"])
    extents = tuple(extent for extent in shape if extent is not None)
    if fill != "random":
        if array["low"] is not None:
            raise FlashpathError("cli.arg-fill-with-range", text=text, fill=fill)
        if fill == "arange":
            return np.arange(math.prod(extents)).reshape(extents).astype(dtype)
        return np.full(extents, int(fill == "ones"), dtype)
    return _random(text, array, dtype, extents, generator)


def _random(
    text: str,
    array: re.Match[str],
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    generator: np.random.Generator,
) -> Any:
    """Normal floats, or uniform ones where a range is given; integers uniform, the range's ends included."""
    import numpy as np

    whole = dtype.kind in "iu"
    if array["low"] is None:
        if whole:
            return generator.integers(*_INTEGER_RANGE, shape, endpoint=True).astype(dtype)
        if dtype.kind == "b":
            return generator.integers(0, 2, shape).astype(dtype)
        return generator.standard_normal(shape).astype(dtype)
    try:
        number = int if whole else float
        low, high = number(array["low"]), number(array["high"])
    except ValueError:
        raise FlashpathError("cli.arg-no-range", text=text, low=array["low"], high=array["high"]) from None
    if not math.isfinite(high - low):
        raise FlashpathError("cli.arg-endless-range", text=text, low=low, high=high)
    if low > high:
        raise FlashpathError("cli.arg-empty-range", text=text, low=low, high=high)
    if whole:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        if low < least or high > most:
            raise FlashpathError(
                "cli.arg-range-too-wide", text=text, low=low, high=high, least=least, most=most
            )
        return generator.integers(int(low), int(high), shape, endpoint=True).astype(dtype)
    return generator.uniform(low, high, shape).astype(dtype)
