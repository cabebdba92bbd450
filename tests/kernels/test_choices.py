"""What `flashpath tune` may choose: options that rungs have, and right results whatever is chosen."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from flashpath import kernels
from flashpath.bench.counting import first_taken, samples
from flashpath.bench.tuning import configurations
from flashpath.jit import device
from flashpath.kernels.matmul.configs import IN_PARTS, LARGE, MORE_CONFIGS, OF_ONE_TILE, ROW_BYTES, Config
from flashpath.kernels.matmul.epilogue import Epilogue
from flashpath.kernels.matmul.float32 import MORE_TILINGS
from flashpath.kernels.matmul.tensor_core import MORE_PLANS, Plan

SHARED_OF_AN_A100 = 163 * 1024  # that a block can have: what the virtual GPU plays
ROOM = 227 * 1024  # for all choices of matmul: as much as an H100 has


def choosing(name: str) -> list[str]:
    return [rung.name for rung in kernels.ladder(name) if rung.choices]


def one_by_one(rung: kernels.Rung) -> list[dict[str, Any]]:
    """Each value of each option, with the others as the rung has them."""
    return [{option: value} for option, values in rung.choices.items() for value in values]


def fits(option: Any) -> bool:
    """Whether the virtual GPU has the shared memory."""
    if isinstance(option, Plan):
        return option.shared <= SHARED_OF_AN_A100
    if isinstance(option, Config):
        return (option.m + option.n) * ROW_BYTES * option.stages <= SHARED_OF_AN_A100
    return True


@pytest.mark.parametrize("name", kernels.ladders())
def test_choices_are_options_of_the_function(name: str) -> None:
    for rung in kernels.ladder(name):
        options = inspect.signature(rung.function).parameters
        for option, values in rung.choices.items():
            assert options[option].kind is inspect.Parameter.KEYWORD_ONLY, (rung.name, option)
            assert len(set(values)) == len(values) > 1, (rung.name, option)
        names = [tuple(map(str, each.values())) for each in configurations(rung)]
        assert len(set(names)) == len(names), rung.name  # they are told apart where they are listed


def test_every_rung_whose_kernel_can_be_cut_otherwise_has_choices() -> None:
    assert choosing("vector_add") == ["one_per_thread", "grid_stride", "vectorized", "triton"]
    forward = ["scalar", "grid_stride", "vectorized", "fused_chain", "triton"]
    assert choosing("elementwise") == [*forward, "backward", "backward_vectorized", "triton_backward"]
    every = [rung.name for rung in kernels.ladder("transpose")]
    assert choosing("transpose") == every[1:]
    by_itself = {
        "reference",
        "triton_autotuned",
        "unfused",
        "one_by_one",
    }  # chooses, or has nothing to choose
    written_out = {"register_1d", "register_2d", "vectorized", "double_buffered", "wmma", "mma_ldmatrix"}
    assert {*choosing("matmul")} == {
        rung.name for rung in kernels.ladder("matmul") if rung.name not in by_itself | written_out
    }


@pytest.mark.parametrize("rung", choosing("vector_add"))
def test_every_choice_of_vector_add(rung: str) -> None:
    ladder = kernels.ladder("vector_add")
    generator = torch.Generator().manual_seed(3)
    for options in one_by_one(ladder[rung]):
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            a, b = (torch.randn(5003, generator=generator).to(dtype) for _ in "ab")
            for given in ((a, b), (a[1:], b[1:])):
                ladder.check(ladder[rung](*given, **options), given)


@pytest.mark.parametrize("rung", choosing("elementwise"))
def test_every_choice_of_elementwise(rung: str) -> None:
    ladder = kernels.ladder("elementwise")
    generator = torch.Generator().manual_seed(1)
    x, y, dout, gated, dgate = (
        torch.randn(shape, generator=generator).bfloat16()
        for shape in (5003, 5003, 5003, (7, 1040), (7, 520))
    )
    calls: list[tuple[Any, ...]] = [(x, "scale_add_silu", 0.7, y), (gated, "silu_and_mul")]
    if "backward" in rung:
        calls = [(dout, "scale_add_silu_backward", 0.7, x, y), (dgate, "silu_and_mul_backward", gated)]
    for options in one_by_one(ladder[rung]):
        for given in calls:
            ladder.check(ladder[rung](*given, **options), given)


@pytest.mark.parametrize("rung", choosing("transpose"))
def test_every_choice_of_transpose(rung: str) -> None:
    ladder = kernels.ladder("transpose")
    operation = "copy" if rung == "copy" else "transpose"
    generator = torch.Generator().manual_seed(2)
    shapes = [(136, 264)] if rung == "triton" else [(256, 128), (136, 264), (67, 131)]
    for options in one_by_one(ladder[rung]):
        for shape in shapes:
            for dtype in (torch.float32, torch.bfloat16):
                x = torch.randn(shape, generator=generator).to(dtype)
                ladder.check(ladder[rung](x, operation, **options), (x, operation))


def products(m: int, n: int, k: int, dtype: torch.dtype) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randn(shape, generator=generator).to(dtype) for shape in ((m, k), (k, n)))
    return a, b


@pytest.mark.parametrize("rung", ["naive", "coalesced", "shared_tile"])
def test_every_tile_of_the_simple_rungs_of_matmul(rung: str) -> None:
    ladder = kernels.ladder("matmul")
    a, b = products(45, 70, 37, torch.float32)
    for options in one_by_one(ladder[rung]):
        ladder.check(ladder[rung](a, b, **options), (a, b, "ieee"))


@pytest.mark.parametrize("tiling", MORE_TILINGS, ids=str)
def test_more_tilings_of_warp_tiled(tiling: Any) -> None:
    ladder = kernels.ladder("matmul")
    for n in (2 * tiling.block_n + 4, tiling.block_n + 3):  # aligned, and not
        a, b = products(tiling.block_m + 8, n, 5 * tiling.block_k // 2, torch.float32)
        ladder.check(ladder["warp_tiled"](a, b, tiling=tiling), (a, b, "ieee"))


@pytest.mark.parametrize("plan", [plan for plan in MORE_PLANS if fits(plan)], ids=str)
def test_more_plans_of_mma_pipelined(plan: Plan) -> None:
    ladder = kernels.ladder("matmul")
    for n in (plan.n + 8, plan.n + 3):
        a, b = products(plan.m + 8, n, 200, torch.bfloat16)
        ladder.check(ladder["mma_pipelined"](a, b, plan=plan), (a, b, "ieee"))


def test_configurations_that_store_in_parts_are_for_programs_that_stay() -> None:
    for rung in kernels.ladder("matmul"):
        if configs := set(rung.choices.get("config", ())):
            stays = rung.name in ("triton_persistent", "triton_fused")
            assert (set(IN_PARTS) <= configs, set(OF_ONE_TILE) <= configs) == (stays, not stays)


@pytest.mark.parametrize("config", [each for each in (LARGE, *MORE_CONFIGS) if fits(each)], ids=str)
def test_more_configurations_in_triton(config: Config) -> None:
    ladder = kernels.ladder("matmul")
    a, b = products(config.m + 8, config.n + 8, 136, torch.bfloat16)
    ladder.check(ladder["triton_persistent"](a, b, config=config), (a, b, "ieee"))


@pytest.mark.parametrize("rung", ["triton_pointers", "triton_block_pointers", "triton_descriptors"])
def test_each_triton_rung_takes_a_configuration(rung: str) -> None:
    ladder, config = kernels.ladder("matmul"), Config(32, 64, group=2, warps=2, stages=2)
    a, b = products(72, 136, 80, torch.bfloat16)
    ladder.check(ladder[rung](a, b, config=config), (a, b, "ieee"))


@pytest.mark.parametrize("config", [each for each in MORE_CONFIGS if fits(each)], ids=str)
def test_many_products_take_a_configuration(config: Config) -> None:
    ladder = kernels.ladder("matmul")
    a, b = (x.expand(2, -1, -1) for x in products(72, 136, 80, torch.bfloat16))
    ladder.check(ladder["triton_batched"](a, b, config=config), (a, b, "ieee"))


def test_epilogues_take_plans_and_configurations() -> None:
    ladder = kernels.ladder("matmul")
    a, b = products(72, 136, 80, torch.bfloat16)
    after = Epilogue(0.125, torch.randn(136).bfloat16(), "gelu")
    for rung, options in (
        ("fused", {"plan": Plan(64, 64, 32, 32, stages=2, blocks_per_sm=2)}),
        ("triton_fused", {"config": Config(32, 64, group=2, warps=2, stages=2, split=2)}),
    ):
        found = ladder[rung](a, b, "ieee", None, after, **options)
        ladder.check(found, (a, b, "ieee", None, after))


@pytest.mark.gpu
@pytest.mark.parametrize("rung", choosing("matmul"))
def test_every_choice_of_matmul_on_a_gpu(rung: str) -> None:
    if (room := device.device(0).max_shared_per_block) < ROOM:
        pytest.skip(f"blocks of {ROOM} bytes of shared memory, and this GPU has {room} for one")
    ladder = kernels.ladder("matmul")
    case = first_taken(samples(ladder), ladder[rung])
    inputs = case.inputs("cuda")
    for options in one_by_one(ladder[rung]):
        ladder.check(ladder[rung](*inputs, **options), inputs)
