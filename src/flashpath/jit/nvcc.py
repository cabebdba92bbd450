"""nvcc: CUDA C++ to PTX through a host compiler's preprocessor, for sources that NVRTC cannot take."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from flashpath.jit import toolkit


def version() -> str:
    """nvcc's and its host compiler's version, and the flags the environment slips in."""
    slipped = " ".join(os.environ.get(name, "") for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"))
    return f"{toolkit.nvcc().version}, {toolkit.host_compiler()[1]} {slipped}".strip()


def _environment() -> dict[str, str]:
    """Leaves out the variables by which a host compiler finds headers that the cache knows nothing of."""
    hidden = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def compile_to_ptx(text: str, name: str, flags: Sequence[str]) -> tuple[str | None, str]:
    """Compile; returns the PTX (None where it failed) and the log."""
    with tempfile.TemporaryDirectory(prefix="flashpath-nvcc-") as folder:
        source = Path(folder) / "source.cu"
        # The #line directive makes messages and line tables name the learner's file, not the copy.
        source.write_text(f'#line 1 "{name}"\n{text}', encoding="utf-8")
        output = Path(folder) / "kernel.ptx"
        host, _ = toolkit.host_compiler()
        command = [toolkit.nvcc().path, "-ptx", "-ccbin", host, *flags, "-o", output, source]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder, check=False, env=_environment()
        )
        log = (done.stdout + done.stderr).strip()
        if done.returncode == 0 or ("ptxas " in log and output.is_file()):
            # ptxas looks over inline assembly already here; assemble() places what it says in the source.
            # Relative names get the folder put before them: the result must not depend on it.
            return output.read_text().replace(f'"{folder}/{name}"', f'"{name}"'), log
        return None, log


def assemble(ptx: str, arch: str, flags: Sequence[str]) -> tuple[bytes | None, str]:
    """PTX to cubin with the ptxas that belongs to this nvcc."""
    with tempfile.TemporaryDirectory(prefix="flashpath-ptxas-") as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(ptx)
        output = Path(folder) / "kernel.cubin"
        command = [toolkit.nvcc().ptxas, f"-arch={arch}", "-v", *flags, "-o", output, source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = (done.stdout + done.stderr).replace(str(source), "application ptx input").strip()
        return (output.read_bytes() if done.returncode == 0 else None), log
