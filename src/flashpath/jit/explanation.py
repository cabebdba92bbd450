"""`fp.explain`: what became of a kernel on its way from source to machine code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import Dim, dim3
from flashpath.jit.exactness import BitExactness, bit_exactness
from flashpath.jit.module import Kernel
from flashpath.jit.resources import Resources
from flashpath.jit.stages import (
    disassemble,
    occupancy_line,
    profile_of,
    ptx_instructions,
    sass_instructions,
    summary,
)
from flashpath.jit.triton_explanation import TritonExplanation, explain_triton
from flashpath.messages import Message, say


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
        return summary(head, self.rows())

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
            (say("jit.occupancy-on", gpu=gpu), occupancy_line(self.occupancy, self.threads_per_block)),
        ]
        if exact := self.bit_exactness:
            rows.append((say("jit.bit-exact-on", gpu=exact.gpu), str(exact)))
        return rows


@overload
def explain(
    kernel: Kernel, *, block: Dim | None = None, shared: int = 0, gpu: str | gpus.Gpu | None = None
) -> Explanation: ...
@overload
def explain(kernel: Any, *, gpu: str | gpus.Gpu | None = None) -> TritonExplanation: ...
def explain(
    kernel: Any, *, block: Dim | None = None, shared: int = 0, gpu: str | gpus.Gpu | None = None
) -> Explanation | TritonExplanation:
    """Source, PTX, SASS, registers, memory, spills, and the occupancy of blocks of `block` threads on `gpu`.

    By default the block has the threads of the kernel's `__launch_bounds__`, else 256, and the GPU is the
    usual one of the kernel's architecture. Of a kernel that Triton has compiled, which `kernel[grid](…)` and
    `kernel.warmup(…)` return, there are Triton's own stages besides.
    """
    if not isinstance(kernel, Kernel):
        return explain_triton(kernel, gpu)
    x, y, z = dim3(block if block is not None else kernel.max_threads or 256, "block")
    profile = profile_of(kernel.name, kernel.arch, gpu)
    limits = profile or gpus.architecture(gpus.parse_arch(kernel.arch).capability)
    used = kernel.resources
    return Explanation(
        kernel=kernel.name,
        signature=str(kernel.signature),
        arch=kernel.arch,
        source_name=kernel.module.source_name,
        source=kernel.module.source,
        ptx=kernel.ptx,
        sass=disassemble(kernel.module.cubin, kernel.lowered),
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
