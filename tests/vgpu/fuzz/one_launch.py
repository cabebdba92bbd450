"""Runs one mutant as its number has it: with a shape, data and options that are drawn."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from mutations import Mutant

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.cubin import Resources
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, MachineCode, Packed
from flashpath.vgpu.options import Options
from flashpath.vgpu.report import Trace
from tests.harness.ptx_text import Parameter, dump, summarize

SHAPES = (
    *(LaunchShape((2, 1, 1), (64, 1, 1), 1024) for _ in range(6)),
    LaunchShape((1, 1, 1), (32, 1, 1), 1024),
    LaunchShape((1, 1, 1), (1, 1, 1)),
    LaunchShape((3, 1, 1), (33, 1, 1), 48),
    LaunchShape((2, 2, 1), (8, 4, 3), 4096),
    LaunchShape((2, 1, 1), (64, 1, 1), 1024, cooperative=True),
    *(LaunchShape((2, 1, 1), (128, 1, 1), 1024) for _ in range(2)),
    LaunchShape((4, 1, 1), (128, 1, 1), 1024, (2, 1, 1)),
    LaunchShape((4, 2, 1), (32, 1, 1), 1024, (2, 2, 1)),
)
GPUS = (None, None, "A100", "RTX 4090", "H200")
# Warp instructions: launches of milliseconds, and now and then one in which threads wait for long.
BUDGETS = (*(2_000 for _ in range(300)), *(20_000 for _ in range(100)), 3_000_000)
_CODE = MachineCode(lambda: Resources(32, 1024, 256))
_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
_COUNT = 1024  # numbers in an array


class NoLaunch(FlashpathError):
    """The kernel has a parameter that no launch could pass."""


def _array(choose: random.Random) -> np.ndarray[Any, Any]:
    """Whole numbers in order, or any bits, or floats that are neither large nor small."""
    kind = choose.randrange(3)
    if kind == 0:
        return np.arange(_COUNT, dtype=np.int32)
    drawn = np.random.default_rng(choose.randrange(1 << 32))
    return drawn.integers(0, 1 << 32, _COUNT, np.uint32) if kind == 1 else drawn.random(_COUNT, np.float32)


def _arguments(parameters: Sequence[Parameter], choose: random.Random) -> tuple[Packed, list[Any]]:
    """An array for every parameter that could point to one, and small numbers for all others."""
    packed, arrays, keep = bytearray(), list[HostArray](), list[Any]()
    for parameter in parameters:
        size = next((_SIZES[bits] for bits in _SIZES if parameter.type.endswith(bits)), 4)
        count = math.prod(parameter.dimensions)
        if not 0 < size * count <= 4096:
            raise NoLaunch("vgpu.misaligned")
        packed += bytes(-len(packed) % size)
        if size == 8 and count == 1:
            array = _array(choose)
            first, last = array.ctypes.data, array.ctypes.data + array.nbytes
            keep.append(array)
            bounds = len(packed), first, first, last, first, last
            arrays.append(HostArray(*bounds, choose.random() < 0.95, initialised=choose.random() < 0.9))
        packed += (64).to_bytes(size, "little") * count
    return Packed(bytes(packed), arrays), keep


def _options(choose: random.Random) -> Options:
    sanitize = choose.random() < 0.5
    return Options(
        exact=choose.random() < 0.5,
        count=choose.random() < 0.3,
        sanitize=sanitize,
        accessed=sanitize and choose.random() < 0.1,
        seed=choose.choice((0, 0, 1, choose.randrange(1 << 32))),
        budget=choose.choice(BUDGETS),
        threads=choose.choice((None, *(1 for _ in range(9)))),
        trace=Trace(choose.choice((None, 0)), choose.choice((None, 0)), choose.choice((1, 1, 3))),
    )


def _library(path: str) -> str | None:
    return path if path.endswith(".h") else None


def _no_library(path: str) -> None:
    return None


def run(module: Mutant) -> str:
    """Runs it as it asks to be run, and has all that is said about it said; returns what became of it."""
    choose = random.Random(module.launch)
    lang = choose.choice(("en", "zh"))
    try:
        if choose.random() < 0.02:  # the canonical form is the same module
            _ = VirtualModule(dump(module.ptx))
        kernel = VirtualModule(module.ptx, _library if choose.random() < 0.5 else _no_library).kernel(
            module.kernel
        )
        (function,) = (each for each in summarize(module.ptx).functions if each.name == module.kernel)
        packed, _keep = _arguments(function.parameters, choose)
        name = choose.choice(GPUS)
        gpu = None if name is None else gpus.gpu(name)
        kernel.runs_to_end = choose.random() < 0.2
        launch = Launch(kernel, choose.choice(SHAPES), packed, gpu, gpu and _CODE)
        options, again = _options(choose), choose.random() < 0.03
        before = kernel.program.save() if again else None
        launched = launch.run(options)
        if before is not None:
            kernel.program.restore(before)
            launched = launch.run(options)
        for finding in launched.findings[:2]:
            _ = finding.summary.text(lang), finding.advised.text(lang)
        if launched.report is not None:
            _ = str(launched.report)
            if choose.random() < 0.05:
                _ = launched.report.to_dict()
    except FlashpathError as error:
        _ = error.said.text(lang), error.said.fix(lang)
        return type(error).__name__
    return "ran"
