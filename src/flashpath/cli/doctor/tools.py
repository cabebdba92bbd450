"""Profilers, debuggers and disassemblers."""

from __future__ import annotations

import os
from pathlib import Path

from flashpath.cli.doctor import find, fixes
from flashpath.cli.doctor.check import Answer, missing, ok, warn
from flashpath.jit import device as devices

DRIVER_PARAMETERS = Path("/proc/driver/nvidia/params")


def nsys() -> Answer:
    return _on_gpu("nsys", fixes.nvidia_tool("cuda-nsight-systems", "nsight-systems"))


def ncu() -> Answer:
    answer = _on_gpu("ncu", fixes.nvidia_tool("cuda-nsight-compute", "nsight-compute"))
    if answer.status == "ok" and devices.count() and _counters_are_locked():
        return warn(
            f"{answer.found}; the driver shows hardware counters to root only",
            "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 "
            "| sudo tee /etc/modprobe.d/nvidia-profiling.conf && sudo reboot",
        )
    return answer


def compute_sanitizer() -> Answer:
    return _on_gpu("compute-sanitizer", fixes.nvidia_tool("cuda-sanitizer", "nvidia-cuda-toolkit"))


def cuda_gdb() -> Answer:
    return _on_gpu("cuda-gdb", fixes.nvidia_tool("cuda-gdb", "nvidia-cuda-gdb"))


def disassemblers() -> Answer:
    paths = {name: find.program(name) for name in ("nvdisasm", "cuobjdump")}
    lacking = [name for name, path in paths.items() if path is None]
    if lacking:
        # triton's wheel bundles both.
        return missing(f"no {' and no '.join(lacking)}", fixes.pip("triton>=3.5,<3.8"))
    found = {str(path.parent): find.program_version(path) for path in paths.values() if path}
    return ok("; ".join(f"{version}, {folder}" for folder, version in found.items()))


def git() -> Answer:
    path = find.program("git")
    if path is None:
        return missing("not on PATH", fixes.system({"": "git"}, "see https://git-scm.com/downloads"))
    return ok(find.program_version(path))


def _on_gpu(name: str, fix: str) -> Answer:
    """A tool that watches a real GPU: without one, its absence is no loss and nothing to mend."""
    path = find.program(name)
    if path is not None:
        return ok(f"{find.program_version(path)}, {path}")
    if devices.count():
        return missing("neither on PATH nor in a CUDA toolkit", fix)
    return missing("not installed", matters=f"It matters only where there is a GPU; there: {fix}")


def _counters_are_locked() -> bool:
    try:
        locked = "RmProfilingAdminOnly: 1" in DRIVER_PARAMETERS.read_text()
    except OSError:
        return False
    return locked and os.geteuid() != 0
