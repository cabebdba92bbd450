"""`fp.explain` of Triton kernels: what becomes of one on its way through TTIR and TTGIR to machine code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath import gpus
from flashpath.jit.arguments import ArgumentError
from flashpath.jit.ptx import entries
from flashpath.jit.stages import (
    disassemble,
    occupancy_line,
    profile_of,
    ptx_instructions,
    sass_instructions,
    summary,
)
from flashpath.messages import say
from flashpath.vgpu import cubin


@dataclass(frozen=True)
class TritonExplanation:
    """Every stage of one kernel that Triton has compiled, and how many of its blocks fit on an SM."""

    kernel: str
    signature: str
    constants: Mapping[str, Any]
    arch: str
    source_name: str
    source: str
    ttir: str  # what the kernel does, tile by tile
    ttgir: str  # which thread holds what of each tile, and how tiles move
    ptx: str
    sass: str | None  # None where no disassembler was found
    resources: cubin.Resources
    shared: int
    warps: int
    stages: int
    gpu: gpus.Gpu | None
    occupancy: gpus.Occupancy

    def __str__(self) -> str:
        name, signature, source = self.kernel, self.signature, self.source_name
        head = say("jit.compiled-from", kernel=name, signature=signature, arch=self.arch, source=source)
        return summary(head, self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Returns what it says of the kernel, each under its label."""
        used = self.resources
        sass = say("jit.no-disassembler")
        if self.sass:
            sass = say("jit.instructions", count=sass_instructions(self.sass))
        gpu = self.gpu.name if self.gpu else self.arch
        constants = ", ".join(f"{name} = {value}" for name, value in self.constants.items())
        return [
            (say("jit.constants"), constants or "-"),
            (say("jit.warps-and-stages"), f"{self.warps}, {self.stages}"),
            (say("jit.registers"), str(used.registers)),
            (say("jit.shared-memory"), f"{self.shared} B"),
            (say("jit.local-memory"), say("jit.bytes-per-thread", bytes=used.local_memory)),
            (
                "TTIR, TTGIR",
                say("jit.operations", tiles=operations(self.ttir), threads=operations(self.ttgir)),
            ),
            ("PTX", say("jit.instructions", count=ptx_instructions(self.ptx))),
            ("SASS", sass),
            (say("jit.occupancy-on", gpu=gpu), occupancy_line(self.occupancy, self.warps * gpus.WARP_SIZE)),
        ]


def explain_triton(compiled: Any, gpu: str | gpus.Gpu | None = None) -> TritonExplanation:
    """Returns the stages of a kernel that Triton has compiled."""
    asm: Mapping[str, Any] | None = getattr(compiled, "asm", None)
    if asm is None or "ttgir" not in asm or "cubin" not in asm:
        raise ArgumentError("jit.explanation-of", value=f"{compiled!r:.80}")
    source, metadata = compiled.src, compiled.metadata
    kernel: str = metadata.name
    arch = f"sm_{metadata.target.arch}"
    profile = profile_of(kernel, arch, gpu)
    limits = profile or gpus.architecture(gpus.parse_arch(arch).capability)
    used = cubin.read_resources(asm["cubin"], kernel)
    names: Sequence[str] = source.fn.arg_names
    types: Mapping[str, str] = source.signature
    values: Mapping[tuple[int, ...], Any] = source.constants
    file = Path(inspect.getsourcefile(source.fn.fn) or "")
    own = next((each for each in entries(asm["ptx"]) if each.name == kernel), None)
    return TritonExplanation(
        kernel=kernel,
        signature=f"({', '.join(f'{name}: {kind}' for name, kind in types.items() if kind != 'constexpr')})",
        constants={names[place[0]]: value for place, value in values.items() if len(place) == 1},
        arch=arch,
        source_name=file.name,
        source=source.fn.src,
        ttir=without_places(asm["ttir"]),
        ttgir=without_places(asm["ttgir"]),
        ptx=own.text if own else asm["ptx"],
        sass=disassemble(asm["cubin"], kernel),
        resources=used,
        shared=metadata.shared,
        warps=metadata.num_warps,
        stages=metadata.num_stages,
        gpu=profile,
        occupancy=gpus.occupancy(
            limits, metadata.num_warps * gpus.WARP_SIZE, used.registers, metadata.shared
        ),
    )


def without_places(text: str) -> str:
    """Returns a stage of Triton without the places in the source that stand behind every operation."""
    lines = [re.sub(r" loc\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\)", "", line) for line in text.splitlines()]
    return "\n".join(line for line in lines if not line.startswith("#loc")) + "\n"


def operations(text: str) -> int:
    """Returns how many operations a stage of Triton has: those of the function, without its frame."""
    frames = ("module", "tt.func", "}", "^", "#", "//")
    lines = (line.strip() for line in text.splitlines())
    return sum(1 for line in lines if line and not line.startswith(frames))
