"""docs/ops.md says what is so: its table, its thresholds, its code, and its words on second gradients."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.ops.registration import SLOW_ON_CPU, SLOW_PRODUCTS_ON_CPU

PAGE = (Path(__file__).parents[2] / "docs" / "ops.md").read_text(encoding="utf-8")
ROWS = [
    re.match(r"\| `(\w+)(\(.*\))` \| .* \| (.*) \| (.*) \|", line)
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
TABLE = {row[1]: (row[2], row[3].split(", "), row[4]) for row in ROWS if row is not None}
NAMES = [name for name in ops.__all__ if name != "SlowOnCpu"]
TYPES = ("float32", "float16", "bfloat16", "float64", "int32", "int64", "int16", "uint8", "bool")


ANGLES = torch.ones(2, 2)


def _spmv(val: Any) -> Any:
    return ops.spmv(torch.tensor([0, 1, 2]), torch.tensor([1, 0]), val[0, :2].contiguous(), val[1])


def _varlen(x: Any) -> Any:
    bounds = torch.tensor([0, 1], dtype=torch.int32)
    return ops.attention_varlen(x, x, x, bounds, bounds, 1, 1)


CALLS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(ops, name) for name in NAMES},
    "scale": lambda x: ops.scale(x, 2),
    **{
        name: lambda x, name=name: getattr(ops, name)(x, x)
        for name in ("add", "swiglu", "geglu", "geglu_tanh")
    },
    "clamp": lambda x: ops.clamp(x, 0, 1),
    "scale_add_activation": lambda x: ops.scale_add_activation(x, 2.0, x, "silu"),
    "sort": lambda x: ops.sort(x[0]),
    "add_layer_norm": lambda x: ops.add_layer_norm(x, x)[0],
    "add_rms_norm": lambda x: ops.add_rms_norm(x, x)[0],
    "histogram": lambda x: ops.histogram(x, 3, 0, 2),
    "cross_entropy": lambda x: ops.cross_entropy(x, torch.tensor([0, 3])),
    "linear_cross_entropy": lambda x: ops.linear_cross_entropy(x, x, torch.tensor([0, 1])),
    "matmul": lambda x: ops.matmul(x, x.t()),
    "linear": lambda x: ops.linear(x, x, activation="silu"),
    "spmv": _spmv,
    "rope": lambda x: ops.rope(x.view(1, 2, 1, 4), None, ANGLES, ANGLES)[0],
    "attention": lambda x: ops.attention(*[x.view(1, 1, 1, 8)] * 3),
    "scaled_dot_product_attention": lambda x: ops.scaled_dot_product_attention(*[x.view(1, 1, 1, 8)] * 3),
    "attention_varlen": lambda x: _varlen(x.view(1, 1, 8)),
    "attention_decode": lambda x: ops.attention_decode(*[x.detach().view(1, 1, 1, 8)] * 3, cache_seqlens=1),
    "merge_states": lambda x: ops.merge_states(*[x.view(1, 1, 1, 8), torch.zeros(1, 1, 1)] * 2)[0],
}


def test_every_operator_has_its_row() -> None:
    assert sorted(TABLE) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_row_of_an_operator(name: str) -> None:
    signature, dtypes, gradients = TABLE[name]
    parameters = list(inspect.signature(getattr(ops, name)).parameters.values())
    shown = [
        each.name
        if each.default is each.empty
        else f'{each.name}="{each.default}"'
        if isinstance(each.default, str)
        else f"{each.name}={_number(each.default)}"
        for each in parameters
    ]
    positional = sum(each.kind is not each.KEYWORD_ONLY for each in parameters)
    if positional < len(parameters):
        shown.insert(positional, "*")
    assert signature == f"({', '.join(shown)})"
    for dtype in TYPES:
        x = torch.ones(2, 4).to(getattr(torch, dtype))
        if dtype in dtypes:
            CALLS[name](x)
        else:
            with pytest.raises(FlashpathError, match=dtype):
                CALLS[name](x)
    result = CALLS[name](torch.ones(2, 4, dtype=getattr(torch, dtypes[0]), requires_grad=True))
    assert result.requires_grad == (gradients != "–")


def _number(value: Any) -> str:
    return re.sub(r"e-0(\d)", r"e-\1", str(value))


def test_the_page_in_chinese_has_the_same_rows_and_code() -> None:
    chinese = (Path(__file__).parents[2] / "docs" / "ops.zh.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| (`\w+\(.*\)`) \| .* \| (.*) \| .* \|$", re.MULTILINE)
    code = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
    assert row.findall(chinese) == row.findall(PAGE)
    assert code.findall(chinese) == code.findall(PAGE)
    for threshold in (SLOW_ON_CPU, SLOW_PRODUCTS_ON_CPU):
        assert f"{threshold:,}" in chinese


def test_thresholds() -> None:
    assert f"{SLOW_ON_CPU:,} elements" in PAGE
    assert f"{SLOW_PRODUCTS_ON_CPU:,} multiply-adds" in PAGE


def test_the_code_runs() -> None:
    codes = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = {}
    for code in codes:
        each: dict[str, Any] = {}
        exec(code, each)
        found |= each if "count" in each else {}
    assert found["count"] == (found["x"] > 0.5).sum()


def _first_of_sort(x: Any) -> Any:
    return torch.sort(x).values


PAIRS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum": (ops.reduce, torch.sum),
    "mean along a dimension": (functools.partial(ops.reduce, op="mean", dim=0), lambda x: x.mean(0)),
    "max": (functools.partial(ops.reduce, op="max", dim=1), lambda x: x.amax(1)),
    "scan": (ops.scan, lambda x: x.cumsum(-1)),
    "scan max": (functools.partial(ops.scan, op="max"), lambda x: x.cummax(-1).values),
    "sort": (lambda x: ops.sort(x.flatten()), lambda x: _first_of_sort(x.flatten())),
    "matmul": (lambda x: ops.matmul(x, x.t()), lambda x: x @ x.t()),
    "spmv": (_spmv, lambda x: x[0, :2] * x[1][[1, 0]]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_have_gradients(name: str) -> None:
    x = torch.randn(3, 4)
    differentiate: Any = torch.autograd.grad
    found: list[Any] = []
    for function in PAIRS[name]:
        leaf = x.clone().requires_grad_()
        (first,) = differentiate((function(leaf) ** 3).sum(), leaf, create_graph=True)
        found.append([first.detach(), *differentiate(first.square().sum(), leaf)])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)
