"""Rungs as libraries: in each call that they take they do what the rung does, bit for bit."""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import flashpath as fp
from flashpath import kernels, settings
from flashpath.errors import FlashpathError
from flashpath.jit.export.description import declared, split
from flashpath.jit.export.expressions import evaluate, shown
from flashpath.jit.export.library import MAX_SHARED, SM_COUNT, Variant
from flashpath.kernels import building
from flashpath.kernels.exporting import variants_of
from flashpath.kernels.recording import Recording
from tests.harness.exported import loaded, need_tvm_ffi, need_virtual_driver, run_alone

Exported = tuple[str, str, str, dict[str, list[int | str]], list[Any], list[Any]]
# Ladder, rung, signature, sizes; shapes of further calls that the library takes, and of some that it refuses.
EXPORTED: list[Exported] = [
    (
        "softmax",
        "resident",
        "x: dtype[64, n], out: dtype[64, n]",
        {"dtype": ["float32", "bfloat16"], "n": [128, 1000]},
        [[[3, 128], [3, 128]], [[65, 128], [65, 128]], [[1, 1024], [1, 1024]]],
        [[[3, 127], [3, 127]], [[3, 5000], [3, 5000]], [[3, 128], [128, 3]]],
    ),
    (
        "vector_add",
        "vectorized",
        "a: float32[n], b: float32[n], out: float32[n]",
        {"n": [1024]},
        [[[100], [100], [100]], [[1023], [1023], [1023]], [[4096], [4096], [4096]]],
        [[[5], [5], [6]], [[5], [4], [5]]],
    ),
    (
        "layer_norm",
        "vectorized",
        "x: float16[64, n], weight: float16[n], bias: float16[n], eps=1e-5, out: float16[64, n]",
        {"n": [512]},
        [[[2, 512], [512], [512], [2, 512]], [[33, 512], [512], [512], [33, 512]]],
        [[[2, 511], [511], [511], [2, 511]], [[2, 512], [256], [512], [2, 512]]],
    ),
    (
        "matmul",
        "mma_pipelined",
        "a: float16[m, k], b: float16[k, m], out: float16[m, m]",
        {"m": [64], "k": [32]},
        [[[64, 64], [64, 40], [64, 40]], [[8, 32], [32, 72], [8, 72]]],
        [[[64, 64], [63, 40], [64, 40]], [[64, 64], [64, 41], [64, 41]]],
    ),
    (
        "transpose",
        "vectorized",
        "x: float32[64, n], operation='transpose', out: float32[n, 64]",
        {"n": [96, 97]},
        [[[64, 200], [200, 64]], [[128, 33], [33, 128]]],
        [[[64, 200], [64, 200]]],
    ),
    (
        "elementwise",
        "vectorized",
        "x: bfloat16[n], operation='gelu', out: bfloat16[n]",
        {"n": [4096]},
        [[[8], [8]], [[12_000], [12_000]]],
        [[[8], [9]]],
    ),
]

# In a process of its own: each rung on the virtual GPU beside its library on the virtual GPU's driver.
BESIDE = """
import json, sys, traceback
import torch
import tvm_ffi
import flashpath as fp

def compare(job):
    rung = fp.kernels.ladder(job["ladder"])[job["rung"]]
    function = tvm_ffi.load_module(job["library"]).exported
    for dtype in job["dtypes"]:
        for shapes in job["taken"]:
            *inputs, out = [torch.randn(shape).to(getattr(torch, dtype)) for shape in shapes]
            wanted = rung(**dict(zip(job["names"], inputs)), **job["options"])
            out.fill_(float("nan"))
            before = [each.clone() for each in inputs]
            function(*inputs, out)
            assert torch.equal(out, wanted), (dtype, shapes)
            assert all(map(torch.equal, inputs, before))
        for shapes in job["refused"]:
            *inputs, out = [torch.randn(shape).to(getattr(torch, dtype)) for shape in shapes]
            out.fill_(7)
            try:
                function(*inputs, out)
            except ValueError as error:
                assert "it needs" in str(error), error
                assert (out == 7).all()
            else:
                raise AssertionError(("taken", dtype, shapes))

fp.vgpu.driver("A100")
fp.vgpu.driver("A100")
try:
    fp.vgpu.driver("H200")
except fp.FlashpathError as error:
    assert "cannot change to H200" in str(error)
else:
    raise AssertionError("two virtual GPUs in one process")
torch.manual_seed(0)
results = []
for job in json.load(sys.stdin):
    try:
        compare(job)
        results.append("right")
    except Exception:
        results.append(traceback.format_exc())
print(json.dumps(results))
"""


