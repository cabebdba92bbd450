"""What stops a launch on the virtual GPU: said with the source line, the block and the thread."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.vgpu.device import UnsupportedInstruction


def build(source: str) -> fp.Kernel:
    return fp.compile(source, "sm_80")["k"]


def fault(source: str, grid: Any, block: Any, *args: Any) -> fp.KernelFault:
    with pytest.raises(fp.KernelFault) as caught:
        build(source)[grid, block](*args)
    return caught.value


STORE = """extern "C" __global__ void k(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    x[i] = 1;
}"""


def test_out_of_bounds_names_line_block_and_thread_and_spares_the_rest() -> None:
    memory = np.zeros(164, np.float32)
    caught = fault(STORE, 4, 64, memory[:100], 100)
    assert caught.kind == "out-of-bounds"
    finding = caught.finding
    assert finding.line == 4
    assert finding.block == (1, 0, 0)
    assert finding.thread == (36, 0, 0)
    assert "a write of 4 bytes" in finding.message
    assert "400 bytes into an array of 400" in finding.message
    assert f"{finding.file}:4, block (1, 0, 0), thread (36, 0, 0)" in str(caught)
    assert not memory[100:].any()


def test_threads_are_named_in_three_dimensions() -> None:
    source = """extern "C" __global__ void k(int* x) {
        if (threadIdx.x == 3 && threadIdx.y == 1 && threadIdx.z == 2) x[-1] = 0;
    }"""
    caught = fault(source, (1, 2), (4, 2, 4), np.zeros(4, np.int32))
    assert caught.finding.thread == (3, 1, 2)


def test_a_null_pointer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHPATH_DEVICE", "virtual")  # no array tells where to run
    caught = fault(STORE, 1, 1, None, 0)
    assert caught.kind == "out-of-bounds"
    assert "null pointer" in str(caught)


def test_a_read_only_array() -> None:
    x = np.zeros(4, np.float32)
    x.flags.writeable = False
    caught = fault(STORE, 1, 1, x, 0)
    assert caught.kind == "const-write"
    assert "read-only" in str(caught)
    assert not x.any()


def test_a_misaligned_access() -> None:
    source = 'extern "C" __global__ void k(float* x) { *(float2*)(x + 1) = {1, 2}; }'
    caught = fault(source, 1, 1, np.zeros(4, np.float32))
    assert caught.kind == "misaligned"
    assert "8 bytes" in str(caught)


def test_shared_memory_out_of_bounds() -> None:
    source = """extern "C" __global__ void k(int* out, int i) {
        extern __shared__ int s[];
        s[i] = 1; out[0] = s[0];
    }"""
    kernel = build(source)
    kernel[1, 1, 64](np.zeros(1, np.int32), 15)
    with pytest.raises(fp.KernelFault, match="shared memory: there are 64 bytes") as caught:
        kernel[1, 1, 64](np.zeros(1, np.int32), 16)
    assert caught.value.kind == "out-of-bounds"


def test_a_barrier_that_some_threads_never_reach() -> None:
    source = """extern "C" __global__ void k(int* x) {
        if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); else asm volatile("bar.sync 2, 64;");
        x[0] = 1;
    }"""
    caught = fault(source, 1, 64, np.zeros(1, np.int32))
    assert caught.kind == "deadlock"
    assert "64 of 64 threads wait at a barrier" in str(caught)


def test_an_endless_loop_runs_out_of_its_budget() -> None:
    kernel = build('extern "C" __global__ void k(volatile int* x) { while (*x >= 0) ++*x; }')
    with pytest.raises(
        fp.KernelFault,
        match=r"100000: 32 threads are in a loop with ld\.volatile\.\S+ at line 1 of source\.cu ",
    ) as caught:
        fp.profile(kernel, 1, 32, (np.zeros(1, np.int32),), budget=100_000)
    assert caught.value.kind == "timeout"


def test_a_small_budget_ends_work_and_does_not_call_it_spinning() -> None:
    kernel = build("""extern "C" __global__ void k(const float* x, float* y, int n) {
        if (n > 2) n += 1;
        y[threadIdx.x] = x[threadIdx.x] + n;
    }""")
    arrays = np.zeros(32, np.float32), np.zeros(32, np.float32)
    with pytest.raises(fp.KernelFault, match=r"its budget is 1: .*\d threads run at line \d of source\.cu "):
        fp.profile(kernel, 4, 32, (*arrays, 3), budget=1)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_endless_loop_on_registers_alone_is_called_so(threads: int) -> None:
    source = """extern "C" __global__ void k(int* x) {
        if (threadIdx.x < 2) x[threadIdx.x] = 1;
        while (true) asm volatile("");
    }"""
    caught = fault(source, 1, threads, np.zeros(32, np.int32))
    assert caught.kind == "timeout"
    goes = "1 thread goes" if threads == 1 else "2 threads go"
    assert f"{goes} round an endless loop at line 3 of source.cu (such as" in caught.message
    assert "a loop whose condition nothing in it changes" in str(caught)


@pytest.mark.usefixtures("hears_control_c")
def test_control_c_ends_a_launch() -> None:
    kernel = build('extern "C" __global__ void k(volatile unsigned* x) { while (true) ++*x; }')
    stopper = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    start = time.monotonic()
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        kernel[1, 32](np.zeros(1, np.uint32))
    assert time.monotonic() - start < 10


def test_an_unknown_instruction_is_refused_by_name() -> None:
    source = """extern "C" __global__ void k(float* x) {
  float a = x[0];
  asm volatile("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0,%0,%0,%0}, {%1,%1}, {%1,%1}, {%0,%0,%0,%0}, %1, 0;" : "+f"(a) : "r"(1));
  x[0] = a;
}"""
    with pytest.raises(UnsupportedInstruction) as caught:
        build(source)[1, 32](np.zeros(1, np.float32))
    assert "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 is not known" in str(caught.value)
    assert "PTX line" in str(caught.value)
    assert "(source.cu:" in str(caught.value)


def test_what_does_not_run_yet_says_so() -> None:
    kernel = build(STORE)
    with pytest.raises(fp.jit.LaunchError, match="which A100 does not have"):
        kernel.launch(2, 32, (np.zeros(1, np.float32), 0), cluster=2)
