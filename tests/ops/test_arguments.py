"""What operators make of odd arguments: nothing at all, views, wrong ones; and where they say so."""

# Names are given as words that a type checker does not know, wrong ones among them.
# pyright: reportArgumentType=false

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.ops import registration

F: Any = torch.nn.functional
COMPILER: Any = torch
OfOne = Callable[[Any], Any]
FUNCTIONS = [name for name in ops.__all__ if name != "SlowOnCpu"]


# ---- Nothing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 4), (0, 0)])
def test_an_empty_dimension_is_one_like_others(shape: tuple[int, ...]) -> None:
    for dim in range(len(shape)):
        pairs: list[tuple[OfOne, OfOne]] = [
            (lambda x, d=dim: ops.reduce(x, "sum", d), lambda x, d=dim: x.sum(d)),
            (lambda x, d=dim: ops.reduce(x, "mean", d), lambda x, d=dim: x.mean(d)),
            (lambda x, d=dim: ops.scan(x, dim=d), lambda x, d=dim: x.cumsum(d)),
            (lambda x, d=dim: ops.scan(x, "max", dim=d), lambda x, d=dim: x.cummax(d).values),
            (lambda x, d=dim: ops.softmax(x, d), lambda x, d=dim: x.softmax(d)),
        ]
        for ours, theirs in pairs:
            _same(ours, theirs, torch.ones(shape))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 4)])
def test_norms_of_nothing(shape: tuple[int, ...]) -> None:
    x = torch.ones(shape)
    weight, bias = torch.ones(2, shape[-1])
    _same(ops.layer_norm, _torch_layer_norm, x, weight, bias)
    _same(ops.rms_norm, _torch_rms_norm, x, weight)


def _torch_layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def _torch_rms_norm(x: Any, weight: Any) -> Any:
    return F.rms_norm(x, x.shape[-1:], weight, 1e-6)


@pytest.mark.parametrize("op", ["sum", "max"])
def test_an_exclusive_scan_of_nothing_has_a_gradient(op: str) -> None:
    for shape in ((0,), (3, 0)):
        x: Any = torch.zeros(shape, requires_grad=True)
        total: Any = ops.scan(x, op, exclusive=True).sum()
        total.backward()
        assert x.grad.shape == shape


def test_one_number_without_dimensions() -> None:
    x = torch.tensor(2.0)
    for ours, theirs in (
        (ops.softmax, torch.softmax),
        (functools.partial(ops.reduce, op="mean"), torch.mean),
        (ops.scan, torch.cumsum),
    ):
        for dim in (0, -1):
            _same(functools.partial(ours, dim=dim), functools.partial(theirs, dim=dim), x)
        with pytest.raises(FlashpathError, match="dim=3"):
            ours(x, dim=3)


def _same(ours: Callable[..., Any], theirs: Callable[..., Any], *arguments: torch.Tensor) -> None:
    """The same values, types and gradients."""
    found: list[list[Any]] = []
    for function in (ours, theirs):
        leaves: list[Any] = [each.clone().requires_grad_() for each in arguments]
        out = function(*leaves)
        out.sum().backward()
        found.append([out.detach(), *(each.grad for each in leaves)])
    torch.testing.assert_close(found[0], found[1], equal_nan=True)


# ---- Views -----------------------------------------------------------------------------------------------


def test_weights_need_not_be_contiguous() -> None:
    x, weight, bias = torch.randn(3, 8), torch.randn(16)[::2], torch.randn(8, 2)[:, 1]
    torch.testing.assert_close(ops.layer_norm(x, weight, bias), F.layer_norm(x, (8,), weight, bias))
    torch.testing.assert_close(ops.rms_norm(x, weight), F.rms_norm(x, (8,), weight, 1e-6))
    leaf: Any = torch.randn(16, requires_grad=True)
    total: Any = ops.rms_norm(x, leaf[::2]).sum()
    total.backward()
    assert leaf.grad[1::2].eq(0).all()
    assert leaf.grad[::2].ne(0).all()


# ---- Wrong arguments -------------------------------------------------------------------------------------

