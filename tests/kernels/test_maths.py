"""kernels/common/maths.cuh: the errors that it states, its special values, and the table made of them."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from flashpath.jit import device as cuda

ROOT = Path(__file__).parents[2]
INF, NAN = math.inf, math.nan
SUBNORMAL = 2.0**-130


def load() -> Any:
    spec = importlib.util.spec_from_file_location("maths_error", ROOT / "benchmarks" / "maths_error.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


maths: Any = load()
RECORD: dict[str, Any] = json.loads(maths.RECORD.read_text(encoding="utf-8"))
HEADER: str = (maths.COMMON / "maths.cuh").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def functions() -> Any:
    return maths.Functions()


def one(functions: Any, domain: Any, x: float) -> Any:
    kind = torch.float16 if domain.half else torch.float32
    return functions.apply(domain, torch.tensor([x], dtype=kind))


def test_the_record_is_of_every_float_on_hardware() -> None:
    assert (RECORD["gpu"], RECORD["every"]) == ("NVIDIA H200", 1)
    assert RECORD["errors"][0]["inputs"] > 2**31  # 2^x of every float from -126 to 128
    for domain, stated in zip(maths.DOMAINS, RECORD["errors"], strict=True):
        same = ("instruction", "low", "high", "by_size", "absolute")
        assert all(stated[key] == getattr(domain, key) for key in same)
        assert stated["function"] == domain.name


@pytest.mark.parametrize("index", range(len(maths.DOMAINS)), ids=lambda i: f"{maths.DOMAINS[i].name}-{i}")
def test_no_float_is_worse_than_the_record_says(functions: Any, index: int) -> None:
    """Measured again on a sample, and where the record has its worst: the very same there."""
    domain, stated = maths.DOMAINS[index], RECORD["errors"][index]
    found = maths.measure(functions, domain, 50_021, "cpu")
    assert found.inputs > 200
    assert 0 < found.error <= stated["error"]
    worst = torch.tensor([stated["at"]], dtype=torch.float16 if domain.half else torch.float32)
    error = maths.errors(domain, functions.apply(domain, worst), worst)
    assert float(error) == pytest.approx(stated["error"], rel=1e-6)


def test_the_header_states_what_was_measured() -> None:
    """Rounded up in the last of three digits, so that a stated error is a bound."""
    for stated in RECORD["errors"]:
        name = stated["function"].removesuffix("(half2)")
        kind = "__half2" if name != stated["function"] else "float"
        before = HEADER[: HEADER.index(f"inline {kind} {name}(")]
        comment = before[before.rindex("\n\n") :]
        assert f" {bound(stated)}" in comment, (stated["function"], bound(stated))


def bound(stated: dict[str, Any]) -> str:
    scale = 10 ** (math.floor(math.log10(stated["error"])) - 2)
    rounded = math.ceil(stated["error"] / scale) * scale
    return f"{rounded:.3g} absolute" if stated["absolute"] else f"{rounded:.3g} ulp"


def test_the_table_is_made_of_the_record() -> None:
    text = (ROOT / "docs" / "maths.md").read_text(encoding="utf-8")
    assert maths.document(text, RECORD) == text
    assert all(each["instruction"] in text for each in RECORD["errors"])


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (
            "exp2_approx",
            [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (128.0, INF), (-127.0, 0.0), (SUBNORMAL, 1.0)],
        ),
        (
            "log2_approx",
            [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (SUBNORMAL, -INF), (INF, INF), (-1.0, NAN), (8.0, 3.0)],
        ),
        (
            "reciprocal_approx",
            [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0), (2.0**127, 0.0), (-SUBNORMAL, -INF)],
        ),
        ("rsqrt_approx", [(0.0, INF), (-0.0, -INF), (SUBNORMAL, INF), (INF, 0.0), (-1.0, NAN), (4.0, 0.5)]),
        ("sqrt_approx", [(0.0, 0.0), (-0.0, -0.0), (SUBNORMAL, 0.0), (INF, INF), (-1.0, NAN), (4.0, 2.0)]),
        (
            "tanh_approx",
            [(SUBNORMAL, SUBNORMAL), (0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (20.0, 1.0)],
        ),
        ("sin_approx", [(0.0, 0.0), (-0.0, -0.0), (SUBNORMAL, 0.0), (INF, NAN), (-INF, NAN)]),
        ("cos_approx", [(0.0, 1.0), (-0.0, 1.0), (SUBNORMAL, 1.0), (INF, NAN), (-INF, NAN)]),
        ("exp2_approx(half2)", [(0.0, 1.0), (INF, INF), (-INF, 0.0), (16.0, INF), (-24.0, 2.0**-24)]),
        ("tanh_approx(half2)", [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0)]),
    ],
)
def test_special_values(functions: Any, function: str, values: list[tuple[float, float]]) -> None:
    domain = next(each for each in maths.DOMAINS if each.name == function)
    for x, expected in [*values, (NAN, NAN)]:
        y = float(one(functions, domain, x))
        if math.isnan(expected):
            assert math.isnan(y), (x, y)
        else:
            assert (y, math.copysign(1, y)) == (expected, math.copysign(1, expected)), (x, y)


def test_two_halves_stay_apart() -> None:
    import flashpath as fp

    kernel = fp.compile(
        '#include "maths.cuh"\n'
        'extern "C" __global__ void both(const __half2* x, __half2* y) { *y = exp2_approx(*x); }',
        includes=[maths.COMMON],
    )["both"]
    x, y = torch.tensor([3.0, -2.0], dtype=torch.float16), torch.zeros(2, dtype=torch.float16)
    kernel[1, 1](x, y)
    assert torch.equal(y, torch.tensor([8.0, 0.25], dtype=torch.float16))


def test_each_function_is_one_instruction() -> None:
    for domain in maths.DOMAINS:
        assert len(re.findall(re.escape(f'asm("{domain.instruction} '), HEADER)) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("index", range(len(maths.DOMAINS)))
def test_errors_on_hardware(functions: Any, index: int) -> None:
    """Those of an H200 are the record's, over all floats; another GPU may have other units."""
    found = maths.measure(functions, maths.DOMAINS[index], 1, "cuda")
    if cuda.device(0).name == RECORD["gpu"]:
        assert found.error == pytest.approx(RECORD["errors"][index]["error"], rel=1e-6)
    else:
        assert found.error <= 2 * RECORD["errors"][index]["error"] + 0.5
