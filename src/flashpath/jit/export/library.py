"""What an exported library holds: one function, and the variants in which it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flashpath.jit.export.expressions import Expression, Number, Symbol
from flashpath.jit.module import Kernel
from flashpath.jit.signature import Parameter

Kind = Literal["tensor", "integer", "float"]

# The code and the bits by which DLPack knows a type.
DLPACK = {
    "bool": (6, 8),
    "int8": (0, 8),
    "int16": (0, 16),
    "int32": (0, 32),
    "int64": (0, 64),
    "uint8": (1, 8),
    "uint16": (1, 16),
    "uint32": (1, 32),
    "uint64": (1, 64),
    "float16": (2, 16),
    "float32": (2, 32),
    "float64": (2, 64),
    "bfloat16": (4, 16),
    "complex64": (5, 64),
    "complex128": (5, 128),
    "float8_e4m3fn": (10, 8),
    "float8_e5m2": (12, 8),
}
SM_COUNT = Symbol("call.gpu().sm_count", "sm_count")
MAX_SHARED = Symbol("call.gpu().max_shared", "max_shared")


@dataclass(frozen=True)
class Argument:
    """One argument of the function."""

    index: int
    name: str
    kind: Kind
    dtype: str = ""  # of a tensor
    rank: int = 0

    def extent(self, dimension: int) -> Symbol:
        return Symbol(f"call.tensor({self.index}).shape({dimension})", f"{self.name}.shape[{dimension}]")

    @property
    def size(self) -> Symbol:
        return Symbol(f"call.tensor({self.index}).size", f"{self.name}.size")

    @property
    def address(self) -> Symbol:
        return Symbol(f"call.tensor({self.index}).address", f"{self.name}.address")

    @property
    def integer(self) -> Symbol:
        return Symbol(f"call.integer({self.index})", self.name)

    @property
    def item_bytes(self) -> int:
        return DLPACK[self.dtype][1] // 8


@dataclass(frozen=True)
class Passed:
    """What a parameter of the kernel is given: a tensor's address, a number, or a float of the caller's."""

    parameter: Parameter
    tensor: Argument | None = None
    number: Number | None = None
    constant: float | None = None
    argument: Argument | None = None  # a float; where nothing is set, a null pointer is passed


@dataclass(frozen=True)
class Variant:
    """One launch: for which arguments, of which kernel, how large, and with what."""

    arguments: tuple[Argument, ...]
    guards: tuple[Expression, ...]
    kernels: tuple[Kernel, ...]  # one for each architecture
    grid: tuple[Number, Number, Number]
    block: tuple[Number, Number, Number]
    shared: Number
    passed: tuple[Passed, ...]

    def is_written(self, argument: Argument) -> bool:
        """Whether the kernel may write to a tensor: its pointer is not to something const."""
        return any(
            each.tensor == argument and not each.parameter.text.startswith("const ") for each in self.passed
        )


@dataclass(frozen=True)
class Function:
    """The function of a library: its name, and its variants, of which the first that fits a call runs."""

    name: str
    variants: tuple[Variant, ...]
    about: str  # what it says of itself

    @property
    def arguments(self) -> tuple[Argument, ...]:
        return self.variants[0].arguments

    @property
    def architectures(self) -> tuple[str, ...]:
        return tuple(kernel.arch for kernel in self.variants[0].kernels)

    @property
    def signature(self) -> str:
        """The function as a caller sees it."""
        names: list[str] = []
        for argument in self.arguments:
            types = dict.fromkeys(
                f"{each.dtype}[{', '.join('·' * each.rank)}]"
                for variant in self.variants
                if (each := variant.arguments[argument.index]).kind == "tensor"
            )
            names.append(f"{argument.name}: {' | '.join(types) or argument.kind}")
        return f"{self.name}({', '.join(names)})"
