"""mbarrier objects: phases, counts and bytes; and what CUDA C++ builds on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flashpath as fp

Array = np.ndarray[Any, Any]
Run = Callable[..., Any]


def test_a_phase_ends_with_its_last_arrival(run: Run) -> None:
    """One thread, step by step: what waits find, and what is pending in the states that arrivals return."""
    out = np.zeros(16, np.uint32)
    steps = """
        mbarrier.init.shared.b64 [base + 8], 3;
        mbarrier.arrive.shared.b64 %d0, [base + 8];
        test %d0
        mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %d1, [base + 8], 1;
        test %d0
        mbarrier.arrive.release.cta.shared::cta.b64 %d2, [base + 8], 1;
        test %d0
        count %d0
        count %d1
        count %d2
        mbarrier.arrive_drop.shared.b64 %d3, [base + 8];
        mbarrier.arrive.shared::cta.b64 %d4, [base + 8], 2;
        test %d3
        mbarrier.arrive.shared.b64 %d5, [base + 8];
        mbarrier.arrive.shared.b64 _, [base + 8];
        test %d5
        count %d3
        count %d5
        mbarrier.inval.shared.b64 [base + 8];
    """
    body: list[str] = []
    at = 0
    for line in map(str.strip, steps.strip().splitlines()):
        word, _, state = line.partition(" ")
        if word == "test":
            body.append(f"mbarrier.test_wait.shared.b64 %p0, [base + 8], {state}; selp.u32 %r0, 1, 0, %p0;")
        elif word == "count":
            body.append(f"mbarrier.pending_count.b64 %r0, {state};")
        else:
            body.append(line)
            continue
        body.append(f"st.global.u32 [%array0 + {at}], %r0;")
        at += 4
    run("\n".join(body), out, shared=16, block=1)
    assert out[: at // 4].tolist() == [0, 0, 1, 3, 2, 1, 1, 1, 3, 2]


def test_parity_and_bytes(run: Run) -> None:
    """A phase waits for bytes that were announced; parities alternate."""
    out = np.full(12, 9, np.uint32)

    def tests(k: int) -> str:
        return "".join(
            f"""mbarrier.try_wait.parity.shared::cta.b64 %p0, [base], {parity}, 1000;
            selp.u32 %r0, 1, 0, %p0;
            st.global.u32 [%array0 + {8 * k + 4 * parity}], %r0;"""
            for parity in (0, 1)
        )

    run(
        f"""mbarrier.init.shared::cta.b64 [base], 1;
        {tests(0)}
        mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d0, [base], 64;
        {tests(1)}
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [base], 48;
        {tests(2)}
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [base], 16;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [base], 32;
        {tests(3)}
        mbarrier.arrive.shared.b64 %d0, [base];
        mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p0, [base], 1;
        {tests(4)}""",
        out,
        shared=8,
        block=1,
    )
    # The phase before the first counts as over: parity 1.
    assert out.reshape(6, 2).tolist() == [[0, 1], [0, 1], [0, 1], [1, 0], [0, 1], [9, 9]]


def test_waiting_threads_let_the_others_run(run: Run) -> None:
    """Every thread but one waits; that one, of the same warp as some, comes last and late."""
    out = np.zeros(256, np.uint32)
    run(
        """setp.eq.u32 %p0, %thread, 40;
        @%p0 mbarrier.init.shared.b64 [base], 256;
        bar.sync 0;
        @!%p0 bra WAIT;
        mov.u32 %r0, 0;
        LATE: add.u32 %r0, %r0, 1;
        setp.lt.u32 %p1, %r0, 2000;
        @%p1 bra LATE;
        st.shared.u32 [base + 8], %r0;
        WAIT: cvta.shared.u64 %d1, 0;
        mbarrier.arrive.b64 %d0, [%d1];
        AGAIN: mbarrier.test_wait.b64 %p1, [%d1], %d0;
        @!%p1 bra AGAIN;
        ld.shared.u32 %r1, [base + 8];
        mad.lo.u64 %own, %wide, 4, %array0;
        st.global.u32 [%own], %r1;""",
        out,
        shared=16,
        block=256,
        budget=200_000,
    )
    assert (out == 2000).all()


@pytest.mark.parametrize("noinc", [True, False])
def test_copies_arrive_when_they_are_done(run: Run, noinc: bool) -> None:
    """The first warp copies, the second waits at the barrier that the copies arrive at."""
    given, out = np.arange(32, dtype=np.uint32) + 5, np.zeros(32, np.uint32)
    arrive = (
        "cp.async.mbarrier.arrive.noinc.shared.b64 [base + 128];"
        if noinc
        else """
        cp.async.mbarrier.arrive.shared::cta.b64 [base + 128];
        mbarrier.arrive.shared.b64 %d0, [base + 128];"""
    )
    run(
        f"""setp.eq.u32 %p0, %thread, 0;
        @%p0 mbarrier.init.shared.b64 [base + 128], 32;
        bar.sync 0;
        and.b32 %r1, %thread, 31;
        shl.b32 %r0, %r1, 2;
        mul.wide.u32 %d5, %r1, 4;
        setp.ge.u32 %p0, %thread, 32;
        @%p0 bra CONSUME;
        add.u64 %d6, %array0, %d5;
        cp.async.ca.shared.global [%r0], [%d6], 4;
        {arrive}
        ret;
        CONSUME: mbarrier.test_wait.parity.shared.b64 %p1, [base + 128], 0;
        @!%p1 bra CONSUME;
        xor.b32 %r0, %r0, 4;
        ld.shared.u32 %r2, [%r0];
        add.u64 %d6, %array1, %d5;
        st.global.u32 [%d6], %r2;""",
        given,
        out,
        shared=136,
        block=64,
        budget=100_000,
    )
    np.testing.assert_array_equal(out, given[np.arange(32) ^ 1])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("mbarrier.init.shared.b64 [base + 4], 1;", "misaligned"),
        ("mbarrier.arrive.shared.b64 %d0, [base + 16];", "out-of-bounds"),
        ("mbarrier.arrive.b64 %d0, [%array0];", "out-of-bounds"),
        (
            """mbarrier.init.shared.b64 [base], 1;
            AGAIN: mbarrier.test_wait.parity.shared.b64 %p0, [base], 0;
            @!%p0 bra AGAIN;""",
            "deadlock",
        ),
    ],
)
def test_faults(run: Run, body: str, kind: str) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        run(body, np.zeros(4, np.uint32), shared=16, budget=100_000)
    assert caught.value.kind == kind


# Blocks of 128 threads: sums of neighbours, by way of shared memory that copies fill.
CUDA = """
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void with_barrier(const int* x, int* out) {
  __shared__ alignas(16) int s[129];
  __shared__ barrier bar;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  cuda::memcpy_async(block, s, x, cuda::aligned_size_t<16>(512), bar);
  bar.arrive_and_wait();
  int first = s[threadIdx.x];
  auto token = bar.arrive();
  if (threadIdx.x == 0) s[128] = 0;
  bar.wait(std::move(token));
  s[127 - threadIdx.x] = first;
  bar.arrive_and_wait();
  out[threadIdx.x] = first + s[threadIdx.x];
}