def _job(exported: Exported, library: Path) -> dict[str, object]:
    ladder, rung, signature, sizes, taken, refused = exported
    parts = split(signature)
    options = dict(part.split("=") for part in parts if "=" in part)
    return {
        "ladder": ladder,
        "rung": rung,
        "library": str(library),
        "dtypes": sizes.get("dtype") or [declared(parts[0])[1]],
        "names": [part.partition(":")[0] for part in parts if ":" in part][:-1],
        "options": {name: ast.literal_eval(value) for name, value in options.items()},
        "taken": taken,
        "refused": refused,
    }


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What came of each comparison: all in one process, which takes a while to start."""
    need_virtual_driver()
    jobs: list[dict[str, object]] = []
    for exported in EXPORTED:
        ladder, rung, signature, sizes, *_ = exported
        path = tmp_path_factory.mktemp(ladder) / "exported.so"
        made = fp.export(kernels.ladder(ladder)[rung], path, signature, sizes=sizes, arch=["sm_80"])
        jobs.append(_job(exported, made.path))
    variables = {key: value for key, value in os.environ.items() if key != settings.RUNTIME.name}
    done = subprocess.run(
        [sys.executable, "-c", BESIDE],
        input=json.dumps(jobs),
        env={**variables, settings.LANG.name: "en"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    results: list[str] = json.loads(done.stdout)
    return results


@pytest.mark.parametrize("index", range(len(EXPORTED)), ids=[f"{each[0]}-{each[1]}" for each in EXPORTED])
def test_a_library_does_what_its_rung_does(index: int, beside: list[str]) -> None:
    assert beside[index] == "right"


def _variants(ladder: str, rung: str, *signatures: str) -> tuple[Variant, ...]:
    return variants_of(kernels.ladder(ladder)[rung], signatures, ["sm_80"])


def test_where_guards_hold_the_rung_would_launch_the_same() -> None:
    """Asked anew for each of many lengths, the host function launches what the recorded variant says."""
    resident = kernels.ladder("softmax")["resident"]
    for recorded in (768, 100, 33):
        (variant,) = _variants(
            "softmax", "resident", f"x: float32[5, {recorded}], out: float32[5, {recorded}]"
        )
        met = 0
        for n in range(1, 1100):
            now = Recording(resident, f"x: float32[9, {n}], out: float32[9, {n}]", ("sm_80",))
            if not now.is_covered_by(variant):
                continue
            met += 1
            asked = now.variant()
            for numbers in ("grid", "block"):
                then = [evaluate(each, now.values) for each in getattr(variant, numbers)]
                assert then == [evaluate(each, now.values) for each in getattr(asked, numbers)]
            assert [each.name for each in asked.kernels] == [each.name for each in variant.kernels]
        assert met >= 4


def test_what_depends_on_the_gpu_is_asked_of_the_gpu() -> None:
    many = "99999999"
    (variant,) = _variants(
        "vector_add", "grid_stride", f"a: int32[{many}], b: int32[{many}], out: int32[{many}]"
    )
    assert shown(variant.grid[0]) == "sm_count * 8"
    (shared,) = _variants("softmax", "shared", "x: float32[2, 500], out: float32[2, 500]")
    assert any("max_shared" in shown(guard) for guard in shared.guards)
    values = {SM_COUNT: 108, MAX_SHARED: 166912}
    assert evaluate(variant.grid[0], values) == 864


def test_a_call_that_a_variant_covers_adds_none() -> None:
    signature = "x: float32[64, {0}], out: float32[64, {0}]"
    assert len(_variants("softmax", "three_pass", *map(signature.format, (1, 10, 1000, 100_000)))) == 1
    assert len(_variants("softmax", "warp_per_row", *map(signature.format, (100, 120, 2000)))) == 2


@pytest.mark.parametrize(
    ("ladder", "rung", "signature", "words"),
    [
        ("softmax", "split_rows", "x: float32[4, 9000], out: float32[4, 9000]", "it launches 2 kernels"),
        ("softmax", "meeting", "x: float32[4, 9000], out: float32[4, 9000]", "whether x is on a GPU"),
        ("softmax", "resident", "x: float32[4, 90]", "none of the arguments"),
        ("softmax", "resident", "x: float32[4, n], out: float32[4, n]", "The extent n"),
        ("softmax", "resident", "x: int32[4, 9], out: int32[4, 9]", "softmax got int32"),
        ("softmax", "resident", "x: float32[4, 9], out: float32[4, 8]", r"shape \(4"),
        ("softmax", "resident", "x: float32[0, 9], out: float32[0, 9]", "it launches 0 kernels"),
        ("softmax", "resident", "y: float32[4, 9], out: float32[4, 9]", "does not take these arguments"),
        (
            "matmul",
            "unfused",
            "a: float16[64, 64], b: float16[64, 64], out: float16[64, 64]",
            "torch's aten.copy_",
        ),
        ("softmax", "warp_per_row", "x: float32[4, 9000], out: float32[4, 9000]", "rows of 9000"),
        ("softmax", "triton", "x: float32[4, 9], out: float32[4, 9]", "written in triton"),
        ("softmax", "reference", "x: float32[4, 9], out: float32[4, 9]", "written in pytorch"),
        ("rms_norm", "two_pass", "x: float32[4, 9], eps: float, out: float32[4, 9]", "Write its value"),
        ("rms_norm", "two_pass", "x: float32[4, 9], eps=tiny, out: float32[4, 9]", "no value that Python"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_words(
    ladder: str, rung: str, signature: str, words: str
) -> None:
    with pytest.raises(FlashpathError, match=words):
        _variants(ladder, rung, signature)
    assert building.follower is None


def test_operands_of_a_rung_have_names_of_their_own() -> None:
    gate = "dout: float32[4, 64], operation='silu_and_mul_backward', x: float32[4, 128], out: float32[4, 128]"
    (variant,) = _variants("elementwise", "backward", gate)
    assert [each.name for each in variant.arguments] == ["dout", "x", "out"]
    assert [variant.is_written(each) for each in variant.arguments] == [False, False, True]
    with pytest.raises(FlashpathError, match="does not take these arguments"):
        _variants("elementwise", "backward", gate.replace("dout", "dy"))


def test_wrong_calls_of_export_are_told(tmp_path: Path) -> None:
    resident = kernels.ladder("softmax")["resident"]
    signature = "x: float32[4, 9], out: float32[4, 9]"
    with pytest.raises(FlashpathError, match="its host function decides the launch"):
        fp.export(resident, tmp_path / "s.so", signature, "<<<1, 1>>>(x, out)")
    with pytest.raises(FlashpathError, match="other arguments than"):
        fp.export(resident, tmp_path / "s.so", [signature, "out: float32[4, 90], x: float32[4, 90]"])
    with pytest.raises(FlashpathError, match="There is no signature"):
        fp.export(resident, tmp_path / "s.so", [])
    kernel = fp.compile('extern "C" __global__ void f(float* x) {}', arch="sm_80")["f"]
    with pytest.raises(FlashpathError, match="one signature and one launch"):
        fp.export(kernel, tmp_path / "s.so", "x: float32[n]")
    with pytest.raises(FlashpathError, match="not one kernel for several"):
        fp.export([kernel, kernel], tmp_path / "s.so", "x: float32[n]", "<<<1, 1>>>(x)")
    with pytest.raises(FlashpathError, match="neither a kernel nor a rung"):
        fp.export([], tmp_path / "s.so", "x: float32[n]", "<<<1, 1>>>(x)")
    assert not list(tmp_path.iterdir())


def test_a_normal_call_after_an_export_is_a_normal_call() -> None:
    import torch

    _variants("softmax", "resident", "x: float32[4, 64], out: float32[4, 64]")
    x = torch.randn(4, 64)
    torch.testing.assert_close(kernels.ladder("softmax")["resident"](x), torch.softmax(x, -1))


def test_types_that_do_not_go_together_are_told(tmp_path: Path) -> None:
    need_tvm_ffi()
    library = fp.export(
        kernels.ladder("softmax")["three_pass"],
        tmp_path / "softmax.so",
        ["x: float32[4, 9], out: float32[4, 9]", "x: float16[4, 9], out: float16[4, 9]"],
        arch=["sm_80"],
    )
    assert library.variants == 2
    script = """
