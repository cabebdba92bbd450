"""The driver's own launch, called through ctypes: what a binding adds to it costs as much as the launch."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from flashpath.gpus.shape import LaunchShape

_COOPERATIVE, _CLUSTER_DIMENSION, _PROGRAMMATIC = 2, 4, 6  # CUlaunchAttributeID


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute: which it is, and a union of 64 bytes."""

    _fields_ = (("id", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", ctypes.c_uint * 16))


class Config(ctypes.Structure):
    """CUlaunchConfig. Its attributes are kept alive with it."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    )


def config(shape: LaunchShape, stream: int, *, overlaps: bool = False) -> Config:
    """Returns what the driver is told of a launch; `overlaps` lets it begin before the one before it ends."""
    attributes: list[tuple[int, Sequence[int]]] = []
    if shape.cluster is not None:
        attributes.append((_CLUSTER_DIMENSION, shape.cluster))
    if shape.cooperative:
        attributes.append((_COOPERATIVE, (1,)))
    if overlaps:
        attributes.append((_PROGRAMMATIC, (1,)))
    made = (_Attribute * len(attributes))(
        *(_Attribute(kind, 0, (ctypes.c_uint * 16)(*value)) for kind, value in attributes)
    )
    pointer = ctypes.cast(made, ctypes.POINTER(_Attribute)) if attributes else None
    return Config(shape.grid, shape.block, shape.shared, stream, pointer, len(attributes))


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


@functools.cache
def launch() -> Callable[[Any, Any, Any, None], int]:
    """Returns cuLaunchKernelEx: (config, kernel, parameter pointers, None) → status.

    Each argument is one that ctypes passes on as it is: a reference, or a c_void_p. To convert numbers, by
    declared types, takes as long as a quarter of the launch.
    """
    return _library().cuLaunchKernelEx


@functools.cache
def replace_address() -> Callable[[int, int], int]:
    """Returns cuTensorMapReplaceAddress: (tensor map, address) → status."""
    function: Any = _library().cuTensorMapReplaceAddress
    function.argtypes = [ctypes.c_void_p] * 2
    return function


def parameter_sizes(function: int) -> list[int]:
    """Returns the bytes of each parameter of a loaded function, as its code has them."""
    ask, sizes = _library().cuFuncGetParamInfo, list[int]()
    offset, size = ctypes.c_size_t(), ctypes.c_size_t()
    while not ask(
        ctypes.c_void_p(function), ctypes.c_size_t(len(sizes)), ctypes.byref(offset), ctypes.byref(size)
    ):
        sizes.append(size.value)
    return sizes
