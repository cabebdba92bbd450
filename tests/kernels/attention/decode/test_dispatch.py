"""Which rung a step of decoding gets, and the reason it is given."""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.decode import dispatch, host_cuda, host_triton
from flashpath.kernels.attention.decode.cache import Cache, Step, prepare_step
from flashpath.kernels.attention.decode.ladder import LADDER
from flashpath.kernels.attention.dispatch_table import DecodeCell, Table
from flashpath.kernels.attention.problem import Options
from flashpath.kernels.attention.score_mod import ScoreMod
from flashpath.kernels.where import Where, named
from tests.harness.decode_samples import Sample, made


def unaligned(step: Step) -> Step:
    """Its cache begins in the middle of 16 bytes."""
    k = step.cache.k
    wide = torch.zeros((*k.shape[:-1], k.shape[-1] + 1), dtype=k.dtype)
    wide[..., 1:] = k
    return replace(step, cache=replace(step.cache, k=wide[..., 1:]))


def test_a_backend_that_was_asked_for_is_taken() -> None:
    step = made(Sample())
    assert dispatch.host_of(LADDER.best(step, "cuda").rung) is host_cuda
    assert dispatch.host_of(LADDER.best(step, "triton").rung) is host_triton
    with pytest.raises(FlashpathError, match="triton, cuda and reference"):
        LADDER.best(step, "cudnn")


def test_the_virtual_gpu_gets_what_is_compiled_sooner() -> None:
    choice = LADDER.best(made(Sample()))
    assert (choice.rung.language, "virtual GPU" in str(choice.why)) == ("cuda", True)


def test_what_cuda_does_not_take_goes_to_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    step = made(Sample())
    choice = LADDER.best(unaligned(step))
    assert (choice.rung.language, "multiples of 16 bytes" in str(choice.why)) == ("triton", True)
    choice = LADDER.best(step, where=Where("a small one", (8, 0), 16 * 1024, 108))
    assert (choice.rung.language, "shared memory than the 16384 bytes" in str(choice.why)) == ("triton", True)
    monkeypatch.setattr(host_cuda, "max_shared_per_block", lambda _: 16 * 1024)
    with pytest.raises(FlashpathError, match="Use backend"):
        host_cuda.decode(step)


@pytest.mark.parametrize(("form", "backend"), [({"cuda": "score"}, "cuda"), ({"triton": print}, "triton")])
def test_a_function_of_ones_own_goes_where_its_language_is(form: dict[str, Any], backend: str) -> None:
    step = replace(made(Sample()), options=Options(score_mod=ScoreMod("mine", **form)))
    choice = LADDER.best(step)
    assert (choice.rung.language, "'mine'" in str(choice.why)) == (backend, True)


def meta_step(batch: int, keys: int, page_size: int = 0) -> Step:
    def new(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device="meta")

    pages = keys // page_size if page_size else 0
    k = new(batch * pages, page_size, 8, 128) if page_size else new(batch, keys, 8, 128)
    table = new(batch, pages, dtype=torch.int32) if page_size else None
    return prepare_step(new(batch, 1, 32, 128), Cache(k, k, new(batch, dtype=torch.int32), table))


