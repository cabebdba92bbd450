"""ldmatrix, stmatrix and movmatrix against NumPy: layouts, counts, and what is wrong with an address."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.vgpu.device import UnsupportedInstruction

Array = np.ndarray[Any, Any]

QUAD = "{%r4, %r5, %r6, %r7}"
# Shared memory from global memory, 128 bytes a lane, and back.
FILL = """
mul.wide.u32 %rd8, %r0, 128; add.s64 %rd8, %rd0, %rd8;
shl.b32 %r1, %r0, 7; mov.u32 %r2, tile; add.s32 %r2, %r2, %r1;
""" + "\n".join(
    f"ld.global.v4.b32 {QUAD}, [%rd8+{k}]; st.shared.v4.b32 [%r2+{k}], {QUAD};" for k in range(0, 128, 16)
)
EMPTY = "bar.sync 0;" + "\n".join(
    f"ld.shared.v4.b32 {QUAD}, [%r2+{k}]; st.global.v4.b32 [%rd8+{k}], {QUAD};" for k in range(0, 128, 16)
)
# %r3 = the address of the lane's row, which the second array gives.
ROWS = """
mul.wide.u32 %rd9, %r0, 4; add.s64 %rd10, %rd1, %rd9; ld.global.b32 %r3, [%rd10];
mov.u32 %r8, tile; add.s32 %r3, %r3, %r8;
"""
GENERIC = "cvta.shared.u64 %rd12, %rd11;"


def registers(count: int) -> str:
    return "{" + ", ".join(f"%r{20 + k}" for k in range(count)) + "}"


def address(generic: bool) -> tuple[str, str]:
    """What makes the address, and the address."""
    if not generic:
        return "", "[%r3+32]"
    return "cvt.u64.u32 %rd11, %r3; " + GENERIC, "[%rd12+32]"


def shared_image() -> Array:
    return np.random.default_rng(6).integers(0, 2**16, 2048).astype(np.uint16)


def row_offsets() -> Array:
    """Rows at odd places, in no order; 32 bytes are added by the instruction."""
    return (np.random.default_rng(7).permutation(200)[:32] * 16).astype(np.int32)


def matrices(image: Array, offsets: Array) -> Array:
    """(matrix, row, column) that the lanes' addresses name."""
    rows = [image[(o + 32) // 2 : (o + 32) // 2 + 8] for o in offsets]
    return np.array(rows).reshape(4, 8, 8)


@pytest.mark.parametrize("space", ["shared", "shared::cta", "generic"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(run_warp: Any, count: int, transposed: bool, space: str) -> None:
    image, offsets = shared_image(), row_offsets()
    out = np.zeros((count, 32, 2), np.uint16)
    convert, where = address(space == "generic")
    suffix = (".trans" if transposed else "") + ("" if space == "generic" else "." + space)
    stores = "\n".join(f"st.global.b32 [%rd13+{128 * k}], %r{20 + k};" for k in range(count))
    run_warp(
        f"""{FILL} {ROWS} {convert} bar.sync 0;
        ldmatrix.sync.aligned.m8n8.x{count}{suffix}.b16 {registers(count)}, {where};
        add.s64 %rd13, %rd2, %rd9; {stores}""",
        image,
        offsets,
        out,
    )
    expected = matrices(image, offsets)[:count]
    if transposed:
        expected = expected.transpose(0, 2, 1)
    for lane in range(32):  # lane 4r + t holds the columns 2t and 2t + 1 of row r
        pair = expected[:, lane // 4, 2 * (lane % 4) : 2 * (lane % 4) + 2]
        assert np.array_equal(out[:, lane], pair)


@pytest.mark.parametrize("space", ["shared", "generic"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix(run_warp: Any, count: int, transposed: bool, space: str) -> None:
    image, offsets = shared_image(), row_offsets()
    values = np.random.default_rng(8).integers(0, 2**16, (4, 32, 2)).astype(np.uint16)
    convert, where = address(space == "generic")
    suffix = (".trans" if transposed else "") + ("" if space == "generic" else "." + space)
    loads = "\n".join(f"ld.global.b32 %r{20 + k}, [%rd13+{128 * k}];" for k in range(count))
    expected = image.copy()
    for lane in range(8 * count):
        matrix = values[lane // 8].reshape(8, 8)
        start = (int(offsets[lane]) + 32) // 2
        expected[start : start + 8] = (matrix.T if transposed else matrix)[lane % 8]
    run_warp(
        f"""{FILL} {ROWS} {convert} add.s64 %rd13, %rd2, %rd9; {loads} bar.sync 0;
        stmatrix.sync.aligned.m8n8.x{count}{suffix}.b16 {where}, {registers(count)};
        {EMPTY}""",
        image,
        offsets,
        values,
    )
    assert np.array_equal(image, expected)


def test_movmatrix(run_warp: Any) -> None:
    matrix = np.arange(64, dtype=np.uint16).reshape(8, 8) * 1000
    out = matrix.copy()
    run_warp(
        """mul.wide.u32 %rd8, %r0, 4; add.s64 %rd8, %rd0, %rd8; ld.global.b32 %r4, [%rd8];
        movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r4;
        st.global.b32 [%rd8], %r4;""",
        out,
    )
    assert np.array_equal(out, matrix.T)


@pytest.mark.parametrize("operation", ["ldmatrix", "stmatrix"])
@pytest.mark.parametrize(
    ("stride", "count", "wavefronts", "ideal"),
    [
        (16, 1, 1, 1),  # rows that follow each other
        (16, 4, 4, 4),
        (80, 4, 4, 4),  # padded: each row starts five banks × 16 bytes further on
        (128, 4, 32, 4),  # all rows in the same four banks
        (64, 2, 8, 2),  # rows alternate between two sets of banks: four passes for each matrix
        (0, 4, 4, 4),  # all lanes read one row
    ],
)
def test_bank_conflicts_are_counted_eight_rows_at_a_time(
    run_warp: Any, operation: str, stride: int, count: int, wavefronts: int, ideal: int
) -> None:
    where, what = "[%r3]", registers(count)
    operands = f"{what}, {where}" if operation == "ldmatrix" else f"{where}, {what}"
    opcode = f"{operation}.sync.aligned.m8n8.x{count}.shared.b16"
    counts = run_warp(
        f"mul.lo.u32 %r3, %r0, {stride}; mov.u32 %r8, tile; add.s32 %r3, %r3, %r8; {opcode} {operands};",
        count=True,
    )
    _, _, _, requests, asked, sectors, passes, best, *_ = counts[opcode]
    assert (requests, asked, sectors, passes, best) == (1, 128 * count, 0, wavefronts, ideal)


@pytest.mark.parametrize(
    ("row", "kind", "words"),
    [
        ("mad.lo.u32 %r3, %r0, 16, 8;", "misaligned", "16 bytes at 0x8"),
        ("mul.lo.u32 %r3, %r0, 256;", "out-of-bounds", "a read of 16 bytes at 0x1000 of shared memory"),
    ],
)
def test_bad_addresses(run_warp: Any, row: str, kind: str, words: str) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        run_warp(f"{row} ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers(4)}, [%r3];")
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert caught.value.finding.thread == ((0, 0, 0) if kind == "misaligned" else (16, 0, 0))


def test_lanes_beyond_the_rows_may_hold_anything(run_warp: Any) -> None:
    """Only the first eight addresses of .x1 are looked at."""
    run_warp(
        f"""mul.lo.u32 %r3, %r0, 16; setp.gt.u32 %p1, %r0, 7; @%p1 mov.b32 %r3, 0xfffffff1;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {registers(1)}, [%r3];"""
    )


def test_global_memory_is_no_place_for_ldmatrix(run_warp: Any) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        run_warp(f"ldmatrix.sync.aligned.m8n8.x1.b16 {registers(1)}, [%rd0];", np.zeros(64, np.uint16))
    assert "not in shared memory" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "threads", "kind"),
    [
        ("setp.lt.u32 %p1, %r0, 16; @%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0;", 32, "bad-mask"),
        ("movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0;", 20, "bad-mask"),
        (
            "setp.lt.u32 %p1, %r0, 16; @%p1 exit; movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0;",
            32,
            "bad-mask",
        ),
        (
            """setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;
            movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0; bra END;
            LOW: movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0;
            END:""",
            32,
            "deadlock",
        ),
    ],
)
def test_all_lanes_must_be_there(run_warp: Any, body: str, threads: int, kind: str) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        run_warp(body, threads=threads)
    assert caught.value.kind == kind
    if kind == "bad-mask":
        assert "needs the 32 lanes of its warp" in str(caught.value)


def test_lanes_that_parted_meet_again_at_a_matrix_operation(run_warp: Any) -> None:
    out = np.zeros(32, np.uint32)
    run_warp(
        """mov.b32 %r4, 7; setp.lt.u32 %p1, %r0, 5; @%p1 bra LOW; mov.b32 %r4, 9; bra END;
        LOW: add.s32 %r4, %r4, 2;
        END: movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;
        mul.wide.u32 %rd8, %r0, 4; add.s64 %rd8, %rd0, %rd8; st.global.b32 [%rd8], %r5;""",
        out,
    )
    even = out & 0xFFFF
    assert set(even.tolist()) == {0, 9}  # the low halves are the even columns: rows after the transposition


@pytest.mark.parametrize(
    "instruction",
    [
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r4, %r5}, [%r3];",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r4}, [%r3];",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5}, [%r3];",
    ],
)
def test_unknown_forms_are_refused(run_warp: Any, instruction: str) -> None:
    with pytest.raises(UnsupportedInstruction) as caught:
        run_warp(instruction)
    assert instruction.split(" ")[0] in str(caught.value)
