"""Which rung a step of decoding gets, and the reason it is given."""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from decode_samples import Sample, made

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.decode import dispatch, host_cuda, host_triton
from flashpath.kernels.attention.decode.cache import Cache, Step, prepare_step
from flashpath.kernels.attention.problem import Options
from flashpath.kernels.attention.score_mod import ScoreMod
from flashpath.kernels.where import Where, named


def unaligned(step: Step) -> Step:
    """Its cache begins in the middle of 16 bytes."""
    k = step.cache.k
    wide = torch.zeros((*k.shape[:-1], k.shape[-1] + 1), dtype=k.dtype)
    wide[..., 1:] = k
    return replace(step, cache=replace(step.cache, k=wide[..., 1:]))


def test_a_backend_that_was_asked_for_is_taken() -> None:
    step = made(Sample())
    assert dispatch.choose(step, "cuda").decode is host_cuda.decode
    assert dispatch.choose(step, "triton").decode is host_triton.decode
    with pytest.raises(FlashpathError, match="triton, cuda and reference"):
        dispatch.choose(step, "cudnn")


def test_the_virtual_gpu_gets_what_is_compiled_sooner() -> None:
    choice = dispatch.choose(made(Sample()))
    assert (choice.backend, "virtual GPU" in choice.why) == ("cuda", True)


def test_what_cuda_does_not_take_goes_to_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    step = made(Sample())
    choice = dispatch.choose(unaligned(step))
    assert (choice.backend, "multiples of 16 bytes" in choice.why) == ("triton", True)
    choice = dispatch.choose(step, where=Where("a small one", (8, 0), 16 * 1024))
    assert (choice.backend, "shared memory than the 16384 bytes" in choice.why) == ("triton", True)
    monkeypatch.setattr(host_cuda, "max_shared_per_block", lambda _: 16 * 1024)
    with pytest.raises(FlashpathError, match="Use backend"):
        host_cuda.decode(step)


@pytest.mark.parametrize(("form", "backend"), [({"cuda": "score"}, "cuda"), ({"triton": print}, "triton")])
def test_a_function_of_ones_own_goes_where_its_language_is(form: dict[str, Any], backend: str) -> None:
    step = replace(made(Sample()), options=Options(score_mod=ScoreMod("mine", **form)))
    choice = dispatch.choose(step)
    assert (choice.backend, "'mine'" in choice.why) == (backend, True)


@pytest.mark.parametrize(("pages", "backend"), [(0, "triton"), (16, "triton"), (2**17, "cuda")])
def test_on_a_gpu_the_faster_one_is_taken(pages: int, backend: str) -> None:
    """Pages go to CUDA C++, but for few."""
    step = made(Sample(pages=min(pages, 16)))
    if pages > 16:
        table = torch.empty(step.batch, pages, dtype=torch.int32, device="meta")
        step = replace(step, cache=replace(step.cache, page_table=table))
    choice = dispatch.choose(step, where=named("H200"))
    assert (choice.backend, bool(choice.why)) == (backend, True)


def test_a_vast_cache_goes_to_cuda() -> None:
    step = made(Sample())
    k = torch.empty(step.batch, 2**26, *step.cache.k.shape[2:], dtype=step.cache.k.dtype, device="meta")
    step = replace(step, cache=replace(step.cache, k=k, v=k))
    choice = dispatch.choose(step, where=named("H200"))
    assert (choice.backend, "GiB" in choice.why) == ("cuda", True)


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
