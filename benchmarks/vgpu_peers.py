"""Peers of benchmarks/vgpu.py that need a process of their own, since a variable of the environment decides
before the first import whether they interpret.

    python benchmarks/vgpu_peers.py triton|numba

It runs one case for each name that it reads, checks its result once, and answers with a line: "ok", or what
went wrong.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from vgpu_workloads import KERNELS, Workload, triton_workloads

VARIABLES = {"triton": {"TRITON_INTERPRET": "1"}, "numba": {"NUMBA_ENABLE_CUDASIM": "1"}}
# How much of a case numba's simulator runs, which takes minutes for all of it: blocks there are, and run.
NUMBA_SLICES = {"vector_add": (4096, 4), "matmul": (256, 1)}


class Peer:
    """A peer's process. `run` blocks until the case has been run."""

    def __init__(self, name: str, more: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115 - a pipe unread would fill up
        self.process = subprocess.Popen(
            [sys.executable, __file__, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            text=True,
            env={**os.environ, **VARIABLES[name], **(more or {})},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()  # it ends where its input ends
        self.complaints.close()

    def run(self, case: str) -> None:
        """Run a case once; RuntimeError says why it did not."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(case + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        if answer != "ok":
            raise RuntimeError(answer or f"{self.name} ended: {self._last_words()}")

    def _last_words(self) -> str:
        self.process.wait()
        self.complaints.seek(0)
        lines = self.complaints.read().strip().splitlines()
        return lines[-1] if lines else "it said nothing"


# ---- Inside the process --------------------------------------------------------------------------------

Case = tuple[Callable[[], Any], Callable[[Any], None]]  # runs and returns the output; checks it


def triton_cases() -> dict[str, Case]:
    kernels: Any = importlib.import_module("triton_kernels")

    def case(workload: Workload) -> Case:
        arguments = workload.arguments()
        kernel = getattr(kernels, workload.kernel)

        def run() -> Any:
            kernel[workload.grid](*arguments, **(workload.options or {}))
            return arguments[workload.output]

        return run, workload.check

    return {workload.name: case(workload) for workload in triton_workloads()}


def numba_cases() -> dict[str, Case]:
    kernels: Any = importlib.import_module("numba_kernels")
    random = np.random.default_rng(0)
    added, multiplied = NUMBA_SLICES["vector_add"][1], NUMBA_SLICES["matmul"][1]
    tile = kernels.TILE
    x, y = random.standard_normal((2, 256 * added), dtype=np.float32)
    a, b = random.standard_normal((2, 256, 256), dtype=np.float32)
    z, c = np.full_like(x, np.nan), np.full_like(a, np.nan)

    def add() -> Any:
        kernels.vector_add[added, 256](x, y, z, len(x))
        return z

    def multiply() -> Any:
        kernels.matmul[(multiplied, 1), (tile, tile)](a, b, c, len(a))
        return c[:tile, : multiplied * tile]

    return {
        "vector_add": (add, lambda out: np.testing.assert_allclose(out, x + y, rtol=1e-6)),
        "matmul": (
            multiply,
            lambda out: np.testing.assert_allclose(out, (a @ b)[:tile, : out.shape[1]], atol=1e-4),
        ),
    }


def main() -> int:
    sys.path.insert(0, str(KERNELS))
    cases = {"triton": triton_cases, "numba": numba_cases}[sys.argv[1]]()
    checked: set[str] = set()
    for line in sys.stdin:
        name = line.strip()
        try:
            run, check = cases[name]
            output = run()
            if name not in checked:
                check(output)
                checked.add(name)
            print("ok", flush=True)
        except Exception as error:  # whatever it is, the program that asked reports it
            print(" ".join(f"{type(error).__name__}: {error}".split()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
