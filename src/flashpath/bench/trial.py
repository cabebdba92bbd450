"""One case before it is timed: who computes it right, and with how much memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from flashpath.bench.agreement import assert_agreement
from flashpath.bench.arrays import copy_of, poison_freed_memory, restore, total_bytes
from flashpath.bench.device import load_torch
from flashpath.bench.failure import describe
from flashpath.bench.implementation import Implementation
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Case

Check = Callable[[Any, tuple[Any, ...]], None]


@dataclass
class Trial:
    """The examination of all implementations on one case; `calls` are those that may be timed."""

    case: Case
    device: str
    check: Check | None
    counts_bytes: bool  # of ready arguments, whose traffic nobody stated
    calls: dict[str, Callable[[], Any]] = field(default_factory=dict[str, Callable[[], Any]])
    errors: dict[str, str] = field(default_factory=dict[str, str])
    peak_memory_bytes: dict[str, int | None] = field(default_factory=dict[str, int | None])
    written_bytes: int | None = None
    reference: tuple[str, Any] | None = None

    def __post_init__(self) -> None:
        self.broken: str | None = None
        try:
            self.inputs = self.case.inputs(self.device)
            self.pristine = copy_of(self.inputs)
        except Exception as error:
            self.broken = f"the arguments of the case {self.case.name!r} could not be made: {describe(error)}"

    def examine(self, name: str, implementation: Implementation) -> None:
        """Run one implementation once for its result and once for its memory."""
        if self.broken:
            self.errors[name] = self.broken
            return
        call = functools.partial(implementation.function, *self.inputs)
        try:
            if self.reference:
                poison_freed_memory(self.reference[1])
            output = call()
            self.judge(name, output)
            self.peak_memory_bytes[name] = peak_memory(call, self.device)
            self.calls[name] = call
        except Exception as error:
            self.errors[name] = describe(error)
        finally:
            # It may have worked in place: the next one gets the same inputs.
            with suppress(RuntimeError):  # a GPU that faulted answers nothing any more
                restore(self.inputs, self.pristine)

    def judge(self, name: str, output: Any) -> None:
        try:
            if self.check:
                self.check(output, self.pristine)
            else:
                reference_name, expected = self.reference or (name, output)
                assert_agreement(output, expected, reference_name)
        except AssertionError as error:
            reason = str(error).strip() or "the check says no more"
            raise FlashpathError(f"wrong result: {reason}") from None
        if self.reference is None:
            self.written_bytes = None if output is None else total_bytes(output)
            if self.counts_bytes:
                self.case = replace(self.case, bytes=total_bytes((self.inputs, output)))
            # A copy: the output may be one of the inputs, which are about to be restored.
            self.reference = (name, copy_of(output))


def peak_memory(call: Callable[[], Any], device: str) -> int | None:
    """Bytes that the call needs beside its inputs, as torch's allocator counts them."""
    if device != "cuda":
        return None
    cuda = load_torch().cuda
    cuda.synchronize()
    cuda.reset_peak_memory_stats()
    before = int(cuda.memory_allocated())
    call()
    cuda.synchronize()
    return int(cuda.max_memory_allocated()) - before
