"""Calls with plans on a GPU: the same bits as without, whatever thread, stream or graph they are made in."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.compat.flash_attn import flash_attn_func, flash_attn_with_kvcache
from flashpath.errors import FlashpathError
from flashpath.ops import plans

Tensor = torch.Tensor
HALF = torch.bfloat16
gpu = pytest.mark.gpu
Drawn = Callable[[], tuple[Any, ...]]


def _randn(*shape: int, dtype: Any = HALF) -> Tensor:
    return torch.randn(shape, device="cuda", dtype=dtype)


def _lengths(*lengths: int) -> Tensor:
    return torch.tensor(lengths, dtype=torch.int32, device="cuda")


def _heads(*lengths: int, heads: int = 4, dim: int = 64) -> tuple[Tensor, ...]:
    return tuple(_randn(2, length, heads, dim) for length in lengths)


CALLS: dict[str, tuple[Callable[..., Any], Drawn]] = {
    "softmax": (ops.softmax, lambda: (_randn(64, 1000),)),
    "softmax of dim 1": (lambda x: ops.softmax(x, 1), lambda: (_randn(3, 50, 7),)),
    "softmax of long rows": (ops.softmax, lambda: (_randn(2, 300_000),)),
    "softmax of a column": (ops.softmax, lambda: (_randn(64, 1000)[:, 3:900],)),
    "layer_norm": (ops.layer_norm, lambda: (_randn(4, 16, 512), _randn(512), _randn(512))),
    "rms_norm": (ops.rms_norm, lambda: (_randn(4, 16, 512), _randn(512))),
    "add_rms_norm": (ops.add_rms_norm, lambda: (_randn(64, 512), _randn(64, 512), _randn(512))),
    "add_layer_norm": (
        ops.add_layer_norm,
        lambda: (_randn(64, 512), _randn(64, 512), _randn(512), _randn(512)),
    ),
    "cross_entropy": (
        ops.cross_entropy,
        lambda: (_randn(64, 5003), torch.randint(5003, (64,), device="cuda")),
    ),
    "cross_entropy of few rows": (
        ops.cross_entropy,
        lambda: (_randn(2, 50_021), torch.randint(50_021, (2,), device="cuda")),
    ),
    "silu": (ops.silu, lambda: (_randn(33, 77),)),
    "silu_and_mul": (ops.silu_and_mul, lambda: (_randn(33, 128),)),
    "add": (ops.add, lambda: (_randn(33, 77), _randn(33, 77))),
    "add, not aligned": (ops.add, lambda: (_randn(100)[1:], _randn(99))),
    "clamp": (lambda x: ops.clamp(x, -0.5, 0.5), lambda: (_randn(1000),)),
    "scale": (lambda x: ops.scale(x, 0.5), lambda: (_randn(1000),)),
    "scale_add_activation": (
        lambda x, y: ops.scale_add_activation(x, 0.5, y, "gelu"),
        lambda: (_randn(1000), _randn(1000)),
    ),
    "matmul": (ops.matmul, lambda: (_randn(256, 128), _randn(128, 512))),
    "matmul, large": (ops.matmul, lambda: (_randn(2048, 1024), _randn(1024, 2048))),
    "matmul, not aligned": (ops.matmul, lambda: (_randn(65, 33), _randn(33, 71))),
    "matmul of float32": (
        ops.matmul,
        lambda: (_randn(65, 33, dtype=torch.float32), _randn(33, 71, dtype=torch.float32)),
    ),
    "sum": (ops.reduce, lambda: (_randn(300, 1000),)),
    "max of rows": (lambda x: ops.reduce(x, "max", 0), lambda: (_randn(300, 20),)),
    "scan": (ops.scan, lambda: (_randn(10_000, dtype=torch.float32),)),
    "swiglu": (ops.swiglu, lambda: (_randn(33, 77), _randn(33, 77))),
    "rope": (
        lambda q, k, cos, sin: ops.rope(q, k, cos, sin, offsets=3),
        lambda: (*_heads(20, 20), _randn(40, 32, dtype=torch.float32), _randn(40, 32, dtype=torch.float32)),
    ),
    "rope at positions": (
        lambda q, k, cos, sin, rows: ops.rope(q, k, cos, sin, positions=rows, interleaved=True),
        lambda: (*_heads(3, 3), _randn(40, 32), _randn(40, 32), _lengths(7, 0, 39)),
    ),
    "linear": (
        lambda x, w, b, r: ops.linear(x, w, b, "gelu", r),
        lambda: (_randn(4, 65, 128), _randn(256, 128), _randn(256), _randn(4, 65, 256)),
    ),
    "linear, not aligned": (ops.linear, lambda: (_randn(65, 33), _randn(71, 33), _randn(71))),
    "many products": (ops.matmul, lambda: (_randn(2, 5, 65, 32), _randn(5, 32, 70))),
    "many products of float32": (
        ops.matmul,
        lambda: (_randn(9, 65, 33, dtype=torch.float32), _randn(9, 33, 71, dtype=torch.float32)),
    ),
    "min of two dimensions": (lambda x: ops.reduce(x, "min", (0, 2), True), lambda: (_randn(30, 20, 7),)),
    "scaled_dot_product_attention": (
        lambda q, k, v: ops.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda: (_randn(2, 4, 100, 64), _randn(2, 4, 300, 64), _randn(2, 4, 300, 64)),
    ),
    "sort of rows": (lambda x: ops.sort(x, dim=0, descending=True), lambda: (_randn(300, 40),)),
    "sort": (ops.sort, lambda: (_randn(10_000, dtype=torch.float32),)),
    "histogram": (lambda x: ops.histogram(x, 64, -4.0, 4.0), lambda: (_randn(10_000, dtype=torch.float32),)),
    "attention": (
        lambda q, k, v: ops.attention(q, k, v, causal=True, return_lse=True),
        lambda: _heads(300, 300, 300),
    ),
    "attention, d128": (
        lambda q, k, v: ops.attention(q, k, v, causal=True),
        lambda: _heads(512, 512, 512, dim=128),
    ),
    "attention by CUDA C++": (
        lambda q, k, v: ops.attention(q, k, v, backend="cuda"),
        lambda: _heads(300, 400, 400),
    ),
    "attention by Triton": (
        lambda q, k, v: ops.attention(q, k, v, window=(100, 0), softcap=20.0, backend="triton"),
        lambda: _heads(300, 300, 300),
    ),
    "attention of views": (
        lambda q, kv: ops.attention(q, *kv.unbind(2)),
        lambda: (_randn(2, 100, 4, 64), _randn(2, 100, 2, 4, 64)),
    ),
    "attention_varlen": (
        lambda q, k, v, bounds: ops.attention_varlen(q, k, v, bounds, bounds, 70, 70, causal=True),
        lambda: (*(_randn(100, 4, 64) for _ in range(3)), _lengths(0, 30, 100)),
    ),
    "attention_decode": (
        lambda q, k, v, n: ops.attention_decode(q, k, v, cache_seqlens=n, return_lse=True),
        lambda: (*_heads(1, 700, 700), _lengths(700, 333)),
    ),
    "attention_decode by CUDA C++": (
        lambda q, k, v, n: ops.attention_decode(q, k, v, cache_seqlens=n, backend="cuda"),
        lambda: (*_heads(1, 700, 700), _lengths(700, 333)),
    ),
    "attention_decode by Triton": (
        lambda q, k, v, n: ops.attention_decode(q, k, v, cache_seqlens=n, backend="triton"),
        lambda: (*_heads(1, 700, 700), _lengths(700, 333)),
    ),
    "flash_attn_func": (
        lambda q, k, v: flash_attn_func(q, k, v, causal=True),
        lambda: _heads(128, 128, 128),
    ),
    "flash_attn_with_kvcache": (flash_attn_with_kvcache, lambda: _heads(1, 512, 512)),
}


@pytest.fixture(autouse=True)
def drawn_anew() -> None:
    torch.manual_seed(3)


def _without_plans(function: Callable[..., Any], *arguments: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "are_possible", lambda: False)
        return function(*arguments)


def _planned(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with plans of its own, of which a test can ask how many there are."""
    return plans.planned(lambda *arguments: function(*arguments))


