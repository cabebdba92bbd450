"""Decoding in Triton: every two features together, clean under the sanitizer; parts put together again."""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.decode import host_triton
from flashpath.kernels.attention.decode.cache import Cache, Rotary, prepare_step
from flashpath.kernels.attention.problem import Options
from flashpath.kernels.attention.reference import formula
from flashpath.vgpu import triton_driver
from tests.harness.covering_array import all_pairs, pairs_of
from tests.harness.decode_samples import CHOICES, Sample, check_decode, covering, made

SAMPLES = covering()


def test_every_pair_of_features_is_covered() -> None:
    met = set().union(*(pairs_of(CHOICES, sample) for sample in SAMPLES))
    missing = [pair for pair in all_pairs(CHOICES) if pair not in met]
    assert all(("place", "indexed") in pair for pair in missing), missing


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_two_features_together(sample: Sample, findings: list[Any]) -> None:
    check_decode(host_triton.decode, made(sample), sample.splits)
    assert not findings


@pytest.mark.gpu
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_two_features_together_on_a_gpu(sample: Sample) -> None:
    check_decode(host_triton.decode, made(sample, "cuda"), sample.splits)


@pytest.mark.gpu
@pytest.mark.parametrize("pages", [0, 1, 16, 64])
@pytest.mark.parametrize("dims", [(64, 64), (128, 128), (256, 256), (192, 128)])
@pytest.mark.parametrize("lengths", [(1023, 1), (8192, 5000), (20_000, 40_001)])
def test_long_caches_on_a_gpu(lengths: tuple[int, int], dims: tuple[int, int], pages: int) -> None:
    sample = Sample(lengths=lengths, dims=dims, pages=pages, heads=(32, 8), new=1, mask="causal")
    check_decode(host_triton.decode, made(sample, "cuda"), None)


def test_an_empty_cache_gives_nothing() -> None:
    step = made(Sample(lengths=(0, 0)))
    out, lse = host_triton.decode(step)
    assert out.abs().max() == 0
    assert (lse == -torch.inf).all()


def test_splits_change_nothing_but_the_last_bits() -> None:
    results = [host_triton.decode(made(Sample(lengths=(200, 77))), splits) for splits in (1, 2, 7, 128)]
    for out, lse in results[1:]:
        torch.testing.assert_close(out, results[0][0], rtol=1e-2, atol=1e-2)
        torch.testing.assert_close(lse, results[0][1])


def test_no_queries_and_no_sequences() -> None:
    cache = Cache(
        *(torch.zeros(2, 8, 1, 16, dtype=torch.float16) for _ in range(2)), torch.zeros(2, dtype=torch.int32)
    )
    out, lse = host_triton.decode(prepare_step(torch.zeros(2, 0, 2, 16, dtype=torch.float16), cache))
    assert out.shape == (2, 0, 2, 16)
    assert lse.shape == (2, 2, 0)


# ---- Parts put together ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_two_halves_of_the_keys_are_all_of_them(dtype: torch.dtype) -> None:
    q, k, v = (torch.randn(2, n, 3, 40).to(dtype) for n in (5, 30, 30))
    first, second = (formula(q, k[:, part], v[:, part]) for part in (slice(0, 11), slice(11, 30)))
    out, lse = host_triton.merge_states(
        first[0].to(dtype), first[1].float(), second[0].to(dtype), second[1].float()
    )
    exact, exact_lse = formula(q, k, v)
    torch.testing.assert_close(out.double(), exact, rtol=0, atol=2 * torch.finfo(dtype).eps)
    torch.testing.assert_close(lse.double(), exact_lse, rtol=1e-6, atol=1e-6)


def test_what_saw_nothing_adds_nothing() -> None:
    a, b = (torch.randn(1, 4, 2, 16, dtype=torch.float16) for _ in range(2))
    lse, nothing = torch.randn(1, 2, 4), torch.full((1, 2, 4), -torch.inf)
    out, logs = host_triton.merge_states(a, lse, b, nothing)
    torch.testing.assert_close(out, a, rtol=0, atol=0)
    torch.testing.assert_close(logs, lse)
    out, logs = host_triton.merge_states(a, nothing, b, nothing)
    assert out.abs().max() == 0
    assert (logs == -torch.inf).all()


@pytest.mark.parametrize("pages", [0, 16])
def test_launches_that_overlap(pages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Hopper, whose virtual GPU has launches follow one another."""
    monkeypatch.setattr(host_triton, "overlaps", lambda _: True)
    with triton_driver.triton("sm_90a"):
        check_decode(host_triton.decode, made(Sample(pages=pages)), 3)


# ---- What is refused -------------------------------------------------------------------------------------


def _cache(**change: Any) -> Cache:
    k, v = (torch.zeros(2, 8, 1, 16, dtype=torch.float16) for _ in range(2))
    return Cache(**{"k": k, "v": v, "lengths": torch.zeros(2, dtype=torch.int32), **change})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lengths": torch.zeros(2)}, "cache_seqlens"),
        ({"lengths": torch.zeros(3, dtype=torch.int32)}, "cache_seqlens"),
        ({"page_table": torch.zeros(2, dtype=torch.int32)}, "batch, pages"),
        ({"page_table": torch.zeros(2, 0, dtype=torch.int32)}, "pages > 0"),
        ({"batch_index": torch.zeros(2, dtype=torch.int64)}, "cache_batch_idx"),
        (
            {
                "k": torch.zeros(3, 8, 1, 16, dtype=torch.float16),
                "v": torch.zeros(3, 8, 1, 16, dtype=torch.float16),
            },
            "3",
        ),
        ({"k": torch.zeros(2, 8, 1, 32, dtype=torch.float16)[..., ::2]}, "not dense"),
        ({"k": torch.zeros(2, 8, 1, 16)}, "float16 or bfloat16"),
    ],
)
def test_wrong_caches_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(FlashpathError, match=words):
        prepare_step(torch.zeros(2, 1, 2, 16, dtype=torch.float16), _cache(**change))


def test_other_wrong_arguments_are_refused() -> None:
    q = torch.zeros(2, 1, 2, 16, dtype=torch.float16)
    new = torch.zeros(2, 1, 1, 16, dtype=torch.float16)
    angles = torch.zeros(10, 8, dtype=torch.float16)
    with pytest.raises(FlashpathError, match="only one of k and v"):
        prepare_step(q, _cache(), new)
    with pytest.raises(FlashpathError, match="new keys, kv_heads"):
        prepare_step(q, _cache(), new, new.repeat(1, 2, 1, 1))
    with pytest.raises(FlashpathError, match="multiple of 8 pairs"):
        prepare_step(q, _cache(), rotary=Rotary(angles[:, :4], angles[:, :4]))
    with pytest.raises(FlashpathError, match="for training"):
        prepare_step(q, _cache(), options=Options(dropout_p=0.5))
    with pytest.raises(FlashpathError, match="1 to 128"):
        host_triton.decode(prepare_step(q, _cache()), 0)
