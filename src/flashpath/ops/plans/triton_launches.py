"""A launch of a compiled Triton kernel as the driver sees it: its parameters in the order of the code's own.

Constants are in the code; tuples are their elements; a descriptor is a tensor map, or its address, with shape
and strides; at the end stand two pointers to scratch memory. The code itself says how many parameters it has
and how large they are: what does not agree with it is not planned.
"""

from __future__ import annotations

import ctypes
import importlib
import struct
from collections.abc import Callable, Iterator
from typing import Any, cast

from flashpath.gpus.shape import LaunchShape, dim3
from flashpath.jit import driver_calls
from flashpath.ops.plans.trace import Launch, NotPlannable, Parameter, Part, TensorMap
from flashpath.vgpu.triton_types import FORMATS, descriptor_numbers, value_bytes

_MAP_BYTES = 128


def launch(
    function: Any,
    kernel: Any,
    grid: Any,
    args: Any,
    kwargs: Any,
    part: Callable[[Any], Part],
    constant: Callable[[bytes], bytes],
) -> Launch:
    """Returns the launch that Triton made of this call."""
    names = function.signature.parameters
    bound = function.signature.bind(*args, **{name: x for name, x in kwargs.items() if name in names})
    bound.apply_defaults()
    metadata = kernel.metadata
    if metadata.num_ctas != 1 or metadata.global_scratch_size or metadata.profile_scratch_size:
        raise NotPlannable("a Triton kernel with clusters or scratch memory")
    descriptors = iter(getattr(metadata, "tensordesc_meta", None) or ())
    parameters: list[Parameter] = []
    for kind, value in zip(kernel.src.signature.values(), bound.arguments.values(), strict=True):
        parameters += _flattened(kind, value, descriptors, part, constant)
    parameters += [bytes(8)] * 2
    is_on_gpu = isinstance(kernel.function, int)
    if is_on_gpu:
        _require_agreement(parameters, driver_calls.parameter_sizes(kernel.function))
    programs: Any = grid(bound.arguments) if callable(grid) else grid
    cooperative = bool(getattr(metadata, "launch_cooperative_grid", False))
    return Launch(
        kernel.name,
        kernel.function if is_on_gpu else 0,
        LaunchShape(
            dim3(programs, "grid"), (32 * metadata.num_warps, 1, 1), metadata.shared, None, cooperative
        ),
        parameters,
        kernel,
        bool(getattr(metadata, "launch_pdl", False)),
    )


def _flattened(
    kind: Any,
    value: Any,
    descriptors: Iterator[Any],
    part: Callable[[Any], Part],
    constant: Callable[[bytes], bytes],
) -> Iterator[Parameter]:
    if isinstance(kind, tuple):
        for each, element in zip(cast(tuple[Any, ...], kind), value, strict=True):
            yield from _flattened(each, element, descriptors, part, constant)
    elif kind == "constexpr":
        return
    elif kind.startswith("*"):
        yield part(value)
    elif kind.startswith("tensordesc"):
        yield from _described(value, next(descriptors, None), part)
    elif kind in FORMATS:
        yield constant(value_bytes(kind, value))
    else:
        raise NotPlannable(f"a Triton argument of type {kind}")


def _described(descriptor: Any, metadata: Any, part: Callable[[Any], Part]) -> Iterator[Parameter]:
    driver: Any = importlib.import_module("triton.backends.nvidia.driver")
    first, *rest = driver.make_tensordesc_arg(descriptor, metadata)
    rank = len(descriptor.shape)
    types = descriptor_numbers(rank, len(rest) - 4 * rank)
    if metadata is None:
        yield part(first)
    else:
        types = types[-2 * rank :]
        yield TensorMap(_content(first, descriptor.base.data_ptr()), part(descriptor.base))
    for name, number in zip(types, rest, strict=True):
        yield value_bytes(name, number)


def _content(tensor_map: Any, address: int) -> bytes:
    """The bytes inside of Triton's object: the last of it. Somewhere among them must be the address."""
    content = ctypes.string_at(id(tensor_map) + type(tensor_map).__basicsize__ - _MAP_BYTES, _MAP_BYTES)
    if address not in struct.unpack("<16Q", content):
        raise NotPlannable("a tensor map that cannot be read")
    return content


def _require_agreement(parameters: list[Parameter], sizes: list[int]) -> None:
    ours = [
        8 if isinstance(each, Part) else _MAP_BYTES if isinstance(each, TensorMap) else len(each)
        for each in parameters
    ]
    if ours != sizes:
        raise NotPlannable(f"parameters of {ours} bytes, where the code has {sizes}")
