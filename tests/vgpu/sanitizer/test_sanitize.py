"""fp.sanitize itself: what it returns, what it leaves behind, what it refuses."""

from __future__ import annotations

import re
import signal
import threading
import time
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.jit import ArgumentError, LaunchError
from flashpath.messages import Message, speaking
from flashpath.vgpu.findings import KINDS, Finding, KernelFault, Party, merged

SOURCE = """__device__ int calls;

extern "C" __global__ void count(int* x, int* seen) {
  const int before = atomicAdd(&calls, 1);
  seen[blockIdx.x] = before;
  x[blockIdx.x] += 1;
}

extern "C" __global__ void order(int* next, int* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = atomicAdd(next, 1);
}

extern "C" __global__ void beyond(int* x, int n) {
  if (threadIdx.x <= n) x[threadIdx.x] = 1;
}

extern "C" __global__ void forever(volatile int* x) {
  for (int i = 1; i != 0; i += 2) x[0] = i;
}

extern "C" __global__ void kept(int** table, int* y) {
  if (table[0] == nullptr) table[0] = static_cast<int*>(malloc(4));
  y[0] = 1;
}
"""


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(SOURCE, "sm_80")


def test_a_kernel_without_a_bug_has_no_findings(module: fp.Module) -> None:
    x, seen = np.zeros(4, np.int32), np.zeros(4, np.int32)
    assert fp.sanitize(module["count"], grid=4, block=1, args=(x, seen)) == []
    assert x.tolist() == [1, 1, 1, 1]


def test_faults_are_listed_and_not_raised(module: fp.Module) -> None:
    x = np.zeros(8, np.int32)
    (finding,) = fp.sanitize(module["beyond"], 1, 32, (x, 8))
    assert (finding.kind, finding.line, finding.thread) == ("out-of-bounds", 14, (8, 0, 0))
    with pytest.raises(fp.KernelFault):
        module["beyond"][1, 32](x, 8)


def test_memory_is_the_same_before_each_schedule_and_afterwards_the_firsts(module: fp.Module) -> None:
    x, seen = np.zeros(4, np.int32), np.zeros(4, np.int32)
    plain_x, plain_seen = x.copy(), seen.copy()
    fresh = fp.compile(SOURCE, "sm_80", defines={"FRESH": 1})
    fresh["count"][4, 1](plain_x, plain_seen)
    again = fp.compile(SOURCE, "sm_80", defines={"FRESH": 2})
    assert fp.sanitize(again["count"], 4, 1, (x, seen), seeds=8) == []
    assert x.tolist() == plain_x.tolist()  # added to once, not eight times
    assert seen.tolist() == plain_seen.tolist()
    fp.sanitize(again["count"], 4, 1, (x, seen))
    assert sorted(seen.tolist()) == [4, 5, 6, 7]  # the module's variable too was counted up once


def test_other_seeds_are_other_schedules(module: fp.Module) -> None:
    """What the first schedule leaves is left; that the others differ, the planted races show."""
    out = np.zeros(4, np.int32)
    fp.sanitize(module["order"], 4, 32, (np.zeros(1, np.int32), out), seeds=10)
    assert out.tolist() == [0, 1, 2, 3]


def test_the_heap_is_the_same_before_each_schedule() -> None:
    module = fp.compile(SOURCE, "sm_80", defines={"FRESH": 3})
    table, y = np.zeros(1, np.int64), np.zeros(1, np.int32)
    findings = fp.sanitize(module["kept"], 1, 1, (table, y), seeds=3)
    assert {finding.kind for finding in findings} <= {"leak"}
    assert table[0] != 0


def test_progress_is_told_before_each_schedule(module: fp.Module) -> None:
    told: list[tuple[int, int]] = []

    def tell(seed: int, seeds: int) -> None:
        told.append((seed, seeds))

    arrays = np.zeros(1, np.int32), np.zeros(2, np.int32)
    fp.sanitize(module["order"], 2, 32, arrays, seeds=3, progress=tell)
    assert told == [(0, 3), (1, 3), (2, 3)]


def test_numbers_of_numpy(module: fp.Module) -> None:
    told: list[int] = []
    arrays = np.zeros(1, np.int32), np.zeros(2, np.int32)
    found = fp.sanitize(
        module["order"],
        2,
        32,
        arrays,
        seeds=cast("int", np.int64(3)),
        budget=cast("int", np.uint32(100_000)),
        exact=cast("bool", np.bool_(True)),
        progress=lambda k, _: told.append(k),
    )
    assert (found, told) == ([], [0, 1, 2])


def test_a_timeout_ends_the_search(module: fp.Module) -> None:
    told: list[int] = []
    (finding,) = fp.sanitize(
        module["forever"],
        1,
        1,
        (np.zeros(1, np.int32),),
        seeds=5,
        budget=1000,
        progress=lambda k, _: told.append(k),
    )
    assert finding.kind == "timeout"
    assert told == [0]


