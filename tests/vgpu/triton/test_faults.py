# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""What goes wrong names the kernel and the line of its Triton source; what kernels print and assert."""

import inspect

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources

import flashpath as fp
from flashpath.vgpu.device import UnsupportedInstruction


def line_of(kernel, text):
    """The line in this file where a kernel's source has that text."""
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(k for k, line in enumerate(lines) if text in line)


@triton.jit
def forgets_the_mask(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x + 1)


def test_an_access_out_of_bounds_names_kernel_line_and_block(gpu):
    x = torch.zeros(1000)
    with pytest.raises(fp.KernelFault, match="forgets_the_mask") as caught:
        forgets_the_mask[(4,)](x, 1000, BLOCK=256)
    finding = caught.value.finding
    assert finding.kind == "out-of-bounds"
    assert finding.file == __file__
    assert finding.line == line_of(forgets_the_mask, "tl.store")
    assert finding.block == (3, 0, 0)


def test_after_a_fault_the_next_launch_runs(gpu):
    x = torch.zeros(1000)
    with pytest.raises(fp.KernelFault):
        forgets_the_mask[(4,)](x, 1000, BLOCK=256)
    y = torch.zeros(256)
    forgets_the_mask[(1,)](y, 256, BLOCK=256)
    assert (y == 1).all()


@triton.jit
def never_ends(x_ptr):
    while tl.load(x_ptr, volatile=True) == 0:
        pass


def test_a_kernel_that_never_ends_is_stopped():
    with fp.vgpu.triton(budget=100_000), pytest.raises(fp.KernelFault, match="never_ends") as caught:
        never_ends[(1,)](torch.zeros(1, dtype=torch.int32))
    assert caught.value.kind == "timeout"


@triton.jit
def multiplies(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i[:, None] * BLOCK + i[None, :])
    tl.store(x_ptr + i[:, None] * BLOCK + i[None, :], tl.dot(a, a).to(tl.float16))


def test_an_unknown_instruction_is_refused_with_its_line():
    """Blackwell's own matrix instructions have memory of their own."""
    with fp.vgpu.triton("sm_100"), pytest.raises(UnsupportedInstruction) as caught:
        multiplies[(1,)](torch.zeros(128, 128, dtype=torch.float16), BLOCK=128)
    said = str(caught.value)
    assert "multiplies" in said
    assert "tcgen05" in said
    assert f"{__file__}:{line_of(multiplies, 'def multiplies')}" in said


@triton.jit
def transposes(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i[:, None] * BLOCK + i[None, :])
    tl.store(x_ptr + i[:, None] + i[None, :] * BLOCK, x)


def test_too_much_shared_memory_is_what_triton_calls_it():
    """128 KiB fit an A100, but not a T4."""
    x = torch.zeros(128, 128, dtype=torch.float64)
    for device, fits in (("A100", True), ("T4", False), ("A100", True)):
        with fp.vgpu.triton("sm_75", device):
            if fits:
                transposes[(1,)](x, BLOCK=128)
            else:
                with pytest.raises(OutOfResources, match="shared memory"):
                    transposes[(1,)](x, BLOCK=128)


# ---- Printing and asserting ----------------------------------------------------------------------------


@triton.jit
def prints(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_print("value", tl.load(x_ptr + i))


def test_device_print(gpu, capfd):
    """One line a thread: the program, the index in the block of values, the text, the value."""
    prints[(2,)](torch.tensor([10, 20, 30, 40], dtype=torch.int32).repeat(8), BLOCK=32, num_warps=1)
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == sorted(
        f"pid ({program}, 0, 0) idx ({k:>2}) value: {10 * (k % 4 + 1)}"
        for program in range(2)
        for k in range(32)
    )


@triton.jit(debug=True)
def asserts(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x > 0, "x must be positive")
    tl.store(x_ptr + tl.arange(0, BLOCK), x * 2)


def test_device_assert(gpu):
    x = torch.ones(32)
    asserts[(1,)](x, BLOCK=32)
    assert (x == 2).all()
    x[7] = -1
    with pytest.raises(fp.KernelFault, match="x must be positive") as caught:
        asserts[(1,)](x, BLOCK=32)
    assert caught.value.finding.line == line_of(asserts, "device_assert")
