"""Every function that CUDA's header declares is there for programs to link, or to be told of."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from flashpath.jit import toolkit
from flashpath.vgpu import runtime_library

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DECLARED = re.compile(r"extern\s+__host__[^;{]*?\b(cuda\w+)\s*\(")
_PER_THREAD = re.compile(r"__CUDART_API_PT(DS|SZ)\((cuda\w+)\)")


@pytest.fixture(scope="module")
def header() -> str:
    folder = next(folder for folder in toolkit.headers().folders if (folder / "cuda_runtime_api.h").exists())
    return _COMMENT.sub("", (folder / "cuda_runtime_api.h").read_text())


@pytest.fixture(scope="module")
def exported() -> set[str]:
    nm = shutil.which("nm")
    assert nm is not None, "binutils come with every host compiler"
    library = runtime_library.folder() / f"lib{runtime_library.NAME}.so"
    lines = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in lines.stdout.splitlines()}


def test_every_function_of_the_header_is_exported(header: str, exported: set[str]) -> None:
    declared = set(_DECLARED.findall(header))
    assert len(declared) > 250
    assert sorted(declared - exported) == []


def test_so_are_their_names_for_threads_with_streams_of_their_own(header: str, exported: set[str]) -> None:
    names = {f"{name}_pt{kind.lower()}" for kind, name in _PER_THREAD.findall(header)}
    assert len(names) > 50
    assert sorted(names - exported) == []


def test_nothing_else_is_exported(exported: set[str]) -> None:
    assert [name for name in exported if not name.startswith(("cuda", "__cuda"))] == []


def test_what_is_not_there_is_listed_by_the_library(header: str, exported: set[str]) -> None:
    unavailable = runtime_library.unavailable()
    assert "cudaMallocArray" in unavailable
    assert "cudaMalloc" not in unavailable
    assert set(unavailable) <= set(_DECLARED.findall(header))
    assert set(unavailable) <= exported
