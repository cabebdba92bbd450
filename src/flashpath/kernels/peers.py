"""What ladders compare themselves with: other libraries' functions, where they are importable."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


def with_compiled(device: str, function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """torch's own function and, on a GPU, what torch.compile makes of it.

    On a CPU it would wait for a C++ compiler and time something else. Shapes are static: code for any shape
    would be slower, and no peer's best.
    """
    import torch

    peers = {"torch": function}
    if device == "cuda":
        compiler: Any = torch
        peers["torch.compile"] = compiler.compile(function, dynamic=False)
    return peers


def library(name: str) -> Any | None:
    """The module, or None where it cannot be imported: then there is no such peer."""
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        return None
    try:
        return importlib.import_module(name)
    except Exception:  # such as a build for another version of torch
        return None


class Kept:
    """What `make` makes of its arguments, made again only where they are others, or were written to.

    For what a comparison needs beside what it times: a peer's own layout, a graph of autograd, the truth.
    Another stream gets its own: autograd computes a gradient on the stream of what it is the gradient of.
    """

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make
        self._of: tuple[Any, ...] = ()
        self._versions: tuple[int, ...] = ()
        self._by_stream: dict[int, Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        import torch

        tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
        versions = tuple(each._version for each in tensors)
        if not self._is_of(arguments) or versions != self._versions:
            self._of, self._versions = arguments, versions
            self._by_stream.clear()  # before something new is made: there may be no memory for both
        on_gpu = any(each.is_cuda for each in tensors)
        stream = torch.cuda.current_stream().cuda_stream if on_gpu else -1
        if stream not in self._by_stream:
            self._by_stream[stream] = self.make(*arguments)
        return self._by_stream[stream]

    def _is_of(self, arguments: tuple[Any, ...]) -> bool:
        """The same objects, which stay alive here, or equal ones that are no tensors."""
        if len(arguments) != len(self._of):
            return False
        pairs = zip(arguments, self._of, strict=True)
        return all(
            new is old or (not hasattr(new, "_version") and type(new) is type(old) and new == old)
            for new, old in pairs
        )


def cupy_stream(cupy: Any, x: Any) -> AbstractContextManager[object]:
    """Where CuPy works on torch's current stream, as everything else that is timed does."""
    import torch

    return cupy.cuda.ExternalStream(torch.cuda.current_stream(x.device).cuda_stream, x.get_device())
