"""Records a call on CPU tensors and replays it: launches read raw memory, as a GPU's driver does."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import torch

from flashpath.jit import strided
from flashpath.ops import plans
from flashpath.ops.plans import replay
from flashpath.ops.plans.trace import Launch, Part, Trace


class VirtualDriver:
    """Allocates on the CPU, and launches on the virtual GPU what stands behind bare addresses."""

    def __init__(self, trace: Trace) -> None:
        self.launches = [step for step in trace.steps if isinstance(step, Launch)]
        self.launched = 0
        self.streams: list[int] = []

    def empty(self, size: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> torch.Tensor:
        assert (type(size), type(strides)) == (tuple, tuple)  # as torch's own allocation wants them
        made = torch.empty_strided(size, strides, dtype=dtype)
        storage: Any = made.untyped_storage()
        storage.fill_(0x7F)
        return made

    def current_stream(self, device: int) -> int:
        return 7

    def replace_address(self, tensor_map: int, address: int) -> int:
        raise AssertionError("no kernel of a test has a tensor map")

    def launch(self, config: Any, function: int, parameters: Any, extra: None) -> int:
        step = self.launches[self.launched % len(self.launches)]
        self.launched += 1
        self.streams.append(config._obj.stream)
        kernel, args = step.owner, list[Any]()
        for parameter, recorded, address in zip(
            kernel.signature.parameters, step.parameters, parameters._obj, strict=False
        ):
            content = ctypes.string_at(address, parameter.size)
            if isinstance(recorded, Part):
                args.append(strided(_at(struct.unpack("<Q", content)[0], recorded)))
            elif parameter.kind == "pointer":
                args.append(None)
            elif parameter.kind == "bytes":
                args.append(content)
            else:
                args.append(struct.unpack("<" + parameter.code, content)[0])
        shape = step.shape
        kernel.launch(shape.grid, shape.block, args, shape.shared)
        return 0


def _at(address: int, part: Part) -> torch.Tensor:
    last = sum((n - 1) * stride for n, stride in zip(part.shape, part.strides, strict=True))
    memory = (ctypes.c_char * ((last + 1) * part.dtype.itemsize)).from_address(address)
    return torch.frombuffer(memory, dtype=part.dtype).as_strided(part.shape, part.strides)


def recorded(function: Callable[..., Any], *tensors: torch.Tensor) -> tuple[Trace, Any]:
    """Calls a function of these tensors; gives what it did, and its result."""
    result, recorder = plans.recorded(function, tensors, {})
    assert recorder is not None
    return recorder.trace(result), result


def replayed(trace: Trace, *tensors: torch.Tensor) -> Any:
    """Repeats a recorded call on other tensors."""
    return replay.compiled(trace, len(tensors), 0, VirtualDriver(trace))(*tensors)
