"""Python programs with Triton kernels, unchanged: on a GPU as Python runs them, else on the virtual GPU.

On the virtual GPU a program finds no CUDA device, keeps its tensors on the CPU, and Triton's driver is ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from flashpath import settings
from flashpath.jit.programs.recipe import ProgramNotFound
from flashpath.jit.programs.running import Run, make_visible, wait_for
from flashpath.jit.programs.target import Target
from flashpath.messages import Message


def run_python(file: Path, target: Target, arguments: Sequence[str] = (), how: Run | None = None) -> int:
    """Run a Python program where the target says; its exit code, 128 + n where signal n ended it."""
    if not file.is_file():
        raise ProgramNotFound("jit.program-missing", file=str(file), advice=Message("jit.check-the-path"))
    variables = dict(os.environ)
    command = [sys.executable]
    if target.gpu is not None:
        variables |= {"CUDA_VISIBLE_DEVICES": "", settings.DEVICE.name: target.gpu.name}
        command += ["-m", "flashpath.vgpu.triton_driver"]
    else:
        make_visible(variables, target.index)
    wanted = how or Run()

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*command, str(file), *arguments],
            env=variables,
            stdin=wanted.input,
            stdout=wanted.output,
            stderr=wanted.errors,
        )

    return wait_for(start, wanted, str(file)).code
