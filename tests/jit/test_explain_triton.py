"""fp.explain of Triton kernels: its stages, and layouts as the kernel itself tells who holds what."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any, cast

import pytest
import torch

import flashpath as fp
from flashpath.jit import ArgumentError
from flashpath.jit.triton_explanation import TritonExplanation, operations, without_places
from flashpath.layout.triton_layouts import TensorLayout, tensor_layouts

pytest.importorskip("triton")
triton_kernels: Any = importlib.import_module("tests.jit.triton_kernels")


def _launched(kernel: Any, *args: Any, device: str | None = None, **options: Any) -> TritonExplanation:
    with fp.vgpu.triton(device=device):
        return cast("TritonExplanation", fp.explain(kernel[(1,)](*args, **options)))


def test_the_stages_of_a_kernel() -> None:
    out = torch.zeros(64, 64, dtype=torch.int32)
    found = _launched(triton_kernels.product, torch.zeros(4096, dtype=torch.float16), out, 64, 64, 32)
    assert found.kernel == "product"
    assert found.signature == "(a: *fp16, out: *i32)"
    assert found.constants == {"M": 64, "N": 64, "K": 32}
    assert (found.arch, found.source_name, found.warps) == ("sm_80", "triton_kernels.py", 4)
    assert found.source.startswith("def product(")
    assert "tt.dot" in found.ttir
    assert "#ttg" not in found.ttir
    assert "#mma = #ttg.nvidia_mma" in found.ttgir
    assert "loc(" not in found.ttir + found.ttgir
    assert "mma.sync" in found.ptx
    assert found.ptx.rstrip().endswith("}")
    assert found.shared > 0
    text = str(found)
    assert "  constants              M = 64, N = 64, K = 32\n" in text
    assert f"{operations(found.ttir)} operations on tiles" in text
    assert "occupancy on A100" in text


def test_what_is_no_compiled_kernel() -> None:
    with pytest.raises(ArgumentError, match="A compiled kernel is explained"):
        fp.explain(triton_kernels.product)


def test_places_are_taken_out() -> None:
    text = (
        '#loc = loc("a.py":1:0)\n  %x = tt.load %p : f32 loc(#loc3)\n'
        '  %a: f32 loc("a"(#loc)), %b loc(unknown)\n'
    )
    assert without_places(text) == "  %x = tt.load %p : f32\n  %a: f32, %b\n"


@pytest.mark.parametrize(
    ("shape", "warps"), [((64, 64), 4), ((16, 16), 4), ((128, 32), 8), ((32, 128), 2)], ids=str
)
def test_sums_of_tensor_cores_lie_where_it_says(shape: tuple[int, int], warps: int) -> None:
    out = torch.full(shape, -1, dtype=torch.int32)
    a = torch.zeros(128 * 128, dtype=torch.float16)
    found = _launched(triton_kernels.product, a, out, *shape, 32, num_warps=warps)
    _check(_named(found, "#mma"), out)


@pytest.mark.parametrize(
    ("shape", "warps"), [((64, 64), 4), ((4, 16), 4), ((128, 1), 4), ((1, 128), 4), ((2, 1024), 8)], ids=str
)
def test_tiles_lie_where_it_says(shape: tuple[int, int], warps: int) -> None:
    out = torch.full(shape, -1, dtype=torch.int32)
    found = _launched(
        triton_kernels.tile, torch.zeros(shape, dtype=torch.int32), out, *shape, num_warps=warps
    )
    layout = _named(found, "#blocked")
    assert layout.meets_memory
    _check(layout, out)


@pytest.mark.parametrize(("size", "warps"), [(64, 4), (1024, 4), (4096, 8)])
def test_vectors_lie_where_it_says(size: int, warps: int) -> None:
    out = torch.full((size,), -1, dtype=torch.int32)
    found = _launched(triton_kernels.vector, torch.zeros(size, dtype=torch.int32), out, size, num_warps=warps)
    _check(_named(found, "#blocked"), out)


@pytest.mark.parametrize("dimension", [0, 1])
def test_slices_lie_where_it_says(dimension: int) -> None:
    out = torch.full((32,), -1, dtype=torch.int32)
    found = _launched(triton_kernels.maxima, torch.zeros(32, 32, dtype=torch.int32), out, 32, dimension)
    layouts = {each.name: each for each in tensor_layouts(found.ttgir)}
    slices = [each for name, each in layouts.items() if f"slice<{{dim = {dimension}" in name]
    assert slices
    _check(slices[0], out)


def _named(found: TritonExplanation, name: str) -> TensorLayout:
    return next(each for each in tensor_layouts(found.ttgir) if each.name == name)


def _check(layout: TensorLayout, thread_numbers: torch.Tensor) -> None:
    """Every element is held by the thread that wrote its number there; of several, by one of them."""
    assert layout.held is not None
    assert layout.shape == tuple(thread_numbers.shape)
    rows = cast("list[list[int]]", thread_numbers.reshape(layout.held.tile).numpy().tolist())
    for owners, numbers in zip(layout.held.owners(), rows, strict=True):
        for holding, number in zip(owners, numbers, strict=True):
            assert number in [thread for thread, _ in holding]


# ---- The command ---------------------------------------------------------------------------------------


def test_the_command_shows_the_kernels_of_a_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from flashpath.cli.explain_triton import explain_program

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "program.py"
    file.write_text(
        "import sys, torch\nfrom tests.jit.triton_kernels import vector\n"
        "assert __name__ == '__main__' and sys.argv == [__file__]\nprint('of the program')\n"
        "x = torch.zeros(64, dtype=torch.int32)\nvector[(1,)](x, x, 64)\n"
    )
    explain_program(file, None, None, None, "layouts", as_json=False)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"  # as it was
    shown = capsys.readouterr()
    assert "#blocked: a tensor of 64 × i32" in shown.out
    assert "T0V0" in shown.out
    assert "vector(a: *i32, out: *i32), compiled for sm_80 from triton_kernels.py" in shown.out
    assert "of the program" not in shown.out
    assert "of the program" in shown.err
    explain_program(file, "vector", None, "H200", "none", as_json=True)
    (data,) = json.loads(capsys.readouterr().out)
    assert (data["kernel"], data["arch"]) == ("vector", "sm_90")
    assert data["layouts"][0]["owners"][0][5][0] == [5, 0]
    for name, words in (("other", "launched no kernel 'other'"), (None, "")):
        if words:
            with pytest.raises(fp.FlashpathError, match=words):
                explain_program(file, name, None, None, "all", as_json=False)
    for text, words, told in (
        ("x = 1\n", "launched no Triton kernel", ""),
        ("def f():\n    raise OSError('gone')\nf()\n", "ended in an error", "OSError: gone"),
        ("raise SystemExit('bye')\n", "ended in an error", "bye"),
    ):
        file.write_text(text)
        with pytest.raises(fp.FlashpathError, match=words):
            explain_program(file, None, None, None, "all", as_json=False)
        error = capsys.readouterr().err
        assert told in error
        assert "runpy" not in error
