"""SASS, disassembled, and the floating-point arithmetic in it. No GPU is needed, but a disassembler is."""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flashpath.jit import toolkit


@dataclass(frozen=True)
class Place:
    """A line of the source; 0 where none is known."""

    file: str
    line: int


NOWHERE = Place("", 0)


@dataclass(frozen=True)
class Operation:
    """The operation of a floating-point instruction, whatever it is called."""

    kind: str  # fma, mul or add; with .rz, .rm or .rp where it does not round to nearest
    type: str  # f16, bf16, f32 or f64
    place: Place = NOWHERE


Arithmetic = Counter[Operation]


# ---- Disassembling -------------------------------------------------------------------------------------


def listing(cubin: bytes, function: str) -> str | None:
    """The machine code of one kernel of a cubin as text; None where no disassembler is on this machine."""
    return _disassembled(toolkit.disassembler(), ["-sass", "-fun", function], cubin)


@functools.lru_cache(maxsize=4)  # a module's kernels are asked for one after the other
def listing_with_lines(cubin: bytes) -> str | None:
    """All machine code of a cubin, with the lines of the source that it was made of; None as above."""
    return _disassembled(toolkit.line_disassembler(), ["-g", "-c"], cubin)


def _disassembled(tool: Path | None, options: list[str], cubin: bytes) -> str | None:
    if tool is None:
        return None
    with tempfile.TemporaryDirectory(prefix="flashpath-sass-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        done = subprocess.run([tool, *options, path], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


# ---- Counting ------------------------------------------------------------------------------------------

_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+\s+)?([A-Z0-9_.]+)\s*(.*?)\s*;")
_LINE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)( inlined at)?')
_SECTION = re.compile(r"^\.text\.(\S+):")
_SUBROUTINE = re.compile(r"^\s*\$__internal_\d+_")


def arithmetic(lined_listing: str, function: str) -> Arithmetic:
    """The additions, products and fused operations of a kernel by source line.

    Subroutines of ptxas (division, square roots) are left out.
    """
    counts: Arithmetic = Counter()
    for place, opcode, operands in _instructions(lined_listing, function):
        if operation := _operation(opcode, operands):
            kind, number = operation
            directed = "".join(f".{word.lower()}" for word in opcode.split(".") if word in _DIRECTED)
            counts[Operation(kind + directed, number, place)] += 1
    return counts


def _instructions(text: str, function: str) -> Iterator[tuple[Place, str, list[str]]]:
    place, inside, inlined = NOWHERE, False, False
    for line in text.splitlines():
        if section := _SECTION.match(line):
            inside, place = section.group(1) == function, NOWHERE
        elif not inside:
            continue
        elif _SUBROUTINE.match(line):
            inside = False
        elif at := _LINE.match(line):
            if not inlined:  # the innermost place stands first, then the calls that it was inlined at
                place = Place(at.group(1), int(at.group(2)))
            inlined = at.group(3) is not None
        elif instruction := _INSTRUCTION.match(line):
            yield place, instruction.group(1), [word.strip() for word in instruction.group(2).split(",")]


_KINDS = {"FMA": "fma", "MUL": "mul", "ADD": "add"}
_DIRECTED = ("RM", "RP", "RZ")


def _operation(opcode: str, operands: list[str]) -> tuple[str, str] | None:
    name, *modifiers = opcode.split(".")
    if name in ("FFMA", "FMUL", "FADD", "DFMA", "DMUL", "DADD"):
        kind, sources = _KINDS[name[1:4]], operands[1:]
        return _seen_through(kind, sources, "f32" if name[0] == "F" else "f64")
    if name not in ("HFMA2", "HMUL2", "HADD2") or "F32" in modifiers:
        return None
    kind = _KINDS[name[1:4]]
    # Constants of half pairs stand there as two numbers.
    sources = [
        operand
        for k, operand in enumerate(operands[1:])
        if not (k and _is_number(operand) and _is_number(operands[k]))
    ]
    return _seen_through(kind, sources, "bf16" if "BF16_V2" in modifiers else "f16")


def _seen_through(kind: str, sources: list[str], number: str) -> tuple[str, str] | None:
    """A fused operation that only adds or multiplies is what it does; one that does neither is nothing."""
    zeros = [source.lstrip("-+|").startswith("RZ") for source in sources]
    if kind == "fma":
        if (zeros[0] and zeros[1]) or (number in ("f16", "bf16") and zeros[0]):
            return None  # a constant, or a negation
        if zeros[2] and sources[2].startswith("-"):
            return "mul", number
        if number in ("f16", "bf16") and sources[1] in ("1", "-1"):
            return "add", number
    if kind == "add" and any(
        zero and source.startswith("-") for zero, source in zip(zeros, sources, strict=True)
    ):
        return None  # a negation or a magnitude
    return kind, number


def _is_number(operand: str) -> bool:
    return re.fullmatch(r"[-+]?(\d|\.|INF|QNAN).*", operand) is not None
