"""Shared by the tests of norms: memory full of NaN, and launches under every schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath.kernels.common.norm import read_twice as twice
from flashpath.kernels.common.norm import rows as shared
from flashpath.kernels.layer_norm import host as layer_norm
from flashpath.kernels.rms_norm import host as rms_norm


@pytest.fixture(autouse=True)
def nothing_is_zero_by_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that rungs ask for themselves is full of NaN."""

    def full_of_nan(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **options: Any) -> Any:
            return make(*args, **options).fill_(float("nan"))

        return made

    monkeypatch.setattr(torch, "empty", full_of_nan(torch.empty))
    monkeypatch.setattr(torch, "empty_like", full_of_nan(torch.empty_like))


class Sanitized:
    """Stands for a kernel: each launch runs under several schedules, and what is found is kept."""

    def __init__(self, kernel: Any, findings: list[Any]) -> None:
        self.kernel, self.findings = kernel, findings

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        def launch(*args: Any, **options: Any) -> None:
            if not options:  # a CUDA kernel: Triton's have their constants as options
                grid, block, *memory = shape
                more = {"shared": memory[0]} if memory else {}
                self.findings += fp.sanitize(self.kernel, grid, block, args, seeds=2, **more)
            else:
                self.findings += fp.sanitize(self.kernel, shape, args=args, **options)

        return launch


class TritonModule:
    """Stands for a module of Triton kernels."""

    def __init__(self, module: Any, findings: list[Any]) -> None:
        self.module, self.findings = module, findings

    def __getattr__(self, name: str) -> Sanitized:
        return Sanitized(getattr(self.module, name), self.findings)


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    real = shared.cuda_kernel

    def cuda_kernel(*args: Any) -> Sanitized:
        return Sanitized(real(*args), found)

    for module in (shared, twice, layer_norm, rms_norm):
        monkeypatch.setattr(module, "cuda_kernel", cuda_kernel)
    for module in (layer_norm, rms_norm):
        triton = TritonModule(module.triton_module(), found)
        monkeypatch.setattr(module, "triton_module", lambda triton=triton: triton)
    return found
