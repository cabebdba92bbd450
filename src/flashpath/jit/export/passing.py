"""What a launch gives to the parameters of its kernel, checked against the kernel's own C++ signature."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flashpath.errors import FlashpathError
from flashpath.jit.export.expressions import Expression, Number, Operation, Symbol, apply
from flashpath.jit.export.library import Argument, Passed
from flashpath.jit.module import Kernel
from flashpath.jit.signature import Parameter
from flashpath.messages import Message, any_of, told

Given = Argument | Number | float | None
_VECTOR = re.compile(r"u?(char|short|int|long|longlong|float|double)([24])\b|__(half|nv_bfloat16)2\b")
_SIZES = {"char": 1, "short": 2, "int": 4, "long": 8, "longlong": 8, "float": 4, "double": 8}


def pass_all(kernel: Kernel, given: Sequence[Given]) -> tuple[Passed, ...]:
    """Checks what is given to each parameter of a kernel."""
    parameters = kernel.signature.parameters
    if len(given) != len(parameters):
        raise FlashpathError(
            "jit.export.wrong-count",
            kernel=kernel.name,
            count=len(given),
            wanted=len(parameters),
            signature=str(kernel.signature),
        )
    return tuple(_passed(kernel, *each) for each in zip(parameters, given, strict=True))


def alignments(passed: Sequence[Passed]) -> tuple[Expression, ...]:
    """The guards that a kernel's own types ask for: a float4* is at a multiple of 16 bytes."""
    guards: dict[Expression, None] = {}
    for each in passed:
        if each.tensor is not None:
            size = max(each.tensor.item_bytes, _vector_bytes(each.parameter))
            if size > 1:
                guards[Operation("==", (apply("%", each.tensor.address, size), 0))] = None
    return tuple(guards)


def _vector_bytes(parameter: Parameter) -> int:
    found = _VECTOR.search(parameter.text)
    if found is None:
        return 1
    return min(16, _SIZES[found[1]] * int(found[2])) if found[1] else 4


def _passed(kernel: Kernel, parameter: Parameter, given: Given) -> Passed:
    if parameter.kind == "pointer":
        if given is None:
            return Passed(parameter)
        if isinstance(given, Argument) and given.kind == "tensor":
            if parameter.dtypes is not None and given.dtype not in parameter.dtypes:
                wanted = any_of(sorted(parameter.dtypes))
                raise _wrong(kernel, parameter, given, told("jit.export.a-tensor-of", dtypes=wanted))
            return Passed(parameter, tensor=given)
        raise _wrong(kernel, parameter, given, told("jit.export.a-tensor"))
    if isinstance(given, Argument):
        if given.kind == "float" and parameter.kind == "float":
            return Passed(parameter, argument=given)
        if given.kind == "integer" and parameter.kind in ("integer", "float"):
            return Passed(parameter, number=given.integer)
    elif isinstance(given, int | Symbol | Operation) and parameter.kind in ("integer", "float"):
        return Passed(parameter, number=given)
    elif isinstance(given, float) and parameter.kind == "float":
        return Passed(parameter, constant=given)
    if parameter.kind not in ("integer", "float"):
        raise FlashpathError("jit.export.strange-parameter", kernel=kernel.name, parameter=str(parameter))
    wanted = "jit.export.an-integer" if parameter.kind == "integer" else "jit.export.a-number"
    raise _wrong(kernel, parameter, given, Message(wanted))


def _wrong(kernel: Kernel, parameter: Parameter, given: Given, wanted: Message) -> FlashpathError:
    if isinstance(given, Argument):
        got = f"{given.name}: {given.dtype or given.kind}"
    else:
        got = repr(given) if given is None or isinstance(given, int | float) else "an expression"
    return FlashpathError(
        "jit.export.wrong-value",
        kernel=kernel.name,
        index=parameter.index,
        parameter=str(parameter),
        got=got,
        wanted=wanted,
    )
