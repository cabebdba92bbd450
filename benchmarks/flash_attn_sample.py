"""A pytest plugin: of flash-attn's half a million tests some 1,800, and what became of each, line by line.

benchmarks/flash_attn_tests.py starts pytest with it. What takes long to compile is chosen first: for each
test function so many kinds of kernel, then up to MOST_OF_A_KIND tests of each kind. The choice is drawn with
a seed of the function's name, so it is the same on every machine.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import time
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

# How many tests of each function, and how many kinds of kernel that no function before it has.
PLAN = {
    "test_flash_attn_output": (300, 34),
    "test_flash_attn_varlen_output": (300, 30),
    "test_flash_attn_qkvpacked": (150, 13),
    "test_flash_attn_varlen_qkvpacked": (130, 10),
    "test_flash_attn_causal": (110, 8),
    "test_flash_attn_varlen_causal": (130, 8),
    "test_flash_attn_splitkv": (110, 9),
    "test_flash_attn_kvcache": (320, 90),
    "test_flash_attn_deterministic": (70, 4),
    "test_flash_attn_varlen_deterministic": (60, 4),
    "test_flash_attn_race_condition": (36, 6),
    "test_flash_attn_bwd_overflow": (99, 99),
    "test_flash_attn_bwd_transpose": (99, 99),
    "test_flash_attn_bwd_varlen_overflow": (99, 99),
    # Since 2.8.4, of few kernels: all of them.
    "test_flash_attn_varlen_paged_kv_num_splits": (99, 99),
    "test_flash_attn_kvcache_paged_block_table_bounds": (99, 99),
    "test_flash_attn_generator_arg_must_be_none": (99, 99),
}
MOST_OF_A_KIND = 20
DRAWS = 400_000
BYTES_KEPT = 4 << 30  # by torch's allocator of one worker: several share the GPU

LOG = "FLASH_ATTN_TESTS_LOG"
DEADLINE = "FLASH_ATTN_TESTS_DEADLINE"
_BROKEN = ("illegal", "misaligned address", "launch failure", "device-side assert")

Test = dict[str, Any]
"""The parameters of one test, by name."""


# ---- The choice ------------------------------------------------------------------------------------------


def choose(functions: Mapping[str, Callable[..., Any]]) -> dict[str, list[tuple[Test, str]]]:
    """For each function its tests, each with the kind of kernel that it needs."""
    tests_of_a_kind: Counter[str] = Counter()
    chosen: dict[str, list[tuple[Test, str]]] = {}
    for name, (most, own_kinds) in PLAN.items():
        if name not in functions:  # another version of the suite
            continue
        rng = random.Random(name)
        axes = _axes(functions[name])
        total = 1
        for _, values in axes:
            total *= len(values)
        taken: dict[tuple[str, ...], tuple[Test, str]] = {}
        new_kinds = 0
        pool = _all_of(axes) if total <= most else (_drawn(axes, rng) for _ in range(DRAWS))
        for test in pool:
            place, kind = tuple(map(str, test.values())), str(_kind(name, test))
            if total > most:
                if len(taken) == most:
                    break
                if _left_out(name, test, rng) or place in taken:
                    continue
                if new_kinds == own_kinds and not 0 < tests_of_a_kind[kind] < MOST_OF_A_KIND:
                    continue
                new_kinds += not tests_of_a_kind[kind]
            taken[place] = (test, kind)
            tests_of_a_kind[kind] += 1
        chosen[name] = list(taken.values())
    return chosen


def _axes(function: Callable[..., Any]) -> list[tuple[list[str], list[tuple[Any, ...]]]]:
    """What `pytest.mark.parametrize` was given: names, and the values they take together."""
    found: list[tuple[list[str], list[tuple[Any, ...]]]] = []
    marks: list[Any] = getattr(function, "pytestmark", [])
    for mark in marks:
        if mark.name == "parametrize":
            names: list[str] = mark.args[0].split(",")
            found.append((names, [each if len(names) > 1 else (each,) for each in mark.args[1]]))
    return found


def _all_of(axes: list[tuple[list[str], list[tuple[Any, ...]]]]) -> Iterator[Test]:
    tests: list[Test] = [{}]
    for names, values in axes:
        tests = [{**test, **dict(zip(names, each, strict=True))} for test in tests for each in values]
    yield from tests


def _drawn(axes: list[tuple[list[str], list[tuple[Any, ...]]]], rng: random.Random) -> Test:
    test: Test = {}
    for names, values in axes:
        test.update(zip(names, rng.choice(values), strict=True))
    if test.get("new_kv") is False and rng.random() < 0.25:  # the suite skips it with rotary embedding
        test.update(rotary_fraction=0.0, rotary_interleaved=False)
    return test


def _left_out(name: str, test: Test, rng: random.Random) -> bool:
    """What the suite itself skips, and most of what takes long."""
    if test.get("softcap") and test.get("dropout_p"):
        return True
    queries, keys = (test.get(each, test.get("seqlen", 1)) for each in ("seqlen_q", "seqlen_k"))
    if name == "test_flash_attn_kvcache":
        return (
            (queries > keys and test["new_kv"])
            or (test["rotary_fraction"] > 0 and not test["new_kv"])
            or (test["rotary_fraction"] == 0 and test["rotary_interleaved"])
            or bool(test["has_leftpad"] and test["paged_kv_block_size"])
            or (keys > 100_000 and rng.random() < 0.85)
        )
    if name == "test_flash_attn_race_condition":
        longest = 257 if test["dropout_p"] else 512
        return max(queries, keys) > longest or (test["dropout_p"] > 0 and queries * keys > 40_000)
    if queries * keys >= 1000 * 1000:
        return rng.random() < (0.85 if queries * keys >= 2048 * 2048 else 0.5)
    return max(queries, keys) > 50_000 and rng.random() < 0.6


def _kind(name: str, test: Test) -> tuple[Any, ...]:
    """What decides which kernels are compiled for a test, roughly."""
    if "d" not in test:
        return (name,)
    dim = -(-test["d"] // 8) * 8
    block = max(16, 1 << (dim - 1).bit_length())
    mask = ("L" if test.get("local") else "") + ("C" if test.get("causal", "causal" in name) else "")
    if name == "test_flash_attn_kvcache":
        group = {"mha": 1, "mqa": 6, "gqa": 2}[test["mha_type"]]
        rows = min(64, max(16, 1 << (test["seqlen_q"] * group - 1).bit_length()))
        place = "paged" if test["paged_kv_block_size"] else "padded" if test["has_leftpad"] else "dense"
        interleaved = test["rotary_fraction"] > 0 and test["rotary_interleaved"]
        even = test["seqlen_k"] % 16 == 0
        return (
            *("decode", block, place, mask, test["alibi"], rows),
            *(test["num_splits"], even, test["new_kv"], interleaved),
        )
    queries = test.get("seqlen_q", test.get("seqlen", 256))
    keys = test.get("seqlen_k", test.get("seqlen", 3))
    if test.get("swap_sq_sk"):
        queries, keys = keys, queries
    shape: tuple[bool, ...] = (max(queries, keys) <= 128,)
    if "varlen" not in name:
        even = (keys % 128 == 0 or bool(mask), queries % 128 == 0, queries % 16 == 0, min(queries, keys) == 1)
        shape = (*shape, *even)
    extras = tuple(bool(test.get(each)) for each in ("alibi", "softcap", "dropout_p"))
    heads = test["d"] == 40 and name in ("test_flash_attn_output", "test_flash_attn_splitkv")
    return (test["dtype"], block, dim % 16 == 0, heads, "varlen" in name, mask, extras, shape)


# ---- The plugin ------------------------------------------------------------------------------------------


def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> None:
    """Before pytest multiplies the parameters of the first test out: the chosen ones in their place."""
    module = collector.obj
    if name not in PLAN or not inspect.ismodule(module) or getattr(module, "_sample_chosen", False):
        return
    chosen = choose({each: getattr(module, each) for each in PLAN if hasattr(module, each)})
    for each, tests in chosen.items():
        names = list(tests[0][0])
        if not names:  # a test without parameters is taken as it is
            continue
        params = [
            pytest.param(
                *(test[name] for name in names),
                id=",".join(f"{name}={_word(test[name])}" for name in names),
                marks=pytest.mark.xdist_group(kind),
            )
            for test, kind in tests
        ]
        function = getattr(module, each)
        others = [mark for mark in function.pytestmark if mark.name != "parametrize"]
        function.pytestmark = [*others, pytest.mark.parametrize(",".join(names), params).mark]
    vars(module)["_sample_chosen"] = True


def _word(value: Any) -> str:
    return str(value).removeprefix("torch.")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kinds in an order that has nothing to do with functions, so that a lack of time meets all alike."""

    def place(item: pytest.Item) -> int:
        group = item.get_closest_marker("xdist_group")
        return zlib.crc32(str(group.args[0] if group else item.name).encode())

    items[:] = sorted((each for each in items if each.name.partition("[")[0] in PLAN), key=place)


