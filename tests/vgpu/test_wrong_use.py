"""What a user gets wrong is told before anything runs: what was got, what was expected, what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import flashpath as fp
from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu import device
from flashpath.vgpu.device import VirtualKernel, VirtualModule
from flashpath.vgpu.findings import Dim3
from flashpath.vgpu.launch import Launch, Packed
from flashpath.vgpu.options import Options
from flashpath.vgpu.report import Trace

SOURCE = """
extern "C" __global__ void scale(int n, float a, float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}"""


@pytest.fixture(scope="module")
def kernel() -> fp.Kernel:
    return fp.compile(SOURCE, "sm_80")["scale"]


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("threads", -1, "threads is -1"),
        ("threads", 0, "threads is 0"),
        ("threads", "two", "threads is 'two'"),
        ("threads", True, "threads is True"),
        ("threads", 1_000_000, "threads is 1000000"),
        ("threads", np.True_, "threads is np.True_"),
        ("threads", 2.0, "threads is 2.0"),
        ("exact", 1, "exact is 1"),
        ("exact", np.int64(1), r"exact is np.int64\(1\)"),
        ("budget", np.int64(0), r"budget is np.int64\(0\)"),
        ("budget", 0, "budget is 0"),
        ("budget", "lots", "budget is 'lots'"),
        ("budget", 1 << 64, "budget is 18446744073709551616"),
        ("trace", 3, "trace is 3"),
        ("trace", Trace(block=4), "block 4"),
        ("trace", Trace(block=(0, 2, 0)), r"block \(0, 2, 0\)"),
        ("trace", Trace(warp=8), "warp 8"),
        ("shared", -1, "shared is -1"),
        ("shared", "much", "shared is 'much'"),
        ("shared", 2 << 30, "2147483648 bytes of dynamic"),
        ("device", 5, "unknown GPU '5'"),
        ("args", 5, "args is 5"),
        ("args", "nxy", "args is 'nxy'"),
        ("BLOCK", 64, "the options BLOCK"),
    ],
)
def test_options_of_a_profile(kernel: fp.Kernel, option: str, value: Any, problem: str) -> None:
    x = np.ones(100, np.float32)
    given: dict[str, Any] = {"args": (100, 2.0, x), option: value}
    with pytest.raises(fp.FlashpathError, match=problem) as error:
        fp.profile(kernel, grid=(2, 2), block=256, **given)
    assert error.value.fix
    assert (x == 1).all()


def test_numbers_of_numpy_are_numbers(kernel: fp.Kernel) -> None:
    trace = Trace(
        block=cast("int", np.int64(1)), warp=cast("int", np.uint8(2)), requests=cast("int", np.int8(1))
    )
    assert trace == Trace(1, 2, 1)
    assert Trace(block=cast("Dim3", tuple(np.array([1, 0, 0])))) == Trace(block=(1, 0, 0))
    options: dict[str, Any] = {"threads": np.int64(2), "budget": np.uint64(10**6), "exact": np.True_}
    x = np.ones(512, np.float32)
    report = fp.profile(kernel, (2, 1), 256, (512, 2.0, x), trace=trace, **options)
    assert {(access.block, access.warp) for access in report.accesses()} == {((1, 0, 0), 2)}
    assert (x == 2).all()
    made = Options(**options, seed=cast("int", np.uint64(2**64 - 1)))
    given = made.threads, made.budget, made.exact, made.seed
    assert [type(each) for each in given] == [int, int, bool, int]
    assert given == (2, 10**6, True, 2**64 - 1)


def test_exact_is_refused_whether_or_not_the_shape_was_launched_before(kernel: fp.Kernel) -> None:
    x = np.ones(64, np.float32)
    for _ in range(2):
        with pytest.raises(fp.FlashpathError, match="exact is 1"):
            kernel.launch(2, 32, (64, 2.0, x), exact=cast("bool", 1))
        kernel.launch(2, 32, (64, 2.0, x), exact=True)
        kernel.launch(2, 32, (64, 2.0, x), exact=cast("bool", np.True_))
    assert (x == 16).all()


@pytest.mark.parametrize("value", ["a", (1, 0), (-1, 0, 0), -1, 1.5])
def test_blocks_that_no_trace_can_name(value: Any) -> None:
    with pytest.raises(fp.FlashpathError, match="got Trace") as error:
        Trace(block=value)
    assert error.value.fix is not None
    assert "(x, y, z)" in error.value.fix


def test_tracing_the_last_block_and_warp_works(kernel: fp.Kernel) -> None:
    trace = Trace(block=(1, 1, 0), warp=7)
    report = fp.profile(kernel, (2, 2), 256, (1024, 2.0, np.ones(1024, np.float32)), trace=trace)
    assert {(access.block, access.warp) for access in report.accesses()} == {((1, 1, 0), 7)}


@pytest.mark.parametrize("thing", ["scale", 7, None, np.add])
def test_profiling_what_is_no_kernel(thing: Any) -> None:
    with pytest.raises(fp.FlashpathError, match="is no kernel"):
        fp.profile(thing, 1, 32)


def bare(body: str) -> VirtualKernel:
    ptx = f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n{body}\nret;\n}}\n"
    return VirtualModule(ptx).kernel("k")


def test_a_kernel_that_the_module_does_not_have() -> None:
    ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
    with pytest.raises(fp.FlashpathError, match="nope: the module has no such kernel, only k") as error:
        VirtualModule(ptx).kernel("nope")
    assert "PTX line" not in str(error.value)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (".local .align 4 .b8 big[600000];", "local memory has 600000 bytes, more than any GPU"),
        (".reg .b32 %r<2>;\n.shared .align 4 .b8 big[400000];\nmov.u32 %r1, big;", "400000 bytes of shared"),
    ],
)
def test_more_memory_than_any_gpu_has(body: str, problem: str) -> None:
    with pytest.raises(fp.FlashpathError, match=problem):
        Launch(bare(body), LaunchShape((1, 1, 1), (1, 1, 1)), Packed(b"")).run()


def test_variables_that_no_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: str) -> None:  # so large a module would take the memory of some hosts before it failed
        raise MemoryError

    engine = SimpleNamespace(Module=SimpleNamespace(load=load), ParseError=ValueError, LowerError=KeyError)
    monkeypatch.setattr(device, "engine", lambda: engine)
    with pytest.raises(fp.FlashpathError, match="no memory for the variables"):
        VirtualModule("")


@pytest.mark.parametrize("options", [{"threads": "two"}, {"threads": 0}, {"budget": -1}, {"trace": 1}])
def test_options_of_triton_are_told_at_once(options: dict[str, Any]) -> None:
    pytest.importorskip("triton")
    with pytest.raises(fp.FlashpathError, match=next(iter(options))):
        fp.vgpu.triton(**options)
