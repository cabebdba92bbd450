"""Shared by the tests of attention: memory full of NaN, and launches under the sanitizer."""

# pyright: basic

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from triton.runtime.jit import KernelInterface

import flashpath as fp


@pytest.fixture(autouse=True)
def nothing_is_zero_by_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that rungs ask for themselves is full of NaN, or of large numbers."""

    def poisoned(make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **options: Any) -> Any:
            x = make(*args, **options)
            return x.fill_(float("nan") if x.is_floating_point() else 77) if x.dtype != torch.bool else x

        return made

    for home, name in ((torch, "empty"), (torch, "empty_like"), (torch.Tensor, "new_empty")):
        monkeypatch.setattr(home, name, poisoned(getattr(home, name)))


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every launch on the virtual GPU runs under the sanitizer; what it finds is listed here."""
    found: list[Any] = []
    inside = False
    launch_triton = KernelInterface.__getitem__

    def sanitized(kernel: Any, *shape: Any, args: Any, **options: Any) -> None:
        nonlocal inside
        inside = True
        try:
            found.extend(fp.sanitize(kernel, *shape, args=args, **options))
        finally:
            inside = False

    def cuda(kernel: fp.Kernel, shape: tuple[Any, ...]) -> Callable[..., Any]:
        grid, block, *memory = shape
        more = {"shared": memory[0]} if memory else {}
        return lambda *args: sanitized(kernel, grid, block, args=args, **more)

    def triton(kernel: Any, grid: Any) -> Callable[..., Any]:
        if inside:
            return launch_triton(kernel, grid)
        return lambda *args, **options: sanitized(kernel, grid, args=args, **options)

    monkeypatch.setattr(fp.Kernel, "__getitem__", cuda)
    monkeypatch.setattr(KernelInterface, "__getitem__", triton)
    return found


@pytest.fixture
def sanitized_on_cpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """For tests of both devices: on the virtual GPU the sanitizer is on, and must find nothing."""
    found = request.getfixturevalue("findings") if request.getfixturevalue("device") == "cpu" else []
    yield
    assert not found
