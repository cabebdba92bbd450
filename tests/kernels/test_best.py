"""`Ladder.best`: the rung that answers a call, for representative calls of every operator, and why."""

# pyright: basic

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath import kernels, ops
from flashpath.cli.dispatch_ways import OPERATORS
from flashpath.errors import FlashpathError
from flashpath.kernels.matmul.epilogue import Epilogue
from flashpath.kernels.where import named
from flashpath.messages import Message

H200, A100, RTX_4090, CPU = (named(name) for name in ("H200", "A100", "RTX 4090", "cpu"))


def x(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")


BF16, F64 = torch.bfloat16, torch.float64

# The ladder, its inputs, where they are, and the rung that answers.
CALLS: list[tuple[str, tuple[Any, ...], Any, str]] = [
    ("softmax", (x(4096, 1024),), H200, "resident"),
    ("softmax", (x(4096, 1024, dtype=F64),), H200, "online"),
    ("softmax", (x(64, 65536),), H200, "split_rows"),
    ("softmax", (x(66, 65536),), H200, "resident"),
    ("softmax", (x(4096, 262144),), H200, "split_rows"),
    ("softmax", (x(2, 65536),), CPU, "resident"),
    ("softmax", (x(54, 65536, dtype=BF16),), A100, "resident"),
    ("softmax", (x(3, 0),), CPU, "resident"),
    ("softmax", (x(),), CPU, "resident"),
    ("layer_norm", (x(8, 1024, dtype=BF16), x(1024, dtype=BF16), x(1024, dtype=BF16)), H200, "vectorized"),
    ("layer_norm", (x(8, 16384, dtype=BF16), x(16384, dtype=BF16), None), H200, "read_twice"),
    ("layer_norm", (x(8, 16384, dtype=BF16), x(16384), None), H200, "vectorized"),
    ("layer_norm", (x(8, 16384), None, None), CPU, "vectorized"),
    ("rms_norm", (x(8, 16384, dtype=BF16), x(16384, dtype=BF16)), H200, "read_twice"),
    ("rms_norm", (x(8, 4096, dtype=BF16), None), H200, "vectorized"),
    ("cross_entropy", (x(132, 50257, dtype=BF16), x(132, dtype=torch.int64)), H200, "vectorized"),
    ("cross_entropy", (x(131, 50257, dtype=BF16), x(131, dtype=torch.int64)), H200, "split_rows"),
    ("cross_entropy", (x(1, 10), x(1, dtype=torch.int64)), CPU, "vectorized"),
    ("cross_entropy", (x(0, 10), x(0, dtype=torch.int64)), CPU, "split_rows"),
    ("matmul", (x(64, 64, dtype=F64), x(64, 64, dtype=F64)), H200, "shared_tile"),
    ("matmul", (x(4096, 64), x(64, 4096)), H200, "warp_tiled"),
    ("matmul", (x(1024, 64), x(64, 1024)), H200, "double_buffered"),
    ("matmul", (x(128, 64), x(64, 128)), CPU, "warp_tiled"),
    ("matmul", (x(127, 64), x(64, 128)), CPU, "double_buffered"),
    ("matmul", (x(64, 64, dtype=BF16), x(64, 64, dtype=BF16)), H200, "triton_persistent"),
    ("matmul", (x(64, 64, dtype=BF16), x(64, 64, dtype=BF16)), A100, "mma_pipelined"),
    ("matmul", (x(64, 64, dtype=BF16), x(64, 64, dtype=BF16)), CPU, "mma_pipelined"),
    ("matmul", (x(64, 64, dtype=BF16), x(64, 32, dtype=BF16).t()), A100, "triton_persistent"),
    ("matmul", (x(64, 32, dtype=BF16).t(), x(64, 64, dtype=BF16)), CPU, "triton_persistent"),
    ("matmul", (x(64, 64, dtype=BF16), x(64, 64, dtype=BF16), "ieee", None, Epilogue()), A100, "fused"),
    (
        "matmul",
        (x(64, 64, dtype=BF16), x(64, 64, dtype=BF16), "ieee", None, Epilogue()),
        H200,
        "triton_fused",
    ),
    ("matmul", (x(9, 64, 64, dtype=BF16), x(9, 64, 64, dtype=BF16)), H200, "triton_batched"),
    ("matmul", (x(9, 64, 64), x(9, 64, 64)), H200, "triton_batched"),
    ("matmul", (x(9, 4096, 64), x(9, 64, 4096)), H200, "one_by_one"),
    ("matmul", (x(9, 64, 64, dtype=F64), x(9, 64, 64, dtype=F64)), CPU, "one_by_one"),
    ("reduction", (x(100), "sum"), H200, "single_pass"),
    ("reduction", (x(132, 8), "max", -1), H200, "by_row"),
    ("reduction", (x(131, 8), "max", -1), H200, "single_pass"),
    ("reduction", (x(1, 8), "max", -1), CPU, "by_row"),
    ("reduction", (x(0, 8), "max", -1), CPU, "single_pass"),
    ("scan", (x(2**24), "sum", False, None), H200, "lookahead"),
    ("scan", (x(2**24), "sum", False, None), RTX_4090, "decoupled_lookback"),
    ("scan", (x(2**24), "sum", False, None), A100, "decoupled_lookback"),
    ("scan", (x(1000), "sum", False, None), H200, "decoupled_lookback"),
    ("scan", (x(264, 100000), "sum", True, None), H200, "by_row"),
    ("scan", (x(2, 2**20), "sum", True, None), H200, "decoupled_lookback"),
    ("scan", (x(2, 100), "sum", True, None), H200, "by_row"),
    ("histogram", (x(1000), 16, 0.0, 1.0), H200, "vectorized"),
    ("sort", (x(1000),), H200, "onesweep"),
    ("rope", (x(1, 8, 4, 64, dtype=BF16), None, x(8, 32), x(8, 32)), H200, "vectorized"),
    ("spmv", (x(5, dtype=torch.int32), x(9, dtype=torch.int32), x(9), x(4)), H200, "merge_based"),
    ("elementwise", (x(8), "silu"), H200, "vectorized"),
    ("elementwise", (x(8), "swiglu"), H200, "vectorized"),
    ("elementwise", (x(8), "swiglu_backward"), H200, "backward_vectorized"),
    ("elementwise", (x(8), "scale_add_silu"), H200, "fused_chain"),
    ("elementwise", (x(8), "silu_backward"), H200, "vectorized"),
    ("elementwise", (x(8), "silu_and_mul_backward"), H200, "backward_vectorized"),
    ("elementwise", (x(8), "scale_add_silu_backward"), H200, "backward_vectorized"),
]
BACKWARD = {
    "softmax": "backward_resident",
    "cross_entropy": "backward_vectorized",
    "layer_norm": "backward_fused",
    "rms_norm": "backward_fused",
}


@pytest.mark.parametrize(("ladder", "inputs", "where", "rung"), CALLS)
def test_the_rung_that_answers(ladder: str, inputs: tuple[Any, ...], where: Any, rung: str) -> None:
    choice = kernels.ladder(ladder).best(*inputs, where=where)
    assert choice.rung.name == rung
    assert isinstance(choice.why, Message)


@pytest.mark.parametrize("ladder", ["layer_norm", "rms_norm"])
def test_the_rung_that_adds(ladder: str) -> None:
    choice = kernels.ladder(ladder).best(x(8, 16384, dtype=BF16), x(16384, dtype=BF16), direction="add")
    assert choice.rung.name == "fused_residual"
    assert choice.why == Message("kernels.norm-added")
    assert choice.why.text("zh") != choice.why.text("en")


@pytest.mark.parametrize("ladder", BACKWARD)
def test_the_rung_of_gradients(ladder: str) -> None:
    assert kernels.ladder(ladder).best(x(4, 8), direction="backward").rung.name == BACKWARD[ladder]


@pytest.mark.parametrize("ladder", sorted({call[0] for call in CALLS} - {"attention", "attention_decode"}))
def test_tensors_say_where_they_are(ladder: str) -> None:
    """Without `where`, CPU tensors choose as on the virtual GPU."""
    for name, inputs, where, rung in CALLS:
        if name == ladder and where is CPU:
            real = [
                torch.zeros_like(part, device="cpu") if torch.is_tensor(part) else part for part in inputs
            ]
            assert kernels.ladder(ladder).best(*real).rung.name == rung


def test_every_public_operator_can_be_explained() -> None:
    assert set(ops.__all__) - {"SlowOnCpu"} <= set(OPERATORS)


def test_a_ladder_without_an_operator_has_no_choice() -> None:
    with pytest.raises(FlashpathError, match="No operator calls the ladder transpose"):
        kernels.ladder("transpose").best(x(4, 4))
