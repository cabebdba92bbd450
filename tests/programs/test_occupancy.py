"""Whole programs and Python count the same blocks on a multiprocessor, with the same limits of a launch."""

from __future__ import annotations

import subprocess

import pytest
from program_cases import HERE

from flashpath import gpus
from flashpath.gpus.shape import MAX_BLOCK, MAX_GRID
from flashpath.jit import programs
from flashpath.jit.programs.running import environment


@pytest.mark.parametrize("gpu", ["A100", "RTX 4090", "H200"])
def test_programs_hear_of_the_occupancy_that_python_counts(gpu: str) -> None:
    recipe = programs.make_recipe([HERE / "virtual/occupancy.cu"], programs.choose_target(gpu))
    done = subprocess.run(
        [programs.build(recipe).path],
        env=environment(recipe, {"quiet": True}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    limits, *lines = ([int(figure) for figure in line.split()] for line in done.stdout.splitlines())
    assert limits == [*MAX_GRID, *MAX_BLOCK]
    assert len({registers for _, registers, _, _ in lines}) > 2, "the kernels differ in their registers"
    sm = gpus.gpu(gpu).architecture
    for threads, registers, shared, blocks in lines:
        counted = gpus.occupancy(sm, threads, registers, shared).blocks_per_sm
        assert blocks == counted, (threads, registers, shared)
