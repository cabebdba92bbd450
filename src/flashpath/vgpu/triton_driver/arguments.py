"""Triton's arguments → the bytes of a kernel's parameters, and the host memory that they point to."""

from __future__ import annotations

import gc
import re
import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.vgpu.device import HostArray
from flashpath.vgpu.host_arrays import describe
from flashpath.vgpu.launch import Packed
from flashpath.vgpu.triton_driver import parts
from flashpath.vgpu.triton_types import FORMATS, bf16_bits, descriptor_numbers, float32_bytes

_POINTER = "Q"
_INTEGERS = frozenset("bBhHiIqQ")
_SCRATCHES = 2  # every kernel ends with two pointers of Triton's own: global and profiling scratch

_DESCRIPTOR = re.compile(r"tensordesc<([^[>]*)\[([^]]*)\]")
_LOWEST_HOST_ADDRESS = 1 << 24  # where the heap of a program may begin; smaller numbers are numbers
_LONGEST_POINTER_TABLE = 1 << 16


class WrongDevice(FlashpathError, ValueError):
    """A kernel on the virtual GPU was given memory that is not the host's."""


class Arguments:
    """Turns the arguments of one compiled kernel into its parameters."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._signature: list[Any] = list(source.signature.values())
        if getattr(metadata, "tensordesc_meta", None):
            raise FlashpathError("vgpu.no-descriptors", kernel=metadata.name)
        types = list(_expanded(self._signature))
        self._types = types + ["*i8"] * _SCRATCHES
        self._formats = [_POINTER if name[0] == "*" else FORMATS[name] for name in self._types]
        self._offsets, packed = _layout(self._formats)
        self._struct = struct.Struct(packed)
        # The usual kernel has neither tuples nor descriptors: its arguments are picked by their places.
        plain = all(isinstance(name, str) and not name.startswith("tensordesc") for name in self._signature)
        self._places = (
            [place for place, name in enumerate(self._signature) if name != "constexpr"] if plain else None
        )

    def check_size(self, kernel: str, parameter_bytes: int) -> None:
        """Compare with what the PTX declares: a launch with other parameters would compute nonsense."""
        if self._struct.size != parameter_bytes:
            raise FlashpathError(
                "vgpu.parameter-bytes", kernel=kernel, bytes=parameter_bytes, got=self._struct.size
            )

    def pack(self, args: Sequence[Any], scratch: tuple[Any, Any]) -> Packed:
        """The parameters, with 0 for pointers; the arrays they point to; the memory that these point to."""
        if self._places is not None:
            values = [args[place] for place in self._places]
        else:
            values = list(_flattened(self._signature, args))
        given = [*values]
        values += scratch
        arrays: list[HostArray] = []
        addresses: list[int] = []
        for index, (name, value) in enumerate(zip(self._types, values, strict=True)):
            if name[0] == "*":
                values[index] = self._pointer(index, name, value, arrays, addresses)
            elif name == "bf16":
                values[index] = bf16_bits(value)
        try:
            parameters = self._struct.pack(*values)
        except (struct.error, OverflowError):
            parameters = self._struct.pack(*map(_as_c_converts, self._types, self._formats, values))
        memory = _memory_at(addresses) if addresses else ()
        return Packed(parameters, arrays, memory, self.named, lambda: _shown(self._types, given))

    def named(self, offset: int) -> tuple[int, str]:
        """Returns which parameter the one at that offset is, and its name."""
        index = self._offsets.index(offset)
        return index, f"parameter {index} ({self._types[index]})"

    def _pointer(
        self, index: int, name: str, value: Any, arrays: list[HostArray], addresses: list[int]
    ) -> int:
        """Returns what stands for a pointer, and notes its array and the addresses that it may hold."""
        if value is None:
            return 0
        if isinstance(value, int):
            addresses.append(value)
            return value
        tensor = _tensor(value)
        array = describe(self._offsets[index], tensor)
        if index >= len(self._types) - _SCRATCHES:
            array = replace(array, initialised=False)
        if not array.address:  # an empty tensor
            return 0
        arrays.append(array)
        if name[-3:] in ("i64", "u64"):
            addresses += _addresses_in(tensor)
        return 0


# ---- The layout ----------------------------------------------------------------------------------------


def _expanded(signature: Any) -> Iterator[str]:
    """The types of a kernel's own parameters: tuples opened, constants left out, descriptors taken apart."""
    for name in signature:
        if isinstance(name, tuple):
            yield from _expanded(name)
        elif name.startswith("tensordesc"):
            yield from _descriptor_types(name)
        elif name != "constexpr":
            yield name


def _flattened(signature: Any, args: Sequence[Any]) -> Iterator[Any]:
    for name, arg in zip(signature, args, strict=True):
        if isinstance(name, tuple):
            yield from _flattened(name, arg)
        elif name.startswith("tensordesc"):
            yield from _descriptor_values(arg)
        elif name != "constexpr":
            yield arg


