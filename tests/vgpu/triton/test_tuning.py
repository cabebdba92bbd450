# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""Autotuning by counted cost: the rule, the choice, and what an autotuner does to its arguments meanwhile."""

import math

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.autotuner import Autotuner
from triton.testing import do_bench as do_bench_by_name

import flashpath as fp
from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.vgpu.cost import cost_seconds
from flashpath.vgpu.report import GlobalTraffic, Report, SharedTraffic

A100 = gpus.gpu("A100")
CLOCK = A100.boost_clock_mhz * 1e6


def report(dram_bytes=0, flops=0, dtype="fp32", threads=128, **counts):
    """What a launch of blocks that fill an SM's warps may have counted."""
    return Report(
        dram_bytes=dram_bytes,
        occupancy=gpus.occupancy(A100, threads, 16, 0),
        roofline=gpus.roofline(A100, dram_bytes, flops, dtype),
        **counts,
    )


# ---- The rule ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counted", "seconds"),
    [
        ({"dram_bytes": 10**9}, 1e9 / (A100.memory_bandwidth_gb_per_s * 1e9)),
        ({"warp_instructions": 432 * 10**6}, 1e6 / CLOCK),
        ({"global_load": GlobalTraffic(sectors=432 * 10**6)}, 1e6 / CLOCK),
        ({"global_store": GlobalTraffic(sectors=432 * 10**6)}, 1e6 / CLOCK),
        ({"shared_load": SharedTraffic(wavefronts=108 * 10**6)}, 1e6 / CLOCK),
        ({"shared_atomic": SharedTraffic(wavefronts=108 * 10**6)}, 1e6 / CLOCK),
        ({"flops": 10**12}, 1 / A100.peak_tflops.fp32),
        ({"flops": 10**12, "dtype": "fp16"}, 1 / A100.peak_tflops.fp16_tensor),
    ],
    ids=str,
)
def test_one_resource_costs_its_count_over_its_rate(counted, seconds):
    assert cost_seconds(A100, report(**counted), 1080, 128) == pytest.approx(seconds)


def test_the_scarcest_counts_and_the_others_break_ties():
    bound = cost_seconds(A100, report(dram_bytes=10**9), 1080, 128)
    less = cost_seconds(A100, report(dram_bytes=10**9, warp_instructions=1000), 1080, 128)
    more = cost_seconds(A100, report(dram_bytes=10**9, warp_instructions=2000), 1080, 128)
    assert bound < less < more < 1.05 * bound


def test_the_busiest_sm_decides():
    work = report(warp_instructions=10**6)
    full, tail, half = (cost_seconds(A100, work, blocks, 128) for blocks in (108, 109, 54))
    assert half == pytest.approx(2 * full)
    assert tail == pytest.approx(full * 2 * 108 / 109)


def test_a_block_of_one_warp_keeps_one_scheduler_busy():
    wide = cost_seconds(A100, report(warp_instructions=10**6), 108, 128)
    narrow = cost_seconds(A100, report(warp_instructions=10**6, threads=32), 108, 32)
    assert narrow == pytest.approx(4 * wide)


# ---- The choice ----------------------------------------------------------------------------------------


