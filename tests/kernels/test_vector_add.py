"""Every rung of vector_add: bit for bit PyTorch's result, for any size, type, alignment and value."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath import kernels
from flashpath.errors import FlashpathError
from tests.harness.guarded_output import run_guarded, value_bits
from tests.harness.launches import nothing_found

LADDER = kernels.ladder("vector_add")
RUNGS = [rung.name for rung in LADDER]
SIZES = [0, 1, 2, 3, 5, 7, 31, 32, 33, 255, 256, 257, 1021, 1024, 65537, 1_000_003]
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32]


def operands(n: int, dtype: torch.dtype, offset: int = 0, device: str = "cuda") -> tuple[Any, Any]:
    """Random values with a non-zero mean, some of them special; `offset` elements into their storage."""
    generator = torch.Generator(device=device).manual_seed(n * 31 + offset)
    made: list[Any] = []
    for _ in "ab":
        if dtype == torch.int32:
            full = torch.randint(-(2**31), 2**31 - 1, (n + offset,), generator=generator, device=device)
        else:
            full = torch.randn(n + offset, generator=generator, device=device) * 100 + 3
            special = torch.tensor([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e38, 1e-45])
            full[: len(special)] = special[: n + offset].to(device)
        made.append(full.to(dtype)[offset:])
    return made[0], made[1].flip(0) if offset == 0 else made[1]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", RUNGS)
def test_rung_equals_torch_to_the_bit(name: str, dtype: torch.dtype) -> None:
    for n in SIZES:
        for offset in (0, 1, 2, 4):  # 1, 2 and 4 elements in: misaligned for wide accesses
            a, b = operands(n, dtype, offset)
            out = run_guarded(LADDER[name], a, b, like=a, offset=offset)
            assert torch.equal(value_bits(out), value_bits(torch.add(a, b))), (n, offset)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS)
def test_the_same_call_gives_the_samevalue_bits(name: str) -> None:
    a, b = operands(100_003, torch.float32)
    first = value_bits(LADDER[name](a, b))
    for _ in range(99):
        assert torch.equal(value_bits(LADDER[name](a, b)), first)


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS)
def test_more_elements_than_32_bits_count(name: str) -> None:
    n = 2**31 + 4099
    free, _ = torch.cuda.mem_get_info()
    if free < 4 * 3 * n:
        pytest.skip(f"needs {4 * 3 * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    a = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    out = torch.full_like(a, float("nan"))
    LADDER[name](a, b, out)
    for start in (0, 2**31 - 2048, n - 4096):
        part = slice(start, start + 4096)
        assert torch.equal(out[part], a[part] + b[part])
    assert not out.isnan().any()


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS)
def test_ladders_own_check_agrees_and_can_fail(name: str) -> None:
    case = LADDER.cases()[0]
    inputs = case.inputs("cuda")
    output = LADDER[name](*inputs)
    LADDER.check(output, inputs)
    output[-1] += 1
    with pytest.raises(AssertionError):
        LADDER.check(output, inputs)


@pytest.mark.parametrize("name", RUNGS[1:])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a"])
def test_rung_compiles_for_every_architecture(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_operands_are_refused_before_anything_runs(name: str) -> None:
    good = torch.ones(8)
    for a, b, says in [
        (good, torch.ones(9), "one shape"),
        (good, good.double(), "one dtype"),
        (torch.ones(16)[::2], good, "contiguous"),
        (good.bool(), good.bool(), "float32"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](a, b)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rung_on_the_virtual_gpu_equals_torch_to_the_bit(name: str, dtype: torch.dtype) -> None:
    for n in (0, 1, 3, 31, 33, 257, 1021, 4099):
        for offset in (0, 1, 2, 4):
            a, b = operands(n, dtype, offset, "cpu")
            out = run_guarded(LADDER[name], a, b, like=a, offset=offset)
            assert torch.equal(value_bits(out), value_bits(torch.add(a, b))), (n, offset)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", RUNGS[1:])
def test_the_sanitizer_finds_nothing(name: str, dtype: torch.dtype) -> None:
    for n, offset in ((1, 0), (1021, 0), (1021, 1)):
        with nothing_found(launches=1):
            LADDER[name](*operands(n, dtype, offset, "cpu"))


@pytest.mark.parametrize("name", RUNGS)
def test_in_place_but_not_half_over_an_operand(name: str) -> None:
    a, b = operands(1021, torch.float32, device="cpu")
    expected = a + b
    assert torch.equal(value_bits(LADDER[name](a, b, a)), value_bits(expected))
    room = torch.ones(1024)
    with pytest.raises(FlashpathError, match="overlaps an input"):
        LADDER[name](room[:1000], room[:1000], room[1:1001])


def test_the_reference_runs_anywhere() -> None:
    a, b = torch.randn(1000), torch.randn(1000)
    assert torch.equal(LADDER.reference(a, b), a + b)


@pytest.mark.parametrize("name", RUNGS)
def test_an_output_unlike_the_operands_is_refused(name: str) -> None:
    a = torch.ones(8)
    for out in (torch.empty(3), torch.empty(8, dtype=torch.float64), torch.empty(16)[::2]):
        with pytest.raises(FlashpathError, match=r"must have shape \(8,\)"):
            LADDER[name](a, a, out)
