"""The shape of a launch, and what a launch says where there is no GPU. Nothing here needs one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.gpus.shape import dim3
from flashpath.jit import ArgumentError, Kernel, KernelCache, LaunchError, device
from flashpath.jit.launcher import stream_handle

SOURCE = """
extern "C" __global__ void k(float* p, int n) { if (p) atomicAdd(p, 1.0f); }
extern "C" __global__ void none() { if (threadIdx.x == 31) printf("%d threads\\n", blockDim.x); }
"""


@pytest.fixture
def kernel(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.setattr(device, "count", lambda: 0)
    return fp.compile(SOURCE, "sm_80", cache=cache)["k"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, (7, 1, 1)),
        (np.int64(7), (7, 1, 1)),
        ((7,), (7, 1, 1)),
        ([7, 2], (7, 2, 1)),
        ((7, np.int32(2), 3), (7, 2, 3)),
        (np.array([4, 5]), (4, 5, 1)),
    ],
    ids=repr,
)
def test_dimensions(value: Any, expected: tuple[int, int, int]) -> None:
    assert dim3(value, "grid") == expected
    assert all(type(part) is int for part in dim3(value, "grid"))


@pytest.mark.parametrize("value", [(), (1, 2, 3, 4), (1.0,), 2.5, None, "256", ("a",), {"x": 1}], ids=repr)
def test_what_is_no_dimension(value: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        dim3(value, "block")
    assert str(caught.value) == f"block is {value!r}.\n  → Give one to three integers: block=(x, y, z)."


@pytest.mark.parametrize("value", [0, -1, (4, 0), (4, 1, -2)], ids=repr)
def test_dimensions_below_one(value: Any) -> None:
    shown: Any = (value,) if isinstance(value, int) else value
    with pytest.raises(LaunchError) as caught:
        dim3(value, "grid")
    assert str(caught.value) == (
        f"grid is {shown}: every dimension must be at least 1.\n"
        "  → Round up: (n + block - 1) // block; for n = 0 there is nothing to launch."
    )


@pytest.mark.parametrize("configuration", [256, (256,), (1, 2, 3, 4, 5), [1, 2], None], ids=repr)
def test_kernel_brackets_need_grid_and_block(kernel: Kernel, configuration: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        kernel[configuration]
    assert str(caught.value) == (
        f"k[…] was given {configuration!r}.\n"
        "  → Write kernel[grid, block](arguments…), as in <<<grid, block>>>."
    )


def test_the_shape_is_checked_before_the_call(kernel: Kernel) -> None:
    with pytest.raises(LaunchError, match="grid is"):
        kernel[(0,), (32,)]
    with pytest.raises(LaunchError, match="block is"):
        kernel.launch(1, "x", (None, 1))  # pyright: ignore[reportArgumentType]
    for shared in (-1, 1.5, "1"):
        with pytest.raises(LaunchError, match=r"shared is .*\n  → Give the dynamic shared memory in bytes"):
            kernel[1, 32, shared]
    with pytest.raises(LaunchError, match=r"cluster is \(0,\)"):
        kernel.launch(1, 32, (None, 1), cluster=0)


def test_lists_are_dimensions_too(kernel: Kernel) -> None:
    threads = np.zeros(1, np.float32)
    kernel[[4, 2], [32]](threads, 1)
    assert threads[0] == 4 * 2 * 32


def test_a_launch_without_arrays_runs(kernel: Kernel, capsys: pytest.CaptureFixture[str]) -> None:
    kernel.module["none"][1, 32]()
    assert capsys.readouterr().out == "32 threads\n"


@pytest.mark.parametrize(
    ("grid", "block", "shared", "says"),
    [
        ((1, 65536), 32, 0, "grid.y is 65536; A100 allows 65535."),
        (1, (1, 1, 65), 0, "block.z is 65; A100 allows 64."),
        (1, (1024, 2), 0, "block (1024, 2, 1) has 2048 threads; a block has at most 1024."),
        (1, 32, 163 * 1024 + 1, "a block of A100 has at most 166912."),
    ],
)
def test_the_virtual_gpu_has_the_limits_of_its_profile(
    kernel: Kernel, grid: Any, block: Any, shared: int, says: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        kernel.launch(grid, block, (np.zeros(1, np.float32), 1), shared=shared)
    assert says in str(caught.value)


def test_wrong_arguments_are_told_before_the_missing_gpu(kernel: Kernel) -> None:
    array = np.zeros(4, np.float32)
    for arguments in ((array,), (array, 4.0), (array.astype(np.float64), 4), (array[::2], 1), (array, 2**31)):
        with pytest.raises(ArgumentError):
            kernel[1, 32](*arguments)


def test_streams() -> None:
    class Torch:
        cuda_stream = 17

    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 23

    assert stream_handle(5) == 5
    assert stream_handle(Torch()) == 17
    assert stream_handle(Protocol()) == 23
    with pytest.raises(LaunchError, match="stream is 'main'"):
        stream_handle("main")


def test_how_modules_and_kernels_look(kernel: Kernel) -> None:
    assert repr(kernel) == "<flashpath kernel k(float*, int), sm_80>"
    assert repr(kernel.module) == "<flashpath module source.cu, sm_80: k, none>"
    assert [each.name for each in kernel.module] == ["k", "none"]
    assert kernel.module["k"] is kernel
