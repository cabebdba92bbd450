"""Whole CUDA programs, host code included: compiled by nvcc, kept in the cache, run on a real or virtual GPU.

recipe = programs.make_recipe(["saxpy.cu"], programs.choose_target("H200"))
code = programs.run(recipe, ["1000"])

What a program from the cache needs is imported here, and nothing else: it is to start at once.
"""

from __future__ import annotations

from flashpath.jit.programs.recipe import ProgramNotFound, Recipe, make_recipe
from flashpath.jit.programs.running import TIMED_OUT, Run, build, run
from flashpath.jit.programs.store import Program
from flashpath.jit.programs.target import Target, choose_target
from flashpath.jit.programs.watcher import Watcher

__all__ = [
    "TIMED_OUT",
    "Program",
    "ProgramNotFound",
    "Recipe",
    "Run",
    "Target",
    "Watcher",
    "build",
    "choose_target",
    "make_recipe",
    "run",
]
