"""`flashpath explain-dispatch`: a choice and its reason, for people and for programs."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from flashpath.cli import app
from flashpath.cli.explain_dispatch import joined
from flashpath.errors import FlashpathError
from flashpath.kernels.attention import dispatch, dispatch_table
from flashpath.kernels.attention.dispatch_table import Cell, Table

CELLS = [
    Cell((9, 0), "forward", 128, True, 4096, {"triton": 800.0, "cuda": 1250.0}, "NVIDIA H200"),
    Cell((9, 0), "forward", 128, True, 512, {"triton": 90.0, "cuda": 80.0}, "NVIDIA H200"),
    Cell((9, 0), "backward", 128, True, 4096, {"triton": 2000.0}, "NVIDIA H200"),
]


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Table(("NVIDIA H200, 2026-05-01",), tuple(CELLS))
    for module in (dispatch, dispatch_table):
        monkeypatch.setattr(module, "table", lambda: found)
    dispatch.fastest.cache_clear()


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["explain-dispatch", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_both_directions_with_their_measurements() -> None:
    text = run("attention", "--shape", "4", "4096", "16", "128", "--causal", "--device", "H200")
    assert "attention of q (4, 4096, 16, 128)" in text
    assert (
        "forward   triton (flash_v2_triton): measured on NVIDIA H200 with 4,096 tokens, dim 128, causal: "
        "triton 800 µs, cuda 1,250 µs." in text
    )
    assert "backward  triton (flash_v2_triton_backward): measured on" in text
    rows = [line.split("  ") for line in text.splitlines() if line.startswith("forward    ")]
    assert [row[0] for row in rows] == ["forward", "forward"]
    assert text.count("this one decides") == 2
    assert text.endswith("Measured with NVIDIA H200, 2026-05-01.\n")


def test_json_has_the_cells() -> None:
    found = json.loads(
        run("--shape", "1x600x2x64", "--keys", "640", "--causal", "--device", "sm_90", "--json")
    )
    assert found["forward"]["backend"] == "cuda"
    assert found["forward"]["measured"]["microseconds"] == {"triton": 90.0, "cuda": 80.0}
    assert len(found["forward"]["nearest"]) == 2
    assert found["runs"] == ["NVIDIA H200, 2026-05-01"]


def test_gpus_that_were_not_measured_and_the_virtual_one() -> None:
    assert "Nothing was measured on such a GPU" in run("--device", "A100")
    virtual = run("--device", "cpu", "--shape", "1", "64", "1", "32")
    assert "on the virtual GPU CUDA C++ is compiled sooner" in virtual
    assert "measured" not in virtual


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sort"], "flashpath ladder sort"),
        (["--shape", "3", "4"], "batch x sequence x heads x dim"),
        (["--dtype", "float32"], "float16, bfloat16"),
        (["--device", "H2000"], "Did you mean H200"),
        (["--shape", "1", "8", "2", "130"], "multiples of 8"),
        (["--backend", "cudnn"], "triton, cuda and reference"),
        (["--device", "T4"], "sm_80 and newer"),
        (["--page-size", "16"], "--page-size is of decode's cache"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], says: str) -> None:
    with pytest.raises(FlashpathError) as told:
        CliRunner().invoke(app, ["explain-dispatch", *words], catch_exceptions=False)
    assert says in str(told.value)


def test_decode_by_its_cache() -> None:
    words = ["decode", "--shape", "8", "8192", "32", "128", "--kv-heads", "8", "--device", "H200"]
    dense, paged = run(*words), run(*words, "--page-size", "16")
    assert dense.startswith(
        "decode of q (8, 1, 32, 128) with 8,192 keys of 8 heads, no pages, bfloat16, on H200"
    )
    assert "pages of 16" in paged
    for text in (dense, paged):
        assert re.search(r"^decode    (triton|cuda) \(split_\1\): .", text, re.MULTILINE)
    found = json.loads(run(*words, "--backend", "cuda", "--json"))
    assert (found["decode"]["rung"], found["decode"]["why"]) == ("split_cuda", "it was asked for")


def test_numbers_after_shape_are_one_value() -> None:
    assert joined(["--shape", "1", "2", "--causal", "3"]) == ["--shape", "1x2", "--causal", "3"]
    assert joined(["--shape"]) == ["--shape"]
    assert joined(["attention", "--keys", "4"]) == ["attention", "--keys", "4"]
    assert CliRunner().invoke(app, ["explain-dispatch", "--shape"]).exit_code == 2
