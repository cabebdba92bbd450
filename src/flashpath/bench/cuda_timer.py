"""Timing on a CUDA GPU: events around the call, or a replayed graph where the call is short.

Two things make short calls look wrong. Data left in the L2 cache by the call before makes memory-bound
kernels too fast: every timed call starts after a write that is larger than the cache, and that write is not
timed. The host needs tens of microseconds for a call, on a busy machine more, and an event pair counts that
gap: calls below `SHORT_CALL_SECONDS` are captured in a CUDA graph and replayed, with the flush and the events
as nodes of the same graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from flashpath.bench.device import load_torch
from flashpath.bench.failure import describe
from flashpath.bench.timer import Function, Sampler, nothing

SHORT_CALL_SECONDS = 5e-3
CALLS_PER_GRAPH = 10
LEAST_FLUSH_BYTES = 256 * 2**20


class CaptureFailed(Exception):
    """The call cannot be captured in a CUDA graph; the message says why."""


class CudaTimer:
    """Times work on the current CUDA device, every call with a cold L2 cache."""

    def __init__(self) -> None:
        self.torch = load_torch()
        cache_bytes = int(
            self.torch.cuda.get_device_properties(self.torch.cuda.current_device()).L2_cache_size
        )
        flush_bytes = max(LEAST_FLUSH_BYTES, 4 * cache_bytes)
        self.flush_buffer = self.torch.empty(flush_bytes, dtype=self.torch.int8, device="cuda")
        self.capture_stream = self.torch.cuda.Stream()

    def flush(self) -> None:
        """Push everything else out of the L2 cache."""
        self.flush_buffer.zero_()

    def warm_up(self, function: Function, calls: int) -> None:
        for _ in range(calls):
            function()
        self.torch.cuda.synchronize()

    def sampler(self, function: Function, before: Function = nothing) -> Sampler:
        events = EventSampler(self, function, before)
        if not self._is_short(events):
            return events
        try:
            return GraphSampler(self, function, before)
        except CaptureFailed as failure:
            events.method = f"events, cold L2; includes launch gaps, no graph: {failure}"
            return events

    def _is_short(self, events: EventSampler) -> bool:
        # One slow sample may be a hiccup; one that is ten times too slow is none, and needs no repetition.
        if events.sample()[0] >= 10 * SHORT_CALL_SECONDS:
            return False
        return min(events.sample()[0] for _ in range(3)) < SHORT_CALL_SECONDS

    def capture(self, work: Callable[[], Any]) -> Any:
        """`work` as a CUDA graph, or `CaptureFailed` with torch in a usable state."""
        torch = self.torch
        stream_before = torch.cuda.current_stream()
        pool = torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    with torch.cuda.graph(graph, pool=pool, stream=self.capture_stream):
                        work()
                finally:
                    # torch leaves the capture stream current when the capture fails.
                    torch.cuda.set_stream(stream_before)
        except Exception as error:
            # Ending a broken capture raises as well; the call's own error is the one that explains it.
            reason = describe(error.__context__ or error).splitlines()[0]
            self._recover(pool)
            raise CaptureFailed(reason) from None
        if any("CUDA Graph is empty" in str(warning.message) for warning in caught):
            raise CaptureFailed("the call launched nothing on torch's current stream")
        return graph

    def _recover(self, pool: Any) -> None:
        """Undo what a failed capture leaves behind in torch.

        The allocator still believes that a capture is under way, and the random generator refuses to draw
        numbers ("offset increment outside graph capture"). The first is told that the capture is over; a
        capture that succeeds resets the second.
        """
        torch = self.torch
        torch.cuda.synchronize()
        with suppress(AttributeError, RuntimeError):  # a torch that had ended it already
            torch._C._cuda_endAllocateToPool(torch.cuda.current_device(), pool)
        with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=self.capture_stream):
            self.flush_buffer[:1].zero_()


class EventSampler:
    """One call between two events, after a flush that hides the launch of the first kernel."""

    def __init__(self, timer: CudaTimer, function: Function, before: Function = nothing) -> None:
        self.method = "events, cold L2"
        self.timer = timer
        self.function = function
        self.before = before
        self.start, self.end = (timer.torch.cuda.Event(enable_timing=True) for _ in range(2))

    def sample(self) -> Sequence[float]:
        self.before()
        self.timer.flush()
        self.start.record()
        self.function()
        self.end.record()
        self.end.synchronize()
        return [self.start.elapsed_time(self.end) / 1e3]


class GraphSampler:
    """Several calls in one graph, each between two event nodes and after a flush of its own."""

    def __init__(self, timer: CudaTimer, function: Function, before: Function = nothing) -> None:
        torch = timer.torch
        self.method = "graph replay, cold L2"
        self.torch = torch
        # External events become nodes of the graph, recorded anew at each replay.
        self.pairs: list[tuple[Any, Any]] = [
            (
                torch.cuda.Event(enable_timing=True, external=True),
                torch.cuda.Event(enable_timing=True, external=True),
            )
            for _ in range(CALLS_PER_GRAPH)
        ]
        # Per-stream workspaces must exist before the capture: memory taken inside it belongs to the graph.
        timer.capture_stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(timer.capture_stream):
            function()
        torch.cuda.synchronize()
        # Alone, to learn whether the graph holds the call at all: a kernel launched on a stream of its own
        # would leave a graph of flushes and events behind, which replays in no time.
        timer.capture(function)

        def flush_and_call() -> None:
            for start, end in self.pairs:
                before()
                timer.flush()
                start.record()
                function()
                end.record()

        self.graph = timer.capture(flush_and_call)

    def sample(self) -> Sequence[float]:
        self.graph.replay()
        self.torch.cuda.synchronize()
        return [start.elapsed_time(end) / 1e3 for start, end in self.pairs]
