"""Launching on a real GPU: arguments of every kind, streams, shared memory, clusters, threads, graphs."""

from __future__ import annotations

import ctypes
import importlib
import threading
from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.jit import ArgumentError, LaunchError, strided
from flashpath.jit import device as cuda

pytestmark = pytest.mark.gpu

SOURCE = r"""
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

template <class T>
__global__ void fill(T value, T* out) { out[threadIdx.x] = value; }

struct Mixed { char a; double b; short c; };
__global__ void unpack(Mixed m, bool flag, unsigned char u, long long big, double* out) {
  out[0] = m.a; out[1] = m.b; out[2] = m.c; out[3] = flag; out[4] = u; out[5] = double(big);
}

__global__ void reverse_in_shared(int n, const int* in, int* out) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tile[n - 1 - i];
}

__global__ void everyone_sees_everyone(int* count, int* seen) {
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) atomicAdd(count, 1);
  grid.sync();
  if (threadIdx.x == 0) seen[blockIdx.x] = *count;
}

__global__ void cluster_rank(unsigned* out) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) out[blockIdx.x] = rank;
}

__global__ void __launch_bounds__(64) small_blocks(int* out) { out[threadIdx.x] = 1; }
__global__ void is_null(const float* p, int* out) { *out = p == nullptr; }
__global__ void strided_copy(int n, int stride, const float* x, float* y) {
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x * stride];
}
"""


def torch_module() -> Any:
    return importlib.import_module("torch")


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(
        SOURCE, name_expressions=["fill<float>", "fill<__half>", "fill<__nv_bfloat16>", "fill<double>"]
    )


def test_both_launch_forms_compute_saxpy(module: fp.Module) -> None:
    torch = torch_module()
    n = 1000
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    expected = 2.0 * x.double() + y.double()
    module["saxpy"].launch(grid=(4,), block=(256,), args=(n, 2.0, x, y))
    torch.testing.assert_close(y.double(), expected, rtol=1e-6, atol=1e-6)
    module["saxpy"][4, 256](n, 2.0, x, y)
    torch.testing.assert_close(y.double(), expected + 2.0 * x.double(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("cpp", "dtype"),
    [("float", "float32"), ("__half", "float16"), ("__nv_bfloat16", "bfloat16"), ("double", "float64")],
)
def test_floating_scalars_are_rounded_as_torch_rounds(module: fp.Module, cpp: str, dtype: str) -> None:
    torch = torch_module()
    out = torch.full((32,), float("nan"), device="cuda", dtype=getattr(torch, dtype))
    module[f"fill<{cpp}>"][1, 32](1 / 3, out)
    assert torch.equal(out, torch.full_like(out, 1 / 3))


@pytest.mark.parametrize("form", ["bytes", "record", "ctypes"])
def test_structs_go_by_bytes(module: fp.Module, form: str) -> None:
    torch = torch_module()
    layout = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True)
    record = np.zeros((), layout)
    record["a"], record["b"], record["c"] = -3, 2.5, -700

    class Mixed(ctypes.Structure):
        _fields_ = (("a", ctypes.c_byte), ("b", ctypes.c_double), ("c", ctypes.c_short))

    value = {"bytes": record.tobytes(), "record": record[()], "ctypes": Mixed(-3, 2.5, -700)}[form]
    out = torch.full((6,), float("nan"), device="cuda", dtype=torch.float64)
    module["unpack"][1, 1](value, True, 200, -(2**40), out)
    assert out.tolist() == [-3, 2.5, -700, 1, 200, -(2.0**40)]


def test_more_than_48_kib_of_shared_memory_is_opted_in(module: fp.Module) -> None:
    torch = torch_module()
    n = cuda.device(0).max_shared_per_block // 4
    data = torch.arange(n, device="cuda", dtype=torch.int32)
    out = torch.full_like(data, -1)
    for size in (1000, n):  # first without opt-in, then with all there is
        module["reverse_in_shared"].launch((1,), (256,), (size, data, out), shared=4 * size)
        assert torch.equal(out[:size], data[:size].flip(0))
    with pytest.raises(LaunchError, match="shared memory"):
        module["reverse_in_shared"].launch((1,), (256,), (n + 1, data, out), shared=4 * n + 4)


