"""What a PTX instruction is, by its opcode: its class, its floating-point work, the memory it moves."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

Access = Literal["load", "store", "atomic"]
Space = Literal["global", "shared", "local"]

# ---- Classes -------------------------------------------------------------------------------------------

_SPACES = ("global", "shared", "local", "parameter", "constant", "generic")
CLASSES = (
    "integer", "logic", "float32", "float64", "half", "special function", "tensor core", "conversion",
    "compare", "move",
    *(f"{space} load" for space in _SPACES),
    *(f"{space} store" for space in _SPACES if space != "constant"),
    "asynchronous copy", "atomic", "texture", "cache hint", "warp-wide", "barrier", "control",
)  # fmt: skip
"""In the order in which a person reads them. "half" is arithmetic in 16 bits, fp16 and bf16 alike; "barrier"
has fences in it, and "compare" selections by what was compared."""

_TYPED = "by type"  # integer, float32, float64 or half
_OPCODES = {
    opcode: name
    for name, opcodes in {
        _TYPED: "add sub mul mad fma div rem min max abs neg copysign",
        "integer": "addc subc madc mul24 mad24 sad dp2a dp4a bfind szext "
        "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 "
        "vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4",
        "logic": "and or xor not cnot lop3 shl shr shf popc clz brev bfe bfi bmsk fns prmt",
        "special function": "sqrt rcp rsqrt ex2 lg2 sin cos tanh",
        "tensor core": "mma wgmma tcgen05",
        "conversion": "cvt",
        "compare": "set setp selp slct testp",
        "move": "mov cvta isspacep mapa getctarank alloca stacksave stackrestore",
        "asynchronous copy": "cp tensormap",
        "atomic": "atom red multimem",
        "texture": "tex tld4 txq istypep suld sust sured suq",
        "cache hint": "prefetch prefetchu applypriority discard createpolicy",
        "warp-wide": "shfl vote match redux activemask elect movmatrix",
        "barrier": "bar barrier mbarrier fence membar",
        "control": "bra brx call ret exit trap brkpt nanosleep pmevent setmaxnreg griddepcontrol "
        "clusterlaunchcontrol",
    }.items()
    for opcode in opcodes.split()
}
# The letters that a type starts with, and the class of its arithmetic.
_ARITHMETIC = {"f32": "float32", "f64": "float64", "f16": "half", "bf16": "half"}
_NAMED_SPACES = {"param": "parameter", "const": "constant"}


@functools.cache
def instruction_class(opcode: str) -> str:
    """The class of an instruction, from its opcode and modifiers: "float32" for "fma.rn.f32"."""
    operation, *modifiers = opcode.split(".")
    moved = _moved(operation, modifiers)
    if moved is not None:
        return f"{_space(modifiers)} {moved}"
    if operation == "wmma":  # its loads and stores have been told apart above
        return "tensor core"
    found = _OPCODES[operation]
    if found == _TYPED:
        element = modifiers[-1].partition("x")[0] if modifiers else ""
        return _ARITHMETIC.get(element, "integer")
    return found


def _moved(operation: str, modifiers: list[str]) -> Literal["load", "store"] | None:
    """Returns what a plain access to memory does, one of a whole matrix too."""
    if operation in ("ld", "ldu", "ldmatrix") or (operation == "wmma" and modifiers[:1] == ["load"]):
        return "load"
    if operation in ("st", "stmatrix") or (operation == "wmma" and modifiers[:1] == ["store"]):
        return "store"
    return None


def _space(modifiers: list[str]) -> str:
    for word in modifiers:
        name = word.partition("::")[0]
        name = _NAMED_SPACES.get(name, name)
        if name in _SPACES:
            return name
    return "generic"


# ---- Memory --------------------------------------------------------------------------------------------


@functools.cache
def access_kind(opcode: str, space: Space) -> Access:
    """Returns what an instruction does to a space: a copy loads from one and stores to the other."""
    operation, *modifiers = opcode.split(".")
    if operation == "cp":  # the destination is named first
        return "store" if _space(modifiers) == space else "load"
    return _moved(operation, modifiers) or "atomic"


# ---- Arithmetic ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """The arithmetic of one instruction."""

    element: str = ""
    """"f32", "f16" …, for tensor cores the type that is multiplied: "bf16", "tf32", "e4m3", "s8" …"""
    per_thread: int = 0
    """Floating-point operations."""
    per_warp: int = 0
    """Operations of a tensor core: 2·m·n·k, of whatever type."""


@functools.cache
def work(opcode: str) -> Work:
    """The arithmetic that an instruction does, from its opcode and modifiers."""
    from flashpath.vgpu.device import engine  # which imports this package

    return Work(*engine().arithmetic(opcode))


def is_float(element: str) -> bool:
    """Whether operations of this type are FLOPs."""
    return element[:1] not in ("s", "u") and element != "b1"
