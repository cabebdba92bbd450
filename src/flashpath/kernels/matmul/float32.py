"""The rungs that multiply float32 with ordinary instructions: no tensor cores, no rounded inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flashpath.kernels.building import CPP_TYPES, cuda_compiles_for, cuda_kernel, dtype_name
from flashpath.kernels.matmul.problem import FOLDER, prepare, takes_only
from flashpath.kernels.rung import Rung, Score

NAIVE = FOLDER / "naive.cu"

SIMPLE_DTYPES = ("float32", "float64")  # of the rungs whose code does not depend on the type
SIMPLE_TILE = 32  # rows and columns of a block of theirs, one thread for each element


def _simple(file: Path, a: Any, b: Any, precision: str, out: Any | None) -> Any:
    m, n, k, out = prepare(a, b, precision, out, dtypes=SIMPLE_DTYPES)
    if m and n:
        kernel = cuda_kernel(file, f"matmul_{file.stem}<{CPP_TYPES[dtype_name(a)]}>", a)
        blocks = -(-m // SIMPLE_TILE) * -(-n // SIMPLE_TILE)
        kernel[blocks, (SIMPLE_TILE, SIMPLE_TILE)](m, n, k, a, b, out)
    return out


def naive(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    return _simple(NAIVE, a, b, precision, out)


_entry = functools.partial(Rung, arch="sm_75", language="cuda", declines=takes_only(("float32",)))


def _compiles(file: Path, arguments: str = "float") -> Callable[[str], object]:
    return cuda_compiles_for(file, f"matmul_{file.stem}<{arguments}>")


RUNGS = (
    _entry(
        name="naive",
        idea="one thread per element, as the definition has it; neighbours read far apart",
        file=NAIVE,
        function=naive,
        improves_on="reference",
        compile_for=_compiles(NAIVE),
        readability=Score(5, "the definition and a bound"),
        debugging=Score(5, "one thread is one element: printf and cuda-gdb show it directly"),
    ),
)