X = torch.ones(2, 4)
WRONG: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "relu of None": (ops.relu, (None,), r"relu got x = None[\s\S]*tensor"),
    "silu of a list": (ops.silu, ([1.0],), r"silu got x = \[1\.0\]"),
    "gate of a number": (ops.silu_and_mul, (3,), r"silu_and_mul got x = 3"),
    "matmul of a list": (ops.matmul, ([1], X), r"matmul got a = \[1\]"),
    "softmax along a word": (ops.softmax, (X, "a"), r"softmax got dim='a'[\s\S]*from -2 to 1"),
    "reduce along a word": (ops.reduce, (X, "sum", "a"), r"reduce got dim='a'"),
    "argmax along several": (ops.reduce, (X, "argmax", (0, 1)), r"dim=\(0, 1\) for argmax"),
    "reduce along one twice": (ops.reduce, (X, "sum", (0, -2)), r"dim=\(0, -2\) for sum"),
    "reduce along one too many": (ops.reduce, (X, "sum", (0, 2)), r"reduce got dim=2"),
    "keepdim as a word": (ops.reduce, (X, "sum", 0, "yes"), r"keepdim = 'yes'"),
    "sort along a word": (ops.sort, (X, False, "a"), r"sort got dim='a'"),
    "descending as a number": (ops.sort, (X, False, 0, 1), r"descending = 1"),
    "softmax of a type's name": (ops.softmax, (X, 0, "float32"), r"dtype = 'float32'"),
    "softmax in int32": (ops.softmax, (X, 0, torch.int32), r"softmax got int32"),
    "reduce by a list": (ops.reduce, (X, [1]), r"reduce got the operation \[1\][\s\S]*argmax"),
    "scan by a list": (ops.scan, (X, [1]), r"scan got the operation \[1\]"),
    "scan along True": (ops.scan, (X, "sum", False, True), r"scan got dim=True"),
    "chain by a list": (ops.scale_add_activation, (X, 1.0, X, ["tanh"]), r"activation \['tanh'\]"),
    "chain by a word": (ops.scale_add_activation, (X, "2", X, "relu"), r"factor = '2'[\s\S]*number"),
    "scale by None": (ops.scale, (X, None), r"scale got factor = None"),
    "clamp by a list": (ops.clamp, (X, [0], 1), r"clamp got low = \[0\]"),
    "relu of a sparse tensor": (ops.relu, (X.to_sparse(),), r"layout torch\.sparse_coo[\s\S]*to_dense"),
    "rms_norm with no eps": (ops.rms_norm, (X, None, None), r"rms_norm got eps = None"),
    "layer_norm with a word": (ops.layer_norm, (X, None, None, "a"), r"layer_norm got eps = 'a'"),
    "layer_norm with a list": (ops.layer_norm, (X, [1, 1]), r"layer_norm got weight = \[1, 1\]"),
    "sort of a word": (ops.sort, ("abc",), r"sort got x = 'abc'"),
    "histogram of halves": (ops.histogram, (X, 2.5, 0, 1), r"histogram got bins = 2\.5"),
    "histogram to None": (ops.histogram, (X, 2, 0, None), r"histogram got hi = None"),
    "spmv of lists": (ops.spmv, ([0], [0], [1.0], X[0]), r"spmv got row_ptr = \[0\]"),
    "matmul of int32": (ops.matmul, (X.int(), X.t().int()), r"int32[\s\S]*bfloat16, float64"),
    "matmul of two types": (ops.matmul, (X, X.t().half()), r"float32 on cpu and b of float16[\s\S]*one type"),
    "matmul of two types again": (
        ops.matmul,
        (X.half(), X.t()),
        r"float16 on cpu and b of float32[\s\S]*one",
    ),
    "reduce of float64": (ops.reduce, (X.double(),), r"reduce got float64"),
    "scan with short flags": (ops.scan, (X, "sum", False, -1, X[0] > 0), r"flags of shape \(4,\)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_argument_is_told_as_such(what: str) -> None:
    function, arguments, words = WRONG[what]
    with pytest.raises(FlashpathError, match=words):
        function(*arguments)


def test_messages_are_not_lost_in_compilation() -> None:
    cases: list[tuple[OfOne, str]] = [
        (lambda x: ops.reduce(x, "prod"), "the operation 'prod'"),
        (lambda x: ops.softmax(x, 5), "dim=5"),
        (lambda x: ops.silu(x.long()), "silu got int64"),
        (lambda x: ops.matmul(x, x), r"It takes \(m, k\) and \(k, n\)"),
    ]
    for function, words in cases:
        COMPILER._dynamo.reset()
        with pytest.raises(Exception, match=words):
            COMPILER.compile(function, fullgraph=True, backend="aot_eager")(X)


FAKES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "shapes that differ": ("add", (torch.ones(6, 8), torch.ones(3))),
    "integers": ("silu", (torch.ones(3, dtype=torch.int64),)),
    "an odd gate": ("silu_and_mul", (torch.ones(3),)),
    "two types": ("matmul", (X, X.t().half())),
    "inner sizes": ("matmul", (X, X)),
    "float64 maximum": ("reduce", (X.double(), "max")),
    "int32 mean": ("reduce_rows", (X.int(), "mean")),
    "the maximum of nothing": ("reduce_rows", (X[:, :0], "max")),
    "float64 scan": ("scan", (X.double(), "sum", False)),
    "integer softmax": ("softmax", (X.int(),)),
    "a short weight": ("layer_norm", (X, X[0, :2], None, 1e-5)),
    "a weight of another type": ("rms_norm", (X, X[0].double(), 1e-5)),
    "a matrix to sort": ("sort_keys", (X,)),
    "a matrix to sort with indices": ("sort", (X,)),
    "no bins": ("histogram", (X, 0, 0.0, 1.0)),
    "bounds that fall": ("histogram", (X, 3, 1.0, 0.0)),
    "columns of another length": ("spmv", (torch.zeros(3).int(), torch.zeros(2).int(), torch.ones(3), X[0])),
}


