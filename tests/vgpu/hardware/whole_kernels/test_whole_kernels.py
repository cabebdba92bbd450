"""Whole kernels on the virtual GPU have the bits that they have on an H200; those that differ are listed."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest

from flashpath import gpus
from flashpath.vgpu.device import HostArray, VirtualModule

from . import catalogue
from .catalogue import Array, Case

_POINTER_BYTES = 8


@functools.cache
def golden() -> dict[str, Array]:
    with np.load(catalogue.GOLDEN) as kept:
        return dict(kept)


@functools.cache
def about() -> dict[str, Any]:
    return json.loads(str(golden()["about"]))


@functools.cache
def module(name: str) -> VirtualModule:
    return VirtualModule(catalogue.load_ptx(name))


def run(case: Case) -> bytes:
    """The bytes of a case's results, on a virtual H200."""
    arguments = case.make_arguments()
    packed = bytearray()
    arrays: list[HostArray] = []
    for argument in arguments:
        is_array = isinstance(argument, np.ndarray)
        size = _POINTER_BYTES if is_array else argument.itemsize
        packed += bytes(-len(packed) % size)
        if is_array:
            first, last = argument.ctypes.data, argument.ctypes.data + argument.nbytes
            arrays.append(HostArray(len(packed), first, first, last, first, last, True))
            packed += bytes(_POINTER_BYTES)
        else:
            packed += argument.tobytes()
    kernel = module(case.module).kernel(case.kernel)
    kernel.launch(case.grid, case.block, case.shared, bytes(packed), arrays, gpu=gpus.gpu("H200"))
    return b"".join(np.asarray(arguments[k]).tobytes() for k in case.outputs)