def _descriptor_types(name: str) -> Iterator[str]:
    """A descriptor as Triton takes it apart before sm_90."""
    match = _DESCRIPTOR.match(name)
    assert match is not None, name
    rank = match[2].count(",") + 1
    yield "*" + match[1]
    yield from descriptor_numbers(rank, len(_descriptor_flags()))


def _descriptor_values(descriptor: Any) -> Iterator[Any]:
    yield descriptor.base
    yield from descriptor.shape
    yield from descriptor.strides
    yield descriptor.padding == "nan"
    for flag in _descriptor_flags()[1:]:
        yield getattr(descriptor, flag)
    yield from descriptor.shape
    yield from descriptor.strides


def _descriptor_flags() -> list[str]:
    """The yes-or-no fields of a descriptor; the second one is new in Triton 3.7."""
    later = ["round_f32_to_tf32"]
    return ["padding", *(flag for flag in later if flag in parts.TensorDescriptor.__dataclass_fields__)]


def _layout(formats: Sequence[str]) -> tuple[list[int], str]:
    """Each parameter's offset, and the whole as a `struct` format: all are aligned to their own size."""
    offsets: list[int] = []
    packed = "<"
    end = 0
    for letter in formats:
        size = struct.calcsize(f"<{letter}")
        padding = -end % size
        packed += f"{padding}x{letter}" if padding else letter
        offsets.append(end + padding)
        end += padding + size
    return offsets, packed


# ---- Values --------------------------------------------------------------------------------------------


def _as_c_converts(name: str, letter: str, value: Any) -> Any:
    """A value that `struct` refuses, as Triton's launcher would convert it; or why it cannot be passed."""
    if letter == "f":
        return struct.unpack("<f", float32_bytes(float(value)))[0]
    if letter in _INTEGERS and isinstance(value, float):
        raise FlashpathError("vgpu.float-for-integer", type=name, value=repr(value))
    try:
        struct.pack(f"<{letter}", value)
    except (struct.error, OverflowError) as error:
        raise FlashpathError(
            "vgpu.value-does-not-fit", type=name, value=repr(value), error=str(error)
        ) from None
    return value


def shown_arguments(source: Any, values: Sequence[Any]) -> str:
    """Returns the arguments of a launch, but for those that are compiled in, beside their types."""
    given = [
        (name, value)
        for name, value in zip(source.signature.values(), values, strict=False)
        if name != "constexpr"
    ]
    return _shown([str(name) for name, _ in given], [value for _, value in given])


def _shown(types: Sequence[str], values: Sequence[Any]) -> str:
    """The arguments of a launch beside their types."""
    return ", ".join(f"{name}: {_described(value)}" for name, value in zip(types, values, strict=False))


def _described(value: Any) -> str:
    if not hasattr(value, "shape"):
        return repr(value)
    tensor = value if hasattr(value, "dtype") else value.base  # a descriptor's
    return f"{tensor.dtype} {tuple(value.shape)}"


# ---- Memory --------------------------------------------------------------------------------------------


def _tensor(value: Any) -> Any:
    """The torch tensor behind an argument, which must be on the CPU."""
    while not hasattr(value, "untyped_storage"):
        base = getattr(value, "base", None)  # triton.reinterpret wraps a tensor
        if base is None:
            raise FlashpathError("vgpu.pointer-of-unknown-size", type=type(value).__name__)
        value = base
    if value.device.type != "cpu":
        raise WrongDevice("vgpu.triton-tensor-on", device=str(value.device))
    return value


def _addresses_in(tensor: Any) -> list[int]:
    """Returns what may be addresses among 64-bit integers: grouped kernels take tables of pointers."""
    import torch

    if tensor.numel() > _LONGEST_POINTER_TABLE:
        return []
    words = tensor.view(torch.int64)
    return words[words >= _LOWEST_HOST_ADDRESS].tolist()


def _memory_at(addresses: Sequence[int]) -> list[HostArray]:
    """The live tensors on the CPU that hold these addresses: a kernel that is handed an address may use it.

    An address alone does not tell how far its memory goes, so the tensor is looked up among those that exist.
    """
    import torch

    ordered = sorted(addresses)
    found: list[HostArray] = []
    for thing in gc.get_objects():
        # Asking for the type alone: some objects pretend to be of another class.
        if type(thing) not in (torch.Tensor, torch.nn.Parameter):
            continue
        if thing.device.type != "cpu" or thing.layout is not torch.strided or not thing.numel():
            continue
        array = describe(0, thing)
        if bisect_left(ordered, array.first) < bisect_left(ordered, array.last):
            found.append(array)
    return found
