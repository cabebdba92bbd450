"""Kernels as libraries with one TVM-FFI function: what it computes, and what it says of wrong calls."""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path
from typing import Any

import pytest

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.jit import export, toolkit
from flashpath.jit.export.description import describe
from flashpath.jit.export.expressions import shown
from flashpath.jit.export.library import DLPACK
from flashpath.messages import speaking
from tests.harness.exported import loaded, need_tvm_ffi, need_virtual_driver, run_alone

SAXPY = """
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
# A grid of two dimensions, more shared memory than without asking, a vector type, a null pointer.
MORE = """
extern "C" __global__ void more(long long n, const float4* x, const double* unused, unsigned char bias,
                                double scale, float4* y) {
  extern __shared__ float4 kept[];
  const long long i = (blockIdx.y * (long long)gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n || unused != nullptr) return;
  kept[threadIdx.x + 4000] = x[i];
  float4 v = kept[threadIdx.x + 4000];
  v.x = v.x * (float)scale + bias;
  y[i] = v;
}
"""
SIGNATURE = "a: float, x: float32[n], y: float32[n]"
LAUNCH = "<<<cdiv(n, 256), 256>>>(n, a, x, y)"


@pytest.fixture(scope="module")
def saxpy() -> fp.Kernel:
    return fp.compile(SAXPY, arch="sm_80")["saxpy"]


@pytest.fixture(scope="module")
def library(saxpy: fp.Kernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    both = [saxpy, fp.compile(SAXPY, arch="sm_90")["saxpy"]]
    with speaking("en"):
        return fp.export(both, tmp_path_factory.mktemp("export") / "saxpy.so", SIGNATURE, LAUNCH).path


# ---- Calls -----------------------------------------------------------------------------------------------


def test_a_library_runs_with_neither_torch_nor_flashpath(library: Path) -> None:
    need_virtual_driver()
    script = """
for n in (1, 255, 256, 257, 5000):
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    before = x.copy()
    assert saxpy(2.0, x, y) is None
    assert (y == 2 * x + 1).all() and (x == before).all()
saxpy(2, np.empty(0, np.float32), np.empty(0, np.float32))  # an int for a float, and nothing to do
print("right")
"""
    assert run_alone(loaded(library, "saxpy") + script, device="A100") == "right\n"


def test_what_is_wrong_with_a_call_is_said_without_a_driver(library: Path) -> None:
    need_tvm_ffi()
    script = """
x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
print(says(saxpy, 2.0, x))
print(says(saxpy, "two", x, y))
print(says(saxpy, 2.0, None, y))
print(says(saxpy, 2.0, x.astype(np.float64), y))
print(says(saxpy, 2.0, x[None], y))
print(says(saxpy, 2.0, x[:999], y))
print(says(saxpy, 2.0, x[::2], y[::2]))
raw = np.zeros(4001, np.uint8)[1:].view(np.float32)
print(says(saxpy, 2.0, raw, y))
print((y == 0).all())
print(says(saxpy, 2.0, x, y))
"""
    said = run_alone(loaded(library, "saxpy") + script)
    for number, words in enumerate(
        (
            "TypeError: saxpy: it takes saxpy(a: float, x: float32[·], y: float32[·]), and got 2 arguments",
            "TypeError: saxpy: a must be a number, and is str",
            "TypeError: saxpy: x must be a tensor (of torch, NumPy, CuPy or anything that speaks DLPack), "
            "and is None",
            "TypeError: saxpy: x is float64[1000], and must be float32[·]",
            "TypeError: saxpy: x is float32[1, 1000], and must be float32[·]",
            "ValueError: saxpy: it was not built for this call: a: 2, x: float32[999], y: float32[1000]; "
            "it needs\n  · y.shape[0] == x.shape[0]",
            "ValueError: saxpy: x is not contiguous: float32[500]\n  → Pass a contiguous copy.",
            "x.address % 4 == 0",
            "True",
            "RuntimeError: saxpy: NVIDIA's driver is not there",
        )
    ):
        assert words in said, number


def test_in_chinese_where_it_was_exported_so(saxpy: fp.Kernel, tmp_path: Path) -> None:
    need_tvm_ffi()
    with speaking("zh"):
        fp.export(saxpy, tmp_path / "saxpy.so", SIGNATURE, LAUNCH)
    script = "print(says(saxpy, 2.0, np.ones(3, np.float32), np.ones(4, np.float32)))"
    assert "它不是为这种调用生成的" in run_alone(loaded(tmp_path / "saxpy.so", "saxpy") + script)


def test_written_arrays_that_overlap_on_the_cpu_are_refused(library: Path) -> None:
    need_virtual_driver()
    script = "x = np.ones(10, np.float32)\nprint(says(saxpy, 2.0, x[:8], x[2:]))"
    said = run_alone(loaded(library, "saxpy") + script, device="A100")
    assert "y is written, and shares memory with x" in said


def test_grids_of_two_dimensions_shared_memory_and_types(tmp_path: Path) -> None:
    need_virtual_driver()
    kernel = fp.compile(MORE, arch="sm_80")["more"]
    made = fp.export(
        kernel,
        tmp_path / "several.so",
        "x: float32[rows, 4 * m], bias: int, scale: float, y: float32[rows, 4 * m], m: int",
        "<<<(2, cdiv(rows * m, 128)), 64, (4000 + 64) * 16>>>(rows * m, x, None, bias, scale, y)",
        name="more",
        requires=["m < 1000"],
    )
    assert "m < 1000" in made.about
    script = """
