"""The virtual GPU counts what the hardware counts: its counters against Nsight Compute's, case by case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from golden_cases import CASES, SOURCE, source_digest
from golden_metrics import EQUAL, GOLDEN, METRICS, differences, read_csv, read_golden, write_golden

import flashpath as fp

RECORD: dict[str, Any] = read_golden(GOLDEN)
# Where the hardware does more than its documentation says: cp.async whose 16-byte pieces meet bank conflicts
# on their way into shared memory fetches some sectors again.
KNOWN = {"mma_padded": ["global_load.sectors: 1,024, but the GPU has 1,152"]}


@pytest.mark.parametrize("name", CASES)
def test_counters_equal_those_of_the_gpu(name: str) -> None:
    case = CASES[name]
    kernel = fp.compile(SOURCE, RECORD["arch"])[case.kernel]
    report = fp.profile(kernel, case.grid, case.block, case.make_arguments(), shared=case.shared)
    assert differences(report, RECORD["cases"][name]) == KNOWN.get(name, [])


def test_the_counts_are_of_these_kernels() -> None:
    assert RECORD["source"] == source_digest(), "make_golden.py takes them anew"
    assert list(RECORD["cases"]) == list(CASES)


def test_every_counter_was_put_to_the_test() -> None:
    """Zero equals zero everywhere: each counter must have been more, on kernels of several kinds."""
    for metric in EQUAL.values():
        kernels = {CASES[name].kernel for name, values in RECORD["cases"].items() if values[metric]}
        assert len(kernels) >= (12 if "global" in metric else 6), metric


def test_the_cases_use_every_kernel() -> None:
    module = fp.compile(SOURCE, "sm_90")
    assert {case.kernel for case in CASES.values()} == set(module.kernels)
    assert len(module.kernels) >= 16


def test_arguments_are_the_same_every_time() -> None:
    for case in CASES.values():
        for once, again in zip(case.make_arguments(), case.make_arguments(), strict=True):
            if hasattr(once, "dtype"):
                assert once is not again
                assert once.tobytes() == again.tobytes()
            else:
                assert once == again


def test_reading_the_profilers_output() -> None:
    requests, sectors = METRICS[0], METRICS[1]
    text = f"""==PROF== Connected to process 7
==PROF== Profiling "golden_gather" - 0: 0%....100% - 9 passes
"ID","Kernel Name","Grid Size","{requests}","{sectors}","other"
"","","","request","sector",""
"0","golden_gather","(20, 1, 1)","314","5,420","1"
"1","golden_scatter","(20, 1, 1)","n/a","15 (7; 8)","2"
what the program printed
"""
    gather, scatter = read_csv(text)
    assert gather == ("golden_gather", {requests: 314, sectors: 5420})
    assert scatter == ("golden_scatter", {sectors: 15})
    with pytest.raises(ValueError, match="no CSV"):
        read_csv("==ERROR== the driver is busy")


def test_the_golden_file_gives_back_what_was_written(tmp_path: Path) -> None:
    requests, sectors = METRICS[0], METRICS[1]
    cases = {"one": {requests: 1, sectors: 2}, "two": {sectors: 3}}
    write_golden(tmp_path / "gpu.json", {"gpu": "H200"}, cases)
    assert read_golden(tmp_path / "gpu.json") == {"gpu": "H200", "cases": cases}


def test_differences_are_named() -> None:
    case = CASES["vector_add"]
    kernel = fp.compile(SOURCE, "sm_90")[case.kernel]
    report = fp.profile(kernel, case.grid, case.block, case.make_arguments())
    right = dict.fromkeys(EQUAL.values(), 0)
    right[EQUAL["global_load.requests"]] = 314
    right[EQUAL["global_load.sectors"]] = 1250
    right[EQUAL["global_store.requests"]] = 157
    right[EQUAL["global_store.sectors"]] = 625
    assert differences(report, right) == []
    wrong = right | {EQUAL["global_load.sectors"]: 1000}
    assert differences(report, wrong) == ["global_load.sectors: 1,250, but the GPU has 1,000"]
