"""Whole kernels on the virtual GPU have the bits that they have on an H200; those that differ are listed."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath import gpus
from flashpath.gpus.shape import LaunchShape
from flashpath.jit import assembler, toolkit
from flashpath.jit.exactness import verdict
from flashpath.vgpu.device import HostArray, VirtualModule
from flashpath.vgpu.launch import Launch, Packed

from . import catalogue
from .catalogue import Array, Case

_POINTER_BYTES = 8


@functools.cache
def golden() -> dict[str, Array]:
    with np.load(catalogue.GOLDEN) as kept:
        return dict(kept)


@functools.cache
def about() -> dict[str, Any]:
    return json.loads(str(golden()["about"]))


@functools.cache
def module(name: str) -> VirtualModule:
    return VirtualModule(catalogue.load_ptx(name))


def run(case: Case) -> bytes:
    """The bytes of a case's results, on a virtual H200."""
    arguments = case.make_arguments()
    packed = bytearray()
    arrays: list[HostArray] = []
    for argument in arguments:
        is_array = isinstance(argument, np.ndarray)
        size = _POINTER_BYTES if is_array else argument.itemsize
        packed += bytes(-len(packed) % size)
        if is_array:
            first, last = argument.ctypes.data, argument.ctypes.data + argument.nbytes
            arrays.append(HostArray(len(packed), first, first, last, first, last, True))
            packed += bytes(_POINTER_BYTES)
        else:
            packed += argument.tobytes()
    kernel = module(case.module).kernel(case.kernel)
    shape = LaunchShape(case.grid, case.block, case.shared)
    Launch(kernel, shape, Packed(bytes(packed), arrays), gpus.gpu("H200")).run()
    return b"".join(np.asarray(arguments[k]).tobytes() for k in case.outputs)


# ---- Bits ----------------------------------------------------------------------------------------------

# What differs: how many results, and why. A case that has become equal must leave the list.
DIFFERENT = {
    "cuda_fast/flash_attention": (
        63,
        "ptxas unrolls a loop of constant length between a product and its sum, and fuses them",
    ),
}

_BY_MODULE: dict[str, list[Case]] = {}
for _case in catalogue.CASES:
    _BY_MODULE.setdefault(_case.module, []).append(_case)


def differing(case: Case) -> int:
    """How many numbers of the results have other bits than on the GPU."""
    first = np.asarray(case.make_arguments()[case.outputs[0]])
    got, wanted = run(case), golden()[case.name].tobytes()
    assert len(got) == len(wanted)
    return int(
        np.count_nonzero(
            np.frombuffer(got, f"u{first.itemsize}") != np.frombuffer(wanted, f"u{first.itemsize}")
        )
    )


@pytest.mark.parametrize("name", _BY_MODULE)
def test_results_have_the_bits_of_an_h200(name: str) -> None:
    found = {case.name: count for case in _BY_MODULE[name] if (count := differing(case))}
    assert found == {case: count for case, (count, _) in DIFFERENT.items() if case.split("/")[0] == name}


def test_the_ptx_is_the_one_that_ran_on_the_gpu() -> None:
    kept = {name: catalogue.digest(catalogue.load_ptx(name)) for name in _BY_MODULE}
    assert kept == about()["ptx"]
    assert kept == {name: entry["sha256"] for name, entry in catalogue.index().items() if name != "rules"}
    assert about()["gpu"] == "NVIDIA H200"


def test_the_inputs_are_those_of_the_gpu() -> None:
    assert {case.name: case.digest_of_inputs() for case in catalogue.CASES} == about()["inputs"]


def test_there_are_enough_kernels() -> None:
    whole = [case for case in catalogue.CASES if case.module.startswith(("cuda", "triton"))]
    assert len(whole) >= 79


# ---- The label -----------------------------------------------------------------------------------------

# Kernels whose label says "not certain", though only some differ.
UNCERTAIN = {"cuda": {"flash_attention", "rope"}, "cuda_fast": {"flash_attention"}}


@pytest.mark.skipif(toolkit.line_disassembler() is None, reason="no disassembler is on this machine")
@pytest.mark.parametrize(("name", "options"), [("cuda", []), ("cuda_fast", ["-use_fast_math"])])
def test_what_differs_is_labelled(name: str, options: list[str]) -> None:
    compiled = fp.compile(catalogue.FOLDER / "kernels.cu", "sm_80", options=options)
    cubin, log = assembler.assemble(compiled.ptx, "sm_90", ())
    assert cubin is not None, log
    h200 = gpus.gpu("H200")
    uncertain = {
        kernel.name
        for kernel in compiled
        if not verdict(kernel.virtual.program, kernel.lowered, compiled.ptx, h200, cubin).exact
    }
    assert uncertain == UNCERTAIN[name]
    assert {case.split("/")[1] for case in DIFFERENT if case.startswith(f"{name}/")} <= uncertain


@pytest.mark.skipif(toolkit.line_disassembler() is None, reason="no disassembler is on this machine")
def test_triton_kernels_are_labelled_exact() -> None:
    for case in catalogue.CASES:
        if case.module.startswith("triton"):
            program = module(case.module).kernel(case.kernel).program
            label = verdict(program, case.kernel, catalogue.load_ptx(case.module), gpus.gpu("H200"), None)
            assert label.exact, f"{case.name}: {label}"
