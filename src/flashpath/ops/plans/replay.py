"""Makes of a recorded call the function that repeats it on other tensors of the same kind.

The function is generated for each plan, as are the functions that pack arguments (jit/packing.py). For a call
of one kernel that has one argument, one result and some memory in between, its text is

    def replay(g0):
        m0 = empty(size0, strides0, dtype0)
        work = empty(work_size, (1,), uint8); w = work.data_ptr()
        stream = current_stream(device)
        pool = pools.get(stream) or pool_of(stream)
        try: frame = pool.pop()
        except IndexError: frame = new_frame(stream)  # another thread took it
        buffer, maps, c0, p0, = frame
        pack0(buffer, 0, g0.data_ptr(), m0.data_ptr(), w + 512, )
        status = launch(c0, function0, p0, None)
        if status: again(status, 0, c0, p0)
        pool.append(frame)
        return m0

A frame is the memory that the driver reads a launch from. A call takes one and puts it back, so that no two
threads write to the same.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import torch

from flashpath.jit import driver_calls
from flashpath.jit.launcher import INVALID_CONTEXT, require_launched
from flashpath.ops.plans.trace import (
    Changed,
    Given,
    Launch,
    Lent,
    Made,
    Memory,
    Operation,
    Part,
    TensorMap,
    Trace,
)

_ALIGNMENT = 512  # of what torch allocates: kernels were chosen for it
_MOST_STREAMS = 16  # whose frames are kept


class Driver:
    """How replays allocate and launch; tests put another in its place."""

    def __init__(self) -> None:
        library: Any = torch
        parts = library._C
        self.empty: Callable[..., Any] = (
            parts._dynamo.guards._empty_strided_cuda
        )  # what Inductor's code calls
        self.current_stream: Callable[[int], int] = parts._cuda_getCurrentRawStream
        self.launch = driver_calls.launch()
        self.replace_address = driver_calls.replace_address()

    def set_context(self, device: int) -> None:
        """Makes the GPU's context that of this thread."""
        torch.cuda.set_device(device)


def compiled(trace: Trace, tensors: int, device: int, driver: Any) -> Callable[..., Any]:
    """Returns the function that takes the call's tensors and does what the call did."""
    return _Writer(trace, tensors, device, driver).function()


