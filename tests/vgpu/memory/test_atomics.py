"""atom and red, lane after lane, against the same steps in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flashpath as fp
from flashpath.vgpu.device import UnsupportedInstruction

Array = np.ndarray[Any, Any]
Run = Callable[..., Any]
Step = Callable[[Any, Any, Any], Any]

INTEGERS: dict[str, tuple[str, Any]] = {
    "u32": ("%r", np.uint32),
    "s32": ("%r", np.int32),
    "u64": ("%d", np.uint64),
    "s64": ("%d", np.int64),
    "b32": ("%r", np.uint32),
    "b64": ("%d", np.uint64),
}
STEPS: dict[str, Step] = {
    "add": lambda x, y, z: x + y,
    "min": lambda x, y, z: min(x, y),
    "max": lambda x, y, z: max(x, y),
    "and": lambda x, y, z: x & y,
    "or": lambda x, y, z: x | y,
    "xor": lambda x, y, z: x ^ y,
    "exch": lambda x, y, z: y,
    "cas": lambda x, y, z: z if x == y else x,
    "inc": lambda x, y, z: type(x)(0) if x >= y else x + type(x)(1),
    "dec": lambda x, y, z: y if x == 0 or x > y else x - type(x)(1),
}
CASES = [
    *[f"add.{kind}" for kind in ("u32", "s32", "u64")],
    *[f"{operation}.{kind}" for operation in ("min", "max") for kind in ("u32", "s32", "u64", "s64")],
    *[f"{operation}.{kind}" for operation in ("and", "or", "xor", "exch", "cas") for kind in ("b32", "b64")],
    "inc.u32",
    "dec.u32",
]


def expected(step: Step, memory: Array, y: Array, z: Array) -> tuple[Array, Array]:
    """What stays in memory, and what each lane gets, when lane k goes to element k % 5."""
    memory, got = memory.copy(), np.zeros_like(y)
    with np.errstate(over="ignore"):
        for lane in range(32):
            got[lane] = memory[lane % 5]
            memory[lane % 5] = step(memory[lane % 5], y[lane], z[lane])
    return memory, got


@pytest.mark.parametrize("space", ["global", "shared", "generic", "generic shared"])
@pytest.mark.parametrize("case", CASES)
def test_whole_numbers(run: Run, case: str, space: str) -> None:
    operation, kind = case.split(".")
    register, dtype = INTEGERS[kind]
    size = np.dtype(dtype).itemsize
    rng = np.random.default_rng(len(case))
    limits = np.iinfo(dtype)
    memory = rng.integers(limits.min, limits.max, 5, dtype, endpoint=True)
    y = rng.integers(limits.min, limits.max, 32, dtype, endpoint=True)
    if operation in ("inc", "dec"):
        memory, y = memory % dtype(7), y % dtype(5)
    if operation == "cas":
        y[:20] = np.tile(memory, 4)  # these find what they look for, unless another lane came before
    z = y[::-1].copy()
    in_shared = space.endswith("shared")
    where = {"global": ".global", "shared": ".shared"}.get(space, "")
    address = {"global": "%own", "shared": "%r40", "generic": "%own", "generic shared": "%d40"}[space]
    third = f", {register}3" if operation == "cas" else ""
    body = f"""
        rem.u32 %r41, %thread, 5;
        mul.lo.u32 %r40, %r41, {size};
        cvt.u64.u32 %d41, %r40;
        add.u64 %own, %array0, %d41;
        cvta.shared.u64 %d40, 0;
        add.u64 %d40, %d40, %d41;
        mad.lo.u64 %d42, %wide, {size}, %array1;
        ld.global.b{8 * size} {register}2, [%d42];
        mad.lo.u64 %d42, %wide, {size}, %array2;
        ld.global.b{8 * size} {register}3, [%d42];
        setp.lt.u32 %p0, %thread, 5;
        @%p0 ld.global.b{8 * size} {register}4, [%own];
        @%p0 st.shared.b{8 * size} [%r40], {register}4;
        bar.sync 0;
        atom{where}.{case} {register}1, [{address}], {register}2{third};
        mad.lo.u64 %d42, %wide, {size}, %array3;
        st.global.b{8 * size} [%d42], {register}1;
        ld.shared.b{8 * size} {register}4, [%r40];
        {f"@%p0 st.global.b{8 * size} [%own], {register}4;" if in_shared else ""}
    """
    want, results = expected(STEPS[operation], memory, y, z)
    out = np.zeros(32, dtype)
    run(body, memory, y, z, out, shared=64)
    np.testing.assert_array_equal(out, results)
    np.testing.assert_array_equal(memory, want)


def test_exchange_and_compare_of_other_widths(run: Run) -> None:
    memory = np.array([5, 6, 7, 8], np.uint16)
    wide = np.array([[1, 2], [3, 4]], np.uint64)
    out = np.zeros((32, 2), np.uint64)
    run(
        """cvt.u16.u32 %h0, %thread;
        add.u16 %h1, %h0, 1;
        atom.global.cas.b16 %h2, [%array0 + 2], 6, 9;
        setp.eq.u32 %p0, %thread, 0;
        ld.global.b128 %q0, [%array1];
        ld.global.b128 %q1, [%array1 + 16];
        @%p0 atom.global.cas.b128 %q2, [%array1], %q0, %q1;
        @%p0 atom.global.exch.b128 %q3, [%array1 + 16], %q2;
        @%p0 st.global.b128 [%array2], %q2;""",
        memory,
        wide,
        out,
    )
    assert memory.tolist() == [5, 9, 7, 8]
    assert wide.tolist() == [[3, 4], [1, 2]]
    assert out[0].tolist() == [1, 2]


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("kind", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
@pytest.mark.plain_schedule("sums that round depend on the order")
def test_half_precision_sums(run: Run, kind: str, dtype: Any, space: str) -> None:
    """Each addition is rounded to the type: the order of the lanes shows."""
    rng = np.random.default_rng(1)
    values = (rng.standard_normal(64) * 10.0 ** rng.integers(-3, 3, 64)).astype(dtype)
    out = np.zeros(4, dtype)
    shared = space == "shared"
    places = ("base", "base + 4") if shared else ("%array1", "%array1 + 4")
    run(
        f"""mad.lo.u64 %own, %wide, 4, %array0;
        ld.global.b16 %h0, [%own];
        ld.global.b32 %r0, [%own];
        mov.b32 %r1, 0;
        st.shared.v2.b32 [base], {{%r1, %r1}};
        red.{space}.add.noftz.{kind} [{places[0]}], %h0;
        red.{space}.add.noftz.{kind}x2 [{places[1]}], %r0;
        {"ld.shared.v2.b32 {%r0, %r1}, [base]; st.global.v2.b32 [%array1], {%r0, %r1};" if shared else ""}""",
        values,
        out,
        shared=8,
    )
    total = np.zeros(2, dtype)
    for pair in values.reshape(32, 2):
        total = (total.astype(np.float64) + pair.astype(np.float64)).astype(dtype)
    assert out.tolist() == [total[0], 0, *total]


@pytest.mark.plain_schedule("sums that round depend on the order")
def test_floats(run: Run) -> None:
    values = np.random.default_rng(2).standard_normal(32).astype(np.float32)
    single, double = np.zeros(1, np.float32), np.zeros(1)
    run(
        """mad.lo.u64 %own, %wide, 4, %array0;
        .reg .f32 %f<2>;
        .reg .f64 %g<2>;
        ld.global.f32 %f0, [%own];
        cvt.f64.f32 %g0, %f0;
        atom.global.add.f32 %f1, [%array1], %f0;
        red.add.f64 [%array2], %g0;""",
        values,
        single,
        double,
    )
    assert single[0] == np.cumsum(values, dtype=np.float32)[-1]
    assert double[0] == np.cumsum(values.astype(np.float64))[-1]


def test_subnormal_sums_are_flushed_beside_global_memory_only(run: Run) -> None:
    out = np.zeros(2, np.float32)
    run(
        """.reg .f32 %f<3>;
        mov.b32 %f0, 0f00000100;
        mov.b32 %f1, 0f00000000;
        st.shared.f32 [base], %f1;
        red.shared.add.f32 [base], %f0;
        red.global.add.f32 [%array0], %f0;
        ld.shared.f32 %f2, [base];
        st.global.f32 [%array0 + 4], %f2;""",
        out,
        shared=4,
        block=1,
    )
    assert out.view(np.uint32).tolist() == [0, 0x100]


@pytest.mark.parametrize("spelled", ["add.v2.f32", "add.v4.f32", "add.noftz.v2.f16x2", "add.noftz.v4.bf16x2"])
@pytest.mark.plain_schedule("lanes may come in any order")
def test_vectors(run: Run, spelled: str) -> None:
    kind = spelled.rsplit(".", 1)[1]
    count = int(spelled[spelled.index(".v") + 2])
    dtype: Any = {"f32": np.float32, "f16x2": np.float16, "bf16x2": ml_dtypes.bfloat16}[kind]
    memory = np.arange(4 * count // np.dtype(dtype).itemsize).astype(dtype)
    before = memory.copy()
    got = np.zeros((32, len(memory)), dtype)
    ones = np.ones(len(memory), dtype).view(np.uint32)
    registers = ", ".join(f"%r{k}" for k in range(count))
    results = ", ".join(f"%r{k}" for k in range(8, 8 + count))
    run(
        "".join(f"mov.b32 %r{k}, {ones[k]};" for k in range(count))
        + f"""atom.global.{spelled} {{{results}}}, [%array0], {{{registers}}};
        mad.lo.u64 %own, %wide, {4 * count}, %array1;
        st.global.v{count}.b32 [%own], {{{results}}};""",
        memory,
        got,
    )
    np.testing.assert_array_equal(memory, before + dtype(32))
    np.testing.assert_array_equal(got.astype(np.float32), before.astype(np.float32) + np.arange(32)[:, None])


def test_eight_halves_and_their_extremes(run: Run) -> None:
    memory = np.array([1, -1, 3, np.nan, 5, -0.0, 7, -8], np.float16)
    other = np.array([2, -2, np.nan, 4, np.nan, 0.0, -7, 8], np.float16)
    least, most = memory.copy(), memory.copy()
    halves = ", ".join(f"%h{k}" for k in range(8))
    run(
        "".join(f"ld.global.b16 %h{k}, [%array2 + {2 * k}];" for k in range(8))
        + f"""red.global.min.noftz.v8.f16 [%array0], {{{halves}}};
        red.global.max.noftz.v8.f16 [%array1], {{{halves}}};""",
        least,
        most,
        other,
        block=1,
    )
    # fmin and fmax leave the sign of a zero open: PTX has -0 below +0.
    np.testing.assert_array_equal(least, np.fmin(memory, other))
    np.testing.assert_array_equal(most, np.fmax(memory, other))
    assert np.signbit(least[5])
    assert not np.signbit(most[5])


def test_policies_are_no_operands(run: Run) -> None:
    memory = np.array([3, 4], np.uint32)
    run(
        """createpolicy.fractional.L2::evict_last.b64 %d0;
        atom.relaxed.gpu.global.add.L2::cache_hint.u32 %r0, [%array0], 2, %d0;
        atom.acq_rel.sys.global.exch.L2::cache_hint.b32 %r0, [%array0 + 4], 9, %d0;
        red.release.cta.global.max.L2::cache_hint.u32 [%array0], 6, %d0;""",
        memory,
        block=1,
    )
    assert memory.tolist() == [6, 9]


def test_blocks_on_several_threads_of_the_host_lose_nothing(run: Run) -> None:
    """Sums that every order of additions gives alike, of 200 blocks that four threads run."""
    integers, singles, halves = np.zeros(2, np.uint64), np.zeros(4, np.float32), np.zeros(2, np.float16)
    run(
        """.reg .f32 %f0;
        mov.b32 %f0, 0f3f800000;
        mov.b32 %r0, 0x00010001; // two of the least halves there are
        red.global.add.u64 [%array0], 3;
        red.global.xor.b64 [%array0 + 8], 1;
        red.global.add.f32 [%array1], %f0;
        red.global.add.v2.f32 [%array1 + 8], {%f0, %f0};
        setp.eq.u32 %p0, %thread, 0;
        @%p0 red.global.add.noftz.f16x2 [%array2], %r0;""",
        integers,
        singles,
        halves,
        grid=200,
        block=64,
        threads=4,
    )
    assert integers.tolist() == [3 * 12800, 0]
    assert singles.tolist() == [12800, 0, 12800, 12800]
    assert halves.view(np.uint16).tolist() == [200, 200]


@pytest.mark.parametrize(
    "spelled",
    [
        "red.async.relaxed.cluster.global.add.u32 [%array0], 1",
        "atom.global.mul.u32 %r0, [%array0], 1",
        "atom.global.add.s64 %d0, [%array0], %d1",
        "atom.global.cas.b32 %r0, [%array0], 1",
    ],
)
def test_unknown_forms_are_refused_by_name(run: Run, spelled: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=spelled.split()[0]):
        run(f"{spelled};", np.zeros(2, np.uint32))


def test_a_lock_of_cuda_code() -> None:
    kernel = fp.compile(
        """extern "C" __global__ void k(int* lock, int* total) {
            for (bool done = false; !done;) {
                if (atomicCAS(lock, 0, 1) == 0) {
                    *(volatile int*)total += threadIdx.x;
                    __threadfence();
                    atomicExch(lock, 0);
                    done = true;
                }
            }
        }""",
        "sm_80",
    )["k"]
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernel[3, 40](lock, total)
    assert total[0] == 3 * sum(range(40))
