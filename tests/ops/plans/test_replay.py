"""A recorded call, repeated on other tensors, gives what the call itself gives on them, bit by bit."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.ops.plans.trace import Launch, NotPlannable, Operation
from tests.harness.replaying import recorded, replayed

Tensor = torch.Tensor


def _randn(*shape: int, dtype: Any = torch.float32) -> Tensor:
    return torch.randn(shape).to(dtype)


HALF = torch.bfloat16
CALLS: dict[str, tuple[Callable[..., Any], list[tuple[tuple[int, ...], Any]]]] = {
    "softmax": (ops.softmax, [((3, 50), torch.float32)]),
    "softmax over another dimension": (lambda x: ops.softmax(x, 1), [((3, 5, 7), torch.float32)]),
    "softmax of long rows": (ops.softmax, [((2, 70_000), torch.float32)]),
    "silu": (ops.silu, [((5, 33), HALF)]),
    "add": (ops.add, [((5, 33), HALF), ((5, 33), HALF)]),
    "clamp": (lambda x: ops.clamp(x, -0.5, 0.5), [((100,), torch.float32)]),
    "layer_norm": (
        ops.layer_norm,
        [((2, 3, 40), torch.float32), ((40,), torch.float32), ((40,), torch.float32)],
    ),
    "rms_norm": (ops.rms_norm, [((6, 40), HALF), ((40,), HALF)]),
    "matmul": (ops.matmul, [((17, 24), torch.float32), ((24, 40), torch.float32)]),
    "sum": (ops.reduce, [((3000,), torch.float32)]),
    "max of rows": (lambda x: ops.reduce(x, "max", 0), [((30, 20), torch.float32)]),
    "attention": (
        lambda q, k, v: ops.attention(q, k, v, causal=True),
        [((1, 40, 4, 16), HALF), ((1, 40, 2, 16), HALF), ((1, 40, 2, 16), HALF)],
    ),
    "attention with lse": (
        lambda q, k, v: ops.attention(q, k, v, return_lse=True),
        [((2, 9, 2, 16), HALF)] * 3,
    ),
    "scan": (ops.scan, [((1000,), torch.float32)]),
    "sort": (ops.sort, [((300,), torch.float32)]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_replay_gives_what_the_call_gives(name: str) -> None:
    function, layouts = CALLS[name]
    trace, _ = recorded(function, *(_randn(*shape, dtype=dtype) for shape, dtype in layouts))
    tensors = [_randn(*shape, dtype=dtype) for shape, dtype in layouts]
    expected, got = function(*tensors), replayed(trace, *tensors)
    torch.testing.assert_close(got, expected, rtol=0, atol=0, check_stride=True)


def test_a_call_with_one_tensor_twice_is_recorded_by_position() -> None:
    x, y, z = (_randn(4, 20) for _ in range(3))
    trace, _ = recorded(ops.add, x, x)
    torch.testing.assert_close(replayed(trace, y, z), y + z, rtol=0, atol=0)


def test_views_of_arguments_are_followed() -> None:
    pair, other = (_randn(2, 3, 40) for _ in range(2))
    trace, _ = recorded(lambda x: ops.add(x[0], x[1]), pair)
    assert [type(step) for step in trace.steps] == [Launch]
    torch.testing.assert_close(replayed(trace, other), other[0] + other[1], rtol=0, atol=0)


def test_a_copy_of_what_is_not_contiguous_is_repeated() -> None:
    x, other = (_randn(40, 3).t() for _ in range(2))
    trace, _ = recorded(ops.softmax, x)
    assert [type(step) for step in trace.steps] == [Operation, Launch]
    torch.testing.assert_close(replayed(trace, other), ops.softmax(other), rtol=0, atol=0)


def test_the_caches_of_a_decoding_step_are_written_and_their_versions_counted() -> None:
    def step(q: Tensor, k: Tensor, v: Tensor, new_k: Tensor, new_v: Tensor, lengths: Tensor) -> Any:
        return ops.attention_decode(q, k, v, k=new_k, v=new_v, cache_seqlens=lengths, return_lse=True)

    def tensors() -> list[Tensor]:
        caches = [_randn(1, 64, 2, 16, dtype=HALF) for _ in range(2)]
        new = [_randn(1, 1, 2, 16, dtype=HALF) for _ in range(2)]
        return [_randn(1, 1, 4, 16, dtype=HALF), *caches, *new, torch.tensor([30], dtype=torch.int32)]

    trace, _ = recorded(step, *tensors())
    ours = tensors()
    theirs = [each.clone() for each in ours]
    versions = [each._version for each in ours]
    torch.testing.assert_close(replayed(trace, *ours), step(*theirs), rtol=0, atol=0)
    assert [each._version - before for each, before in zip(ours, versions, strict=True)] == [0, 1, 1, 0, 0, 0]
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def test_what_looks_at_numbers_is_not_planned() -> None:
    x = _randn(4, 20)
    with pytest.raises(NotPlannable, match="_local_scalar_dense"):
        recorded(lambda x: ops.scale(x, float(x[0, 0])), x)


def test_memory_from_elsewhere_is_not_planned() -> None:
    weight = _randn(20)
    with pytest.raises(NotPlannable, match="neither an argument"):
        recorded(lambda x: ops.rms_norm(x, weight), _randn(4, 20))


def test_a_result_that_is_an_argument_is_not_planned() -> None:
    with pytest.raises(NotPlannable, match="no memory of its own"):
        recorded(lambda x: x[:1], _randn(4, 20))
