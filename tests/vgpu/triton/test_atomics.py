# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""Atomics: what they add up to, what they return, and locks made of them."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def add_at(out_ptr, index_ptr, value_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.atomic_add(out_ptr + at, tl.load(value_ptr + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize(
    "dtype", [torch.int32, torch.int64, torch.float32, torch.float64, torch.float16], ids=str
)
def test_many_add_to_the_same_places(gpu, dtype):
    """Small integers, so that every order gives the same sum."""
    n = 1000
    index = torch.randint(0, 7, (n,), dtype=torch.int32)
    value = torch.randint(-2, 3, (n,)).to(dtype)
    out = torch.zeros(7, dtype=dtype)
    add_at[(4,)](out, index, value, n, BLOCK=256)
    expected = torch.zeros(7, dtype=torch.float64).index_add_(0, index, value.double())
    assert torch.equal(out.double(), expected)


def test_bf16_adds_on_the_architecture_that_has_it():
    import flashpath as fp

    index = torch.randint(0, 7, (256,), dtype=torch.int32)
    value = torch.ones(256, dtype=torch.bfloat16)
    out = torch.zeros(7, dtype=torch.bfloat16)
    with fp.vgpu.triton("sm_90"):
        add_at[(1,)](out, index, value, 256, BLOCK=256)
    assert torch.equal(out.float(), torch.bincount(index, minlength=7).float())


@triton.jit
def all_kinds(out_ptr, old_ptr, value, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(old_ptr + i, tl.atomic_max(out_ptr + i, value))
    tl.store(old_ptr + BLOCK + i, tl.atomic_min(out_ptr + BLOCK + i, value))
    tl.store(old_ptr + 2 * BLOCK + i, tl.atomic_xchg(out_ptr + 2 * BLOCK + i, value))


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32], ids=str)
def test_extremes_and_exchange_return_what_was_there(gpu, dtype):
    before = torch.randint(-100, 100, (3, 64)).to(dtype)
    out, old = before.clone(), torch.zeros_like(before)
    value = 5 if dtype == torch.int32 else 5.0
    all_kinds[(1,)](out, old, value, BLOCK=64)
    assert torch.equal(old, before)
    assert torch.equal(out[0], before[0].clamp(min=5))
    assert torch.equal(out[1], before[1].clamp(max=5))
    assert torch.equal(out[2], torch.full((64,), 5).to(dtype))


@triton.jit
def bitwise(out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    bit = (1 << i).to(tl.int32)
    tl.atomic_or(out_ptr + i * 0, bit)
    tl.atomic_and(out_ptr + 1 + i * 0, ~bit)
    tl.atomic_xor(out_ptr + 2 + i * 0, bit)


def test_bitwise(gpu):
    out = torch.tensor([0, -1, 0x0F0F], dtype=torch.int32)
    bitwise[(1,)](out, BLOCK=16)
    assert out.tolist() == [0xFFFF, -0x10000, 0xF0F0]


@triton.jit
def count_under_lock(lock_ptr, count_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(count_ptr, tl.load(count_ptr) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


def test_a_lock(gpu):
    lock, count = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    count_under_lock[(50,)](lock, count)
    assert (lock.item(), count.item()) == (0, 50)


@triton.jit
def swap_if_equal(x_ptr, old_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(x_ptr.dtype.element_ty)
    tl.store(old_ptr + i, tl.atomic_cas(x_ptr + i, i, -i, sem="acq_rel", scope="gpu"))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_compare_and_swap(gpu, dtype):
    x = torch.arange(64, dtype=dtype)
    x[::3] = 1000
    before, old = x.clone(), torch.zeros_like(x)
    swap_if_equal[(1,)](x, old, BLOCK=64)
    assert torch.equal(old, before)
    assert torch.equal(x, torch.where(before == 1000, before, -before))


@triton.jit
def take_tickets(counter_ptr, out_ptr):
    tl.store(out_ptr + tl.program_id(0), tl.atomic_add(counter_ptr, 1, sem="relaxed"))


def test_every_program_gets_a_ticket_of_its_own(gpu):
    counter, out = torch.zeros(1, dtype=torch.int32), torch.full((40,), -1, dtype=torch.int32)
    take_tickets[(40,)](counter, out)
    assert sorted(out.tolist()) == list(range(40))