@pytest.mark.parametrize("what", FAKES)
def test_meta_tensors_are_refused_where_real_ones_are(what: str) -> None:
    name, arguments = FAKES[what]
    operator = getattr(torch.ops.flashpath, name)
    with pytest.raises(FlashpathError) as real:
        operator(*arguments)
    with pytest.raises(FlashpathError) as fake:
        operator(*(each.to("meta") if isinstance(each, torch.Tensor) else each for each in arguments))
    assert str(fake.value).replace("meta", "cpu") == str(real.value)


def test_a_meta_tensor_beside_a_real_one_is_refused() -> None:
    for call in (lambda: ops.add(X, X.to("meta")), lambda: ops.matmul(X, X.t().to("meta"))):
        with pytest.raises(FlashpathError, match="meta"):
            call()


def test_numbers_may_change_from_call_to_call_of_a_compiled_function() -> None:
    def function(x: Any, factor: float, bins: int) -> Any:
        return ops.scale(x, factor), ops.histogram(x, bins, -factor, factor)

    COMPILER._dynamo.reset()
    compiled = COMPILER.compile(function, fullgraph=True, backend="aot_eager", dynamic=True)
    x = torch.randn(50)
    for factor, bins in ((0.5, 3), (0.75, 5), (2.0, 7)):
        torch.testing.assert_close(compiled(x, factor, bins), function(x, factor, bins))


def test_sizes_may_change_from_call_to_call_of_a_compiled_function() -> None:
    def function(x: Any, weight: Any) -> Any:
        normal = ops.rms_norm(ops.layer_norm(x, weight), weight)
        return ops.reduce(ops.scan(ops.softmax(normal, 0), dim=1), "max", 1)

    COMPILER._dynamo.reset()
    compiled = COMPILER.compile(function, fullgraph=True, backend="aot_eager", dynamic=True)
    for rows, columns in ((3, 8), (5, 12), (4, 7)):
        x, weight = torch.randn(2, rows, columns), torch.randn(columns)
        torch.testing.assert_close(compiled(x, weight), function(x, weight), rtol=0, atol=0)


def test_forward_mode_is_refused_and_not_zero() -> None:
    x = torch.randn(4)
    func: Any = torch.func

    def through_a_constant(t: Any) -> Any:
        return t * ops.silu(x)

    with pytest.raises(FlashpathError, match="jvp"):
        func.jvp(ops.silu, (x,), (x,))
    torch.testing.assert_close(func.jvp(through_a_constant, (x,), (x,))[1], x * F.silu(x))


# ---- Words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_helps(name: str) -> None:
    function = getattr(ops, name)
    assert inspect.isfunction(function)
    text = function.__doc__
    assert text is not None
    assert "float" in text
    assert "radient" in text


def _with_gradient(function: OfOne, x: Any) -> None:
    function(x).sum().backward()


def test_a_slow_call_is_told_at_the_line_that_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "SLOW_ON_CPU", 100)
    monkeypatch.setattr(registration, "SLOW_PRODUCTS_ON_CPU", 100)
    x: Any = torch.ones(101, requires_grad=True)
    a = torch.ones(6, 6)
    COMPILER._dynamo.reset()
    compiled = COMPILER.compile(ops.matmul, fullgraph=True, backend="aot_eager")
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: ops.relu(x), "ops.relu got 101 elements"),
        (lambda: ops.softmax(x, 0), "ops.softmax got 101 elements"),
        (lambda: _with_gradient(ops.scan, x), "ops.scan got 101 elements"),
        (lambda: ops.matmul(a, a), "ops.matmul got 216 multiply-adds"),
        (lambda: compiled(a, a), "ops.matmul got 216 multiply-adds"),
    ]
    for call, count in calls:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        assert told
        for each in told:
            assert each.category is ops.SlowOnCpu
            assert count in str(each.message)
            assert each.filename == __file__
            of_backward = _with_gradient.__code__.co_firstlineno + 1
            assert each.lineno in (call.__code__.co_firstlineno, of_backward)
