"""Packs a launch's arguments as the driver wants them, on every launch: so it is written for speed.

For each kernel a small Python function is generated that takes the usual arguments (a Python number, a
contiguous torch tensor of the right type) in line, without a call per argument, and leaves everything else to
the converters. The packed values are written by a single call into a buffer that is kept.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from flashpath.jit.arguments import FLOAT_LIMITS, NOWHERE, ArgumentError, converter, place_name
from flashpath.jit.signature import Parameter, Signature


class ArgumentPacker:
    """Packs the arguments of one kernel.

    `pack(arguments)` checks and packs; it returns the parameter-pointer array by reference, and the device
    that the arrays share. The memory belongs to the calling thread and holds until its next call: the driver
    copies the parameters before a launch returns.
    """

    pack: Callable[[Sequence[Any]], tuple[Any, int]]

    def __init__(self, kernel_name: str, signature: Signature) -> None:
        self.kernel_name = kernel_name
        self.signature = signature
        self.layout = struct.Struct("<" + _layout(signature))
        self.local = threading.local()
        self.pack = _generate(self)

    def wrong_count(self, arguments: Sequence[Any]) -> ArgumentError:
        """The error for too few or too many arguments."""
        return ArgumentError(
            "jit.argument-count",
            kernel=self.kernel_name,
            count=len(self.signature.parameters),
            signature=str(self.signature),
            got=len(arguments),
        )

    def join(self, device: int, where: int, index: int) -> int:
        """The device of all arrays so far, or an error where argument `index` is on another one."""
        if device == NOWHERE:
            return where

        here, there = place_name(where), place_name(device)
        raise ArgumentError("jit.two-devices", kernel=self.kernel_name, index=index, here=here, there=there)

    def packed(self) -> bytes:
        """The parameter space as this thread's last `pack` left it."""
        buffer, _ = self.local.memory
        return bytes(buffer.raw[: self.layout.size])

    def allocate(self) -> tuple[Any, Any]:
        """The calling thread's memory: a buffer for the values, and the pointers into it by reference."""
        buffer = ctypes.create_string_buffer(max(1, self.layout.size))
        base = ctypes.addressof(buffer)
        offsets = [parameter.offset for parameter in self.signature.parameters]
        pointers = (ctypes.c_void_p * max(1, len(offsets)))(*(base + offset for offset in offsets))
        self.local.memory = (buffer, ctypes.byref(pointers))
        return self.local.memory


def _layout(signature: Signature) -> str:
    """The struct format of the parameter space, gaps written as pad bytes."""
    text, at = "", 0
    for parameter in signature.parameters:
        text += "x" * (parameter.offset - at) + parameter.code
        at = parameter.offset + parameter.size
    return text


def _generate(packer: ArgumentPacker) -> Callable[[Sequence[Any]], tuple[Any, int]]:
    """The packer's `pack`. For `(int, float*)` its text is

    def pack(arguments):
        try: a0, a1, = arguments
        except ValueError: raise wrong_count(arguments) from None
        device = -2
        if type(a0) is not int or not -2147483648 <= a0 <= 2147483647: a0, _ = slow0(a0)
        if type(a1) is Tensor and a1.dtype in dtypes1 and a1.is_contiguous():
            where = a1.get_device(); a1 = a1.data_ptr()
        else: a1, where = slow1(a1)
        if where != device and where != -2: device = join(device, where, 1)
        try: buffer, pointers = local.memory
        except AttributeError: buffer, pointers = allocate()
        pack_into(buffer, 0, a0, a1, )
        return pointers, device
    """
    parameters = packer.signature.parameters
    torch: Any = sys.modules.get("torch")
    names: dict[str, Any] = {
        "Tensor": torch.Tensor if torch is not None else None,
        "allocate": packer.allocate,
        "join": packer.join,
        "local": packer.local,
        "pack_into": packer.layout.pack_into,
        "wrong_count": packer.wrong_count,
    }
    values = "".join(f"a{parameter.index}, " for parameter in parameters)
    lines = [
        f"try: {values or '()'} = arguments",
        "except ValueError: raise wrong_count(arguments) from None",
        f"device = {NOWHERE}",
    ]
    for parameter in parameters:
        i = parameter.index
        names[f"slow{i}"] = converter(packer.kernel_name, parameter)
        if parameter.kind == "pointer":
            names[f"dtypes{i}"] = _torch_dtypes(torch, parameter)
            lines += [
                f"if type(a{i}) is Tensor and a{i}.dtype in dtypes{i} and a{i}.is_contiguous():",
                f"    where = a{i}.get_device(); a{i} = a{i}.data_ptr()",
                f"else: a{i}, where = slow{i}(a{i})",
                f"if where != device and where != {NOWHERE}: device = join(device, where, {i})",
            ]
        elif parameter.kind == "integer":
            unusual = f"type(a{i}) is not int or not {parameter.low} <= a{i} <= {parameter.high}"
            lines.append(f"if {unusual}: a{i}, _ = slow{i}(a{i})")
        elif parameter.kind == "float":
            names[f"limit{i}"] = FLOAT_LIMITS[parameter.size]
            unusual = f"type(a{i}) is not float or not -limit{i} < a{i} < limit{i}"
            lines.append(f"if {unusual}: a{i}, _ = slow{i}(a{i})")
        elif parameter.kind == "bytes":  # a tensor map is where its array is
            lines += [
                f"a{i}, where = slow{i}(a{i})",
                f"if where != device and where != {NOWHERE}: device = join(device, where, {i})",
            ]
        else:
            lines.append(f"a{i}, _ = slow{i}(a{i})")
    lines += [
        "try: buffer, pointers = local.memory",
        "except AttributeError: buffer, pointers = allocate()",
        f"pack_into(buffer, 0, {values})",
        "return pointers, device",
    ]
    body = "".join(f"    {line}\n" for line in lines)
    exec(f"def pack(arguments):\n{body}", names)  # only numbers and our own names are in the text
    return names["pack"]


def _torch_dtypes(torch: Any, parameter: Parameter) -> frozenset[Any]:
    """The torch types that a pointer takes."""
    if torch is None:
        return frozenset()
    if parameter.dtypes is None:
        every: list[Any] = [getattr(torch, name) for name in dir(torch)]
        return frozenset(value for value in every if isinstance(value, torch.dtype))
    return frozenset(getattr(torch, name) for name in parameter.dtypes if hasattr(torch, name))