x = np.ones((4, 9), np.float32)
print(says(softmax, x, x.astype(np.float16)))
print(says(softmax, x.astype(np.int8), x))
"""
    said = run_alone(loaded(library.path, "softmax") + script)
    assert "these types do not go together: x: float32[4, 9], out: float16[4, 9]" in said
    assert "x is int8[4, 9], and must be float32[·, ·] or float16[·, ·]" in said


@pytest.mark.gpu
def test_on_a_gpu_a_library_does_what_its_rung_does(tmp_path: Path) -> None:
    need_tvm_ffi()
    torch: Any = importlib.import_module("torch")
    tvm_ffi: Any = importlib.import_module("tvm_ffi")
    resident = kernels.ladder("softmax")["resident"]
    library = fp.export(
        resident,
        tmp_path / "softmax.so",
        "x: dtype[64, n], out: dtype[64, n]",
        sizes={"dtype": ["float32", "bfloat16"], "n": [128, 1000, 4096]},
    )
    softmax = tvm_ffi.load_module(str(library.path)).softmax
    for dtype in (torch.float32, torch.bfloat16):
        for shape in ((3, 128), (1000, 1000), (4096, 4096)):
            x = torch.randn(shape, device="cuda", dtype=dtype)
            out = torch.full_like(x, torch.nan)
            softmax(x, out)
            assert torch.equal(out, resident(x))
