"""Barriers of a block, and the order in which lanes that parted run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flashpath as fp
from flashpath.gpus.shape import LaunchShape
from flashpath.vgpu.launch import Launch, Packed

pytestmark = pytest.mark.usefixtures("on_the_virtual_gpu")


def build(source: str, name: str = "k") -> fp.Kernel:
    return fp.compile(source, "sm_80")[name]


def test_barriers_that_reduce() -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* x, int* out) {
            int i = threadIdx.x, v = x[i];
            out[3 * i] = __syncthreads_count(v > 2);
            out[3 * i + 1] = __syncthreads_and(v > 0);
            out[3 * i + 2] = __syncthreads_or(v > 9);
        }""")
    for low, high in [(0, 5), (1, 5), (1, 15)]:
        x = np.random.default_rng(low + high).integers(low, high, 100, dtype=np.int32)
        x[:2] = low, high - 1
        out = np.full((100, 3), -1, np.int32)
        kernel[1, 100](x, out)
        assert (out == [(x > 2).sum(), (x > 0).all(), (x > 9).any()]).all()


def test_a_producer_arrives_and_a_consumer_waits() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* out) {
            __shared__ int data[64];
            int i = threadIdx.x, id = 1 + (out[0] & 1);   // the barrier's number in a register
            if (i >= 64) {
                data[i - 64] = i * i;
                asm volatile("bar.arrive %0, 128;" :: "r"(id) : "memory");
            } else {
                asm volatile("bar.sync %0, 128;" :: "r"(id) : "memory");
                out[i] = data[i];
            }
        }""")
    out = np.zeros(64, np.int32)
    kernel[1, 128](out)
    assert np.array_equal(out, (np.arange(64) + 64) ** 2)


def test_named_barriers_of_half_the_block_with_lanes_that_ended() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* out) {
            __shared__ int data[128];
            int i = threadIdx.x, half = i / 64;
            if (i % 32 == 31) return;              // its warp still counts for 32
            data[i] = i;
            asm volatile("bar.sync %0, 64;" :: "r"(half + 1) : "memory");
            int other = half * 64 + (i + 32) % 64;
            out[i] = other % 32 == 31 ? -1 : data[other];
        }""")
    out = np.full(128, -7, np.int32)
    kernel[1, 128](out)
    i = np.arange(128)
    other = i // 64 * 64 + (i + 32) % 64
    assert np.array_equal(out, np.where(i % 32 == 31, -7, other))


def test_a_barrier_that_does_not_exist() -> None:
    kernel = build("""
        extern "C" __global__ void k(int n) { asm volatile("bar.sync %0;" :: "r"(n)); }""")
    kernel[1, 32](15)
    with pytest.raises(fp.KernelFault, match="barrier 16 does not exist"):
        kernel[1, 32](16)


@pytest.mark.plain_schedule("lanes need not meet again where they could")
def test_a_jump_table() -> None:
    module = """
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 out) {
            .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p;
            mov.u32 %r1, %tid.x;
            and.b32 %r2, %r1, 3;
            setp.lt.u32 %p, %r1, 24;
            mov.u32 %r3, 7;
            ts: .branchtargets L0, L1, L2, L1;
            @%p brx.idx %r2, ts;
            bra DONE;
            L0: mov.u32 %r3, 100; bra DONE;
            L1: mov.u32 %r3, 200; bra DONE;
            L2: mov.u32 %r3, 300;
            DONE:
            activemask.b32 %r4;
            popc.b32 %r4, %r4;
            add.u32 %r3, %r3, %r4;
            ld.param.u64 %rd1, [out];
            mul.wide.u32 %rd2, %r1, 4;
            add.u64 %rd1, %rd1, %rd2;
            st.global.u32 [%rd1], %r3;
            ret;
        }"""
    from flashpath.vgpu.device import HostArray, VirtualModule

    out = np.zeros(32, np.int32)
    first, last = out.ctypes.data, out.ctypes.data + out.nbytes
    array = HostArray(0, first, first, last, first, last, True)
    kernel = VirtualModule(module).kernel("k")
    Launch(kernel, LaunchShape((1, 1, 1), (32, 1, 1)), Packed(bytes(8), [array])).run()
    expected = [(100, 200, 300, 200)[i & 3] if i < 24 else 7 for i in range(32)]
    assert out.tolist() == [value + 32 for value in expected]


