"""Code from CUDA's headers is placed where the user's source calls it, in findings, faults and reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.gpus.shape import LaunchShape
from flashpath.jit.toolkit import MissingCompiler, header_name, headers
from flashpath.vgpu.device import VirtualModule
from flashpath.vgpu.findings import Finding
from flashpath.vgpu.launch import Launch, Packed

SOURCE = r"""
#include <cooperative_groups/reduce.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include "user.h"
namespace cg = cooperative_groups;

extern "C" __global__ void copies_beyond(float* out, const float* x, int n) {
    __shared__ float s[64];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x + n, sizeof(float), pipe);    // line 12
    pipe.producer_commit();
    pipe.consumer_wait();
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void uses_too_early(float* out, const float* x) {
    __shared__ float s[64];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x, sizeof(float), pipe);        // line 21
    pipe.producer_commit();
    out[threadIdx.x] = s[threadIdx.x];                                                // line 23
}
extern "C" __global__ void part_of_a_tile(float* out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    float v = threadIdx.x;
    if (threadIdx.x < 7) v = cg::reduce(tile, v, cg::plus<float>());                  // line 28
    out[threadIdx.x] = v;
}
extern "C" __global__ void copies_what_others_write(float* out, float* x) {
    __shared__ float s[32];
    if (threadIdx.x < 32) __pipeline_memcpy_async(s + threadIdx.x, x + threadIdx.x, 4);   // line 33
    else x[threadIdx.x - 32] = 2;                                                     // line 34
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x & 31];
}
extern "C" __global__ void calls_the_users_header(float* x, int n) { store(x, n); }
"""
HEADER = "__device__ __forceinline__ void store(float* x, int n) {\n  x[n] = 1;\n}\n"


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> fp.Module:
    folder = tmp_path_factory.mktemp("places")
    (folder / "user.h").write_text(HEADER)
    (folder / "kernels.cu").write_text(SOURCE)
    return fp.compile(folder / "kernels.cu", "sm_80")


def floats(count: int) -> Any:
    return np.zeros(count, np.float32)


def only_finding(kernel: fp.Kernel, block: int, *args: Any) -> Finding:
    (finding,) = fp.sanitize(kernel, 1, block, args)
    assert Path(finding.file).name == "kernels.cu"
    return finding


def test_a_fault_in_a_header_is_at_its_call(module: fp.Module) -> None:
    with pytest.raises(fp.KernelFault, match=r"kernels\.cu:12 \(in cuda/\S+:\d+\), block") as caught:
        module["copies_beyond"][1, 64](floats(64), floats(64), 3)
    assert (caught.value.kind, caught.value.line) == ("out-of-bounds", 12)
    assert "a read of 4 bytes" in caught.value.message


def test_the_other_party_in_a_header_is_at_its_call(module: fp.Module) -> None:
    finding = only_finding(module["uses_too_early"], 64, floats(64), floats(64))
    assert (finding.kind, finding.line, finding.library) == ("missing-wait", 23, "")
    assert finding.other is not None
    assert (finding.other.action, finding.other.line) == ("write", 21)
    assert finding.other.library.startswith("cuda/")


def test_a_wrong_member_mask_in_a_header_is_at_its_call(module: fp.Module) -> None:
    finding = only_finding(module["part_of_a_tile"], 32, floats(32))
    assert (finding.kind, finding.line) == ("bad-mask", 28)
    assert finding.library.startswith("cooperative_groups/")


def test_the_source_of_an_asynchronous_copy_is_read(module: fp.Module) -> None:
    finding = only_finding(module["copies_what_others_write"], 64, floats(64), floats(64))
    assert (finding.kind, finding.line) == ("race", 34)
    assert "races with a read in another warp" in finding.message
    assert finding.other is not None
    assert (finding.other.action, finding.other.line) == ("read", 33)


def test_the_users_own_header_is_a_place(module: fp.Module) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        module["calls_the_users_header"][1, 1](floats(4), 4)
    assert (Path(caught.value.file).name, caught.value.line) == ("user.h", 2)


def test_a_line_counts_what_the_headers_that_it_calls_do(module: fp.Module) -> None:
    report = fp.profile(module["copies_beyond"], 1, 64, (floats(64), floats(64), 0))
    assert {Path(line.file).name for line in report.lines} == {"kernels.cu"}
    (line,) = (line for line in report.lines if line.line == 12)
    assert line.global_load.requests == 2
    assert sum(line.instructions for line in report.lines) == report.instructions
    assert report.access(12, "load").opcode.startswith("cp.async")


def test_nvccs_headers_too() -> None:
    whole = SOURCE.replace('#include "user.h"', HEADER.replace("\n", " "))
    try:
        module = fp.compile(whole, "sm_80", compiler="nvcc")
    except MissingCompiler as error:
        pytest.skip(error.problem)
    (finding,) = fp.sanitize(module["part_of_a_tile"], 1, 32, (floats(32),))
    assert (finding.file, finding.line) == ("source.cu", 28)
    assert finding.library.startswith("sm_30_intrinsics.hpp:")


# ---- Chains of calls in PTX ----------------------------------------------------------------------------

_PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {{
{locations}
trap;
ret;
}}
.file 1 "/home/me/k.cu"
.file 2 "/lib/outer.h"
.file 3 "/lib/inner.h"
.file 4 "/home/me/mine.h"
"""