def test_cooperative_launch_syncs_the_grid(module: fp.Module) -> None:
    torch = torch_module()
    blocks = cuda.device(0).sm_count
    count = torch.zeros(1, device="cuda", dtype=torch.int32)
    seen = torch.full((blocks,), -1, device="cuda", dtype=torch.int32)
    module["everyone_sees_everyone"].launch((blocks,), (64,), (count, seen), cooperative=True)
    assert seen.tolist() == [blocks] * blocks


def test_cluster_launch_numbers_the_blocks() -> None:
    if cuda.device(0).capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    torch = torch_module()
    kernel = fp.compile(SOURCE)["cluster_rank"]
    out = torch.full((8,), 99, device="cuda", dtype=torch.uint32)
    kernel.launch((8,), (32,), (out,), cluster=(4,))
    assert out.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    with pytest.raises(LaunchError, match="multiple of cluster"):
        kernel.launch((6,), (32,), (out,), cluster=(4,))


def test_launch_goes_to_torchs_current_stream_and_to_a_named_one(module: fp.Module) -> None:
    torch = torch_module()
    side = torch.cuda.Stream()
    x = torch.ones(1 << 20, device="cuda")
    y = torch.zeros_like(x)
    torch.cuda.synchronize()
    core = importlib.import_module("cuda.core")
    named = core.Stream.from_handle(side.cuda_stream)
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)  # the launches below must wait behind this
        module["saxpy"][4096, 256](x.numel(), 1.0, x, y)
    module["saxpy"].launch(4096, 256, (x.numel(), 1.0, x, y), stream=side)
    module["saxpy"].launch(4096, 256, (x.numel(), 1.0, x, y), stream=named)
    module["saxpy"].launch(4096, 256, (x.numel(), 1.0, x, y), stream=side.cuda_stream)
    torch.cuda.current_stream().synchronize()
    assert not side.query()  # none ran on the default stream
    side.synchronize()
    assert torch.equal(y, torch.full_like(y, 4.0))
    with pytest.raises(LaunchError, match="stream"):
        module["saxpy"].launch(1, 1, (1, 1.0, x, y), stream="default")


def test_graph_capture_and_replay(module: fp.Module) -> None:
    torch = torch_module()
    x, y = torch.ones(256, device="cuda"), torch.zeros(256, device="cuda")
    module["saxpy"][1, 256](0, 1.0, x, y)  # loads the kernel: nothing may load during capture
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        module["saxpy"][1, 256](256, 3.0, x, y)
    for _ in range(4):
        graph.replay()
    assert torch.equal(y, torch.full_like(y, 12.0))


def test_arrays_of_other_libraries(module: fp.Module) -> None:
    cupy = pytest.importorskip("cupy", exc_type=ImportError)

    class OnlyDlpack:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

        def __dlpack__(self, **options: Any) -> Any:
            return self.tensor.__dlpack__(**options)

        def __dlpack_device__(self) -> Any:
            return self.tensor.__dlpack_device__()

    torch = torch_module()
    x, y = torch.ones(64, device="cuda"), cupy.zeros(64, dtype="float32")
    cupy.cuda.get_current_stream().synchronize()
    module["saxpy"][1, 64](64, 5.0, OnlyDlpack(x), y)
    torch.cuda.synchronize()
    assert (cupy.asnumpy(y) == 5.0).all()
    with pytest.raises(ArgumentError, match="float64"):
        module["saxpy"][1, 64](64, 5.0, x, cupy.zeros(64, dtype="float64"))
    with pytest.raises(ArgumentError, match="non-contiguous"):
        module["saxpy"][1, 64](32, 5.0, x, y[::2])


def test_strided_lets_a_view_through(module: fp.Module) -> None:
    torch = torch_module()
    x = torch.arange(64.0, device="cuda")
    y = torch.full((32,), float("nan"), device="cuda")
    with pytest.raises(ArgumentError, match="non-contiguous"):
        module["strided_copy"][1, 32](32, 2, x[::2], y)
    module["strided_copy"][1, 32](32, 2, strided(x[::2]), y)
    assert torch.equal(y, x[::2])


def test_none_is_a_null_pointer(module: fp.Module) -> None:
    torch = torch_module()
    out = torch.full((1,), -1, device="cuda", dtype=torch.int32)
    module["is_null"][1, 1](None, out)
    assert out.item() == 1


