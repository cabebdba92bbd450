"""The virtual H200 answers as a real one did, but for the lines that are known to differ."""

from __future__ import annotations

import subprocess

import pytest
from program_cases import HERE

from flashpath.jit import programs
from flashpath.jit.programs.running import environment

_FOLDER = HERE / "hardware"


@pytest.mark.parametrize("name", ["codes", "error_strings", "attributes"])
def test_answers_are_those_of_an_h200(name: str) -> None:
    recipe = programs.make_recipe([_FOLDER / f"{name}.cu"], programs.choose_target("H200"))
    program = programs.build(recipe)
    done = subprocess.run(
        [program.path],
        env=environment(recipe, {"quiet": True}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    told = done.stdout.splitlines()
    measured = (_FOLDER / f"{name}.h200.txt").read_text(encoding="utf-8").splitlines()
    known = (_FOLDER / f"{name}.unequal.txt").read_text(encoding="utf-8").splitlines()
    assert len(told) == len(measured)
    assert [real for real, ours in zip(measured, told, strict=True) if real != ours] == known
