"""What an instruction is, by its opcode: every one that the engine knows has a class."""

from __future__ import annotations

import pytest

from flashpath.vgpu.device import engine
from flashpath.vgpu.report import Counts, classes


def test_every_opcode_of_the_engine_has_a_class() -> None:
    opcodes = engine().known_opcodes()
    assert {"add", "ld", "bra", "shfl"} <= set(opcodes)
    for opcode in opcodes:
        assert classes.instruction_class(opcode) in classes.CLASSES, opcode


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("add.s32", "integer"),
        ("mad.wide.u32", "integer"),
        ("min.f32", "float32"),
        ("fma.rn.f32", "float32"),
        ("fma.rn.f32x2", "float32"),
        ("div.rn.f64", "float64"),
        ("fma.rn.bf16x2", "half"),
        ("add.f16", "half"),
        ("lop3.b32", "logic"),
        ("ex2.approx.ftz.f32", "special function"),
        ("cvt.rn.f16.f32", "conversion"),
        ("setp.lt.and.s32", "compare"),
        ("cvta.to.global.u64", "move"),
        ("ld.param.u64", "parameter load"),
        ("ld.param::entry.u64", "parameter load"),
        ("ld.global.nc.L1::no_allocate.v4.f32", "global load"),
        ("ld.shared::cta.f32", "shared load"),
        ("ld.const.f32", "constant load"),
        ("ld.volatile.f32", "generic load"),
        ("st.local.u32", "local store"),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "shared load"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16", "global load"),
        ("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32", "shared store"),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "tensor core"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor core"),
        ("cp.async.ca.shared.global", "asynchronous copy"),
        ("red.global.add.f32", "atomic"),
        ("shfl.sync.bfly.b32", "warp-wide"),
        ("bar.sync", "barrier"),
        ("membar.gl", "barrier"),
        ("bra.uni", "control"),
    ],
)
def test_classes(opcode: str, name: str) -> None:
    assert classes.instruction_class(opcode) == name


@pytest.mark.parametrize(
    ("opcode", "element", "operations"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f16", 4096),
        ("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "bf16", 2048),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "tf32", 2048),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "f64", 512),
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "f16", 2048),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "e4m3", 8192),
        ("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", "s8", 8192),
        ("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", "b1", 16384),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", "f16", 8192),
        ("wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32", "bf16", 8192),
    ],
)
def test_tensor_operations(opcode: str, element: str, operations: int) -> None:
    assert classes.work(opcode) == classes.Work(element, per_warp=operations)


@pytest.mark.parametrize(
    ("opcode", "element", "flops"),
    [
        ("fma.rn.f32", "f32", 2),
        ("add.rn.f64", "f64", 1),
        ("fma.rn.f16x2", "f16", 4),
        ("mul.bf16x2", "bf16", 2),
        ("add.s32", "", 0),
        ("mad.lo.s32", "", 0),
        ("max.f32", "", 0),
        ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16", "", 0),
    ],
)
def test_flops_of_a_thread(opcode: str, element: str, flops: int) -> None:
    assert classes.work(opcode) == classes.Work(element, per_thread=flops)


def test_a_copy_loads_from_one_space_and_stores_to_the_other() -> None:
    assert classes.access_kind("cp.async.cg.shared.global", "global") == "load"
    assert classes.access_kind("cp.async.cg.shared.global", "shared") == "store"
    assert classes.access_kind("cp.async.bulk.global.shared::cta.bulk_group", "global") == "store"
    assert classes.access_kind("cp.async.bulk.global.shared::cta.bulk_group", "shared") == "load"
    assert classes.access_kind("atom.shared.add.u32", "shared") == "atomic"


def row(**counted: int) -> dict[str, int]:
    names = (
        "warps lanes divergent requests bytes sectors wavefronts ideal shared_requests shared_bytes "
        "local_requests local_bytes local_sectors serialised"
    )
    return {**dict.fromkeys(names.split(), 0), **counted}


def test_rows_of_the_engine_are_told_apart_by_space() -> None:
    counts = Counts()
    copied = row(warps=2, lanes=64, requests=4, bytes=2048, sectors=32, wavefronts=9, ideal=8)
    counts.add("cp.async.cg.shared.global", {**copied, "shared_requests": 2, "shared_bytes": 1024})
    assert (counts.global_load.requests, counts.global_load.sectors, counts.global_load.bytes) == (
        2,
        32,
        1024,
    )
    assert (counts.shared_store.requests, counts.shared_store.bank_conflicts) == (2, 1)
    spilled = row(
        warps=3, lanes=96, requests=3, bytes=384, local_requests=3, local_bytes=384, local_sectors=12
    )
    counts.add("st.local.f32", spilled)
    assert (counts.local_store.requests, counts.local_store.sectors, counts.local_store.bytes) == (3, 12, 384)
    assert counts.local_load.requests == 0
    added = row(warps=2, lanes=64, requests=2, bytes=256, sectors=5, serialised=33)
    counts.add("atom.global.add.u32", added)
    assert (counts.global_atomic.sectors, counts.atomics.requests, counts.atomics.turns) == (5, 2, 33)
    assert counts.atomics.turns_per_request == 16.5
    assert counts.global_sectors == 37


def test_integers_on_tensor_cores_are_no_flops() -> None:
    counts = Counts()
    counts.add("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", row(warps=3, lanes=96))
    counts.add("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", row(warps=2, lanes=64))
    counts.add("fma.rn.f32", row(warps=1, lanes=20))
    assert counts.tensor_operations == {"s8": 3 * 8192, "f16": 2 * 4096}
    assert counts.flops == 2 * 4096 + 40
    assert counts.instructions_by_class == {"tensor core": 160, "float32": 20}