@pytest.mark.usefixtures("hears_control_c")
def test_ctrl_c_ends_it_and_leaves_the_first_schedules_results(module: fp.Module) -> None:
    x = np.zeros(1, np.int32)
    next_, out = np.zeros(1, np.int32), np.zeros(4, np.int32)

    def interrupt_second(seed: int, _: int) -> None:
        if seed == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fp.sanitize(module["order"], 4, 32, (next_, out), seeds=5, progress=interrupt_second)
    assert (next_[0], out.tolist()) == (4, [0, 1, 2, 3])

    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fp.sanitize(module["forever"], 1, 1, (x,))
    assert time.monotonic() - began < 20


def test_wrong_use_says_what_to_do(module: fp.Module) -> None:
    x = np.zeros(8, np.int32)
    for seeds in (0, -1, True, 2.0, 1_000_001, 10**30):
        with pytest.raises(FlashpathError, match="seeds is") as error:
            fp.sanitize(module["beyond"], 1, 32, (x, 4), seeds=seeds)  # pyright: ignore[reportArgumentType]
        assert error.value.fix
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (module["beyond"], {"grid": 1, "args": (x, 4)}),
        (module["beyond"], {"grid": 1, "block": 32, "args": "x"}),
        (module["beyond"], {"grid": 1, "block": 32, "args": (x, 4), "num_warps": 4}),
        ("beyond", {"grid": 1, "block": 32}),
    ]
    for kernel, launch in wrong:
        with pytest.raises(ArgumentError):
            fp.sanitize(kernel, **launch)
    with pytest.raises(LaunchError):
        fp.sanitize(module["beyond"], 1, 4096, (x, 4))


# ---- Findings ------------------------------------------------------------------------------------------

HERE = ("k.cu", 8, (0, 0, 0), (1, 0, 0))
READ = Message("vgpu.a-read")


def leak(size: int) -> Message:
    return Message("vgpu.leak-of-launch", {"bytes": size, "address": "0x40"})


def race(line: int, other: int, seed: int = 0, count: int = 1) -> Finding:
    party = Party("write", "k.cu", other, (0, 0, 0), (2, 0, 0))
    return Finding("race", READ, "k.cu", line, (0, 0, 0), (1, 0, 0), party, count, seed)


def test_a_finding_says_everything_in_a_line() -> None:
    assert str(Finding("uninitialized", READ, *HERE)) == (
        "uninitialized: a read (k.cu:8, block (0, 0, 0), thread (1, 0, 0))"
    )
    assert str(race(8, 7, seed=3, count=1234)) == (
        "race: a read (k.cu:8, block (0, 0, 0), thread (1, 0, 0); the other party: write at k.cu:7, "
        "block (0, 0, 0), thread (2, 0, 0); met 1,234 times; first under seed 3)"
    )


def test_the_same_finding_is_told_once() -> None:
    found = merged(
        [race(8, 7), race(7, 8, seed=1), race(8, 9, seed=1), race(8, 8), Finding("leak", READ, *HERE)]
    )
    assert [(each.kind, each.count, each.seed) for each in found] == [
        ("race", 2, 0), ("race", 1, 1), ("race", 1, 0), ("leak", 1, 0)
    ]  # fmt: skip


def test_a_read_before_the_write_that_it_races_with_is_one_finding() -> None:
    early = Finding("uninitialized", READ, *HERE, seed=1)
    elsewhere = Finding("uninitialized", READ, "k.cu", 20, (0, 0, 0), (1, 0, 0))
    assert merged([early, race(7, 8), elsewhere]) == [race(7, 8), elsewhere]
    assert merged([early]) == [early]
    certain = replace(early, seed=0)  # the engine has seen both in one schedule
    assert merged([race(7, 8), certain]) == [race(7, 8), certain]


def test_findings_without_a_line_are_told_apart_by_what_they_say() -> None:
    nowhere = "", 0, (0, 0, 0), (0, 0, 0)
    found = merged([Finding("leak", leak(size), *nowhere) for size in (4, 8, 4)])
    assert [each.count for each in found] == [2, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_advice_that_leads_on(kind: Any) -> None:
    finding = Finding(kind, READ, *HERE)
    assert finding.advice
    assert f"`flashpath explain-finding {kind}`" in finding.advice
    fault = KernelFault("k", finding)
    assert str(fault).endswith(f"  → {finding.advice}")
    with speaking("zh"):
        assert str(fault).startswith(f"k：{kind}：读取（k.cu:8，线程块 (0, 0, 0)，线程 (1, 0, 0)）。")
        assert not re.search("[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}", str(fault))


@pytest.mark.parametrize("wrong", [{"cooperative": "yes"}, {"progress": 3}])
def test_wrong_options_are_told_as_such(module: fp.Module, wrong: dict[str, Any]) -> None:
    arrays = np.zeros(1, np.int32), np.zeros(4, np.int32)
    with pytest.raises(fp.FlashpathError, match=next(iter(wrong))):
        fp.sanitize(module["order"], 2, 32, arrays, **wrong)
