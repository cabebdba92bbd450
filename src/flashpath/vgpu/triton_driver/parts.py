"""The parts of Triton that the driver touches, in one place: Triton ships no types, so each is `Any`."""

from __future__ import annotations

import importlib
from typing import Any


def _part(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"triton.{module}"), name)


drivers: Any = _part("runtime.driver", "driver")  # holds the active driver of the process
DriverBase: Any = _part("backends.driver", "DriverBase")
GPUTarget: Any = _part("backends.compiler", "GPUTarget")
Autotuner: Any = _part("runtime.autotuner", "Autotuner")
TensorDescriptor: Any = _part("tools.tensor_descriptor", "TensorDescriptor")
get_cache_manager: Any = _part("runtime.cache", "get_cache_manager")
global_allocator: Any = _part("runtime._allocation", "_allocator")
profile_allocator: Any = _part("runtime._allocation", "_profile_allocator")
testing: Any = importlib.import_module("triton.testing")
