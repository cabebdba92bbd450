"""`flashpath explain-dispatch`: a choice and its reason, for people and for programs."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from flashpath.cli import app
from flashpath.cli.dispatch_ways import OPERATORS
from flashpath.cli.explain_dispatch import joined
from flashpath.errors import FlashpathError
from flashpath.kernels.attention import dispatch, dispatch_table
from flashpath.kernels.attention.decode import dispatch as decoding
from flashpath.kernels.attention.dispatch_table import Cell, DecodeCell, Table
from flashpath.messages import speaking

CELLS = [
    Cell((9, 0), "forward", 128, True, 4096, 4, 16, {"triton": 800.0, "cuda": 1250.0}, "NVIDIA H200"),
    Cell((9, 0), "forward", 128, True, 512, 32, 16, {"triton": 90.0, "cuda": 80.0}, "NVIDIA H200"),
    Cell((9, 0), "backward", 128, True, 4096, 4, 16, {"triton": 2000.0}, "NVIDIA H200"),
]
STEPS = [
    DecodeCell((9, 0), 8, 8192, 32, 8, 128, 0, {"triton": 75.5, "cuda": 76.4}, "NVIDIA H200"),
    DecodeCell((9, 0), 64, 8192, 32, 8, 128, 16, {"triton": 492.0, "cuda": 485.0}, "NVIDIA H200"),
]


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Table(("NVIDIA H200, 2026-05-01",), tuple(CELLS), ("NVIDIA H200, 2026-05-02",), tuple(STEPS))
    for module in (dispatch, decoding, dispatch_table):
        monkeypatch.setattr(module, "table", lambda: found)
    dispatch.fastest.cache_clear()
    decoding.fastest.cache_clear()


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["explain-dispatch", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_both_directions_with_their_measurements() -> None:
    text = run("attention", "--shape", "4", "4096", "16", "128", "--causal", "--device", "H200")
    assert "attention of q (4, 4096, 16, 128)" in text
    assert (
        "forward   triton (flash_v2_triton): measured on NVIDIA H200 with 4 × 4,096 tokens, 16 heads, dim "
        "128, causal: triton 800 µs, cuda 1,250 µs." in text
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
        (["transpose"], "flashpath ladder transpose shows"),
        (["sort", "--causal"], "--causal is of attention"),
        (["sort", "--shape", "4", "4"], "a whole number of 1 or more, N, such as --shape 1048576"),
        (["matmul", "--dtype", "int32"], "matmul got matrices of int32"),
        (["attn"], "Did you mean attention?"),
        (["foo"], "gelu_tanh_and_mul. flashpath ladder lists all ladders."),
        (["--shape", "3", "4"], "--shape is '3 4'"),
        (["--shape", "a", "b", "c", "d"], "BATCH SEQUENCE HEADS DIM, such as --shape 4 4096 16 128"),
        (["--shape", "0", "1", "2", "8"], "--shape is '0 1 2 8'"),
        (["--shape", "64"], "four whole numbers"),
        (["--shape", *(["999999999999"] * 4)], "larger than any GPU"),
        (["softmax", "--shape", "99999999999999999999", "3"], "larger than any GPU"),
        (["--dtype", "float32"], "float16, bfloat16"),
        (["--device", "H2000"], "Did you mean H200"),
        (["--shape", "1", "8", "2", "130"], "multiples of 8"),
        (["--backend", "cudnn"], "triton, cuda and reference"),
        (["--device", "T4"], "sm_80 and newer"),
        (["decode", "--device", "T4"], "attention_decode's kernels are for GPUs of sm_80 and newer"),
        (["--device", "T4", "--backend", "cuda"], "sm_80 and newer"),
        (["--page-size", "16"], "--page-size is of attention_decode"),
        (["attention_varlen", "--queries", "2"], "--queries is of attention_decode"),
        (["--score-mod", "rust"], "torch, triton, cuda"),
        (["--score-mod", "triton", "--backend", "cuda"], "no form for cuda"),
        (["--window", "-3", "0"], "window"),
        (
            ["--device", "cpu", "--shape", "4", "4096", "16", "128"],
            "274,877,906,944 multiply-adds on the CPU; the virtual GPU takes up to 4,294,967,296",
        ),
        (["decode", "--device", "cpu", "--shape", "64", "65536", "32", "128"], "--device H200"),
        (
            ["--shape", "1", "512", "8", "256", "--device", "RTX 3090", "--backend", "cuda"],
            "shared memory for dimensions of 256",
        ),
    ],
)
def test_what_is_wrong_is_said(words: list[str], says: str) -> None:
    with pytest.raises(FlashpathError) as told:
        CliRunner().invoke(app, ["explain-dispatch", *words], catch_exceptions=False)
    assert says in str(told.value)


@pytest.mark.parametrize("operator", ["attention", "attention_varlen", "attention_decode"])
@pytest.mark.parametrize("device", ["T4", "H200", "cpu"])
def test_the_reference_is_explained(operator: str, device: str) -> None:
    text = run(operator, "--backend", "reference", "--device", device)
    assert "reference (reference): it was asked for: torch computes the formula." in text
    assert "measured" not in text


def test_what_the_reference_has_no_memory_for() -> None:
    words = ["--backend", "reference", "--shape", "16", "4096", "16", "128", "--device"]
    assert "backward  reference (reference): refused: attention got 4,294,967,296" in run(*words, "cpu")
    assert "refused" not in run(*words, "H200")


def test_what_features_decide() -> None:
    words = ["--shape", "4", "4096", "16", "128", "--device", "H200"]
    assert "triton 800 µs" in run(*words, "--window", "100", "0")  # as under a causal mask
    assert "forward   cuda (flash_v2_cuda): it is the only language" in run(*words, "--score-mod", "cuda")
    several = run("attention_varlen", *words, "--causal")
    assert several.startswith("attention_varlen of q (16384, 16, 128)")
    assert "triton 800 µs" in several
    windowed = ["--shape", "1", "65536", "1", "64", "--device", "cpu", "--window", "64", "0"]
    assert "window (64, 0)" in run(*windowed)  # its full square would be refused


def test_decode_by_its_cache() -> None:
    words = ["decode", "--shape", "8", "8192", "32", "128", "--kv-heads", "8", "--device", "H200"]
    dense, paged = run(*words), run(*words, "--page-size", "16")
    assert dense.startswith(
        "attention_decode of q (8, 1, 32, 128) with 8,192 keys of 8 heads, no pages, full, bfloat16, on H200"
    )
    assert (
        "decode    triton (split_triton): measured on NVIDIA H200 with 8 × 8,192 keys, 32 heads on 8, dim "
        "128, no pages: triton 75.5 µs, cuda 76.4 µs." in dense
    )
    assert "the nearest that was: cuda 485 µs, triton 492 µs." in paged
    assert dense.endswith("Measured with NVIDIA H200, 2026-05-02.\n")
    assert run("attention_decode", *words[1:]) == dense
    assert "pages of 16" in paged
    for text in (dense, paged):
        assert re.search(r"^decode    (triton|cuda) \(split_\1\): .", text, re.MULTILINE)
    found = json.loads(run(*words, "--backend", "cuda", "--json"))
    assert (found["decode"]["rung"], found["decode"]["why"]) == ("split_cuda", "it was asked for")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_is_explained(operator: str, lang: str) -> None:
    with speaking(lang):
        shown = run(operator, "--device", "A100")
    assert "cuda" in shown or "triton" in shown


def test_a_choice_by_type_and_size() -> None:
    words = ["matmul", "--device", "H200", "--shape", "4096", "4096", "4096"]
    assert "forward   cuda (warp_tiled): the result has" in run(*words)
    assert "forward   triton (triton_persistent): Triton's" in run(*words, "--dtype", "bfloat16")


def test_numbers_after_shape_are_one_value() -> None:
    assert joined(["--shape", "1", "2", "--causal", "3"]) == ["--shape", "1 2", "--causal", "3"]
    assert joined(["--shape", "1", "2", "3", "4", "decode"]) == ["--shape", "1 2 3 4", "decode"]
    assert joined(["--shape", "1x2x3x4", "sort"]) == ["--shape", "1x2x3x4", "sort"]
    assert joined(["--shape=1", "-2", "x", "decode"]) == ["--shape", "1 -2 x", "decode"]
    assert joined(["--shape"]) == ["--shape"]
    assert joined(["attention", "--keys", "4"]) == ["attention", "--keys", "4"]
    assert CliRunner().invoke(app, ["explain-dispatch", "--shape"]).exit_code == 2