def library_name(path: str) -> str | None:
    return path.removeprefix("/lib/") if path.startswith("/lib/") else None


@pytest.mark.parametrize(
    ("locations", "file", "line", "library"),
    [
        (".loc 1 5 0", "/home/me/k.cu", 5, ""),
        (".loc 1 5 0\n.loc 2 10 0, function_name a, inlined_at 1 5 0", "/home/me/k.cu", 5, "outer.h:10"),
        (
            ".loc 1 5 0\n.loc 2 10 0, function_name a, inlined_at 1 5 0\n"
            ".loc 3 20 0, function_name b, inlined_at 2 10 0",
            "/home/me/k.cu",
            5,
            "inner.h:20",
        ),
        # A library calls back what the user gave it: that stands in the user's own file.
        (
            ".loc 1 5 0\n.loc 2 10 0, function_name a, inlined_at 1 5 0\n"
            ".loc 4 7 0, function_name b, inlined_at 2 10 0",
            "/home/me/mine.h",
            7,
            "",
        ),
        (".loc 3 20 0", "/lib/inner.h", 20, ""),  # not inlined: who called it is not known
        (
            ".loc 1 0 0\n.loc 3 20 0, function_name b, inlined_at 1 0 0",
            "/lib/inner.h",
            20,
            "",
        ),  # line 0 is none
        (".loc 3 20 0, function_name b, inlined_at 3 20 0", "/lib/inner.h", 20, ""),
    ],
)
def test_the_innermost_place_of_the_users(locations: str, file: str, line: int, library: str) -> None:
    kernel = VirtualModule(_PTX.format(locations=locations), library_name).kernel("k")
    with pytest.raises(fp.KernelFault) as caught:
        Launch(kernel, LaunchShape((1, 1, 1), (1, 1, 1)), Packed(b"")).run()
    assert (caught.value.file, caught.value.line, caught.value.finding.library) == (file, line, library)


def test_what_a_header_is_called(tmp_path: Path) -> None:
    include, cccl = headers().folders
    assert header_name(str(include / "cooperative_groups.h")) == "cooperative_groups.h"
    assert header_name(str(cccl / "cuda" / "pipeline")) == "cuda/pipeline"
    assert header_name(f"{include}/../include/crt/mma.h") == "crt/mma.h"
    assert header_name("/usr/include/c++/13/bits/stl_algobase.h") == "stl_algobase.h"
    assert header_name("source.cu") is None
    assert header_name(str(tmp_path / "include" / "mine.h")) is None


LIBRARY_CALL = """.version 8.5
.target sm_80
.address_size 64
.file 1 "k.cu"
.file 2 "/cuda/include/curand_kernel.h"
.func inner() {
.loc 2 300 1
trap;
ret;
}
.func outer() {
.loc 2 200 1
call inner;
ret;
}
.visible .entry k() {
.loc 1 7 1
call outer;
CALL_AGAIN
ret;
}
"""


@pytest.mark.parametrize(
    ("again", "place"),
    [("", ("k.cu", 7, "curand_kernel.h:300")), (".loc 1 9 1\ncall inner;", (None, 300, ""))],
)
def test_a_librarys_function_that_is_called_is_told_at_the_callers_line(
    again: str, place: tuple[str | None, int, str]
) -> None:
    """As long as one line alone calls it."""
    module = VirtualModule(
        LIBRARY_CALL.replace("CALL_AGAIN", again),
        lambda path: "curand_kernel.h" if path.endswith("curand_kernel.h") else None,
    )
    with pytest.raises(fp.KernelFault, match="trap") as caught:
        Launch(module.kernel("k"), LaunchShape((1, 1, 1), (1, 1, 1)), Packed(b"")).run()
    finding = caught.value.finding
    file, line, library = place
    assert (finding.line, finding.library) == (line, library)
    assert file is None or finding.file == file
