"""PTX as its compilers write it today: nothing is stored, everything is compiled in the session."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import flashpath as fp
from flashpath.kernels.building import triton_compiles_for

HERE = Path(__file__).parent

TRITON: dict[str, tuple[dict[str, str], dict[str, int]]] = {
    "softmax": ({"x": "*fp16", "y": "*fp16", "stride": "i32", "n": "i32"}, {"BLOCK": 1024}),
    "matmul": ({"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}, {"BLOCK": 64}),
    "histogram": ({"keys": "*i32", "counts": "*i32", "n": "i32"}, {"BLOCK": 256}),
    "talk": ({"x": "*fp32", "n": "i32"}, {"BLOCK": 128}),
}


@functools.cache
def _cuda(file: Path, arch: str, compiler: Any, options: tuple[str, ...]) -> str:
    return fp.compile(file, arch=arch, compiler=compiler, options=options).ptx


@functools.cache
def _triton_module() -> Any:
    spec = importlib.util.spec_from_file_location("ptx_triton_kernels", HERE / "triton_kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _triton(name: str, arch: str) -> str:
    signature, constexprs = TRITON[name]
    compile_for = triton_compiles_for(lambda: getattr(_triton_module(), name), signature, constexprs)
    compiled: Any = compile_for(arch)
    return compiled.asm["ptx"]


@pytest.fixture(scope="session")
def cuda_ptx() -> Callable[..., str]:
    """PTX of a file in sources/, or of any other file."""

    def compile_file(
        file: str | Path, arch: str, compiler: str = "nvrtc", options: tuple[str, ...] = ()
    ) -> str:
        return _cuda(HERE / "sources" / file, arch, compiler, options)

    return compile_file


@pytest.fixture(scope="session")
def triton_ptx(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], str]:
    """PTX of a kernel in triton_kernels.py."""
    pytest.importorskip("triton")
    os.environ.setdefault("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
    return _triton