def test_mixed_devices_are_refused(module: fp.Module) -> None:
    torch = torch_module()
    with pytest.raises(ArgumentError, match="on the CPU"):
        module["saxpy"][1, 1](1, 1.0, torch.ones(1, device="cuda"), torch.ones(1))


@pytest.mark.parametrize(
    ("grid", "block", "says"),
    [
        ((1, 65536), (1,), "grid.y"),
        ((1,), (1, 1, 65), "block.z"),
        ((1,), (1025,), "block.x"),
        ((1,), (32, 33), "at most 1024"),
    ],
)
def test_limits_are_checked_before_the_launch(module: fp.Module, grid: Any, block: Any, says: str) -> None:
    torch = torch_module()
    y = torch.ones(1, device="cuda")
    with pytest.raises(LaunchError, match=says):
        module["saxpy"].launch(grid, block, (1, 1.0, y, y))
    torch.cuda.synchronize()
    assert y.item() == 1.0


def test_launch_bounds_are_enforced(module: fp.Module) -> None:
    torch = torch_module()
    out = torch.zeros(128, device="cuda", dtype=torch.int32)
    with pytest.raises(LaunchError, match="at most 64"):
        module["small_blocks"][1, 128](out)
    module["small_blocks"][1, 64](out)
    assert out.sum().item() == 64


def test_another_gpus_code_is_refused() -> None:
    torch = torch_module()
    other = "sm_100a" if cuda.device(0).capability != (10, 0) else "sm_90a"
    kernel = fp.compile(SOURCE, arch=other)["saxpy"]
    x = torch.ones(1, device="cuda")
    with pytest.raises(LaunchError, match=f"compiled for {other}"):
        kernel[1, 1](1, 1.0, x, x)


def test_threads_launch_side_by_side(module: fp.Module) -> None:
    torch = torch_module()
    x = torch.ones(256, device="cuda")
    outputs = [torch.zeros(256, device="cuda") for _ in range(8)]
    errors: list[BaseException] = []

    def work(index: int) -> None:
        try:
            for _ in range(200):
                module["saxpy"][1, 256](256, float(index), x, outputs[index])
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    torch.cuda.synchronize()
    assert not errors
    for index, output in enumerate(outputs):
        assert torch.equal(output, torch.full_like(output, 200.0 * index))


def test_debug_prints_every_launch(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    torch = torch_module()
    monkeypatch.setenv("FLASHPATH_DEBUG", "1")
    x = torch.ones(4, device="cuda")
    fp.compile(SOURCE)["saxpy"].launch((2,), (128,), (4, 2.0, x, x))
    shown = capfd.readouterr().err
    assert "saxpy <<<(2, 1, 1), (128, 1, 1), 0 B" in shown
    assert "an array of float32, shape (4,), on cuda:0" in shown


def test_occupancy_is_the_drivers(module: fp.Module) -> None:
    from flashpath import gpus

    profile = gpus.match_device_name(cuda.device(0).name)
    if profile is None:
        pytest.skip(f"no profile for {cuda.device(0).name}")
    torch = torch_module()
    torch.cuda.init()
    bindings = cuda.driver()
    block_of_1024 = (
        "extern __shared__ float s[]; __global__ void __launch_bounds__(1024) k(float* x)"
        "{ s[threadIdx.x] = x[0]; x[1] = s[0]; }"
    )
    heavy = fp.compile(block_of_1024)["k"]
    for kernel in (module["saxpy"], module["reverse_in_shared"], heavy):
        loaded = kernel.loaded(0)
        function = cuda.checked(bindings.cuKernelGetFunction(loaded.handle), "cuKernelGetFunction")
        attribute = bindings.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        cuda.checked(bindings.cuFuncSetAttribute(function, attribute, 200 * 1024), "opt in")
        for threads in (32, 33, 96, 128, 256, 384, 640, 1024):
            for shared in (0, 1000, 16 * 1024, 48 * 1024, 100 * 1024, 200 * 1024):
                query = bindings.cuOccupancyMaxActiveBlocksPerMultiprocessor(function, threads, shared)
                expected = cuda.checked(query, "occupancy")
                used = kernel.resources
                found = gpus.occupancy(profile, threads, used.registers, used.static_shared + shared)
                assert found.blocks_per_sm == expected, (kernel.name, threads, shared)