class _Writer:
    def __init__(self, trace: Trace, tensors: int, device: int, driver: Any) -> None:
        self._trace = _without_unused(trace)
        self._tensors = tensors
        self._device = device
        self._driver = driver
        self._launches = [step for step in self._trace.steps if isinstance(step, Launch)]
        self._names: dict[Memory, str] = {}
        self._values: dict[str, Any] = {}
        self._lines: list[str] = []
        self._work: dict[Memory, int] = {}  # offsets of what nobody needs as a tensor
        self._whole: dict[Memory, Part] = {}  # results that are all of their memory

    def function(self) -> Callable[..., Any]:
        self._allocate()
        self._write_steps()
        returned = self._returned(self._trace.result)
        values = self._values
        if self._launches:
            self._lines.append("pool.append(frame)")
        self._lines.append(f"return {returned}")
        names = "".join(f"g{i}, " for i in range(self._tensors))
        text = f"def replay({names}):\n" + "".join(f"    {line}\n" for line in self._lines)
        exec(text, values)  # only our own names are in the text
        values["replay"].__doc__ = text
        return values["replay"]

    # ---- Memory ----------------------------------------------------------------------------------------

    def _allocate(self) -> None:
        steps, results = self._trace.steps, list(_parts_of(self._trace.result))
        operated = {
            part.memory
            for step in steps
            if isinstance(step, Operation)
            for part in _parts_of((*step.args, step.kwargs))
        }
        by_operations = {made for step in steps if isinstance(step, Operation) for made in step.made}
        returned = {part.memory for part in results}
        used = [part.memory for step in steps if isinstance(step, Launch) for part in _pointers(step)]
        size = 0
        for memory in dict.fromkeys((*used, *operated, *returned)):
            if isinstance(memory, Given):
                self._names[memory] = f"g{memory.position}"
            elif isinstance(memory, Lent):
                name = self._names[memory] = f"l{len(self._names)}"
                self._values[f"ask_{name}"] = memory.again
                self._lines.append(f"{name} = ask_{name}()")
            elif memory in by_operations:
                continue
            elif memory in operated or memory in returned:
                layout = self._layout(memory, [] if memory in operated else results)
                name = self._names[memory] = f"m{len(self._names)}"
                self._values |= dict(
                    zip((f"size_{name}", f"strides_{name}", f"dtype_{name}"), layout, strict=True)
                )
                self._lines.append(f"{name} = empty(size_{name}, strides_{name}, dtype_{name})")
            else:
                self._work[memory] = size
                size += -(-memory.bytes // _ALIGNMENT) * _ALIGNMENT
        if size:
            self._values |= {"work_size": (size,), "uint8": torch.uint8}
            self._lines.append("work = empty(work_size, (1,), uint8); w = work.data_ptr()")
        self._values["empty"] = self._driver.empty

    def _layout(self, memory: Made, results: Iterable[Part]) -> tuple[Any, Any, Any]:
        """Returns the layout to allocate: a result that is all of the memory needs no view then."""
        for part in results:
            size = part.dtype.itemsize * math.prod(part.shape)
            if part.memory is memory and part.offset == 0 and size == memory.bytes and _is_dense(part):
                self._whole[memory] = part
                return tuple(part.shape), part.strides, part.dtype
        return tuple(memory.shape), memory.strides, memory.dtype  # no torch.Size: `empty` takes tuples alone

    def _address(self, part: Part) -> str:
        if part.memory in self._work:
            return f"w + {self._work[part.memory] + part.offset}"
        name = f"{self._names[part.memory]}.data_ptr()"
        return f"{name} + {part.offset}" if part.offset else name

    # ---- Steps -----------------------------------------------------------------------------------------

    def _write_steps(self) -> None:
        if self._launches:
            self._prepare_frames()
        launches = iter(range(len(self._launches)))
        for number, step in enumerate(self._trace.steps):
            if isinstance(step, Launch):
                self._write_launch(next(launches), step)
            elif isinstance(step, Changed):
                self._values["changed"] = _changed
                self._lines.append(f"changed(g{_position(step.part.memory)})")
            else:
                self._write_operation(number, step)

    def _prepare_frames(self) -> None:
        pools: dict[int, list[Any]] = {}
        layout = _Layout(self._launches)
        driver, launches, device = self._driver, self._launches, self._device

        def pool_of(stream: int) -> list[Any]:
            """The frames of a stream, one of them new: all others are in use, or there is none."""
            if len(pools) >= _MOST_STREAMS and stream not in pools:
                pools.clear()
            pool = pools.setdefault(stream, [])
            pool.append(layout.new_frame(stream))
            return pool

        def again(status: int, number: int, config: Any, parameters: Any) -> None:
            if status == INVALID_CONTEXT:  # this thread has not used the GPU yet
                driver.set_context(device)
                status = driver.launch(config, ctypes.c_void_p(launches[number].function), parameters, None)
            require_launched(status, launches[number].name)

        self._values |= {
            "again": again,
            "current_stream": driver.current_stream,
            "device": device,
            "launch": driver.launch,
            "new_frame": layout.new_frame,
            "pool_of": pool_of,
            "pools": pools,
            "replace": driver.replace_address,
        }
        heads = "".join(f"c{i}, p{i}, " for i in range(len(launches)))
        self._lines += [
            "stream = current_stream(device)",
            "pool = pools.get(stream) or pool_of(stream)",
            "try: frame = pool.pop()",
            "except IndexError: frame = new_frame(stream)  # another thread took it",
            f"buffer, maps, {heads}= frame",
        ]
        self._layout_of_frames = layout

    def _write_launch(self, number: int, step: Launch) -> None:
        layout = self._layout_of_frames
        pointers = [self._address(each) for each in step.parameters if isinstance(each, Part)]
        if pointers:
            self._values[f"pack{number}"] = struct.Struct(f"<{len(pointers)}Q").pack_into
            self._lines.append(f"pack{number}(buffer, {layout.starts[number]}, {', '.join(pointers)})")
        for each, index in layout.maps[number]:
            self._lines += [
                f"at = {self._address(each.part)}",
                f"if maps[{index}][1] != at: replace(maps[{index}][0], at); maps[{index}][1] = at",
            ]
        self._values[f"function{number}"] = ctypes.c_void_p(step.function)
        self._values[f"owner{number}"] = step.owner
        self._lines += [
            f"status = launch(c{number}, function{number}, p{number}, None)",
            f"if status: again(status, {number}, c{number}, p{number})",
        ]

    def _write_operation(self, number: int, step: Operation) -> None:
        args = ", ".join(self._argument(f"a{number}_{i}", each) for i, each in enumerate(step.args))
        args += "".join(
            f", {key}={self._argument(f'a{number}_{key}', each)}" for key, each in step.kwargs.items()
        )
        self._values[f"operator{number}"] = step.function
        made = ""
        for each in step.made:
            name = self._names[each] = f"m{len(self._names)}"
            made += f"{name}, " if len(step.made) > 1 else name
        self._lines.append(f"{made + ' = ' if made else ''}operator{number}({args.removeprefix(', ')})")

    def _argument(self, name: str, value: Any) -> str:
        if isinstance(value, Part):
            return self._tensor(value)
        if isinstance(value, (list, tuple)) and any(_parts_of(value)):
            value = cast(Sequence[Any], value)
            return f"[{', '.join(self._argument(f'{name}_{i}', each) for i, each in enumerate(value))}]"
        self._values[name] = value
        return name

    def _tensor(self, part: Part) -> str:
        name, like = self._names[part.memory], self._whole.get(part.memory, part.memory)
        if not part.offset and (part.shape, part.strides, part.dtype) == (
            like.shape,
            like.strides,
            like.dtype,
        ):
            return name
        key = f"view{len(self._values)}"
        self._values |= {key: part, "part_of": _part_of}
        return f"part_of({name}, {key})"

    def _returned(self, result: Any) -> str:
        if result is None:
            return "None"
        if isinstance(result, tuple):
            return f"({''.join(f'{self._returned(each)}, ' for each in result)})"  # pyright: ignore[reportUnknownVariableType]
        return self._tensor(result)


# ---- While it runs -------------------------------------------------------------------------------------


class _Layout:
    """Places the launches' parameters in a frame: constants, addresses, tensor maps, then pointers."""

    def __init__(self, launches: Sequence[Launch]) -> None:
        self._launches = launches
        self.starts: list[int] = []  # of each launch's addresses
        self.maps: list[list[tuple[TensorMap, int]]] = []
        self._offsets: list[list[int]] = []
        self._content = bytearray()
        count = 0
        for launch in launches:
            parts = [each for each in launch.parameters if isinstance(each, Part)]
            self.starts.append(self._room(8 * len(parts), 8))
            address, offsets, maps = self.starts[-1], list[int](), list[tuple[TensorMap, int]]()
            for each in launch.parameters:
                if isinstance(each, Part):
                    offsets.append(address)
                    address += 8
                    continue
                content = each.content if isinstance(each, TensorMap) else each
                offsets.append(self._room(len(content), 64 if isinstance(each, TensorMap) else 16))
                self._content[offsets[-1] : offsets[-1] + len(content)] = content
                if isinstance(each, TensorMap):
                    maps.append((each, count))
                    count += 1
            self._offsets.append(offsets)
            self.maps.append(maps)

    def _room(self, size: int, alignment: int) -> int:
        start = -(-len(self._content) // alignment) * alignment
        self._content += bytes(start + size - len(self._content))
        return start

    def new_frame(self, stream: int) -> tuple[Any, ...]:
        """Returns a frame for launches on a stream: buffer, tensor maps, and each launch's two arguments."""
        memory = ctypes.create_string_buffer(len(self._content) + 64)
        base = -(-ctypes.addressof(memory) // 64) * 64
        buffer = (ctypes.c_char * max(1, len(self._content))).from_buffer(
            memory, base - ctypes.addressof(memory)
        )
        buffer[: len(self._content)] = bytes(self._content)
        maps: list[list[int]] = []
        heads: list[Any] = []
        for launch, offsets in zip(self._launches, self._offsets, strict=True):
            pointers = (ctypes.c_void_p * max(1, len(offsets)))(*(base + offset for offset in offsets))
            config = driver_calls.config(launch.shape, stream, overlaps=launch.overlaps)
            heads += [ctypes.byref(config), ctypes.byref(pointers)]
            for each, offset in zip(launch.parameters, offsets, strict=True):
                if isinstance(each, TensorMap):
                    maps.append([base + offset, -1])
        return buffer, maps, *heads


def _changed(tensor: Any) -> None:
    if not tensor.is_inference():
        torch.autograd.graph.increment_version(tensor)


def _part_of(tensor: Any, part: Part) -> Any:
    """Returns a view of memory whose first tensor this is."""
    if tensor.dtype != part.dtype:
        start = tensor.storage_offset() * tensor.dtype.itemsize + part.offset
        view = torch.empty(0, dtype=part.dtype, device=tensor.device)
        return view.set_(tensor.untyped_storage(), start // part.dtype.itemsize, part.shape, part.strides)
    offset = tensor.storage_offset() + part.offset // part.dtype.itemsize
    return tensor.as_strided(part.shape, part.strides, offset)


# ---- Of traces -----------------------------------------------------------------------------------------


def _without_unused(trace: Trace) -> Trace:
    """Leaves out operations that only made what nobody reads."""
    steps = list(trace.steps)
    used = {part.memory for part in _parts_of(trace.result)}
    for step in reversed(list(steps)):
        if isinstance(step, Operation):
            if step.made and not used.intersection(step.made) and not _writes(step):
                steps.remove(step)
                continue
            used |= {part.memory for part in _parts_of((*step.args, step.kwargs))}
        elif isinstance(step, Launch):
            used |= {part.memory for part in _pointers(step)}
    return Trace(steps, trace.result)


def _writes(step: Operation) -> bool:
    return any(
        each.alias_info is not None and each.alias_info.is_write for each in step.function._schema.arguments
    )


def _pointers(launch: Launch) -> list[Part]:
    return [
        each.part if isinstance(each, TensorMap) else each
        for each in launch.parameters
        if not isinstance(each, bytes)
    ]


def _parts_of(value: Any) -> Iterable[Part]:
    if isinstance(value, Part):
        yield value
    elif isinstance(value, dict):
        yield from _parts_of(tuple(value.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType, reportUnknownMemberType]
    elif isinstance(value, (list, tuple)):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _parts_of(each)


def _position(memory: Memory) -> int:
    assert isinstance(memory, Given), "only arguments are written to by name"
    return memory.position


def _is_dense(part: Part | Made) -> bool:
    """Whether elements fill their memory without gaps and overlaps, in whatever order of dimensions."""
    expected = 1
    for stride, extent in sorted((s, n) for s, n in zip(part.strides, part.shape, strict=True) if n != 1):
        if stride != expected:
            return False
        expected *= extent
    return True
