"""The rungs of matmul for many products, and transposed matrices, which are read as they lie."""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.matmul import batched
from flashpath.kernels.matmul.configs import SMALL
from flashpath.kernels.matmul.epilogue import Epilogue
from tests.harness.guarded_output import run_guarded
from tests.harness.launches import nothing_found

LADDER = kernels.ladder("matmul")
MANY = ["reference", "one_by_one", "triton_batched"]
TURNING = ["triton_persistent", "triton_fused"]
TYPES = [(torch.bfloat16, "ieee"), (torch.float16, "ieee"), (torch.float32, "ieee"), (torch.float32, "tf32")]


def operands(batch: int, m: int, n: int, k: int, dtype: Any = torch.bfloat16, device: str = "cpu") -> Any:
    generator = torch.Generator().manual_seed(batch * 7919 + m * 31 + n * 7 + k)
    a, b = (torch.randn(batch, *shape, generator=generator) + 0.25 for shape in ((m, k), (k, n)))
    return a.to(device, dtype), b.to(device, dtype)


def check(name: str, a: Any, b: Any, precision: str = "ieee") -> None:
    out = run_guarded(LADDER[name], a, b, precision, like=a.new_empty(a.shape[0], a.shape[1], b.shape[2]))
    LADDER.check(out, (a, b, precision))


# ---- Many products ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "precision"), TYPES, ids=str)
@pytest.mark.parametrize("name", MANY)
def test_every_type(name: str, dtype: Any, precision: str) -> None:
    check(name, *operands(3, 72, 40, 56, dtype), precision)


@pytest.mark.parametrize("name", MANY)
def test_any_size(name: str) -> None:
    sizes = [
        (1, 1, 1, 1),
        (5, 3, 7, 9),
        (2, 130, 70, 33),
        (2, 4, 4, 0),
        (0, 4, 4, 4),
        (2, 0, 4, 4),
        (9, 1, 65, 17),
    ]
    for size in sizes:
        check(name, *operands(*size))


LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "transposed": lambda a, b: (a.mT.contiguous().mT, b.mT.contiguous().mT),
    "one for all": lambda a, b: (a[:1].expand(4, -1, -1), b),
    "heads beside each other": lambda a, b: (a.transpose(0, 1).contiguous().transpose(0, 1), b),
    "every second column": lambda a, b: (torch.stack((a, a), -1)[..., 0], torch.stack((b, b), -1)[..., 0]),
    "at an odd address": lambda a, b: (torch.cat((a.flatten()[:1], a.flatten()))[1:].view(a.shape), b),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", MANY)
def test_any_strides(name: str, layout: str) -> None:
    check(name, *LAYOUTS[layout](*operands(4, 24, 40, 33)))


def test_float64_is_one_by_one() -> None:
    check("one_by_one", *operands(3, 20, 30, 10, torch.float64))
    with pytest.raises(FlashpathError, match="float64"):
        LADDER["triton_batched"](*operands(3, 20, 30, 10, torch.float64))


def test_many_are_one_launch() -> None:
    for name, launches in (("one_by_one", 5), ("triton_batched", 1)):
        with nothing_found(launches):
            LADDER[name](*operands(5, 20, 36, 40))


def test_large_tiles_where_all_products_together_have_enough() -> None:
    for size, is_large in (((64, 128, 256, 8), True), ((8, 128, 256, 8), False), ((1, 4096, 4096, 8), True)):
        a, b = (each.to("meta") for each in operands(1, 1, 1, 1))
        a, b = a.expand(size[0], size[1], size[3]), b.expand(size[0], size[3], size[2])
        batch = batched.prepare_batch(a, b, "ieee", None, ("bfloat16",))
        assert (batched.config_for(batch) is not SMALL) == is_large


@pytest.mark.parametrize("name", MANY)
def test_wrong_arguments_are_refused(name: str) -> None:
    a, b = operands(2, 4, 8, 16)
    for given, says in (
        ((a[:1], b), r"\(1, 4, 16\)"),
        ((a, b[:, :3]), r"\(2, 3, 8\)"),
        ((a, b.half()), "float16"),
        ((a.int(), b.int()), "int32"),
        ((a, b, "fp8"), "fp8"),
        ((a, b, "tf32"), "tf32"),
    ):
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*given)