@pytest.fixture(autouse=True)
def in_time() -> Generator[None]:
    if time.time() > float(os.environ.get(DEADLINE, "inf")):
        pytest.skip("out of time")
    yield
    if torch.cuda.is_available() and torch.cuda.memory_reserved() > BYTES_KEPT:
        torch.cuda.empty_cache()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """A CUDA context that is broken stays so: this worker ends, and pytest-xdist starts another."""
    report = yield
    text = str(call.excinfo.value) if call.excinfo else ""
    if any(word in text for word in _BROKEN) and "PYTEST_XDIST_WORKER" in os.environ:
        _write(item.nodeid, "failed", 0.0, text)
        os._exit(3)
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ or (report.when != "call" and report.outcome == "passed"):
        return
    reason = ""
    if isinstance(report.longrepr, tuple):  # of what was skipped
        reason = report.longrepr[-1]
    elif report.outcome == "failed":
        reason = str(getattr(report.longrepr, "reprcrash", report.longrepr))
    _write(report.nodeid, report.outcome, report.duration, reason)


def _write(test: str, outcome: str, seconds: float, reason: str) -> None:
    if LOG in os.environ:
        with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
            log.write(json.dumps([test.partition("::")[2], outcome, round(seconds, 2), reason[-600:]]) + "\n")
