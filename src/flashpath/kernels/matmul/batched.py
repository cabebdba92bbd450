"""The rungs that multiply many pairs of matrices: one launch after the other, and all in one."""

from __future__ import annotations

import importlib
from typing import Any

from flashpath.kernels.arguments import FLOATS
from flashpath.kernels.building import cuda_compiles_for, dtype_name, triton_compiles_by, triton_device
from flashpath.kernels.matmul import float32, tensor_core
from flashpath.kernels.matmul.configs import LARGE, MEDIUM, MORE_CONFIGS, OF_ONE_TILE, SMALL, Config
from flashpath.kernels.matmul.problem import FOLDER, Batch, prepare_batch
from flashpath.kernels.matmul.triton_rungs import ENOUGH_PROGRAMS
from flashpath.kernels.rung import Case, Rung
from flashpath.messages import Message, told


def one_by_one(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    batch = prepare_batch(a, b, precision, out, (*FLOATS, "float64"))
    on_tensor_cores = a.element_size() == 2 or precision == "tf32"
    product: Any = tensor_core.mma_pipelined if on_tensor_cores else float32.warp_tiled
    if dtype_name(a) == "float64":
        product = float32.shared_tile
    for i in range(batch.batch):
        product(a[i].contiguous(), b[i].contiguous(), precision, batch.out[i])
    return batch.out


def triton_batched(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, config: Config | None = None
) -> Any:
    batch = prepare_batch(a, b, precision, out, FLOATS)
    if not (batch.batch and batch.m and batch.n):
        return batch.out
    config = config or config_for(batch)
    with triton_device(a):
        triton_kernel()[(batch.batch * config.programs(batch.m, batch.n),)](
            a,
            b,
            batch.out,
            batch.m,
            batch.n,
            batch.k,
            _strides(a),
            _strides(b),
            PRECISION=precision,
            **config.constants(a.element_size()),
        )
    return batch.out


def config_for(batch: Batch) -> Config:
    """The largest tiles that fit, where all products together have enough of them to keep the GPU busy."""
    large = MEDIUM if batch.out.element_size() > 2 else LARGE
    return large if batch.batch * large.programs(batch.m, batch.n) >= ENOUGH_PROGRAMS else SMALL


def _strides(x: Any) -> tuple[int, ...]:
    """Strides of dimensions of one are made 0: nobody steps there, and they may be anything."""
    return tuple(0 if size == 1 else step for size, step in zip(x.shape, x.stride(), strict=True))


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.matmul.triton_batched").matmul_batched


# ---- Entries -------------------------------------------------------------------------------------------


def batches_only(case: Case) -> Message | None:
    return None if case.parameters.get("batch") else told("kernels.matmul.many-products")


def _one_launch() -> Any:
    import torch

    a, b = (torch.empty(2, 64, 64, dtype=torch.bfloat16) for _ in "ab")
    return triton_batched(a, b)


RUNGS = (
    Rung(
        name="one_by_one",
        arch="sm_80",
        file=tensor_core.MMA_PIPELINED,
        function=one_by_one,
        declines=batches_only,
        improves_on="reference",
        compile_for=cuda_compiles_for(
            tensor_core.MMA_PIPELINED,
            f"matmul_mma_pipelined<__nv_bfloat16, {tensor_core.LARGE}, Plain, true>",
        ),
        readability=5,
        debugging=5,
    ),
    Rung(
        name="triton_batched",
        language="triton",
        arch="sm_80",
        file=FOLDER / "triton_batched.py",
        function=triton_batched,
        declines=batches_only,
        choices={"config": (LARGE, MEDIUM, SMALL, *MORE_CONFIGS, *OF_ONE_TILE)},
        improves_on="one_by_one",
        compile_for=triton_compiles_by(_one_launch),
        readability=4,
        debugging=3,
    ),
)