def cell(batch: int, keys: int, page_size: int, triton: float, cuda: float) -> DecodeCell:
    times = {"triton": triton, "cuda": cuda}
    return DecodeCell((9, 0), batch, keys, 32, 8, 128, page_size, times, "NVIDIA H200")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Triton is the faster one but for large caches, and for 64 sequences of 256 MiB in pages."""
    found = Table(
        decode_cells=(
            cell(1, 1024, 0, 10, 12),
            cell(64, 65536, 0, 3730, 3680),
            cell(1, 1024, 16, 11, 12),
            cell(8, 8192, 16, 76.8, 77.6),
            cell(64, 1024, 16, 77.5, 76.4),
        )
    )
    monkeypatch.setattr(dispatch, "table", lambda: found)
    dispatch.fastest.cache_clear()
    yield
    dispatch.fastest.cache_clear()


@pytest.mark.usefixtures("measured")
@pytest.mark.parametrize(
    ("step", "backend", "why"),
    [
        (
            (1, 1024, 0),
            "triton",
            "with 1 × 1,024 keys, 32 heads on 8, dim 128, no pages: triton 10.0 µs, cuda 12.0",
        ),
        ((2, 1024, 0), "triton", "no pages, the nearest that was: triton"),
        ((64, 2**17, 0), "cuda", "with 64 × 65,536 keys, 32 heads on 8, dim 128, no pages, the nearest"),
        ((8, 8192, 16), "triton", "8 × 8,192 keys, 32 heads on 8, dim 128, pages of 16: triton 76.8 µs"),
        ((64, 1024, 16), "cuda", "64 × 1,024 keys, 32 heads on 8, dim 128, pages of 16: cuda 76.4 µs"),
        ((32, 2048, 32), "cuda", "64 × 1,024 keys"),  # as many bytes, more nearly as many sequences
    ],
)
def test_on_a_gpu_the_nearest_measurement_decides(step: tuple[int, int, int], backend: str, why: str) -> None:
    choice = LADDER.best(meta_step(*step), where=named("H200"))
    assert (choice.rung.language, why in str(choice.why)) == (backend, True), choice.why


@pytest.mark.parametrize(("page_size", "backend"), [(0, "triton"), (16, "cuda")])
def test_a_gpu_that_nobody_measured(page_size: int, backend: str) -> None:
    choice = LADDER.best(meta_step(8, 1024, page_size), where=named("A100"))
    assert (choice.rung.language, "no measurement of this GPU" in str(choice.why)) == (backend, True)


@pytest.mark.parametrize("backend", [None, "triton", "cuda"])
def test_a_gpu_that_has_not_what_kernels_need(backend: str | None) -> None:
    with pytest.raises(FlashpathError, match=r"(?s)attention_decode's kernels.*T4 is sm_75.*reference"):
        LADDER.best(meta_step(8, 1024), backend, where=named("T4"))


def test_what_is_asked_for_and_cannot_be_done_is_refused() -> None:
    with pytest.raises(FlashpathError, match="Use backend"):
        LADDER.best(made(Sample()), "cuda", where=Where("a small one", (8, 0), 16 * 1024, 108))


@pytest.mark.parametrize(
    ("batch", "keys", "dense", "pages", "plan"),
    [
        (1, 1024, host_triton.LARGE, host_triton.LARGE, (8, 2, 1)),
        (1, 8192, host_triton.LARGE, host_triton.PAGED, (8, 2, 1)),
        (8, 65536, host_triton.LARGE, host_triton.PAGED, (8, 2, 1)),
        (64, 1024, host_triton.SHORT, host_triton.PAGED_MANY, (2, 3, 4)),
        (64, 65536, host_triton.LARGE, host_triton.PAGED_MANY, (8, 2, 1)),
    ],
)
def test_tiles_and_plans_of_132_sms(
    batch: int, keys: int, dense: Any, pages: Any, plan: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def new(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device="meta")

    q, lengths = new(batch, 1, 32, 128), new(batch, dtype=torch.int32)
    without, within = (
        Cache(new(*shape, 8, 128), new(*shape, 8, 128), lengths)
        for shape in ((batch, keys), (batch * keys // 16, 16))
    )
    within = replace(within, page_table=new(batch, keys // 16, dtype=torch.int32))
    for module in (host_triton, host_cuda):
        monkeypatch.setattr(module, "sm_count", lambda _: 132)
    for cache, configs in ((without, dense), (within, pages)):
        step = prepare_step(q, cache)
        chosen = host_cuda.plan_of(step)
        assert host_triton.config_of(step) == configs[128]
        assert chosen is not None
        assert (chosen.warps, chosen.stages, chosen.blocks_per_sm) == plan
