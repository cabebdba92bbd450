"""programs/tvm_ffi: one library, called from Python and from C++, on the virtual GPU."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flashpath.jit import programs
from flashpath.jit.programs.running import environment
from tests.harness.exported import need_tvm_ffi, need_virtual_driver

FOLDER = Path(__file__).parents[2] / "programs" / "tvm_ffi"


def _python(name: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, FOLDER / name, *words], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_tvm_ffi()
    folder = tmp_path_factory.mktemp("tvm_ffi")
    assert "14 variants" in _python("export_softmax.py", str(folder))
    return folder / "softmax.so"


def test_it_is_called_from_python(library: Path) -> None:
    need_virtual_driver()
    said = _python("call_softmax.py", str(library), "--virtual")
    assert re.search(r"NumPy: 1000 rows of 777, largest error \d", said)
    assert "A wrong call: softmax: " in said


def _from_cpp(library: Path, device: str) -> str:
    installed: Any = importlib.import_module("tvm_ffi.libinfo")
    folder = Path(installed.find_libtvm_ffi()).parent
    recipe = programs.make_recipe(
        [FOLDER / "call_softmax.cu"],
        programs.choose_target(device),
        includes=[Path(place) for place in installed.include_paths()],
        libraries=["tvm_ffi"],
        library_folders=[folder],
    )
    variables = environment(recipe, {})
    variables["LD_LIBRARY_PATH"] = f"{folder}:{variables.get('LD_LIBRARY_PATH', '')}".rstrip(":")
    done = subprocess.run(
        [programs.build(recipe).path, library],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_called_from_cpp(library: Path) -> None:
    need_virtual_driver()
    said = _from_cpp(library, "A100")
    assert re.search(r"C\+\+: 100 rows of 777, largest error \d", said)
    assert "out.shape[1] == x.shape[1]" in said


@pytest.mark.gpu
def test_on_a_gpu_it_is_called_from_python_and_cpp(library: Path) -> None:
    said = _python("call_softmax.py", str(library))
    assert "torch, on a stream of its own: differs from NumPy's by 0.0e+00" in said
    assert "C++: 100 rows of 777" in _from_cpp(library, "cuda")