x = np.random.default_rng(0).standard_normal((3, 4 * 111)).astype(np.float32)
y = np.zeros_like(x)
more(x, 7, 0.5, y, 111)
truth = x.copy()
truth[:, ::4] = truth[:, ::4] * np.float32(0.5) + 7
print((y == truth).all())
print(says(more, x, 7, 0.5, y, 110))
print(says(more, x, 256, 0.5, y, 111))
print(says(more, x, 7.5, 0.5, y, 111))
"""
    said = run_alone(loaded(made.path, "more") + script, device="A100")
    assert said.startswith("True\n")
    assert "x.shape[1] == 4 * m" in said
    assert "bias is 256, and the kernel's unsigned char holds 0 to 255" in said
    assert "bias must be a whole number, and is float" in said


def test_a_gpu_that_the_library_has_no_code_for(tmp_path: Path) -> None:
    need_virtual_driver()
    made = fp.export(fp.compile(SAXPY, arch="sm_90")["saxpy"], tmp_path / "saxpy.so", SIGNATURE, LAUNCH)
    script = "x = np.ones(4, np.float32)\nprint(says(saxpy, 1.0, x, x.copy()))"
    assert "no code for this GPU, which is sm_80" in run_alone(
        loaded(made.path, "saxpy") + script, device="A100"
    )


def test_a_launch_that_no_gpu_takes(saxpy: fp.Kernel, tmp_path: Path) -> None:
    need_virtual_driver()
    made = fp.export(saxpy, tmp_path / "saxpy.so", SIGNATURE, "<<<(1, n), 2 * n>>>(n, a, x, y)")
    script = "x = np.ones(70000, np.float32)\nprint(says(saxpy, 1.0, x, x.copy()))"
    said = run_alone(loaded(made.path, "saxpy") + script, device="A100")
    assert "no GPU takes this launch: grid 1, 70000, 1, block 140000, 1, 1, 0 bytes" in said


def test_what_it_is_told_of_itself_stands_in_the_library(library: Path) -> None:
    need_tvm_ffi()
    script = f"print(tvm_ffi.load_module({str(library)!r}).get_function_doc('saxpy'))"
    assert "launches saxpy with grid (cdiv(x.shape[0], 256), 1, 1), block (256, 1, 1)" in run_alone(script)


def test_others_see_its_two_functions_alone(library: Path) -> None:
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    names = {line.split()[-1] for line in lines.stdout.splitlines()}
    assert names == {"__tvm_ffi_saxpy", "__tvm_ffi__doc_saxpy"}
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in needed
    for other in ("libcuda", "libtvm_ffi", "libstdc++", "torch"):
        assert other not in needed


# ---- TVM-FFI's ABI ---------------------------------------------------------------------------------------


def test_the_structures_are_those_of_tvm_ffis_headers(tmp_path: Path) -> None:
    need_tvm_ffi()
    installed: Any = importlib.import_module("tvm_ffi.libinfo")
    checks = "\n".join(
        [
            *(
                f"static_assert(sizeof(exported::{name}) == sizeof(::{name}));"
                for name in (
                    "DLDevice",
                    "DLDataType",
                    "DLTensor",
                    "TVMFFIObject",
                    "TVMFFIAny",
                    "TVMFFIByteArray",
                )
            ),
            *(
                f"static_assert(offsetof(exported::DLTensor, {name}) == offsetof(::DLTensor, {name}));"
                for name in ("data", "device", "ndim", "dtype", "shape", "strides", "byte_offset")
            ),
            *(
                f"static_assert(offsetof(exported::TVMFFIAny, {name}) == offsetof(::TVMFFIAny, {name}));"
                for name in ("type_index", "v_int64", "v_float64", "v_ptr", "v_obj")
            ),
            *(
                f"static_assert(int(exported::{name}) == int(::{name}));"
                for name in (
                    *("kDLCPU", "kDLCUDA", "kDLCUDAHost", "kDLCUDAManaged", "kTVMFFINone", "kTVMFFIInt"),
                    *("kTVMFFIBool", "kTVMFFIFloat", "kTVMFFIDLTensorPtr", "kTVMFFITensor", "kTVMFFIStr"),
                    *("kTVMFFIRawStr", "kTVMFFISmallStr"),
                )
            ),
            *(
                f"static_assert({DLPACK[dtype][0]} == {code});"
                for dtype, code in {
                    "int32": "kDLInt",
                    "uint8": "kDLUInt",
                    "float32": "kDLFloat",
                    "bfloat16": "kDLBfloat",
                    "complex64": "kDLComplex",
                    "bool": "kDLBool",
                    "float8_e4m3fn": "kDLFloat8_e4m3fn",
                    "float8_e5m2": "kDLFloat8_e5m2",
                }.items()
            ),
        ]
    )
    source = f'#include <tvm/ffi/c_api.h>\n#include <cstddef>\n#include "abi.h"\n{checks}\n'
    (tmp_path / "abi.cpp").write_text(source)
    folders = [Path(export.__file__).parent, *installed.include_paths()]
    command = [str(toolkit.host_compiler_path()), "-std=c++17", "-fsyntax-only", "abi.cpp"]
    done = subprocess.run(
        [*command, *(f"-I{folder}" for folder in folders)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# ---- Descriptions ----------------------------------------------------------------------------------------


def test_names_are_bound_where_they_first_stand(saxpy: fp.Kernel) -> None:
    variant = describe([saxpy], "x: float32[n], y: float32[n // 2 + 1], a: float", "<<<n, 32>>>(n, a, x, y)")
    assert [shown(each) for each in variant.guards] == [
        "y.shape[0] == x.shape[0] // 2 + 1",
        "x.address % 4 == 0",
        "y.address % 4 == 0",
    ]
    assert [variant.is_written(each) for each in variant.arguments] == [False, True, False]


@pytest.mark.parametrize(
    ("signature", "launch", "words"),
    [
        ("a: float, x: float32[n]", "<<<n, 256>>>(n, a, x)", "has 4 parameters, and the launch gives it 3"),
        (SIGNATURE, "(n, a, x, y)", "is no launch"),
        (SIGNATURE, "<<<n>>>(n, a, x, y)", "is no launch"),
        (SIGNATURE, "<<<n +, 256>>>(n, a, x, y)", "cannot be computed"),
        (SIGNATURE, "<<<n / 256, 256>>>(n, a, x, y)", "is no number that a library can compute"),
        (SIGNATURE, "<<<open('f'), 256>>>(n, a, x, y)", "is no number that a library can compute"),
        (SIGNATURE, "<<<m, 256>>>(n, a, x, y)", "Nothing is called m here"),
        (SIGNATURE, "<<<(1, 1, 1, 1), 256>>>(n, a, x, y)", "not one to three dimensions"),
        (SIGNATURE, "<<<n // 0, 256>>>(n, a, x, y)", "cannot be computed"),
        (
            SIGNATURE,
            "<<<n, 256>>>(n, x, x, y)",
            "is float and takes a number; the launch gives it x: float32",
        ),
        (SIGNATURE, "<<<n, 256>>>(n, a, n, y)", "takes a tensor or None"),
        ("a: float, x: float64[n], y: float32[n]", LAUNCH, "takes a tensor of float32"),
        ("a: float, x: flaot32[n], y: float32[n]", LAUNCH, "float32"),
        ("a: float, x: float32, y: float32[n]", LAUNCH, "no extents"),
        ("a: float, a: float32[n], y: float32[n]", LAUNCH, "given twice"),
        ("a = 2, x: float32[n], y: float32[n]", LAUNCH, "declares no argument"),
    ],
)
def test_a_wrong_description_is_told(
    saxpy: fp.Kernel, tmp_path: Path, signature: str, launch: str, words: str
) -> None:
    with pytest.raises(FlashpathError, match=words):
        fp.export(saxpy, tmp_path / "saxpy.so", signature, launch)
    assert not list(tmp_path.iterdir())


def test_structs_and_halves_cannot_be_passed(tmp_path: Path) -> None:
    source = '#include <cuda_fp16.h>\nextern "C" __global__ void f(__half a, float* x) { x[0] = a; }'
    kernel = fp.compile(source, arch="sm_80")["f"]
    with pytest.raises(FlashpathError, match="no TVM-FFI caller can pass"):
        fp.export(kernel, tmp_path / "f.so", "a: float, x: float32[1]", "<<<1, 1>>>(a, x)")


def test_without_a_compiler_it_says_how_to_get_one(
    saxpy: fp.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("NVCC_CCBIN", raising=False)
    with pytest.raises(toolkit.MissingCompiler, match=r"apt-get install g\+\+"):
        fp.export(saxpy, tmp_path / "saxpy.so", SIGNATURE, LAUNCH)


def test_a_folder_is_made_and_a_name_that_is_none_is_told(saxpy: fp.Kernel, tmp_path: Path) -> None:
    made = fp.export(saxpy, tmp_path / "a" / "b" / "saxpy.v2.so", SIGNATURE, LAUNCH)
    assert (made.name, made.path.exists()) == ("saxpy", True)
    assert [file.name for file in made.path.parent.iterdir()] == ["saxpy.v2.so"]
    with pytest.raises(FlashpathError, match="no name for a function"):
        fp.export(saxpy, tmp_path / "3.so", SIGNATURE, LAUNCH)


# ---- On a GPU --------------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_on_a_gpu_it_runs_on_torchs_stream_and_in_graphs(library: Path) -> None:
    need_tvm_ffi()
    torch: Any = importlib.import_module("torch")
    tvm_ffi: Any = importlib.import_module("tvm_ffi")
    saxpy = tvm_ffi.load_module(str(library)).saxpy
    x, y = torch.randn(10_001, device="cuda"), torch.randn(10_001, device="cuda")
    truth = 2 * x + y
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)  # what runs on another stream is done long before
        y.add_(1)
        saxpy(2.0, x, y)
    stream.synchronize()
    torch.testing.assert_close(y, truth + 1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        saxpy(1.0, x, y)
    graph.replay()
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(y, truth + 1 + 2 * x)
    with pytest.raises(ValueError, match=r"x is on cpu|y is on cuda:0, and x is on cpu"):
        saxpy(1.0, x.cpu(), y)
    on_cpu = y.cpu().numpy()
    saxpy(1.0, x.cpu().numpy(), on_cpu)
    saxpy(1.0, x, y)
    torch.cuda.synchronize()
    assert (torch.from_numpy(on_cpu) == y.cpu()).all()
