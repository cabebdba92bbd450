"""`fp.explain`: what became of a kernel on its way from source to machine code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import Dim, dim3
from flashpath.jit import machine_code
from flashpath.jit.exactness import BitExactness, bit_exactness
from flashpath.jit.module import Kernel
from flashpath.jit.resources import Resources
from flashpath.messages import Message, say
from flashpath.vgpu.report.names import named
from flashpath.vgpu.report.text import padded


@dataclass(frozen=True)
class Explanation:
    """Every stage of one kernel, and how many of its blocks fit on an SM."""

    kernel: str
    signature: str
    arch: str
    source_name: str
    source: str
    ptx: str
    sass: str | None  # None where no disassembler was found
    resources: Resources
    dynamic_shared: int
    threads_per_block: int
    gpu: gpus.Gpu | None  # None: no GPU of this architecture has a profile; its limits are known all the same
    occupancy: gpus.Occupancy
    bit_exactness: BitExactness | None  # of results on the virtual GPU; None where no GPU has a profile

    def __str__(self) -> str:
        name, signature, source = self.kernel, self.signature, self.source_name
        head = say("jit.compiled-from", kernel=name, signature=signature, arch=self.arch, source=source)
        return "\n".join([head, *(f"  {padded(label, 22)} {value}" for label, value in self.rows())])

    def rows(self) -> list[tuple[str, str]]:
        """Returns what it says of the kernel, each under its label."""
        used, shared = (
            self.resources,
            {"static": self.resources.static_shared, "dynamic": self.dynamic_shared},
        )
        spilled = {"stored": used.spill_stores, "loaded": used.spill_loads}
        sass = say("jit.no-disassembler")
        if self.sass:
            sass = say("jit.instructions", count=sass_instructions(self.sass))
        gpu = self.gpu.name if self.gpu else self.arch
        rows = [
            (say("jit.registers"), str(used.registers)),
            (say("jit.shared-memory"), say("jit.static-and-dynamic", **shared)),
            (say("jit.local-memory"), say("jit.bytes-per-thread", bytes=used.local_memory)),
            (say("jit.spills"), say("jit.stored-and-loaded", **spilled)),
            ("PTX", say("jit.instructions", count=ptx_instructions(self.ptx))),
            ("SASS", sass),
            (say("jit.occupancy-on", gpu=gpu), self.occupancy_line()),
        ]
        if exact := self.bit_exactness:
            rows.append((say("jit.bit-exact-on", gpu=exact.gpu), str(exact)))
        return rows

    def occupancy_line(self) -> str:
        """Occupancy in one line, with what limits it."""
        found = self.occupancy
        if found.blocks_per_sm == 0:
            return say("jit.no-block-fits", reason=found.reason)
        return say(
            "jit.occupancy",
            fraction=found.fraction,
            blocks=found.blocks_per_sm,
            threads=self.threads_per_block,
            warps=found.warps_per_sm,
            most=round(found.warps_per_sm / found.fraction),
            limit=named(found.limit),
        )


def explain(
    kernel: Kernel, *, block: Dim | None = None, shared: int = 0, gpu: str | gpus.Gpu | None = None
) -> Explanation:
    """Source, PTX, SASS, registers, memory, spills, and the occupancy of blocks of `block` threads on `gpu`.

    By default the block has the threads of the kernel's `__launch_bounds__`, else 256, and the GPU is the
    usual one of the kernel's architecture.
    """
    x, y, z = dim3(block if block is not None else kernel.max_threads or 256, "block")
    profile = _profile(kernel, gpu)
    limits = profile or gpus.architecture(gpus.parse_arch(kernel.arch).capability)
    used = kernel.resources
    return Explanation(
        kernel=kernel.name,
        signature=str(kernel.signature),
        arch=kernel.arch,
        source_name=kernel.module.source_name,
        source=kernel.module.source,
        ptx=kernel.ptx,
        sass=disassemble(kernel),
        resources=used,
        dynamic_shared=shared,
        threads_per_block=x * y * z,
        gpu=profile,
        occupancy=gpus.occupancy(limits, x * y * z, used.registers, used.static_shared + shared),
        bit_exactness=_bit_exactness(kernel, profile) if profile else None,
    )


def _bit_exactness(kernel: Kernel, gpu: gpus.Gpu) -> BitExactness:
    try:
        return bit_exactness(kernel, gpu)
    except FlashpathError as error:  # the engine is not built, or does not know an instruction
        return BitExactness(gpu.name, (Message("jit.does-not-run-it", {"problem": error.said}),))


def _profile(kernel: Kernel, gpu: str | gpus.Gpu | None) -> gpus.Gpu | None:
    if gpu is None:
        try:
            return gpus.gpu_for_arch(kernel.arch)
        except FlashpathError:  # an architecture that no profile is of
            return None
    profile = gpus.gpu(gpu) if isinstance(gpu, str) else gpu
    arch = gpus.parse_arch(kernel.arch)
    if arch.capability > profile.capability or (arch.suffix and arch.capability != profile.capability):
        raise FlashpathError(
            "jit.does-not-run-on",
            kernel=kernel.name,
            arch=kernel.arch,
            gpu=profile.name,
            own=f"sm_{profile.capability[0]}{profile.capability[1]}",
        )
    return profile


def disassemble(kernel: Kernel) -> str | None:
    """The machine code of the kernel, or None where no disassembler is on this machine."""
    text = machine_code.listing(kernel.module.cubin, kernel.lowered)
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
