# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""What a launch counted, by line of the Triton source."""

import inspect

import pytest
import torch
import triton
import triton.language as tl

import flashpath as fp
from flashpath.errors import FlashpathError


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x + y, mask=i < n)


N = 4096


def arrays():
    return torch.randn(N), torch.randn(N), torch.zeros(N)


def test_reports_are_kept_where_they_are_asked_for():
    with fp.vgpu.triton(profile=True, device="H200") as counted:
        add[(4,)](*arrays(), N, BLOCK=1024)
        add[(8,)](*arrays(), N, BLOCK=512)
        add[(0,)](*arrays(), N, BLOCK=512)
    assert [(each.kernel, each.gpu) for each in counted.reports] == [("add", "H200")] * 2
    with fp.vgpu.triton() as quick:
        add[(4,)](*arrays(), N, BLOCK=1024)
    assert quick.reports == []


def test_counts_of_a_sum_are_those_of_its_bytes():
    """Four elements a thread: 16 bytes, so 16 sectors a request."""
    with fp.vgpu.triton(profile=True) as gpu:
        add[(4,)](*arrays(), N, BLOCK=1024)
    (report,) = gpu.reports
    assert report.global_load.bytes == 2 * 4 * N
    assert report.global_load.sectors == 2 * 4 * N // 32
    assert report.global_load.sectors_per_request == 16
    assert report.global_store.bytes == 4 * N
    assert report.dram_bytes == 3 * 4 * N
    assert report.flops == N
    assert report.occupancy.fraction == 1
    assert report.roofline.bound == "memory"


def test_lines_are_those_of_the_triton_source():
    with fp.vgpu.triton(profile=True) as gpu:
        add[(4,)](*arrays(), N, BLOCK=1024)
    source, first = inspect.getsourcelines(add.fn)
    by_text = {
        source[line.line - first].strip(): line for line in gpu.reports[0].lines if line.file == __file__
    }
    load = next(line for text, line in by_text.items() if text.startswith("x = tl.load"))
    store = next(line for text, line in by_text.items() if text.startswith("tl.store"))
    assert load.global_load.bytes == 4 * N
    assert store.global_store.bytes == 4 * N
    assert store.flops == N


def test_fp_profile_takes_a_triton_kernel():
    x, y, out = arrays()
    report = fp.profile(add, grid=(4,), args=(x, y, out, N), device="RTX 4090", BLOCK=1024, num_warps=8)
    assert (report.kernel, report.gpu) == ("add", "RTX 4090")
    assert report.global_store.bytes == 4 * N
    assert torch.equal(out, x + y)
    by_function = fp.profile(
        add, grid=lambda meta: (triton.cdiv(N, meta["BLOCK"]),), args=(x, y, out, N), BLOCK=512
    )
    assert by_function.global_store.bytes == 4 * N


def test_fp_profile_takes_an_autotuned_kernel():
    tuned = triton.autotune(configs=[triton.Config({"BLOCK": block}) for block in (256, 1024)], key=["n"])(
        add
    )
    x, y, out = arrays()
    report = fp.profile(tuned, grid=lambda meta: (triton.cdiv(N, meta["BLOCK"]),), args=(x, y, out, N))
    assert report.global_store.bytes == 4 * N


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"grid": 1, "block": 128}, "block="),
        ({"grid": 1, "shared": 16}, "shared="),
        ({"grid": 0}, "empty"),
    ],
    ids=str,
)
def test_fp_profile_says_what_a_triton_kernel_does_not_take(how, says):
    with pytest.raises(FlashpathError, match=says):
        fp.profile(add, args=(*arrays(), N), BLOCK=1024, **how)


def test_fp_profile_refuses_tritons_options_for_a_cuda_kernel():
    kernel = fp.compile('extern "C" __global__ void nothing() {}', "sm_80")["nothing"]
    with pytest.raises(FlashpathError, match="BLOCK"):
        fp.profile(kernel, grid=1, block=32, BLOCK=1024)
    with pytest.raises(FlashpathError, match="no block"):
        fp.profile(kernel, grid=1)
