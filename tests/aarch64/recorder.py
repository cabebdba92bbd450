"""A pytest plugin: writes every launch that the tests make on the virtual GPU to a file, for another machine.

    FLASHPATH_RECORD=launches.bin PYTHONPATH=tests/aarch64 pytest -p recorder tests/vgpu

The file holds modules and launches in their order, with the memory before and after each: `replay.cpp` runs
them again with an engine built for another processor and compares.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from flashpath.vgpu import device

_MOST_BYTES = 1 << 20  # of a launch's memory: larger ones teach nothing new and take long under emulation
_SKIPPED = ("%globaltimer",)  # the host's time is another one


class _Log:
    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.modules = 0
        self.file.write(b"FPLOG001")

    def number(self, *values: int) -> None:
        self.file.write(struct.pack(f"<{len(values)}Q", *values))

    def blob(self, data: bytes) -> None:
        self.number(len(data))
        self.file.write(data)


class _RecordedProgram:
    """Stands for a program: launches it, and writes down what happened."""

    def __init__(self, log: _Log, module: int, lowered: str, program: Any) -> None:
        self._log, self._module, self._lowered, self._program = log, module, lowered, program

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)

    def launch(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        parameters: bytes,
        segments: list[device.Segment],
        options: Any,
        show: Callable[[bytes], None],
    ) -> Any:
        def memory() -> list[bytes]:
            return [ctypes.string_at(host, size) for _, size, host, *_ in segments]

        def run() -> Any:
            options.threads = 1
            return self._program.launch(grid, block, shared, parameters, segments, options, show)

        if options.sanitize or sum(size for _, size, *_ in segments) > _MOST_BYTES:
            return run()
        before = memory()
        result = run()
        log = self._log
        log.number(2, self._module)
        log.blob(self._lowered.encode())
        log.number(*grid, *block, shared, options.budget, options.multiprocessors)
        log.number(int(options.count), int(options.exact), *options.capability, options.seed)
        log.number(options.resident_blocks, int(options.cooperative), *(options.cluster or (0, 0, 0)))
        log.blob(parameters)
        log.number(len(segments))
        for (base, _, _, writable, _), first, last in zip(segments, before, memory(), strict=True):
            log.number(base, int(writable))
            log.blob(first)
            log.blob(last)
        log.blob(f"{result.fault_kind}: {result.fault_message}".encode())
        # Issues, lanes, divergences.
        rows: list[list[int]] = result.instructions[:, :3].tolist() if options.count else []
        log.number(len(rows))
        for row in rows:
            log.number(*row)
        return result


_open: list[_Log] = []


def pytest_unconfigure() -> None:
    for log in _open:
        log.file.close()


def pytest_configure() -> None:
    log = _Log(Path(os.environ["FLASHPATH_RECORD"]).open("wb"))  # noqa: SIM115 -- open until the end
    _open.append(log)
    load, make = device.VirtualModule.__init__, device.VirtualModule.kernel
    numbers: dict[int, int] = {}
    kept: list[device.VirtualModule] = []  # so that no identity is used twice

    def recorded_load(self: device.VirtualModule, ptx: str, *more: Any, **named: Any) -> None:
        load(self, ptx, *more, **named)
        if any(word in ptx for word in _SKIPPED):
            return
        numbers[id(self)] = log.modules
        kept.append(self)
        log.modules += 1
        log.number(1)
        log.blob(ptx.encode())

    def recorded_make(
        self: device.VirtualModule, lowered: str, name: str | None = None
    ) -> device.VirtualKernel:
        kernel = make(self, lowered, name)
        if id(self) in numbers:
            recorded: Any = _RecordedProgram(log, numbers[id(self)], lowered, kernel.program)
            kernel.program = recorded
        return kernel

    device.VirtualModule.__init__ = recorded_load
    device.VirtualModule.kernel = recorded_make