def _count(function: Any) -> int:
    return function.kinds.count()


@gpu
@pytest.mark.parametrize("name", CALLS)
def test_planned_calls_give_the_same_bits(name: str) -> None:
    function, draw = CALLS[name]
    planned = _planned(function)
    for _ in range(5):
        arguments = draw()
        expected = _without_plans(function, *arguments)
        got = planned(*arguments)
        torch.testing.assert_close(got, expected, rtol=0, atol=0, check_stride=True, equal_nan=True)
    kinds: Any = getattr(planned, "kinds")  # noqa: B009
    assert kinds.obstacles() == []
    assert _count(planned) == 1


@gpu
@pytest.mark.parametrize(
    "name",
    [
        *("softmax", "layer_norm", "rms_norm", "silu", "silu_and_mul", "add", "clamp", "matmul", "sum"),
        *("scale", "scale_add_activation", "attention"),
    ],
)
def test_planned_gradients_are_the_same_bits(name: str) -> None:
    function, draw = CALLS[name]
    for _ in range(5):
        arguments = draw()
        got = _gradients(function, arguments)
        expected = _without_plans(_gradients, function, arguments)
        torch.testing.assert_close(got, expected, rtol=0, atol=0)


def _gradients(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    leaves = [each.clone().requires_grad_() for each in arguments]
    out = function(*leaves)
    out = out[0] if isinstance(out, tuple) else out
    weights = torch.linspace(-1, 1, out.numel(), device="cuda").reshape(out.shape).to(out.dtype)
    return torch.autograd.grad(out, leaves, weights)


@gpu
def test_a_wrong_argument_gets_the_same_words_before_and_after_a_plan() -> None:
    x, weight = _randn(8, 64), _randn(64)
    words: list[str] = []
    for _ in range(4):
        ops.rms_norm(x, weight)
        with pytest.raises(FlashpathError) as refused:
            ops.rms_norm(x, weight[:60])
        words.append(str(refused.value))
        with pytest.raises(FlashpathError, match="causal"):
            ops.attention(*_heads(8, 8, 8), causal=1)  # pyright: ignore[reportArgumentType]
        ops.attention(*_heads(8, 8, 8), causal=True)
    assert len(set(words)) == 1


@gpu
def test_eight_threads_and_two_streams() -> None:
    x, weight = _randn(64, 1024), _randn(1024)
    expected = _without_plans(ops.rms_norm, x, weight)
    q, k, v = _heads(1, 700, 700)
    lengths = _lengths(700, 333)
    step = _without_plans(lambda: ops.attention_decode(q, k, v, cache_seqlens=lengths))
    wrong: list[BaseException] = []

    def work() -> None:
        try:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.default_stream())
            for _ in range(200):
                with torch.cuda.stream(stream):
                    on_stream = ops.rms_norm(x, weight)
                    decoded = ops.attention_decode(q, k, v, cache_seqlens=lengths)
                    torch.testing.assert_close(on_stream, expected, rtol=0, atol=0)
                    torch.testing.assert_close(decoded, step, rtol=0, atol=0)
                torch.testing.assert_close(ops.rms_norm(x, weight), expected, rtol=0, atol=0)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@gpu