# ---- Transposed matrices ---------------------------------------------------------------------------------


@pytest.mark.parametrize("turned", [(True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("name", TURNING)
def test_a_transposed_matrix_is_read_as_it_lies(name: str, turned: tuple[bool, bool]) -> None:
    for m, n, k in ((72, 136, 80), (37, 45, 67), (1, 9, 8)):  # whole rows of 16 bytes, and others
        a, b = (each[0] for each in operands(1, m, n, k))
        given = [x.t().contiguous().t() if turn else x for x, turn in zip((a, b), turned, strict=True)]
        out = torch.full((m, n), float("nan"), dtype=a.dtype)
        LADDER.check(LADDER[name](*given, "ieee", out), (a, b, "ieee"))


@pytest.mark.parametrize("turned", [(False, True), (True, True)], ids=str)
def test_a_transposed_matrix_of_tf32(turned: tuple[bool, bool]) -> None:
    a, b = (each[0] for each in operands(1, 72, 40, 48, torch.float32))
    given = [x.t().contiguous().t() if turn else x for x, turn in zip((a, b), turned, strict=True)]
    LADDER.check(LADDER["triton_persistent"](*given, "tf32"), (a, b, "tf32"))


def test_an_epilogue_after_a_transposed_weight() -> None:
    a, b = (each[0] for each in operands(1, 72, 136, 80))
    after = Epilogue(0.5, torch.randn(136).bfloat16(), "silu", None, torch.randn(72, 136).bfloat16())
    out = LADDER["triton_fused"](a, b.t().contiguous().t(), "ieee", None, after)
    LADDER.check(out, (a, b, "ieee", None, after))


@pytest.mark.parametrize("name", ["mma_pipelined", "fused", "triton_pointers", "warp_tiled"])
def test_other_rungs_refuse_one(name: str) -> None:
    dtype = torch.float32 if name == "warp_tiled" else torch.bfloat16
    a, b = (each[0] for each in operands(1, 40, 48, 56, dtype))
    with pytest.raises(FlashpathError, match="contiguous"):
        LADDER[name](a, b.t().contiguous().t())


def test_the_sanitizer_finds_nothing(findings: list[Any]) -> None:
    a, b = operands(2, 70, 40, 33)
    LADDER["triton_batched"](a, b.mT.contiguous().mT)
    LADDER["triton_fused"](a[0].t().contiguous().t(), b[0].t().contiguous().t(), "ieee", None, Epilogue())
    assert findings == []


# ---- On a GPU --------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "precision"), TYPES, ids=str)
@pytest.mark.parametrize("name", MANY[1:])
def test_many_products_on_a_gpu(name: str, dtype: Any, precision: str) -> None:
    for size in ((3, 72, 40, 56), (64, 256, 512, 128), (5, 3, 7, 9)):
        check(name, *operands(*size, dtype, device="cuda"), precision)
        for layout in ("transposed", "at an odd address"):
            check(name, *LAYOUTS[layout](*operands(*size, dtype, device="cuda")), precision)


@pytest.mark.gpu
@pytest.mark.parametrize("name", TURNING)
def test_transposed_matrices_on_a_gpu(name: str) -> None:
    for m, n, k in ((1024, 2048, 512), (72, 136, 80), (37, 45, 67)):
        a, b = (each[0] for each in operands(1, m, n, k, device="cuda"))
        for given in ((a.t().contiguous().t(), b), (a, b.t().contiguous().t())):
            LADDER.check(LADDER[name](*given), (a, b, "ieee"))


def test_counts_of_one_by_one_and_batched_are_those_of_the_same_products() -> None:
    """What is broadcast is read by each product, from L2 where it is; nothing is read beside the operands."""
    a, b = operands(2, 64, 64, 64)
    with fp.watch() as reports:
        LADDER["triton_batched"](a, b)
    (report,) = reports
    assert report.global_load.bytes == (a.numel() + b.numel()) * 2
    assert report.global_store.bytes == 2 * 64 * 64 * 2
