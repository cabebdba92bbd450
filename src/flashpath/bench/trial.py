"""One case around its timing: who computes it right, with how much memory, and still so on new data."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from flashpath.bench.agreement import assert_agreement, distance
from flashpath.bench.arrays import (
    altered,
    can_replace,
    changed_argument,
    copy_of,
    poison_freed_memory,
    restore,
    same_bits,
    total_bytes,
)
from flashpath.bench.device import load_torch
from flashpath.bench.failure import FAILURES, Reason, reason_of
from flashpath.bench.implementation import Implementation
from flashpath.bench.timer import Function, Timer, Timings, time_interleaved
from flashpath.bench.varying import Varying
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Case
from flashpath.kernels.tolerance import WrongResult
from flashpath.messages import Message, told

Check = Callable[[Any, tuple[Any, ...]], object]


# How far a peer may be from the truth, in units of its largest element: a few roundings of bfloat16.
NEAR_FOR_A_PEER = 2**-6


class Refused(FlashpathError):
    """An implementation returned what is not right, or changed its inputs."""


@contextmanager
def saying(what: Message) -> Generator[None]:
    """Turns a failed comparison into a refusal that starts with these words."""
    try:
        yield
    except AssertionError as error:
        said = error.said if isinstance(error, FlashpathError) else str(error).strip()
        why = said or Message("bench.check-silent")
        raise Refused("bench.refused", what=what, why=why) from None


@dataclass
class Trial:
    """The examination of all implementations on one case; `calls` are those that may be timed."""

    case: Case
    device: str
    check: Check | None
    truth: Callable[[tuple[Any, ...]], Any] | None  # inputs → the exact result
    is_ready: bool  # the arguments are the caller's own: nobody stated their traffic, nobody can draw others
    calls: dict[str, functools.partial[Any]] = field(default_factory=dict[str, functools.partial[Any]])
    errors: dict[str, Reason] = field(default_factory=dict[str, Reason])
    notes: dict[str, Message] = field(default_factory=dict[str, Message])  # of those that are timed
    peers: set[str] = field(default_factory=set[str])
    peak_memory_bytes: dict[str, int | None] = field(default_factory=dict[str, int | None])
    distances: dict[str, float] = field(default_factory=dict[str, float])  # from the truth
    written_bytes: int | None = None
    reference: tuple[str, Any] | None = None

    def __post_init__(self) -> None:
        self.broken: Reason | None = None
        self.exact: Any = None
        try:
            self.inputs = self.case.inputs(self.device)
            self.pristine = copy_of(self.inputs)
        except Exception as error:
            self.broken = told("bench.case-not-made", case=self.case.name, why=reason_of(error))

    def examine(self, name: str, implementation: Implementation) -> None:
        """Run one implementation once for its result and once for its memory."""
        if obstacle := implementation.obstacle_to(self.case) or self.broken:
            self.errors[name] = obstacle
            return
        call = functools.partial(implementation.function, *self.inputs)
        if implementation.is_peer:
            self.peers.add(name)
        try:
            output = self.output_of(call, self.pristine)
            self.judge(name, output)
            self.measure_distance(name, output)
            del output
            self.peak_memory_bytes[name] = peak_memory(call, self.device)
            self.calls[name] = call
        except FAILURES as error:
            self.errors[name] = reason_of(error)
        finally:
            self.write_inputs(self.pristine)  # the next one gets the same

    def time(
        self, seconds: float, timer: Timer | None, calls: Mapping[str, Function] | None = None
    ) -> Timings:
        """Times what is right, each call on inputs that differ a little from those before."""
        calls = self.calls if calls is None else calls
        if not calls:
            return Timings()
        before = Varying(self.inputs, is_drawn=not self.is_ready)
        try:
            return time_interleaved(calls, device=self.device, seconds=seconds, timer=timer, before=before)
        finally:
            self.write_inputs(self.pristine)

    def measure_distance(self, name: str, output: Any) -> None:
        if self.truth is None:
            return
        try:
            if self.exact is None:
                self.exact = self.truth(self.pristine)
            away = distance(output, self.exact)
        except WrongResult:
            return
        except FlashpathError:
            raise
        except (TypeError, ValueError, RuntimeError, AttributeError):
            return  # of another kind or shape; or there is no memory for the truth
        if math.isfinite(away):
            self.distances[name] = away

    def forget_truth(self) -> None:
        """Everything is examined: what is timed gets the memory."""
        self.exact = None

    def output_of(self, call: Callable[[], Any], before: tuple[Any, ...]) -> Any:
        """The result of one call that must leave its inputs, which are `before`, as they are."""
        if self.reference:
            poison_freed_memory(self.reference[1])
        output = call()
        changed = changed_argument(self.inputs, before)
        if changed is not None:
            raise Refused("bench.changes-inputs", argument=changed)
        return output

    def write_inputs(self, values: Any) -> None:
        with suppress(RuntimeError, ValueError):  # a GPU that faulted answers nothing any more
            restore(self.inputs, values)

    def judge(self, name: str, output: Any) -> None:
        reference_name, expected = self.reference or (name, output)
        if self.check:
            self.apply_check(Message("bench.wrong-result"), name, output, self.pristine)
        else:
            with saying(Message("bench.wrong-result")):
                assert_agreement(output, expected, reference_name)
        if self.reference is None:
            self.written_bytes = None if output is None else total_bytes(output)
            if self.is_ready:
                self.case = replace(self.case, bytes=total_bytes((self.inputs, output)))
            # A copy: the output may be one of the inputs, which are about to be restored.
            self.reference = (name, copy_of(output))

    def apply_check(self, what: Message, name: str, output: Any, inputs: tuple[Any, ...]) -> None:
        """A peer that is near, if not as near as a rung has to be, is a peer all the same: it is noted."""
        assert self.check is not None
        try:
            with saying(what):
                apply(self.check, output, inputs)
        except Refused as refused:
            if name not in self.peers or self.truth is None:
                raise
            try:
                away = distance(output, self.truth(inputs))
            except WrongResult:
                raise refused from None
            except FlashpathError:
                raise
            except (TypeError, ValueError, RuntimeError, AttributeError):
                raise refused from None  # of another kind or shape: there is no distance
            if not away <= NEAR_FOR_A_PEER:
                raise
            self.notes[name] = told("bench.less-exact", why=refused.said.params["why"])

    def recheck(self, names: Collection[str]) -> dict[str, Reason]:
        """Why the times of some do not count: what they do wrong on new data in the same memory.

        A function that keeps its result, by the address or the shape of its inputs, was timed doing nothing.
        """
        errors: dict[str, Reason] = {}
        try:
            fresh, is_drawn = self.new_inputs()
            if names and not same_bits(fresh, self.pristine):
                if not self.is_ready:
                    self.pristine = fresh  # large cases leave no room for both
                reference = None if self.check else self.new_reference(names, fresh, errors)
                for name in names:
                    if name not in errors:
                        self.recheck_one(name, fresh, reference, is_drawn, errors)
        except FAILURES:
            # There is no memory for new data, or the first implementation does not take them: nothing is
            # known against the times, and they stand.
            return errors
        finally:
            if self.is_ready:
                self.write_inputs(self.pristine)
        return errors

    def recheck_one(
        self,
        name: str,
        fresh: tuple[Any, ...],
        reference: tuple[str, Any] | None,
        is_drawn: bool,
        errors: dict[str, Reason],
    ) -> None:
        call = self.calls[name]
        try:
            # A check may know the result of the caller's own data only: then a call on a copy is the truth.
            expected = None
            if not is_drawn and reference is None:
                expected = (told("bench.on-a-copy", name=name), call.func(*copy_of(fresh)))
            self.write_inputs(fresh)
            output = self.output_of(call, fresh)
            if self.check and is_drawn:
                self.apply_check(Message("bench.wrong-result-new"), name, output, fresh)
            else:
                with saying(Message("bench.wrong-result-new")):
                    expected_name, result = reference or expected or (name, output)
                    assert_agreement(output, result, expected_name)
        except FAILURES as error:
            if is_drawn or isinstance(error, Refused):
                errors[name] = reason_of(error)

    def new_inputs(self) -> tuple[tuple[Any, ...], bool]:
        """Other values for the inputs, and whether the case drew them: else they are made of the old ones."""
        if not self.is_ready:
            with suppress(Exception):
                drawn = self.case.inputs(self.device)
                if can_replace(drawn, self.pristine):
                    return drawn, True
        return altered(self.pristine), False

    def new_reference(
        self, names: Collection[str], fresh: tuple[Any, ...], errors: dict[str, Reason]
    ) -> tuple[str, Any] | None:
        """The first implementation's result on a copy of the new data, unless it is the old result."""
        if self.reference is None:
            return None
        name, before = self.reference
        result = copy_of(self.calls[name].func(*copy_of(fresh)))
        if not same_bits(result, before):
            return name, result
        # Its result may be the same for all data. Where another one's is not, it was kept.
        for other in names:
            others_result = self.calls[other].func(*copy_of(fresh))
            try:
                assert_agreement(others_result, result, name)
            except AssertionError:
                errors[name] = Message(
                    "bench.refused",
                    {"what": Message("bench.wrong-result-new"), "why": Message("bench.result-kept")},
                ).text()
                return other, copy_of(others_result)
        return name, result


def apply(check: Check, output: Any, inputs: tuple[Any, ...]) -> None:
    """Raise AssertionError where the check does, or where it returns False."""
    import numpy as np

    verdict = check(output, inputs)
    if isinstance(verdict, (bool, np.bool_)) and not verdict:
        raise WrongResult("bench.check-false")


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
