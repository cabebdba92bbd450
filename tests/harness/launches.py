"""What a call launches on the virtual GPU: under the sanitizer, or in another order of warps and blocks."""

# pyright: basic

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

import pytest
from triton.runtime.jit import KernelInterface

import flashpath as fp
from flashpath.jit.launcher import Launcher
from flashpath.vgpu.options import Options
from flashpath.vgpu.report import Report

_launch_cuda, _launch_triton = fp.Kernel.__getitem__, KernelInterface.__getitem__


def sanitize_launches(monkeypatch: pytest.MonkeyPatch, seeds: int = 1) -> list[Any]:
    """Runs every launch under the sanitizer, CUDA kernels in `seeds` schedules; returns the live findings."""
    findings: list[Any] = []
    inside = False

    def sanitized(kernel: Any, *shape: Any, args: Any, **options: Any) -> None:
        nonlocal inside
        inside = True
        try:
            findings.extend(fp.sanitize(kernel, *shape, args=args, **options))
        finally:
            inside = False

    def cuda(kernel: fp.Kernel, shape: tuple[Any, ...]) -> Callable[..., Any]:
        grid, block, *memory = shape
        return lambda *args: sanitized(kernel, grid, block, args=args, shared=sum(memory), seeds=seeds)

    def triton(kernel: Any, grid: Any) -> Callable[..., Any]:
        if inside:
            return _launch_triton(kernel, grid)
        return lambda *args, **options: sanitized(kernel, grid, args=args, **options)

    monkeypatch.setattr(fp.Kernel, "__getitem__", cuda)
    monkeypatch.setattr(KernelInterface, "__getitem__", triton)
    return findings


def launch_in_schedule(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Makes CUDA kernels run their warps and blocks in the order that the seed gives."""

    def scheduled(kernel: fp.Kernel, shape: tuple[Any, ...]) -> Launcher:
        return Launcher(kernel, _launch_cuda(kernel, shape).shape, Options(seed=seed))

    monkeypatch.setattr(fp.Kernel, "__getitem__", scheduled)


@contextlib.contextmanager
def nothing_found(launches: int | None = None) -> Generator[list[Report]]:
    """Fails where the sanitizer finds something in what is launched, or the number of launches is another."""
    with fp.watch(sanitize=True) as reports:
        yield reports
    assert reports if launches is None else len(reports) == launches
    assert [finding for report in reports for finding in report.findings] == []
