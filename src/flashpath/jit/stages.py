"""What explanations of CUDA and Triton kernels have in common: counts of instructions, occupancy, SASS."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.jit import machine_code
from flashpath.messages import say
from flashpath.vgpu.report.names import named
from flashpath.vgpu.report.text import padded


def profile_of(kernel: str, arch_name: str, gpu: str | gpus.Gpu | None) -> gpus.Gpu | None:
    """Returns the GPU that is named, else the usual one of the kernel's architecture, if there is one."""
    if gpu is None:
        try:
            return gpus.gpu_for_arch(arch_name)
        except FlashpathError:  # an architecture that no profile is of
            return None
    profile = gpus.gpu(gpu) if isinstance(gpu, str) else gpu
    arch = gpus.parse_arch(arch_name)
    if arch.capability > profile.capability or (arch.suffix and arch.capability != profile.capability):
        raise FlashpathError(
            "jit.does-not-run-on",
            kernel=kernel,
            arch=arch_name,
            gpu=profile.name,
            own=f"sm_{profile.capability[0]}{profile.capability[1]}",
        )
    return profile


def summary(head: str, rows: Sequence[tuple[str, str]]) -> str:
    """Returns a heading with what is said under it, each under its label."""
    return "\n".join([head, *(f"  {padded(label, 22)} {value}" for label, value in rows)])


def occupancy_line(found: gpus.Occupancy, threads: int) -> str:
    """Occupancy in one line, with what limits it."""
    if found.blocks_per_sm == 0:
        return say("jit.no-block-fits", reason=found.reason)
    return say(
        "jit.occupancy",
        fraction=found.fraction,
        blocks=found.blocks_per_sm,
        threads=threads,
        warps=found.warps_per_sm,
        most=round(found.warps_per_sm / found.fraction),
        limit=named(found.limit),
    )


def disassemble(cubin: bytes, function: str) -> str | None:
    """The machine code of one kernel of a cubin, or None where no disassembler is on this machine."""
    text = machine_code.listing(cubin, function)
    if text is None:
        return None
    # The encoding beside each instruction is noise to a reader; control codes have lines of their own.
    lines = [re.sub(r"\s*/\* 0x[0-9a-f]+ \*/", "", line).rstrip() for line in text.splitlines()]
    return "\n".join(line for line in lines if line)


def sass_instructions(sass: str) -> int:
    """Returns how many machine instructions a listing has, less the NOPs that pad it."""
    return len(re.findall(r"^\s*/\*[0-9a-f]{4,}\*/(?!\s*NOP\s*;)", sass, re.MULTILINE))


def ptx_instructions(ptx: str) -> int:
    """Returns how many instructions a PTX body has: statements that are neither directives nor labels."""
    body = ptx.partition("{")[2]
    statements = (line.strip() for line in body.splitlines())
    return sum(
        1
        for line in statements
        if (line.endswith(";") and not line.startswith((".", "//"))) or line.startswith("{  ")
    )
