"""What a type checker sees of the package in a user's file, and what a user's `except` catches."""

# pyright: basic, reportArgumentType=false

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import ops
from flashpath.errors import FlashpathError

USER = """
from typing import assert_type

import torch

import flashpath as fp
from flashpath import ops

Pair = tuple[torch.Tensor, torch.Tensor]
x = torch.ones(4)
q = torch.ones(1, 8, 2, 16)
which = bool(x.sum() > 1)
assert_type(fp.attention(q, q, q), torch.Tensor)
assert_type(fp.attention(q, q, q, causal=True, return_lse=True), Pair)
assert_type(fp.attention(q, q, q, return_lse=which), torch.Tensor | Pair)
assert_type(fp.scaled_dot_product_attention(q, q, q, is_causal=True), torch.Tensor)
assert_type(fp.attention_decode(q, q, q, cache_seqlens=4), torch.Tensor)
assert_type(fp.attention_decode(q, q, q, cache_seqlens=4, return_lse=True, backend="cuda"), Pair)
assert_type(ops.rope(q, q, x, x), Pair)
assert_type(ops.rope(q, None, x, x, positions=x), tuple[torch.Tensor, None])
assert_type(ops.linear(x, x, activation="gelu"), torch.Tensor)
assert_type(ops.sort(x), torch.Tensor)
assert_type(ops.sort(x, return_indices=True), Pair)
assert_type(ops.sort(x, True, dim=0, descending=True), Pair)
assert_type(ops.reduce(x, "mean"), torch.Tensor)
assert_type(ops.reduce(x, "min", (0, 1), keepdim=True), torch.Tensor)
assert_type(ops.softmax(x, dtype=torch.float32), torch.Tensor)
assert_type(ops.layer_norm(x, x, x, weight_offset=1.0), torch.Tensor)
assert_type(ops.cross_entropy(x, x, weight=x, return_lse=True), Pair)
assert_type(ops.linear_cross_entropy(x, x, x, class_weight=x), torch.Tensor)
model = torch.nn.Sequential(fp.nn.RMSNorm(4), fp.nn.SwiGLU(4, 8))
report = fp.patch(model, keep_logits=False)
assert_type(report, fp.nn.PatchReport)
assert_type([each.by for each in report.replaced], list[str])
fp.unpatch(model)
layer = fp.nn.Attention(16, 4, 2, rotary=fp.nn.Rotary(4))
assert_type(layer.forward(q, layer.cache(1, 8)), torch.Tensor)
"""
WRONG = (
    'fp.attention(q, q, q, backend="cudnn")',
    'ops.reduce(x, "median")',
    'ops.scan(x, "mean")',
    'ops.scale_add_activation(x, 1.0, x, "tanh")',
    "fp.attentoin(q, q, q)",
    "ops.sort(x, return_indices=1)",
    'ops.linear(x, x, activation="tanh")',
    "ops.rope(q, q, x)",
    'fp.nn.GatedMLP(4, 8, "tanh")',
    "fp.patch(model, logits=False)",
)


def test_pyright_on_a_users_file(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER + "\n".join(WRONG) + "\n", encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "user.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if " - error: " in line}
    first = USER.count("\n") + 1
    assert lines == set(range(first, first + len(WRONG))), done.stdout + done.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(fp.__file__).parent / "py.typed").is_file()


X: Any = torch.ones(3, 4)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (TypeError, lambda: ops.relu(None)),
        (TypeError, lambda: ops.scale(X, "2")),
        (ValueError, lambda: ops.reduce(X, "median")),
        (ValueError, lambda: ops.rms_norm(X, eps=-1.0)),
        (RuntimeError, lambda: ops.matmul(X, X)),
        (RuntimeError, lambda: ops.add(X, X.double())),
    ],
)
def test_an_error_is_also_what_torch_would_raise(kind: Any, call: Any) -> None:
    with pytest.raises(kind) as caught:
        call()
    error: Any = caught.value
    assert isinstance(error, FlashpathError)
    assert type(error).__name__ == "FlashpathError"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)


def test_an_error_of_another_room_is_of_no_such_kind() -> None:
    with pytest.raises(FlashpathError) as caught:
        fp.gpus.parse_arch("no such GPU")
    assert not isinstance(caught.value, (TypeError, ValueError, RuntimeError))