def copies(**options):
    """A kernel that reads with the given strides: coalesced, or each thread a sector of its own."""

    @triton.autotune(
        configs=[triton.Config({"STRIDE": stride}, num_warps=4) for stride in (8, 1, 2)], key=["n"], **options
    )
    @triton.jit
    def strided_copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr, STRIDE: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        at = (i % (BLOCK // STRIDE)) * STRIDE + i // (BLOCK // STRIDE) % STRIDE + i // BLOCK * BLOCK
        tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(out_ptr + at))

    return strided_copy


def test_the_coalesced_copy_wins(gpu):
    tuned = copies()
    x, out = torch.randn(4096), torch.zeros(4096)
    tuned[(4,)](x, out, 4096, BLOCK=1024)
    assert tuned.best_config.kwargs == {"STRIDE": 1}
    costs = [tuned.configs_timings[config][0] for config in tuned.configs]
    assert costs[0] > costs[2] > costs[1] > 0


def test_the_same_costs_every_time(gpu):
    costs = []
    for _ in range(2):
        tuned = copies()
        tuned[(4,)](torch.randn(4096), torch.zeros(4096), 4096, BLOCK=1024)
        costs.append([tuned.configs_timings[config] for config in tuned.configs])
    assert costs[0] == costs[1]


def test_values_are_restored_between_candidates(gpu):
    x, out = torch.randn(4096), torch.randn(4096)
    expected = x + out
    copies(restore_value=["out_ptr"])[(4,)](x, out, 4096, BLOCK=1024)
    assert torch.equal(out, expected)


def test_arrays_are_zeroed_before_every_run(gpu):
    x, out = torch.randn(4096), torch.full((4096,), 5.0)
    copies(reset_to_zero=["out_ptr"])[(4,)](x, out, 4096, BLOCK=1024)
    assert torch.equal(out, x)


def test_hooks_of_autotuner_and_configuration_run(gpu):
    seen = []

    def before(args, reset_only=False):
        if not reset_only:
            seen.append("before")

    tuned = copies(pre_hook=before, post_hook=lambda args, exception: seen.append(("after", exception)))
    for config in tuned.configs:
        config.pre_hook = lambda args: seen.append(args["STRIDE"])
    tuned[(4,)](torch.randn(4096), torch.zeros(4096), 4096, BLOCK=1024)
    each = [[stride, "before", ("after", None)] for stride in (8, 1, 2)]
    assert seen == [*each[0], *each[1], *each[2], 1]


def test_runs_that_compare_are_not_reported():
    with fp.vgpu.triton(profile=True) as gpu:
        copies()[(4,)](torch.randn(4096), torch.zeros(4096), 4096, BLOCK=1024)
    assert [each.kernel for each in gpu.reports] == ["strided_copy"]


def test_what_was_chosen_on_one_gpu_does_not_decide_for_another():
    tuned = copies()
    args = torch.randn(4096), torch.zeros(4096), 4096
    with fp.vgpu.triton(device="A100"):
        tuned[(4,)](*args, BLOCK=1024)
        first = tuned.configs_timings
    with fp.vgpu.triton(device="T4"):
        tuned[(4,)](*args, BLOCK=1024)
        second = tuned.configs_timings
    assert first is not second
    assert tuned.cache == {}  # what a real GPU would look at
    with fp.vgpu.triton(device="A100"):
        tuned[(4,)](*args, BLOCK=1024)
    assert tuned.configs_timings is second  # chosen before: not compared again
    assert "do_bench" not in vars(tuned)


def test_a_single_configuration_is_not_compared(gpu):
    @triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=[])
    @triton.jit
    def fill(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

    x = torch.zeros(64)
    fill[(1,)](x)
    assert (x == 1).all()


def test_heuristics(gpu):
    @triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
    @triton.jit
    def fill(x_ptr, n, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), BLOCK, mask=tl.arange(0, BLOCK) < n)

    x = torch.zeros(50)
    fill[(1,)](x, 50)
    assert (x == 64).all()


# ---- do_bench ------------------------------------------------------------------------------------------


@triton.jit
def fill_with_one(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), 1.0)


def test_do_bench_runs_once_and_gives_the_cost(gpu):
    runs = []

    def call():
        runs.append(1)
        fill_with_one[(4,)](torch.zeros(1024), BLOCK=256)

    cost = triton.testing.do_bench(call, warmup=1000, rep=1000)
    assert len(runs) == 1
    assert 0 < cost < 1
    assert triton.testing.do_bench(call, quantiles=[0.5, 0.2, 0.8]) == [cost] * 3
    assert triton.testing.do_bench(call, return_mode="all") == [cost]
    twice = triton.testing.do_bench(lambda: (call(), call()))
    assert twice == pytest.approx(2 * cost)


def test_do_bench_of_what_never_reaches_the_gpu_is_not_a_number(gpu):
    assert math.isnan(triton.testing.do_bench(lambda: torch.ones(3) + 1))


def test_tuning_inside_a_benchmark_is_not_part_of_its_cost(gpu):
    tuned = copies()
    args = torch.randn(4096), torch.zeros(4096), 4096

    def call():
        tuned[(4,)](*args, BLOCK=1024)

    assert triton.testing.do_bench(call) == triton.testing.do_bench(call)


def test_do_bench_imported_by_its_name_says_that_there_is_no_clock(gpu):
    with pytest.raises(FlashpathError, match=r"triton\.testing\.do_bench"):
        do_bench_by_name(lambda: None)


def test_tritons_own_ways_are_back_afterwards():
    assert triton.testing.do_bench is do_bench_by_name
    tune = Autotuner.run
    with fp.vgpu.triton():
        with fp.vgpu.triton("sm_86"):
            pass
        assert triton.testing.do_bench is not do_bench_by_name
        assert Autotuner.run is not tune
    assert triton.testing.do_bench is do_bench_by_name
    assert Autotuner.run is tune