# ---- Lanes meet again -----------------------------------------------------------------------------------


@pytest.mark.plain_schedule("lanes need not meet again where they could")
def test_lanes_meet_after_a_loop_whose_exit_stands_before_its_body() -> None:
    """A compiler may place the join of two paths anywhere in the text."""
    module = """
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 out) {
            .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p, %q;
            mov.u32 %r1, %tid.x;
            mov.u32 %r2, 0;
            bra HEAD;
            JOIN:
            activemask.b32 %r4;
            popc.b32 %r4, %r4;
            mad.lo.u32 %r4, %r4, 1000, %r2;
            ld.param.u64 %rd1, [out];
            mul.wide.u32 %rd2, %r1, 4;
            add.u64 %rd1, %rd1, %rd2;
            st.global.u32 [%rd1], %r4;
            ret;
            HEAD:
            setp.ge.u32 %p, %r2, %r1;
            @%p bra JOIN;
            BODY:
            add.u32 %r2, %r2, 1;
            bra HEAD;
        }"""
    from flashpath.vgpu.device import HostArray, VirtualModule

    out = np.zeros(32, np.int32)
    first, last = out.ctypes.data, out.ctypes.data + out.nbytes
    array = HostArray(0, first, first, last, first, last, True)
    kernel = VirtualModule(module).kernel("k")
    Launch(kernel, LaunchShape((1, 1, 1), (32, 1, 1)), Packed(bytes(8), [array])).run()
    assert out.tolist() == [32_000 + i for i in range(32)]


# A program of nested ifs, loops, breaks and early returns, whose lanes must compute what one thread alone
# does, and meet again at the end.
STATEMENTS = st.recursive(
    st.sampled_from(["x += 3;", "x ^= i;", "x = x * 5 + 1;", "if (x & 8) x -= i;"]),
    lambda inner: st.one_of(
        st.tuples(st.integers(1, 7), inner, inner).map(
            lambda t: f"if ((x + i) % {t[0]} == 0) {{ {t[1]} }} else {{ {t[2]} }}"
        ),
        st.tuples(st.integers(1, 4), inner).map(
            lambda t: f"for (int j = 0; j < (i + x % 3 + 3) % 5 + {t[0]} - 1; j++) {{ {t[1]} }}"
        ),
        st.tuples(st.integers(2, 5), inner).map(
            lambda t: f"for (int j = 0; j < 6; j++) {{ if ((x + j) % {t[0]} == 1) break; {t[1]} }}"
        ),
        st.tuples(st.integers(2, 5), inner, inner).map(
            lambda t: (
                f"switch ((x + i) % {t[0] + 1}) {{ case 0: {t[1]} case 1: x++; break; case 2: {t[2]} break; "
                "default: x += 2; }"
            )
        ),
        st.tuples(inner, inner).map(lambda t: f"{t[0]} {t[1]}"),
    ),
    max_leaves=8,
)


@settings(max_examples=25, deadline=None)
@given(body=STATEMENTS, threads=st.integers(1, 96))
def test_any_control_flow_computes_what_each_thread_would_alone(body: str, threads: int) -> None:
    kernel = build(f"""
        __device__ __forceinline__ unsigned run(unsigned x, int i) {{
            #pragma nounroll
            for (int r = 0; r < 2; r++) {{ {body} }}
            return x;
        }}
        extern "C" __global__ void k(unsigned* out, int* together) {{
            int i = threadIdx.x;
            out[i] = run(i, i);
            __syncwarp();
            together[i] = __popc(__activemask());
        }}
        extern "C" __global__ void alone(unsigned* out, int i) {{ out[i] = run(i, i); }}
    """)
    out, together = np.zeros(threads, np.uint32), np.zeros(threads, np.int32)
    kernel[1, threads](out, together)
    expected = np.zeros(threads, np.uint32)
    for i in range(threads):
        kernel.module["alone"][1, 1](expected, i)
    assert np.array_equal(out, expected)
    assert together.tolist() == [min(32, threads - i // 32 * 32) for i in range(threads)]
