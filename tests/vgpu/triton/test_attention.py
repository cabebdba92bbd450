# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""Flash attention, forward and backward, against attention in float64."""

import math

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def attention_forward(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    scale,
    length,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """One program: BLOCK_M queries of one head; keys and values go by in blocks of BLOCK_N."""
    start = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1) * length * D
    rows = start + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(
        q_ptr + head + rows[:, None] * D + d[None, :], mask=rows[:, None] < length, other=0.0
    )  # (M, D)
    m = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    l = tl.zeros([BLOCK_M], dtype=tl.float32)  # noqa: E741 - the paper's letter
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    end = min(start + BLOCK_M, length) if CAUSAL else length
    for first in range(0, end, BLOCK_N):
        columns = first + tl.arange(0, BLOCK_N)
        at = head + columns[:, None] * D + d[None, :]
        k = tl.load(k_ptr + at, mask=columns[:, None] < length, other=0.0)  # (N, D)
        v = tl.load(v_ptr + at, mask=columns[:, None] < length, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale  # (M, N)
        visible = columns[None, :] < length
        if CAUSAL:
            visible = visible & (columns[None, :] <= rows[:, None])
        s = tl.where(visible, s, -float("inf"))
        larger = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - larger[:, None])
        shrink = tl.exp(m - larger)
        l = l * shrink + tl.sum(p, 1)  # noqa: E741
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        m = larger
    inside = rows < length
    tl.store(lse_ptr + tl.program_id(1) * length + rows, m + tl.log(l), mask=inside)
    out = (acc / l[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + head + rows[:, None] * D + d[None, :], out, mask=inside[:, None])


@triton.jit
def attention_backward(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    lse_ptr,
    delta_ptr,
    dq_ptr,
    dk_ptr,
    dv_ptr,
    scale,
    length,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """One program: BLOCK_N keys of one head; dK and dV stay in registers, dQ is added up in memory."""
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    head = tl.program_id(1) * length * D
    d = tl.arange(0, D)
    kv = head + columns[:, None] * D + d[None, :]
    there = columns[:, None] < length
    k = tl.load(k_ptr + kv, mask=there, other=0.0)  # (N, D)
    v = tl.load(v_ptr + kv, mask=there, other=0.0)
    dk = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    for first in range(0, length, BLOCK_M):
        rows = first + tl.arange(0, BLOCK_M)
        at = head + rows[:, None] * D + d[None, :]
        inside = rows < length
        q = tl.load(q_ptr + at, mask=inside[:, None], other=0.0)  # (M, D)
        do = tl.load(do_ptr + at, mask=inside[:, None], other=0.0)
        lse = tl.load(lse_ptr + tl.program_id(1) * length + rows, mask=inside, other=0.0)
        delta = tl.load(delta_ptr + tl.program_id(1) * length + rows, mask=inside, other=0.0)
        visible = inside[:, None] & (columns[None, :] < length)
        if CAUSAL:
            visible = visible & (columns[None, :] <= rows[:, None])
        s = tl.dot(q, tl.trans(k)) * scale  # (M, N)
        p = tl.where(visible, tl.exp(s - lse[:, None]), 0.0)
        dv += tl.dot(tl.trans(p.to(do.dtype)), do)
        dp = tl.dot(do, tl.trans(v))
        ds = (p * (dp - delta[:, None]) * scale).to(q.dtype)
        dk += tl.dot(tl.trans(ds), q)
        tl.atomic_add(dq_ptr + at, tl.dot(ds, k), mask=inside[:, None])
    tl.store(dk_ptr + kv, dk.to(dk_ptr.dtype.element_ty), mask=there)
    tl.store(dv_ptr + kv, dv.to(dv_ptr.dtype.element_ty), mask=there)


def reference(q, k, v, do, scale, causal):
    """Attention and its gradients in the type of its inputs."""
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    s = q @ k.transpose(-1, -2) * scale
    if causal:
        length = q.shape[-2]
        s = s.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), -math.inf)
    out = s.softmax(-1) @ v
    out.backward(do)
    return out.detach(), q.grad, k.grad, v.grad


def attention(q, k, v, do, scale, causal):
    heads, length, D = q.shape
    out, dk, dv = (torch.full_like(q, math.nan) for _ in range(3))
    lse = torch.full((heads, length), math.nan)
    dq = torch.zeros(q.shape)
    block = 32
    grid = (triton.cdiv(length, block), heads)
    shape = {"D": D, "BLOCK_M": block, "BLOCK_N": block, "CAUSAL": causal}
    attention_forward[grid](q, k, v, out, lse, scale, length, **shape)
    delta = (out.float() * do.float()).sum(-1)
    attention_backward[grid](q, k, v, do, lse, delta, dq, dk, dv, scale, length, **shape)
    return out, dq.to(q.dtype), dk, dv


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_attention_forward_and_backward(gpu, check_close, dtype, causal):
    heads, length, D = 2, 77, 32
    q, k, v, do = (torch.randn(heads, length, D).to(dtype) for _ in range(4))
    scale = D**-0.5
    got = attention(q, k, v, do, scale, causal)
    low = reference(q, k, v, do, scale, causal)
    exact = reference(*(x.double() for x in (q, k, v, do)), scale, causal)
    for each in zip(got, low, exact, strict=True):
        check_close(*each, 1e-3)
