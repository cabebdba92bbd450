"""What the host processor offers, and a shield against the one extension that may lie.

Some virtual machines advertise AMX but leave its description (CPUID leaf 0x1D) empty. oneDNN, inside torch,
then configures no tiles, and the first bf16 matrix product on the CPU dies with SIGILL.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

from flashpath.errors import FlashpathError

Amx = Literal["absent", "works", "traps"]

# oneDNN's own variable, and its name for the instruction sets below AMX that every AMX processor has.
ONEDNN_LIMIT = "ONEDNN_MAX_CPU_ISA"
ONEDNN_BELOW_AMX = "AVX512_CORE_BF16"

CPUINFO = Path("/proc/cpuinfo")


FOR_NEWER_PROCESSOR = "vgpu.engine-for-newer-processor"


class EngineNotBuilt(FlashpathError):
    """The compiled part of flashpath cannot be loaded."""

    def __init__(self, cause: ImportError) -> None:
        if str(cause) == FOR_NEWER_PROCESSOR:  # as the engine itself says
            super().__init__(FOR_NEWER_PROCESSOR)
            return
        compiler = "xcode-select --install" if sys.platform == "darwin" else "apt-get install g++"
        super().__init__("vgpu.engine-not-built", cause=str(cause), compiler=compiler)


def vector_extensions() -> dict[str, bool]:
    """Vector extensions by their names in /proc/cpuinfo, widest last: usable here or not."""
    return dict(_load_engine().vector_extensions())


def amx() -> Amx:
    """Whether AMX is absent, works, or is advertised and traps for libraries that trust CPUID."""
    return _load_engine().probe_amx()


def shield_torch_from_amx() -> None:
    """Keep torch off AMX where AMX traps; call it before torch's first matrix product on the CPU.

    A limit that the user has set stands. Without the engine to ask, AMX is taken to trap: what is lost is
    the speed of bf16 on the CPU, what is saved may be the process.
    """
    if ONEDNN_LIMIT in os.environ or not advertises_amx():
        return
    try:
        trapping = amx() == "traps"
    except EngineNotBuilt:
        trapping = True
    if trapping:
        os.environ.setdefault(ONEDNN_LIMIT, ONEDNN_BELOW_AMX)


def advertises_amx() -> bool:
    """Whether the first processor in /proc/cpuinfo lists amx_bf16; False where there is no such file."""
    block = b""
    try:
        # Unbuffered, and one processor only: the kernel writes the file as it is read.
        with CPUINFO.open("rb", buffering=0) as file:
            while b"\n\n" not in block and (chunk := file.read(4096)):
                block += chunk
    except OSError:
        return False
    return b"amx_bf16" in block.partition(b"\n\n")[0].split()


def _load_engine():  # the inferred type is the module itself, as its stub describes it
    try:
        import flashpath.vgpu._engine as engine
    except ImportError as error:
        raise EngineNotBuilt(error) from error
    return engine
