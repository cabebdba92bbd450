"""Counters for the blocks of a launch: who may share them, and who clears them."""

# pyright: basic

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from flashpath.kernels import counters


class Gpu:
    """Stands for one: which stream is current, and whether it captures."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stream, self.captures, self.cleared = 1, False, 0
        driver = SimpleNamespace(
            _cuda_isCurrentStreamCapturing=lambda: self.captures,
            _cuda_getCurrentRawStream=lambda _: self.stream,
        )
        monkeypatch.setattr(counters, "driver", lambda: driver)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda _: self.current())
        monkeypatch.setattr(counters, "_zeros", self.zeros)
        monkeypatch.setattr(counters, "_of_streams", {})
        monkeypatch.setattr(counters, "_of_graphs", {})

    def current(self) -> Any:
        return SimpleNamespace(synchronize=lambda: None)

    def zeros(self, count: int, _device: Any) -> Any:
        self.cleared += 1
        return torch.zeros(count, dtype=torch.int32)

    def counters(self, count: int) -> Any:
        x = SimpleNamespace(is_cuda=True, device="cuda:0", get_device=lambda: 0)
        return counters.counters_at_zero(x, count)


def test_launches_of_a_stream_share_counters_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu(monkeypatch)
    first = gpu.counters(8)
    assert gpu.counters(5).data_ptr() == first.data_ptr()
    assert gpu.counters(9).numel() >= 9
    gpu.stream = 2
    assert gpu.counters(8).data_ptr() != first.data_ptr()


def test_each_captured_launch_has_counters_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu(monkeypatch)
    gpu.counters(8)
    cleared, gpu.captures = gpu.cleared, True
    one, two = gpu.counters(8), gpu.counters(3)
    assert two.data_ptr() == one.data_ptr() + one.nbytes
    assert gpu.cleared == cleared


def test_what_no_pool_is_left_for_is_cleared_by_each_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu(monkeypatch)
    gpu.captures = True
    gpu.counters(8)  # nothing ran before: there is no pool
    assert gpu.cleared == 1
    gpu.captures = False
    gpu.counters(8)
    cleared, gpu.captures = gpu.cleared, True
    gpu.counters(counters._FOR_GRAPHS)
    assert gpu.cleared == cleared
    gpu.counters(1)
    assert gpu.cleared == cleared + 1


def test_on_the_cpu_they_are_new() -> None:
    x = torch.zeros(1)
    first, second = (counters.counters_at_zero(x, 4) for _ in range(2))
    assert first.data_ptr() != second.data_ptr()
    assert first.dtype == torch.uint32


@pytest.mark.gpu
def test_a_captured_launch_clears_nothing() -> None:
    x = torch.zeros(1, device="cuda")
    counters.counters_at_zero(x, 4)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.add_(1)
        mine = counters.counters_at_zero(x, 4)
    mine.view(torch.int32).fill_(7)
    graph.replay()
    assert mine.view(torch.int32).tolist() == [7] * 4
    mine.view(torch.int32).fill_(0)
