"""Checks a launch's arguments against the kernel's parameters: one converter per parameter.

Converters take whatever a caller may reasonably pass, and explain what they refuse. The quick way for the
usual arguments is in packing.py.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from flashpath.errors import FlashpathError
from flashpath.jit.signature import Parameter, Signature
from flashpath.messages import Message, any_of

_MAP_BYTES = 128  # of a CUtensorMap
HOST = -1  # where NumPy arrays and torch CPU tensors are
NOWHERE = -2  # scalars and null pointers

# By size: from here on a finite number would become infinity, half a step above the largest one.
FLOAT_LIMITS = {4: 2.0**128 - 2.0**103, 8: float("inf")}

_INTEGERS: Any = (int, np.integer, np.bool_)
_NUMBERS: Any = (*_INTEGERS, float, np.floating)


class ArgumentError(FlashpathError, TypeError):
    """A launch was given an argument that its kernel cannot take. Nothing has run."""


@dataclass(frozen=True)
class Strided:
    """A tensor whose strides the kernel handles itself."""

    tensor: Any


def strided(tensor: Any) -> Strided:
    """Let a non-contiguous tensor through: for kernels that take its strides as arguments."""
    return Strided(tensor)


Converted = tuple[Any, int]  # the value to pack, and the device it lives on


# ---- One converter per parameter -----------------------------------------------------------------------


def converter(kernel: str, parameter: Parameter) -> Callable[[Any], Converted]:
    """The function that checks one argument; it returns the value to pack, and the device it lives on."""
    makers = {
        "pointer": _pointer,
        "integer": _integer,
        "float": _float,
        "float16": _half,
        "bfloat16": _half,
        "bytes": _bytes,
    }
    return makers[parameter.kind](kernel, parameter)


def _wrong(kernel: str, parameter: Parameter, got: Message | str, advice: Message) -> ArgumentError:
    index = parameter.index
    return ArgumentError(
        "jit.wrong-argument", kernel=kernel, index=index, parameter=str(parameter), got=got, advice=advice
    )


def _integer(kernel: str, parameter: Parameter) -> Callable[[Any], Converted]:
    low, high = parameter.low, parameter.high

    def convert(argument: Any) -> Converted:
        if type(argument) is int or isinstance(argument, _INTEGERS):
            value = int(argument)
        elif _is_array(argument):
            raise _wrong(kernel, parameter, describe(argument), Message("jit.pass-a-number"))
        else:
            raise _wrong(kernel, parameter, describe(argument), Message("jit.pass-an-integer"))
        if not low <= value <= high:
            raise _wrong(kernel, parameter, str(value), Message("jit.values-run", {"low": low, "high": high}))
        return value, NOWHERE

    return convert


def _number(kernel: str, parameter: Parameter, argument: Any) -> float:
    if isinstance(argument, _NUMBERS) or type(argument).__module__.startswith("ml_dtypes"):
        try:
            return float(argument)
        except OverflowError:
            raise _wrong(kernel, parameter, describe(argument), Message("jit.too-large-for-any")) from None
    raise _wrong(kernel, parameter, describe(argument), Message("jit.pass-a-number"))


def _float(kernel: str, parameter: Parameter) -> Callable[[Any], Converted]:
    limit = FLOAT_LIMITS[parameter.size]

    def convert(argument: Any) -> Converted:
        value = argument if type(argument) is float else _number(kernel, parameter, argument)
        if -limit < value < limit or value != value or value in (float("inf"), float("-inf")):
            return value, NOWHERE
        raise _wrong(kernel, parameter, repr(value), Message("jit.too-large-for-float"))

    return convert


def _half(kernel: str, parameter: Parameter) -> Callable[[Any], Converted]:
    bits = _float16_bits if parameter.kind == "float16" else _bfloat16_bits

    def convert(argument: Any) -> Converted:
        with np.errstate(over="ignore"):  # too large becomes infinity, as in the type's own arithmetic
            return bits(_number(kernel, parameter, argument)), NOWHERE

    return convert


def _float16_bits(value: float) -> int:
    return int(np.float16(value).view(np.uint16))


def _bfloat16_bits(value: float) -> int:
    import ml_dtypes

    # ml_dtypes goes through float32. Rounding to odd there, away from every tie, leaves one rounding in all.
    single = np.float32(value)
    if float(single) != value and value == value:
        toward_zero = single.view(np.uint32) - np.uint32(abs(float(single)) > abs(value))
        single = (toward_zero | np.uint32(1)).view(np.float32)
    return int(single.astype(ml_dtypes.bfloat16).view(np.uint16))


def _bytes(kernel: str, parameter: Parameter) -> Callable[[Any], Converted]:
    size = parameter.size
    raw: Any = (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Array, ctypes.Union)

    def convert(argument: Any) -> Converted:
        if size == _MAP_BYTES and hasattr(argument, "packed") and hasattr(argument, "box"):
            return argument.packed(), argument.device
        if isinstance(argument, (np.void, np.ndarray, np.generic)):
            data = argument.tobytes()
        elif isinstance(argument, raw):
            data = bytes(argument)
        else:
            advice = Message("jit.pass-struct", {"size": size})
            raise _wrong(kernel, parameter, describe(argument), advice)
        if len(data) != size:
            got = Message("jit.so-many-bytes", {"count": len(data)})
            raise _wrong(kernel, parameter, got, Message("jit.struct-size", {"size": size}))
        return data, NOWHERE

    return convert


def _pointer(kernel: str, parameter: Parameter) -> Callable[[Any], Converted]:
    accepted = parameter.dtypes

    def convert(argument: Any) -> Converted:
        if argument is None:
            return 0, NOWHERE
        may_be_strided = isinstance(argument, Strided)
        array = argument.tensor if may_be_strided else argument
        if accepted is None and parameter.text.startswith(".") and isinstance(array, _INTEGERS):
            if not 0 <= int(array) < 2**64:
                advice = Message("jit.values-run", {"low": 0, "high": "2**64 - 1"})
                raise _wrong(kernel, parameter, str(array), advice)
            return int(array), NOWHERE
        view = view_of(array)
        if view is None:
            raise _wrong(kernel, parameter, describe(array), _array_advice(parameter))
        if accepted is not None and view.dtype not in accepted:
            got = Message("jit.an-array-of", {"dtype": view.dtype})
            advice = Message("jit.pass-an-array-of", {"names": any_of(sorted(accepted))})
            raise _wrong(kernel, parameter, got, advice)
        if not view.contiguous and not may_be_strided:
            got = Message("jit.not-contiguous", {"shape": str(view.shape)})
            raise _wrong(kernel, parameter, got, Message("jit.pass-contiguous"))
        return view.address, view.device

    return convert


def _array_advice(parameter: Parameter) -> Message:
    names = any_of(sorted(parameter.dtypes)) if parameter.dtypes else Message("jit.any-type")
    return Message("jit.pass-an-array", {"names": names})


# ---- Arrays of any library -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrayView:
    """An array, whoever made it, as far as a kernel needs to know it."""

    address: int
    dtype: str
    device: int
    shape: tuple[int, ...]
    contiguous: bool


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or any(
        hasattr(value, name) for name in ("data_ptr", "__cuda_array_interface__", "__dlpack__")
    )


def view_of(array: Any) -> ArrayView | None:
    """The view of a torch tensor, a NumPy array, or a DLPack or CUDA-array-interface object; else None."""
    if isinstance(array, np.ndarray):
        numpy_array = cast("np.ndarray[Any, Any]", array)
        contiguous = bool(numpy_array.flags.c_contiguous)
        dtype = _dtype_name(numpy_array.dtype)
        return ArrayView(numpy_array.ctypes.data, dtype, HOST, numpy_array.shape, contiguous)
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        dtype = str(array.dtype).removeprefix("torch.")
        shape = tuple(array.shape)
        return ArrayView(array.data_ptr(), dtype, array.get_device(), shape, array.is_contiguous())
    if hasattr(array, "__cuda_array_interface__") or hasattr(array, "__dlpack__"):
        return _foreign(array)
    return None


def _foreign(array: Any) -> ArrayView:
    utils: Any = importlib.import_module("cuda.core.utils")
    # -1: no stream ordering is asked for; launches go to the stream that the caller names.
    view = utils.StridedMemoryView.from_any_interface(array, stream_ptr=-1)
    shape = tuple(view.shape)
    packed: list[int] = []  # the strides of a contiguous array of this shape
    step = 1
    for extent in reversed(shape):
        packed.insert(0, step)
        step *= extent
    strides = None if view.strides is None else tuple(view.strides)
    contiguous = strides is None or all(
        extent <= 1 or stride == wanted for extent, stride, wanted in zip(shape, strides, packed, strict=True)
    )
    device = view.device_id if view.is_device_accessible else HOST
    return ArrayView(view.ptr, _dtype_name(np.dtype(view.dtype)), device, shape, contiguous)


@functools.lru_cache(maxsize=64)  # NumPy puts a name together each time it is asked
def _dtype_name(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "V" and dtype.names is not None:
        return "bytes"
    return dtype.name if dtype.isnative else f"byte-swapped {dtype.name}"


def place_name(device: int) -> Message | str:
    """The name of a device for people."""
    return Message("jit.the-cpu") if device == HOST else f"cuda:{device}"


def shown(signature: Signature, arguments: Sequence[Any]) -> str:
    """The arguments of a launch beside their parameters."""
    pairs = zip(signature.parameters, arguments, strict=True)
    return ", ".join(f"{parameter}: {describe(argument)}" for parameter, argument in pairs)


def describe(value: Any) -> Message | str:
    """A value as an error message shows it."""
    view = view_of(value)
    if view is not None:
        told = {"dtype": view.dtype, "shape": str(view.shape), "place": place_name(view.device)}
        return Message("jit.an-array", told)
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '…'}"
