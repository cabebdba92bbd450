"""Launches a kernel with a given shape: the way that every launch takes, so it is kept short.

cuda-core loads the code; the launch itself goes straight to the driver, with parameters packed once
(docs/decisions/0003-launch-path.md, benchmarks/launch_cost.py).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashpath import settings
from flashpath.gpus.shape import LaunchError, LaunchShape
from flashpath.jit import device as cuda
from flashpath.jit import observing, virtual, watching
from flashpath.jit.arguments import HOST, shown
from flashpath.jit.loading import Launch
from flashpath.messages import Message
from flashpath.vgpu.options import DEFAULT, Options
from flashpath.vgpu.profiles import profile_for

if TYPE_CHECKING:
    from flashpath.jit.module import Kernel

INVALID_CONTEXT = 201  # CUDA_ERROR_INVALID_CONTEXT: this thread has not used the GPU yet


class Launcher:
    """A kernel and the shape of its launch: what `kernel[grid, block]` returns."""

    def __init__(self, kernel: Kernel, shape: LaunchShape, options: Options = DEFAULT) -> None:
        self.kernel = kernel
        self.shape = shape
        self.options = options  # of launches on the virtual GPU
        self._pack = kernel.packer.pack
        self._ready: dict[int, Launch] = {}
        self._current_stream = _current_stream()
        self._debug = settings.debug()
        self._several_gpus = cuda.count() > 1
        self._is_usual = not self._debug and not self._several_gpus
        wanted = (settings.DEVICE.value or "cuda").lower()
        self._without_arrays_virtual = cuda.count() == 0 or not wanted.startswith("cuda")

    def __call__(self, *args: Any) -> None:
        self.launch(args, None)

    def launch(self, args: Sequence[Any], stream: Any) -> None:
        """Check and pack the arguments, and launch where the arrays are."""
        parameters, where = self._pack(args)
        if where < 0:
            if where == HOST or self._without_arrays_virtual:
                self._launch_virtual(args)
                if observing.observer is not None:
                    observing.observer.launched(self, args, self.kernel.packer.packed(), HOST)
                return
            where = _torchs_device()
        try:
            launch = self._ready[where]
        except KeyError:
            launch = self._ready[where] = self.kernel.loaded(where).prepare(self.shape)
        handle = self._current_stream(where) if stream is None else stream_handle(stream)
        if not self._is_usual:
            launch = self._unusual(launch, args, where, handle)
        status = launch(handle, parameters)
        if status:
            if status == INVALID_CONTEXT:
                status = _on_device(launch, where)(handle, parameters)
            require_launched(status, self.kernel.name)
        if observing.observer is not None and stream is None:
            observing.observer.launched(self, args, self.kernel.packer.packed(), where)

    def _unusual(self, launch: Launch, args: Sequence[Any], where: int, stream: int) -> Launch:
        if self._debug:
            arguments = shown(self.kernel.signature, args)
            self.shape.show(self.kernel.name, f"stream {stream:#x}", arguments)
        return _on_device(launch, where) if self._several_gpus else launch

    def _launch_virtual(self, args: Sequence[Any]) -> None:
        watch = watching.current()
        gpu = profile_for(self.kernel.arch, watch.device if watch else None)
        options = replace(watch.options, exact=self.options.exact) if watch else self.options
        launched = virtual.ready(self.kernel, self.shape, args, gpu).run(options)
        if watch and launched.report:
            watch.reports.append(launched.report)


# ---- Streams -------------------------------------------------------------------------------------------


def _current_stream() -> Callable[[int], int]:
    """A function from a device to torch's current stream there."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return _current_stream_if_torch_came
    # The function that Triton asks too: a tenth of the cost of building a torch.cuda.Stream.
    return getattr(torch._C, "_cuda_getCurrentRawStream", _default_stream)


def _current_stream_if_torch_came(device: int) -> int:
    return _current_stream()(device) if "torch" in sys.modules else 0


def _default_stream(device: int) -> int:
    return 0


def stream_handle(stream: Any) -> int:
    """The raw handle of a stream: of torch, of cuda-core, or a number."""
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "cuda_stream"):  # torch.cuda.Stream
        return int(stream.cuda_stream)
    if hasattr(stream, "__cuda_stream__"):  # cuda-core, CuPy and others by protocol
        return int(stream.__cuda_stream__()[1])
    raise LaunchError("jit.stream", value=repr(stream))


def require_launched(status: int, kernel: str) -> None:
    """Raises what the driver says of a launch that failed."""
    if status:
        status = cuda.driver().CUresult(status)
        cuda.checked((status,), Message("jit.doing-launch", {"kernel": kernel}))


# ---- Contexts ------------------------------------------------------------------------------------------


def _on_device(launch: Launch, device: int) -> Launch:
    """The same launch with that GPU current in this thread, and what was current before restored after."""

    def on_device(stream: int, parameters: Any) -> int:
        bindings = cuda.driver()
        before = cuda.checked(bindings.cuCtxGetCurrent(), "cuCtxGetCurrent")
        core: Any = importlib.import_module("cuda.core")
        core.Device(device).set_current()  # the primary context, the one that torch uses
        try:
            return launch(stream, parameters)
        finally:
            if int(before):
                cuda.checked(bindings.cuCtxSetCurrent(before), "cuCtxSetCurrent")

    return on_device


def _torchs_device() -> int:
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return 0
