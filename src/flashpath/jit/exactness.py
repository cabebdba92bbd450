"""Whether a kernel's results on the virtual GPU have the bits that they have on a GPU; if not, why.

Three things decide: what was measured on the GPU that is played, whether the hardware's own order can be
seen in the results, and whether ptxas fuses the same products into sums as the virtual GPU. The last is
looked up in the machine code that ptxas makes, which needs a disassembler but no GPU.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashpath import gpus
from flashpath.jit import assembler, machine_code
from flashpath.jit.arguments import ArgumentError
from flashpath.jit.machine_code import Arithmetic, Operation, Place
from flashpath.messages import Message, say

if TYPE_CHECKING:
    from flashpath.jit.module import Kernel
    from flashpath.vgpu._engine import Program

# The GPUs that results were compared with, bit by bit. Of one generation all have the same units.
VERIFIED = "H200"
_VERIFIED_CAPABILITY = (9, 0)


@dataclass(frozen=True)
class BitExactness:
    """The verdict on one kernel and one GPU. It is exact where nothing speaks against it."""

    gpu: str
    reasons: tuple[Message, ...]

    @property
    def exact(self) -> bool:
        return not self.reasons

    def __str__(self) -> str:
        if self.exact:
            return say("jit.bit-exact")
        joined = functools.reduce(
            lambda one, other: Message("jit.next-reason", {"one": one, "other": other}), self.reasons
        )
        return say("jit.not-certain", reasons=joined)


def bit_exactness(kernel: Kernel, device: str | gpus.Gpu | None = None) -> BitExactness:
    """The verdict on a compiled kernel: on `device`, or on the usual GPU of its architecture.

    >>> print(fp.jit.bit_exactness(saxpy, "H200"))
    yes
    """
    if not hasattr(kernel, "virtual"):
        raise ArgumentError("jit.bit-exactness-of", value=f"{kernel!r:.80}")
    gpu = gpus.gpu(device) if isinstance(device, str) else device or gpus.gpu_for_arch(kernel.arch)
    same = gpus.parse_arch(kernel.arch).capability == gpu.capability
    cubin = kernel.module.cubin if same else None
    return verdict(kernel.virtual.program, kernel.lowered, kernel.module.ptx, gpu, cubin)


def verdict(program: Program, function: str, ptx: str, gpu: gpus.Gpu, cubin: bytes | None) -> BitExactness:
    """The verdict on one function of a PTX module; `cubin` is its machine code for that GPU, if there is."""
    # What the lowering itself added has no spelling, but a name of the engine's own.
    spelled = [text or name for (text, *_), name in zip(program.origins, program.operations, strict=True)]
    reasons = [reason for find in _REASONS if (reason := find(spelled, gpu)) is not None]
    if reason := _contraction(program, function, ptx, gpu, cubin):
        reasons.append(reason)
    return BitExactness(gpu.name, tuple(reasons))


# ---- What was not measured, and what depends on order --------------------------------------------------

Spelled = list[str]


def _first(spelled: Spelled, pattern: str) -> str | None:
    return next((text for text in spelled if re.match(pattern, text)), None)


def _tensor_cores(spelled: Spelled, gpu: gpus.Gpu) -> Message | None:
    instruction = _first(spelled, r"(wgmma\.)?w?mma\.")
    if instruction is None or gpu.capability == _VERIFIED_CAPABILITY:
        return None
    told = {"gpu": gpu.name, "verified": VERIFIED, "instruction": instruction}
    return Message("jit.modelled-tensor-cores", told)


def _warpgroups(spelled: Spelled, gpu: gpus.Gpu) -> Message | None:
    del gpu  # no GPU has been asked: tests/vgpu/hardware/tensor_core/make_wgmma_golden.py does
    instruction = _first(spelled, r"wgmma\.mma_async\..*\.(f16|f32)\.")
    return Message("jit.modelled-warpgroups", {"instruction": instruction}) if instruction else None


def _special_functions(spelled: Spelled, gpu: gpus.Gpu) -> Message | None:
    instruction = _first(spelled, r"\w+\.approx|div\.full")
    if instruction is None or gpu.capability == _VERIFIED_CAPABILITY:
        return None
    return Message("jit.special-functions", {"verified": VERIFIED, "instruction": instruction})


def _order_of_atomics(spelled: Spelled, gpu: gpus.Gpu) -> Message | None:
    instruction = _first(spelled, r"(atom|red|cp\.reduce)\..*\badd\b.*f(16|32|64)(x2)?\b")
    told = {"gpu": gpu.name, "instruction": instruction}
    return Message("jit.order-of-atomics", told) if instruction else None


def _clocks(spelled: Spelled, gpu: gpus.Gpu) -> Message | None:
    del gpu  # no time is known of any
    reads = _first(spelled, r"read\.(clock|globaltimer)")
    return Message("jit.reads-a-clock") if reads else None


_REASONS: tuple[Callable[[Spelled, gpus.Gpu], Message | None], ...] = (
    _tensor_cores,
    _warpgroups,
    _special_functions,
    _order_of_atomics,
    _clocks,
)

# ---- What ptxas fuses ----------------------------------------------------------------------------------

_FUSED = re.compile(r"(?:div\.(?:full|approx)\.)?(?:fma|fmsub|fnmadd|fnmsub)\.(b?f\d+)(?:x2)?\*?$")
_PLAIN = re.compile(r"(add|sub|mul)\.(b?f\d+)(?:x2)?\*?$")
# These become several instructions, some of them sums and fused ones.
_EXPANDED = re.compile(r"(div|rcp|sqrt|rsqrt|ex2|lg2)(\.[a-z]+)*\.f(32|64)$")
_PLAIN_PRODUCT = re.compile(r"mul(\.ftz)?\.b?f\d|div\.(full|approx)")
_PLAIN_SUM = re.compile(r"(add|sub)(\.ftz)?(\.sat)?\.b?f\d")
_NAMES = {
    "f32": ("FFMA", "FADD"),
    "f64": ("DFMA", "DADD"),
    "f16": ("HFMA2", "HADD2"),
    "bf16": ("HFMA2", "HADD2"),
}


def _contraction(
    program: Program, function: str, ptx: str, gpu: gpus.Gpu, cubin: bytes | None
) -> Message | None:
    """Why it is not sure that ptxas fuses the same, or None where it does."""
    spelled = [text for text, *_ in program.origins]
    if not (any(map(_PLAIN_PRODUCT.match, spelled)) and any(map(_PLAIN_SUM.match, spelled))):
        return None  # nothing to fuse
    arch = f"sm_{gpu.capability[0]}{gpu.capability[1]}"
    if cubin is None:
        cubin, _ = assembler.assemble(ptx, arch, ())
        if cubin is None:
            return Message("jit.ptxas-refuses", {"arch": arch})
    listing = machine_code.listing_with_lines(cubin)
    if listing is None:
        return Message("jit.fusion-unknown")
    return _difference(executed(program), machine_code.arithmetic(listing, function))


def executed(program: Program) -> Arithmetic:
    """The sums, products and fused operations of a program, with those that ptxas adds by itself."""
    counts: Arithmetic = Counter()
    for operation, (text, _, *places) in zip(program.operations, program.origins, strict=True):
        file, line = places[2:] if places[3] else places[:2]  # the machine code's lines are the innermost too
        place = Place(program.files[file], line) if line else machine_code.NOWHERE
        directed = "".join(f".{mode}" for mode in ("rz", "rm", "rp") if f".{mode}" in text)
        if fused := _FUSED.match(operation):
            counts[Operation("fma" + directed, fused.group(1), place)] += 1
        elif plain := _PLAIN.match(operation):
            kind = "mul" if plain.group(1) == "mul" else "add"
            counts[Operation(kind + directed, plain.group(2), place)] += 1
        elif _EXPANDED.match(text):
            for part, count in _expansion(text).items():
                counts[Operation(part.kind, part.type, place)] += count
    return counts


@functools.cache
def _expansion(text: str) -> Arithmetic:
    """Returns what ptxas makes of one instruction, by asking it."""
    size, kind = (8, "f64") if text.endswith("f64") else (4, "f32")
    operands = "%x, %x, %y;" if text.startswith("div") else "%x, %x;"
    cubin, _ = assembler.assemble(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        f".reg .b64 %p; .reg .{kind} %x, %y;\nld.param.u64 %p, [p]; ld.global.{kind} %x, [%p];"
        f"ld.global.{kind} %y, [%p + {size}];\n{text} {operands}\nst.global.{kind} [%p], %x; ret;\n}}\n",
        "sm_90",
        (),
    )
    listing = machine_code.listing_with_lines(cubin) if cubin else None
    return machine_code.arithmetic(listing, "k") if listing else Counter()


def _difference(ours: Arithmetic, theirs: Arithmetic) -> Message | None:
    """The first line whose sums ptxas seems to fuse otherwise.

    Loops that ptxas unrolls, and code that it doubles, have more of everything: what must agree is which part
    of a line's sums is fused.
    """
    for number, (fused_name, sum_name) in _NAMES.items():
        if _totals(ours, number) == _totals(theirs, number):
            continue
        for place in _places((ours, theirs), number):
            fused, sums = _totals(ours, number, place)
            fused_there, sums_there = _totals(theirs, number, place)
            gone = fused_there + sums_there == 0
            if gone or (
                fused + sums > 0 and sums * (fused_there + sums_there) == sums_there * (fused + sums)
            ):
                continue
            told = {
                "fused_name": fused_name,
                "sum_name": sum_name,
                "fused_there": fused_there,
                "sums_there": sums_there,
                "fused": fused,
                "sums": sums,
                "where": Message("jit.of-line", {"line": place.line}) if place.line else "",
            }
            return Message("jit.fuses-otherwise", told)
    return None


def _totals(counts: Arithmetic, number: str, place: Place | None = None) -> tuple[int, int]:
    """Returns how many are fused, and how many are sums, in all or of one line."""

    def count(kind: str) -> int:
        return sum(
            times
            for operation, times in counts.items()
            if operation.kind == kind and operation.type == number and place in (None, operation.place)
        )

    return count("fma"), count("add")


def _places(both: Iterable[Arithmetic], number: str) -> list[Place]:
    places = {op.place for one in both for op in one if op.type == number and op.kind in ("fma", "add")}
    return sorted(places, key=lambda place: (place.file, place.line))
