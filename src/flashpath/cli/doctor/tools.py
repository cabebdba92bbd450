"""Profilers, debuggers and disassemblers."""

from __future__ import annotations

import os
from pathlib import Path

from flashpath.cli.doctor import find, fixes
from flashpath.cli.doctor.check import Answer, missing, ok, warn
from flashpath.jit import device as devices
from flashpath.jit import toolkit
from flashpath.messages import say

DRIVER_PARAMETERS = Path("/proc/driver/nvidia/params")


def nsys() -> Answer:
    return _on_gpu("nsys", fixes.nvidia_tool("cuda-nsight-systems", "nsight-systems"))


def ncu() -> Answer:
    answer = _on_gpu("ncu", fixes.nvidia_tool("cuda-nsight-compute", "nsight-compute"))
    if answer.status == "ok" and devices.count() and _counters_are_locked():
        return warn(
            say("cli.doctor.counters-locked", found=answer.found),
            "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 "
            "| sudo tee /etc/modprobe.d/nvidia-profiling.conf && sudo reboot",
        )
    return answer


def compute_sanitizer() -> Answer:
    return _on_gpu("compute-sanitizer", fixes.nvidia_tool("cuda-sanitizer", "nvidia-cuda-toolkit"))


def cuda_gdb() -> Answer:
    return _on_gpu("cuda-gdb", fixes.nvidia_tool("cuda-gdb", "nvidia-cuda-gdb"))


def disassembler() -> Answer:
    path = toolkit.disassembler()
    if path is None:  # triton's wheel bundles one
        return missing(say("cli.doctor.no-cuobjdump"), fixes.pip("triton>=3.5,<3.8"))
    return ok(f"{find.program_version(path)}, {path}")


def git() -> Answer:
    path = find.program("git")
    if path is None:
        return missing(
            say("cli.doctor.not-on-path"),
            fixes.system({"": "git"}, say("cli.doctor.see", page="https://git-scm.com/downloads")),
        )
    return ok(find.program_version(path))


def _on_gpu(name: str, fix: str) -> Answer:
    """A tool that watches a real GPU: without one, its absence is no loss and nothing to mend."""
    path = find.program(name)
    if path is not None:
        return ok(f"{find.program_version(path)}, {path}")
    if devices.count():
        return missing(say("cli.doctor.tool-nowhere"), fix)
    return missing(say("cli.doctor.not-installed"), matters=say("cli.doctor.where-gpu-fix", fix=fix))


def _counters_are_locked() -> bool:
    try:
        locked = "RmProfilingAdminOnly: 1" in DRIVER_PARAMETERS.read_text()
    except OSError:
        return False
    return locked and os.geteuid() != 0
