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


def cupy_stream(cupy: Any, x: Any) -> AbstractContextManager[object]:
    """Where CuPy works on torch's current stream, as everything else that is timed does."""
    import torch

    return cupy.cuda.ExternalStream(torch.cuda.current_stream(x.device).cuda_stream, x.get_device())
