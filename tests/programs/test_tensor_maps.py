"""Programs for Hopper: tensor maps by the driver's entry point, or linked with -lcuda; launches in clusters."""

from __future__ import annotations

import subprocess

import pytest
from program_cases import HERE

from flashpath.jit import programs
from flashpath.jit.programs.running import environment


@pytest.mark.parametrize("is_linked", [False, True])
def test_tiles_by_tensor_maps(is_linked: bool) -> None:
    recipe = programs.make_recipe(
        [HERE / "virtual/tensor_maps.cu"],
        programs.choose_target("H200"),
        defines=["LINKED"] if is_linked else [],
        libraries=["cuda"] if is_linked else [],
    )
    done = subprocess.run(
        [programs.build(recipe).path],
        env=environment(recipe, {"quiet": True}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "cudaSuccess, wrong: 0\n1\n"
