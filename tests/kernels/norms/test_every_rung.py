"""What holds for all rungs of norms: no finding, other architectures, graphs; and checks that can fail."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.harness.norm_checks import (
    BACKWARD,
    BRAIN,
    EPS,
    EVERY,
    FORWARD,
    LADDERS,
    SINGLE,
    WITH_RESIDUAL,
    sample,
    saved,
    several_rows_at_once,
    triton_reads_rows_again,
    vectors,
    verify,
    verify_backward,
)


@pytest.mark.parametrize(("name", "rung"), EVERY)
def test_nothing_is_wrong_in_any_schedule(name: str, rung: str, findings: list[Any]) -> None:
    for shape in ((3, 37), (5, 264)):
        if (name, rung) in BACKWARD:
            verify_backward(name, rung, shape, BRAIN)
        else:
            residual = (sample(shape, BRAIN, seed=3),) if (name, rung) in WITH_RESIDUAL else ()
            inputs = (sample(shape, BRAIN), *vectors(name, shape[1], BRAIN), EPS[name])
            verify(name, rung, *inputs, *residual)
    assert findings == []


def test_nothing_is_wrong_with_rows_of_several_warps(findings: list[Any]) -> None:
    x = sample((2, 2056), BRAIN)
    verify("layer_norm", "vectorized", x, *vectors("layer_norm", 2056, BRAIN), 1e-5)
    for n in (8192, 8200):  # whole, and in two steps
        for name in LADDERS:
            x = sample((2, n), SINGLE)
            verify(name, "read_twice", x, *vectors(name, n, SINGLE), EPS[name])
    verify_backward("layer_norm", "backward_fused", (5, 1032), BRAIN)
    assert findings == []


def test_nothing_is_wrong_with_several_rows_at_once(
    findings: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    several_rows_at_once(monkeypatch, 2)
    for shape in ((5, 264), (4, 1024), (3, 2056), (2, 4096)):
        verify(
            "layer_norm", "vectorized", sample(shape, BRAIN), *vectors("layer_norm", shape[1], BRAIN), 1e-5
        )
    assert findings == []


@pytest.mark.parametrize("name", LADDERS)
def test_nothing_is_wrong_with_rows_that_triton_reads_again(
    name: str, findings: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    triton_reads_rows_again(monkeypatch)
    for n in (4096, 5003):
        inputs = (sample((2, n), BRAIN), *vectors(name, n, BRAIN), EPS[name])
        verify(name, "triton", *inputs)
        verify(name, "triton", *inputs, sample((2, n), BRAIN, seed=3))
    assert findings == []


@pytest.mark.parametrize("arch", ["oldest", "sm_100a"])
@pytest.mark.parametrize(("name", "rung"), EVERY)
def test_rung_compiles_for_the_oldest_and_the_newest(name: str, rung: str, arch: str) -> None:
    entry = LADDERS[name][rung]
    assert entry.compile_for is not None
    assert entry.compile_for(entry.arch if arch == "oldest" else arch) is not None


@pytest.mark.parametrize("name", LADDERS)
def test_the_ladders_checks_can_fail(name: str) -> None:
    ladder, x, eps = LADDERS[name], sample((4, 100), SINGLE), EPS[name]
    columns = vectors(name, 100, SINGLE)
    right = ladder.reference(x, *columns, eps)
    ladder.check(right, (x, *columns, eps))
    for wrong in (right * 1.0001, right[:3], right.half()):
        with pytest.raises(AssertionError):
            ladder.check(wrong, (x, *columns, eps))
    with_sum = (x, *columns, eps, x)
    out, total = ladder.reference(*with_sum)
    with pytest.raises(AssertionError):
        ladder.check((out, total + 1e-6), with_sum)
    backward = (x, x, columns[0], *saved(name, x))
    gradients = ladder.reference(*backward)
    ladder.check(gradients, backward)
    for i in range(len(gradients)):
        with pytest.raises(AssertionError):
            ladder.check([each * (1.0001 if i == j else 1) for j, each in enumerate(gradients)], backward)


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "rung"), FORWARD + BACKWARD)
def test_a_graph_replays_it(name: str, rung: str) -> None:
    x = sample((64, 1024), SINGLE, device="cuda")
    weight = vectors(name, 1024, SINGLE, "cuda")[0]
    statistics = saved(name, x)
    is_backward = (name, rung) in BACKWARD
    more = () if is_backward else (*vectors(name, 1024, SINGLE, "cuda")[1:], EPS[name])
    inputs = (x, x, weight, *statistics) if is_backward else (x, weight, *more)
    LADDERS[name][rung](*inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDERS[name][rung](*inputs)
    x *= 3
    for old, new in zip(statistics, saved(name, x), strict=True):
        old.copy_(new)
    graph.replay()
    LADDERS[name].check(out, inputs)
