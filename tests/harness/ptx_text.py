"""PTX text as the virtual GPU's parser reads it: what is in a module, and its canonical form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flashpath.vgpu.device import engine
from flashpath.vgpu.ptx import PtxError as PtxError


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function."""

    name: str
    type: str  # "u64"; "b8" for structs
    dimensions: tuple[int, ...]  # () for a scalar


@dataclass(frozen=True)
class Function:
    """What one function of a module has in it."""

    name: str
    is_entry: bool
    is_declaration: bool  # without a body
    parameters: tuple[Parameter, ...]
    returns: tuple[Parameter, ...]
    registers: int  # those that some instruction names
    instructions: int
    labels: int
    opcodes: Mapping[str, int]  # "ld.global.f32": how often it stands in the text


@dataclass(frozen=True)
class Summary:
    """What a module has in it."""

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int
    variables: tuple[str, ...]
    functions: tuple[Function, ...]

    def __getitem__(self, name: str) -> Function:
        return next(function for function in self.functions if function.name == name)


def summarize(text: str | bytes) -> Summary:
    """Parse the text and count what is in it."""
    try:
        module = engine().parse_summary(_bytes(text))
    except engine().ParseError as error:
        raise PtxError(*error.args) from None
    functions = tuple(
        Function(
            name=function["name"],
            is_entry=function["is_entry"],
            is_declaration=function["is_declaration"],
            parameters=tuple(Parameter(*parameter) for parameter in function["parameters"]),
            returns=tuple(Parameter(*parameter) for parameter in function["returns"]),
            registers=function["registers"],
            instructions=function["instructions"],
            labels=function["labels"],
            opcodes=function["opcodes"],
        )
        for function in module["functions"]
    )
    return Summary(
        module["version"],
        tuple(module["target"]),
        module["address_size"],
        tuple(module["variables"]),
        functions,
    )


def dump(text: str | bytes) -> str:
    """The module in its canonical form: PTX text again, which dumps to itself.

    One statement a line, constants folded, scopes dissolved, only the registers in use, no debug sections.
    """
    try:
        return engine().dump(_bytes(text)).decode(errors="surrogateescape")
    except engine().ParseError as error:
        raise PtxError(*error.args) from None


def _bytes(text: str | bytes) -> bytes:
    # Half a surrogate pair is no UTF-8 either, and so for the parser to refuse.
    return text.encode(errors="surrogateescape") if isinstance(text, str) else text