__global__ void with_pipeline(const int* x, int* out) {
  __shared__ alignas(16) int s[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int step = 0; step <= 4; ++step) {
    if (step < 4) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[step % 2], x + 128 * step, sizeof s[0], pipe);
      pipe.producer_commit();
    }
    if (step > 0) {
      pipe.consumer_wait();
      sum += s[(step - 1) % 2][127 - threadIdx.x];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

__global__ void with_groups(const int* x, int* out) {
  __shared__ alignas(16) int s[2][128];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s[0], x, sizeof s[0]);
  cg::memcpy_async(block, s[1], x + 128, sizeof s[1]);
  cg::wait_prior<1>(block);
  int first = s[0][127 - threadIdx.x];
  cg::wait(block);
  out[threadIdx.x] = first + s[1][127 - threadIdx.x];
}

__global__ void thread_pipeline(const int* x, int* out) {
  __shared__ int s[2][128];
  auto pipe = cuda::make_pipeline();
  int sum = 0;
  for (int step = 0; step <= 4; ++step) {
    if (step < 4) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[step % 2][threadIdx.x], x + 128 * step + threadIdx.x, sizeof(int), pipe);
      pipe.producer_commit();
    }
    if (step > 0) {
      cuda::pipeline_consumer_wait_prior<1>(pipe);
      if (step == 4) pipe.consumer_wait();
      sum += s[(step - 1) % 2][threadIdx.x];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89"])
def test_barriers_and_pipelines_of_cuda(arch: str) -> None:
    module = fp.compile(CUDA, arch)
    x = np.random.default_rng(3).integers(0, 1000, 512, np.int32)
    steps = x.reshape(4, 128)
    want = {
        "with_barrier": steps[0] + steps[0][::-1],
        "with_pipeline": steps.sum(0)[::-1],
        "with_groups": (steps[0] + steps[1])[::-1],
        "thread_pipeline": steps.sum(0),
    }
    for name, values in want.items():
        out = np.zeros(128, np.int32)
        module[name][1, 128](x, out)
        np.testing.assert_array_equal(out, values, name)