@pytest.mark.parametrize("name", ["softmax", "sum", "matmul", "attention", "attention_decode"])
def test_a_graph_of_planned_calls(name: str) -> None:
    function, draw = CALLS[name]
    arguments = draw()
    for _ in range(3):
        function(*arguments)
    graph: Any = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = function(*arguments)
    for _ in range(3):
        fresh = draw()
        for into, each in zip(arguments, fresh, strict=True):
            into.copy_(each)
        graph.replay()
        torch.testing.assert_close(out, _without_plans(function, *arguments), rtol=0, atol=0)


@gpu
def test_storage_that_moved_and_an_emptied_cache() -> None:
    function, draw = CALLS["attention"]
    for _ in range(4):
        arguments = draw()
        torch.cuda.empty_cache()
        torch.testing.assert_close(function(*arguments), _without_plans(function, *arguments), rtol=0, atol=0)


@gpu
def test_keys_are_bounded_and_memory_stays_flat() -> None:
    planned = _planned(ops.silu)
    for n in range(1, 3000):
        x = torch.empty(n, device="cuda")
        for _ in range(3):
            planned(x)
    assert len(planned.kinds) == plans.MOST_KEYS  # pyright: ignore[reportFunctionMemberAccess]


@gpu
def test_ways_that_are_not_plain_keep_to_the_registered_operator() -> None:
    x = _randn(8, 64)
    for _ in range(3):
        ops.softmax(x)
    expected = _without_plans(ops.softmax, x)
    with torch.autocast("cuda", dtype=torch.float16):
        torch.testing.assert_close(ops.softmax(x), expected, rtol=0, atol=0)
    with torch.inference_mode():
        assert ops.softmax(x).is_inference()
    with torch.profiler.profile() as profile:
        ops.softmax(x)
    assert any("flashpath::softmax" in event.key for event in profile.key_averages())
    compiled: Any = torch.compile(ops.softmax, fullgraph=True)
    torch.testing.assert_close(compiled(x), expected, rtol=0, atol=0)
