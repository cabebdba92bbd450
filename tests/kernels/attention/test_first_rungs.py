"""The rungs before FlashAttention 2: right for all that they take, clear about the rest, counted."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.kernels.attention.first_rungs import fused, naive, online_softmax, unfused
from flashpath.kernels.attention.flash_v1 import host as flash_v1
from flashpath.kernels.attention.flash_v2.triton import host as flash_v2
from flashpath.kernels.attention.problem import Options, Problem, prepare
from flashpath.kernels.attention.problem import Sequences as Varlen
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.tolerance import check_against
from tests.harness.attention_checks import check_backward, check_forward
from tests.harness.attention_samples import MODS, Sample, made

KERNELS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "unfused": unfused.forward,
    "fused": fused.forward,
    "online_softmax": online_softmax.forward,
    "flash_v1_triton": flash_v1.triton,
    "flash_v1_cuda": flash_v1.cuda,
}
RUNGS = {"naive": naive.forward, **KERNELS}

# Several tiles each way and grouped heads; queries that see nothing, and strides; more keys than queries, and
# an unequal v; one query; one of everything; the widest and the narrowest heads there are.
SAMPLES = [
    Sample(mask="causal", dims=(64, 64), heads=(4, 2)),
    Sample("float16", "causal", lengths=(90, 33), dims=(40, 24), heads=(3, 1), layout="strided"),
    Sample(lengths=(17, 90), dims=(16, 72)),
    Sample("float16", "causal", lengths=(1, 65)),
    Sample(mask="causal", lengths=(1, 1), dims=(8, 8)),
    Sample(mask="causal", lengths=(5, 40), dims=(256, 8), heads=(1, 1)),
    Sample("float16", lengths=(40, 35), dims=(8, 256), heads=(1, 1), layout="strided"),
]
EMPTY = [
    Sample(lengths=(5, 0)),
    Sample(mask="causal", lengths=(5, 0)),
    Sample(lengths=(0, 3)),
    Sample(lengths=(0, 0)),
]
kernels = pytest.mark.parametrize("name", KERNELS)
rungs = pytest.mark.parametrize("name", RUNGS)


def plain(queries: int, keys: int, dim: int = 32, device: str = "cpu", **options: Any) -> Problem:
    """One head of random numbers."""
    generator = torch.Generator(device=device).manual_seed(queries)
    q, k, v = (
        torch.randn(1, n, 1, dim, generator=generator, device=device).bfloat16()
        for n in (queries, keys, keys)
    )
    return prepare(q, k, v, Options(**options))


# ---- Right ---------------------------------------------------------------------------------------------


@kernels
@pytest.mark.parametrize("sample", [*SAMPLES, *EMPTY], ids=str)
def test_it_is_right_and_clean(name: str, sample: Sample, findings: list[Any]) -> None:
    check_forward(KERNELS[name], made(sample))
    assert findings == []


@pytest.mark.parametrize("sample", [*SAMPLES, *EMPTY], ids=str)
def test_naive_is_as_good_as_its_type(sample: Sample) -> None:
    """Out and lse: its scores are rounded to the type of q."""
    problem = made(sample)
    inputs = (problem.q, problem.k, problem.v)
    copies = [each.clone() for each in inputs]
    given = problem.new_out(), problem.new_lse()
    assert all(mine is got for mine, got in zip(given, naive.forward(problem, *given), strict=True))
    assert all(torch.equal(x, y) for x, y in zip(inputs, copies, strict=True))
    exact, low = formula(*inputs, problem.options), formula(*inputs, problem.options, dtype=problem.q.dtype)
    check_against(given[0], exact[0], low[0], absolute=1e-5)
    check_against(given[1], exact[1], low[1].float(), absolute=1e-5)


@pytest.mark.parametrize("sample", [SAMPLES[1], SAMPLES[2], EMPTY[0]], ids=str)
def test_gradients_of_naive(sample: Sample) -> None:
    problem = made(sample)
    got = check_backward(naive.backward, problem, with_dlse=True)
    inputs = [each.clone().requires_grad_() for each in (problem.q, problem.k, problem.v)]
    out, lse = naive.forward(replace(problem, q=inputs[0], k=inputs[1], v=inputs[2]))
    dout = torch.ones_like(out)
    by_torch = torch.autograd.grad(out, inputs, dout)
    for ours, torchs in zip(naive.backward(problem, out, lse, dout), by_torch, strict=False):
        assert torch.equal(ours, torchs)
    assert got.dsinks is None


@kernels
@pytest.mark.parametrize("scale", [0.0, -0.7, 3.0])
def test_any_scale(name: str, scale: float) -> None:
    check_forward(KERNELS[name], plain(40, 50, causal=True, scale=scale))


@kernels
@pytest.mark.parametrize("order", ["rising", "falling"])
def test_a_maximum_that_moves_at_every_key_and_one_that_never_does(name: str, order: str) -> None:
    """Scores from -300 to 300: no exponential overflows, and none of a smaller maximum stays."""
    ramp = torch.linspace(-3, 3, 70)
    k = (ramp if order == "rising" else -ramp)[None, :, None, None].expand(1, 70, 1, 16).bfloat16()
    q = torch.full((1, 33, 1, 16), 6.25).bfloat16()
    v = torch.randn(1, 70, 1, 16).bfloat16()
    check_forward(KERNELS[name], prepare(q, k, v, Options(scale=1.0)))


@kernels
def test_a_window_that_is_causal_in_other_words(name: str) -> None:
    for window, causal in (((-1, 0), True), ((-1, -1), False)):
        out, lse = KERNELS[name](plain(33, 40, window=window))
        same_out, same_lse = KERNELS[name](plain(33, 40, causal=causal))
        assert torch.equal(out, same_out)
        assert torch.equal(lse, same_lse)


@kernels
def test_a_nan_stays_with_those_who_see_it(name: str) -> None:
    problem = plain(40, 40, causal=True)
    problem.k[0, 35] = float("nan")
    out, lse = KERNELS[name](problem)
    assert out[0, :35].isfinite().all()
    assert lse[0, 0, :35].isfinite().all()
    assert out[0, 35:].isnan().all()


# ---- Declined ------------------------------------------------------------------------------------------


@rungs
def test_what_it_does_not_take_is_named(name: str) -> None:
    bounds = torch.tensor([0, 4, 9], dtype=torch.int32)
    ones = torch.ones(1)
    asked: dict[str, Problem] = {
        "window": plain(9, 9, window=(3, -1)),
        "softcap": plain(9, 9, softcap=2.0),
        "alibi_slopes": plain(9, 9, alibi_slopes=ones),
        "sinks": plain(9, 9, sinks=ones),
        "dropout_p": plain(9, 9, dropout_p=0.5, seed=torch.tensor([1])),
        "score_mod": plain(9, 9, score_mod=MODS["adds"]),
    }
    tokens = torch.zeros(9, 1, 16, dtype=torch.bfloat16)
    asked["cu_seqlens"] = prepare(tokens, tokens, tokens, sequences=Varlen(bounds, bounds, 5, 5))
    for feature, problem in asked.items():
        with pytest.raises(FlashpathError, match=rf"(?s){name} got {feature}\..*flash_v2"):
            RUNGS[name](problem)


@rungs
def test_an_output_of_another_shape_or_type_is_refused(name: str) -> None:
    problem = plain(5, 7)
    with pytest.raises(FlashpathError, match="out="):
        RUNGS[name](problem, out=problem.new_out()[:, :4])
    with pytest.raises(FlashpathError, match="float32"):
        RUNGS[name](problem, lse=problem.new_lse().double())


# ---- Counted -------------------------------------------------------------------------------------------


def counted(name: str, problem: Problem) -> list[Any]:
    with fp.watch() as reports:
        KERNELS[name](problem)
    return reports


@pytest.mark.parametrize("name", ["flash_v1_triton", "flash_v1_cuda"])
def test_what_version_1_moves(name: str) -> None:
    """o, m and l go to memory for each of 8 tiles of keys, and k and v come from there once."""
    n, dim, tiles = 256, 64, 8
    problem = plain(n, n, dim)
    state = n * (4 * dim + 8)  # of o, m and l
    result = n * (2 * dim + 4)  # of out and lse
    (of_v1,), (of_fused,) = counted(name, problem), counted("fused", problem)
    with fp.watch() as of_v2:
        flash_v2.forward(problem)
    assert of_v1.global_store.bytes == state + tiles * state + result == 642_048
    assert of_fused.global_store.bytes == result == 33_792
    assert sum(report.global_store.bytes for report in of_v2) == result
    q = n * dim * 2
    keys_and_values = 2 * q
    least = keys_and_values + tiles * (q + n * dim * 4)
    assert of_v1.global_load.bytes >= least
    # Tiles of queries that keep their o read all keys twice and all values, 8 times.
    assert of_fused.global_load.bytes == q + tiles * 3 * n * dim * 2


def test_what_fusing_saves() -> None:
    """12 bytes for each score, which are most of it; the price is the first product once more."""
    n, dim = 256, 64
    problem = plain(n, n, dim)
    apart, (together,) = counted("unfused", problem), counted("fused", problem)
    inputs_and_output = 4 * n * dim * 2 + 4 * n
    assert sum(each.dram_bytes for each in apart) == 12 * n * n + inputs_and_output
    assert together.dram_bytes == inputs_and_output
    product = 2 * n * n * dim
    assert sum(each.tensor_operations.get("bf16", 0) for each in apart) == 2 * product
    assert together.tensor_operations["bf16"] == 3 * product


def test_keys_of_the_future_are_skipped() -> None:
    """Tiles on and below the diagonal: 36 of 64."""
    n = 256
    for name in ("fused", "flash_v1_triton"):
        (all_of_it,), (half,) = counted(name, plain(n, n)), counted(name, plain(n, n, causal=True))
        assert half.tensor_operations["bf16"] * 64 == all_of_it.tensor_operations["bf16"] * 36


def test_tiles_in_shared_memory_meet_no_bank_twice() -> None:
    for dim in (40, 64):
        (report,) = counted("flash_v1_cuda", plain(40, 40, dim))
        assert (report.shared_load.bank_conflicts, report.shared_store.bank_conflicts) == (0, 0)


@pytest.mark.parametrize(
    "barrier",
    ["__syncthreads();  // nobody", "__syncthreads();\n\n", "__syncwarp();  // q", "__syncwarp();  // p"],
)
def test_every_barrier_of_version_1_is_needed(barrier: str, findings: list[Any], monkeypatch: Any) -> None:
    source = flash_v1.CUDA.read_text(encoding="utf-8")
    assert source.count(barrier) == 1
    without = source.replace(barrier, barrier.replace("__sync", "//"))

    def kernel(file: Any, name: str, tensor: Any) -> Any:
        return fp.compile(without, arch="sm_80", includes=[flash_v1.FOLDER], name_expressions=[name])[name]

    monkeypatch.setattr(flash_v1, "cuda_kernel", kernel)
    flash_v1.cuda(plain(70, 70, 16))
    assert findings != []


# ---- On a GPU ------------------------------------------------------------------------------------------

LARGE = [
    Sample(mask="causal", lengths=(1000, 1013), dims=(128, 128), heads=(4, 2)),
    Sample("float16", "causal", lengths=(1013, 500), dims=(64, 64), heads=(3, 1), layout="strided"),
    Sample(lengths=(300, 777), dims=(256, 256)),
    Sample("float16", lengths=(513, 1), dims=(200, 72)),
]


@pytest.mark.gpu
@kernels
@pytest.mark.parametrize("sample", [*SAMPLES, *EMPTY, *LARGE], ids=str)
def test_on_a_gpu(name: str, sample: Sample) -> None:
    check_forward(KERNELS[name], made(sample, "cuda"))
