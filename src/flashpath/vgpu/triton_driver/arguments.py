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
from flashpath.vgpu.tensor_maps import ADDRESS, FILLS, SWIZZLES, encoded
from flashpath.vgpu.triton_driver import parts
from flashpath.vgpu.triton_types import FORMATS, bf16_bits, descriptor_numbers, float32_bytes

_POINTER = "Q"
_INTEGERS = frozenset("bBhHiIqQ")
_MAP = "tensor map"
_MAP_FORMAT = "128s"
_MAP_ALIGNMENT = 64
# The element types that Triton's compiler numbers, as the driver numbers them.
_MAP_TYPES = (0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9)
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
        # From sm_90 on descriptors are tensor maps, of which the compiler says how they are made.
        self._maps: list[Any] = list(getattr(metadata, "tensordesc_meta", None) or [])
        types = list(_expanded(self._signature, bool(self._maps)))
        self._types = types + ["*i8"] * _SCRATCHES
        self._formats = [_POINTER if name[0] == "*" else _format(name) for name in self._types]
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
            values = list(_flattened(self._signature, args, iter(self._maps)))
        given = [*values]
        values += scratch
        arrays: list[HostArray] = []
        addresses: list[int] = []
        for index, (name, value) in enumerate(zip(self._types, values, strict=True)):
            if name[0] == "*":
                values[index] = self._pointer(index, name, value, arrays, addresses)
            elif name == "bf16":
                values[index] = bf16_bits(value)
            elif name == _MAP:
                values[index], array = _map_of(*value, self._offsets[index])
                arrays.append(array)
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


def _format(name: str) -> str:
    return _MAP_FORMAT if name == _MAP else FORMATS[name]


# ---- The layout ----------------------------------------------------------------------------------------


def _expanded(signature: Any, are_maps: bool) -> Iterator[str]:
    """The types of a kernel's own parameters: tuples opened, constants left out, descriptors taken apart."""
    for name in signature:
        if isinstance(name, tuple):
            yield from _expanded(name, are_maps)
        elif name.startswith("tensordesc"):
            yield from _descriptor_types(name, are_maps)
        elif name != "constexpr":
            yield name


def _flattened(signature: Any, args: Sequence[Any], maps: Iterator[Any]) -> Iterator[Any]:
    for name, arg in zip(signature, args, strict=True):
        if isinstance(name, tuple):
            yield from _flattened(name, arg, maps)
        elif name.startswith("tensordesc"):
            yield from _descriptor_values(arg, next(maps, None))
        elif name != "constexpr":
            yield arg


def _descriptor_types(name: str, is_map: bool) -> Iterator[str]:
    """A descriptor as Triton takes it apart: before sm_90, where it is a pointer, and from there on."""
    match = _DESCRIPTOR.match(name)
    assert match is not None, name
    rank = match[2].count(",") + 1
    if is_map:
        yield _MAP
        yield from ["i32"] * rank + ["i64"] * rank
        return
    yield "*" + match[1]
    yield from descriptor_numbers(rank, len(_descriptor_flags()))


def _map_of(descriptor: Any, meta: Any, offset: int) -> tuple[bytes, HostArray]:
    """The tensor map of a descriptor, and the array whose address the launch puts into it."""
    tensor = _tensor(descriptor.base)
    shape, size = list(descriptor.shape), meta["elem_size"]
    if meta["fp4_padded"]:
        shape[-1] *= 2
    kind = _MAP_TYPES[meta["elem_type"]]
    box, swizzle = meta["block_size"], SWIZZLES[meta["swizzle"]]
    fill = FILLS[descriptor.padding == "nan"]
    strides = [stride * size for stride in descriptor.strides]
    steps = [1] * len(shape)
    made = encoded(kind, tensor.data_ptr(), shape, strides, box, steps, swizzle=swizzle, fill=fill)
    return made, describe(offset + ADDRESS, tensor)


def _descriptor_values(descriptor: Any, meta: Any) -> Iterator[Any]:
    if meta is not None:
        yield descriptor, meta
        yield from descriptor.shape
        yield from descriptor.strides
        return
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
        padding = -end % min(size, _MAP_ALIGNMENT)
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
