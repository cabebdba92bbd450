"""What a model that takes the operators over gives them: autocast, export, numbers of all kinds, layouts."""

# pyright: basic, reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import flashpath as fp
from flashpath import ops
from flashpath.compat.flash_attn import flash_attn_func, flash_attn_with_kvcache
from flashpath.errors import FlashpathError

# ---- Precision -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_of_a_column_of_spmv_are_summed_in_float32(dtype: Any) -> None:
    n = 4096
    x = torch.ones(1, dtype=dtype, requires_grad=True)
    rows, columns = torch.arange(n + 1, dtype=torch.int32), torch.zeros(n, dtype=torch.int32)
    y = ops.spmv(rows, columns, torch.ones(n, dtype=dtype), x)
    (dx,) = torch.autograd.grad(y, x, torch.ones_like(y))
    assert dx.dtype == dtype
    assert dx.item() == n


def qkv(*, requires_grad: bool = False) -> list[Any]:
    generator = torch.Generator().manual_seed(3)
    return [
        torch.randn(1, 24, 2, 16, generator=generator).bfloat16().requires_grad_(requires_grad)
        for _ in range(3)
    ]


def under_autocast_too(call: Any) -> None:
    expected = call()
    with torch.autocast("cpu", torch.bfloat16):
        got = call()
    for one, other in zip(got, expected, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


def test_autocast_changes_nothing_of_the_reference() -> None:
    q, k, v = qkv()
    under_autocast_too(lambda: fp.attention(q, k, v, backend="reference", return_lse=True))


def test_autocast_changes_nothing_of_gradients_that_are_differentiated() -> None:
    q, k, v = qkv(requires_grad=True)

    def gradients() -> Any:
        out = fp.attention(q, k, v)
        return torch.autograd.grad(out, (q, k, v), torch.ones_like(out), create_graph=True)

    under_autocast_too(gradients)


def test_autocast_changes_nothing_of_probabilities() -> None:
    q, k, v = qkv()

    def call() -> Any:
        torch.manual_seed(5)
        return flash_attn_func(q, k, v, dropout_p=0.2, return_attn_probs=True)

    under_autocast_too(call)


# ---- Export ----------------------------------------------------------------------------------------------

OF_ROWS = {
    "rms_norm": lambda x: ops.rms_norm(x),
    "layer_norm": lambda x: ops.layer_norm(x),
    "reduce": lambda x: ops.reduce(x, "sum", -1),
    "scan": lambda x: ops.scan(x),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", OF_ROWS)
def test_export_with_a_dynamic_dimension(name: str, strict: bool) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return OF_ROWS[name](x)

    sizes = {"x": {1: torch.export.Dim("n", min=2, max=64)}}
    exported = torch.export.export(Model(), (torch.randn(2, 5, 8),), dynamic_shapes=sizes, strict=strict)
    x = torch.randn(2, 7, 8)
    torch.testing.assert_close(exported.module()(x), OF_ROWS[name](x))


# ---- Numbers ---------------------------------------------------------------------------------------------

X = torch.linspace(-2, 2, 12).reshape(3, 4)
WITH_NUMBER = {
    "scale": lambda x: ops.scale(X, x),
    "clamp": lambda x: ops.clamp(X, -x, x),
    "scale_add_activation": lambda x: ops.scale_add_activation(X, x, X, "silu"),
    "layer_norm": lambda x: ops.layer_norm(X, eps=x),
    "rms_norm": lambda x: ops.rms_norm(X, eps=x),
    "attention": lambda x: fp.attention(*qkv(), scale=x, softcap=x),
    "flash_attn_func": lambda x: flash_attn_func(*qkv(), softmax_scale=x, softcap=x),
}


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_a_number_may_be_of_python_numpy_or_torch(name: str) -> None:
    call = WITH_NUMBER[name]
    expected = call(0.5)
    parameter = torch.nn.Parameter(torch.tensor(0.5))
    with torch.no_grad():
        assert torch.equal(call(parameter), expected)
    for number in (
        np.float32(0.5),
        np.float64(0.5),
        np.array(0.5)[()],
        torch.tensor(0.5),
        torch.tensor([0.5]),
    ):
        assert torch.equal(call(number), expected)
    assert torch.equal(call(np.int64(1)), call(1))


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_a_number_that_would_get_no_gradient_is_refused(name: str) -> None:
    with pytest.raises(FlashpathError, match=rf"{name} got \w+, a tensor that requires a gradient"):
        WITH_NUMBER[name](torch.nn.Parameter(torch.tensor(0.5)))


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_what_is_no_number_is_told(name: str) -> None:
    for wrong in (torch.ones(2), torch.tensor(1j), torch.empty((), device="meta")):
        with pytest.raises(FlashpathError, match=r"got \w+ = .*tensor[\s\S]*number"):
            WITH_NUMBER[name](wrong)
    with pytest.raises(FlashpathError, match="whole number of 336 bits"):
        WITH_NUMBER[name](10**100)


# ---- Layouts ---------------------------------------------------------------------------------------------

OF_ELEMENTS = {
    **{name: getattr(ops, name) for name in ("relu", "gelu", "gelu_tanh", "silu")},
    "scale": lambda x: ops.scale(x, 2.0),
    "clamp": lambda x: ops.clamp(x, -1.0, 1.0),
    "add": lambda x: ops.add(x, x),
    "swiglu": lambda x: ops.swiglu(x, x),
    "scale_add_activation": lambda x: ops.scale_add_activation(x, 2.0, x, "gelu"),
}


@pytest.mark.parametrize("name", OF_ELEMENTS)
def test_channels_last_stays(name: str) -> None:
    for shape, layout in (((2, 3, 4, 5), torch.channels_last), ((2, 3, 2, 4, 5), torch.channels_last_3d)):
        x = torch.randn(shape)
        kept = x.to(memory_format=layout)
        out = OF_ELEMENTS[name](kept)
        assert out.is_contiguous(memory_format=layout)
        assert torch.equal(out, OF_ELEMENTS[name](x))
        leaves = [each.clone(memory_format=torch.preserve_format).requires_grad_() for each in (x, kept)]
        dout = torch.randn(shape)
        grads = [torch.autograd.grad(OF_ELEMENTS[name](leaf), leaf, dout)[0] for leaf in leaves]
        assert torch.equal(*grads)


# ---- Words -----------------------------------------------------------------------------------------------


def test_a_strided_tensor_is_not_asked_to_be_contiguous() -> None:
    strided = torch.ones(4, 3).t()
    for call in (
        lambda: ops.add(strided, strided.double()),
        lambda: ops.layer_norm(strided, strided[0].double()),
    ):
        with pytest.raises(FlashpathError, match="float64") as caught:
            call()
        assert "contiguous" not in str(caught.value)


def test_flags_may_be_bool_or_uint8_and_the_error_says_so() -> None:
    with pytest.raises(FlashpathError, match=r"int64[\s\S]*bool/uint8"):
        ops.scan(X, flags=torch.zeros(3, 4, dtype=torch.int64))


def test_errors_of_flash_attns_functions_name_them_and_their_arguments() -> None:
    q, k, v = qkv()
    for match, call in (
        ("flash_attn_func got softmax_scale = 'a'", lambda: flash_attn_func(q, k, v, softmax_scale="a")),
        ("flash_attn_func got causal = 2", lambda: flash_attn_func(q, k, v, causal=2)),
        ("flash_attn_func got", lambda: flash_attn_func(q.double(), k.double(), v.double())),
        (
            "flash_attn_with_kvcache got softmax_scale",
            lambda: flash_attn_with_kvcache(q, k, v, softmax_scale="a"),
        ),
    ):
        with pytest.raises(FlashpathError, match=match):
            call()
