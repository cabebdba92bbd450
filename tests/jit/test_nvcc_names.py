"""fp.compile takes what nvcc takes without an include."""

from __future__ import annotations

import numpy as np
import pytest

import flashpath as fp
from flashpath.jit import CompileError, KernelCache

KERNEL = 'extern "C" __global__ void k({kind}* out) {{\n  out[0] = {value};\n}}\n'


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("INFINITY", np.inf),
        ("-INFINITY", -np.inf),
        ("NAN", np.nan),
        ("FLT_MAX", np.finfo(np.float32).max),
        ("FLT_EPSILON", np.finfo(np.float32).eps),
        ("(float)(uint32_t)7.5f", 7),
        ("(float)sizeof(size_t)", 8),
        ("(float)(sizeof(int8_t) + sizeof(uint64_t))", 9),
        ("min(3, 4) + max(1.0f, 2.0f)", 5),
        ("fmaxf(-FLT_MAX, (float)INT_MAX)", 2147483648.0),
    ],
)
def test_a_name_that_nvcc_knows(value: str, wanted: float, cache: KernelCache) -> None:
    out = np.zeros(1, np.float32)
    fp.compile(KERNEL.format(kind="float", value=value), "sm_80", cache=cache)["k"][1, 1](out)
    np.testing.assert_equal(out[0], np.float32(wanted))


def test_in_constants_and_parameters(cache: KernelCache) -> None:
    source = (
        "__device__ const float lowest = -INFINITY;\n"
        "template <typename T> struct Bounds { static constexpr float top = FLT_MAX; };\n"
        'extern "C" __global__ void k(uint32_t n, float* out) {\n'
        "  out[0] = lowest; out[1] = Bounds<int>::top * n;\n}\n"
    )
    out = np.zeros(2, np.float32)
    fp.compile(source, "sm_80", cache=cache)["k"][1, 1](1, out)
    assert out[0] == -np.inf
    assert out[1] == np.finfo(np.float32).max


def test_printf(capsys: pytest.CaptureFixture[str], cache: KernelCache) -> None:
    source = 'extern "C" __global__ void k(uint32_t n) { printf("%u\\n", n); }'
    fp.compile(source, "sm_80", cache=cache)["k"][1, 1](np.uint32(3))
    assert capsys.readouterr().out == "3\n"


def test_lines_of_errors_stay(cache: KernelCache) -> None:
    source = KERNEL.format(kind="float", value="INFINITY + FLT_MAX + nothing")
    with pytest.raises(CompileError) as caught:
        fp.compile(source, "sm_80", cache=cache)
    (only,) = caught.value.diagnostics
    assert (only.line, only.message) == (2, 'identifier "nothing" is undefined')
    assert "  2 |   out[0] = INFINITY + FLT_MAX + nothing;" in caught.value.problem


def test_own_definitions_win(cache: KernelCache) -> None:
    source = "typedef unsigned long uint64_t;\n#define NAN 4.0f\n" + KERNEL.format(
        kind="float", value="NAN + (float)(uint64_t)1 + (INFINITY > 0.0f)"
    )
    out = np.zeros(1, np.float32)
    fp.compile(source, "sm_80", cache=cache)["k"][1, 1](out)
    assert out[0] == 6
