"""Whole CUDA programs: each prints the same on the virtual GPU and on a real one, but for times."""

from __future__ import annotations

import dataclasses
import re
import resource
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import pytest
from compiling import compiled_ahead
from program_cases import CASES, HERE, Case

from flashpath import gpus
from flashpath.jit import device, programs
from flashpath.jit.programs.host_code import HostCode
from flashpath.jit.programs.running import environment
from flashpath.vgpu import recorded

_SECONDS = 60  # far more than any takes: it hangs
_COMPILERS = 2  # at once: one that compiles thrust takes a gigabyte

_FIRST_LINE = "flashpath: virtual A100; times are bounds of a model of that GPU, not measurements\n"

_SANITIZER_TEST = "test_the_sanitizer_finds_what_is_wrong_and_nothing_else"


class _Compiled(Protocol):
    """The program of a case; `checked`: as `flashpath sanitize` builds it."""

    def __call__(self, case: Case, target: programs.Target, *, checked: bool = False) -> programs.Program: ...


@pytest.fixture(scope="module")
def compiled(request: pytest.FixtureRequest) -> Iterator[_Compiled]:
    """Compiles what the chosen tests will want, in their order, while they run."""
    futures: dict[object, Future[programs.Program]] = {}

    def start(case: Case, target: programs.Target, checked: bool) -> Future[programs.Program]:
        checked |= case.is_slow_to_compile and target.is_virtual  # one build serves all tests then
        key = (case.program, target, checked)
        if key not in futures:
            files = [HERE / file for file in case.files]
            recipe = programs.make_recipe(files, target, options=case.flags, checked=checked)
            futures[key] = pool.submit(programs.build, recipe)
        return futures[key]

    def wait(case: Case, target: programs.Target, *, checked: bool = False) -> programs.Program:
        return start(case, target, checked).result()

    with ThreadPoolExecutor(_COMPILERS) as pool:
        for item, given in compiled_ahead(request):
            case = given.get("case")
            if isinstance(case, Case) and not item.get_closest_marker("skip"):
                target = _real() if item.get_closest_marker("gpu") else _virtual()
                start(case, target, getattr(item, "originalname", "") == _SANITIZER_TEST)
        yield wait
        pool.shutdown(cancel_futures=True)


def _virtual() -> programs.Target:
    return programs.choose_target("virtual")


def _real() -> programs.Target:
    return programs.choose_target("cuda")


def _name(case: Case) -> str:
    return case.name


def _of(start: str) -> list[Case]:
    return [case for case in CASES if case.files[0].startswith(start)]


def _result(
    case: Case, program: programs.Program, target: programs.Target, **options: object
) -> subprocess.CompletedProcess[str]:
    recipe = dataclasses.replace(program.recipe, target=target)
    return subprocess.run(
        [program.path, *case.arguments],
        input=case.stdin,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        env=environment(recipe, {"devices": case.devices, **options}),
        check=False,
    )


def _run(case: Case, program: programs.Program, target: programs.Target) -> str:
    """Runs a program, checks what it prints and returns, and gives back what it says on stderr."""
    done = _result(case, program, target)
    assert (done.stdout, done.returncode) == (case.expected, case.code), done.stderr
    return done.stderr


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_on_the_virtual_gpu(case: Case, compiled: _Compiled) -> None:
    target = _virtual()
    said = _run(case, compiled(case, target), target)
    assert said.startswith(_FIRST_LINE)
    assert case.said in said


@pytest.mark.parametrize("case", _of("api/"), ids=_name)
def test_on_a_newer_gpu(case: Case, compiled: _Compiled) -> None:
    target = dataclasses.replace(_virtual(), gpu=gpus.gpu("H200"))
    _run(case, compiled(case, _virtual()), target)


@pytest.mark.parametrize("unlimited", [False, True])
@pytest.mark.parametrize("case", _of("learner/vector_add.cu"), ids=_name)
def test_wherever_the_host_has_its_memory(case: Case, compiled: _Compiled, unlimited: bool) -> None:
    """Linux puts large arrays elsewhere where the stack is unlimited."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if unlimited and hard != resource.RLIM_INFINITY:
        pytest.skip("this machine limits the stack")
    resource.setrlimit(resource.RLIMIT_STACK, (hard if unlimited else 8 << 20, hard))
    try:
        _run(case, compiled(case, _virtual()), _virtual())
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


@pytest.mark.parametrize("case", _of("learner/error_macro.cu"), ids=_name)
def test_on_a_gpu_that_is_too_old(case: Case, compiled: _Compiled) -> None:
    target = dataclasses.replace(_virtual(), gpu=gpus.gpu("T4"))
    done = _result(case, compiled(case, _virtual()), target)
    assert done.stdout == (
        "CUDA error 209 (cudaErrorNoKernelImageForDevice) at line 24: "
        "no kernel image is available for execution on the device\n"
    )
    assert "compiled for compute capability 8.0" in done.stderr


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_the_sanitizer_finds_what_is_wrong_and_nothing_else(
    case: Case, compiled: _Compiled, tmp_path: Path
) -> None:
    """And the program behaves as it does when nobody watches, also after a fault."""
    record, program = tmp_path / "record", compiled(case, _virtual(), checked=True)
    done = _result(case, program, _virtual(), sanitize=True, record=record)
    found = recorded.read(record, HostCode(program))
    assert {each.kind for each in found.findings} == set(case.findings)
    of_host = sorted(f"{Path(each.file).name}:{each.line}: {each.kind}" for each in found.host_findings)
    assert of_host == sorted(case.host_findings), [*map(str, found.host_findings)]
    assert (done.stdout, done.returncode) == (case.expected, case.code)
    assert case.said in done.stderr


@pytest.mark.parametrize("case", [case for case in _of("virtual/heap.cu") if case.findings], ids=_name)
def test_what_no_kernel_frees_is_told_at_the_end(case: Case, compiled: _Compiled, tmp_path: Path) -> None:
    record = tmp_path / "record"
    _result(case, compiled(case, _virtual()), _virtual(), sanitize=True, record=record)
    source = (HERE / case.files[0]).read_text().splitlines()
    found = sorted((each.count, source[each.line - 1]) for each in recorded.read(record).findings)
    assert [count for count, _ in found] == [3, 64 - 40]
    assert "malloc(100)" in found[0][1]
    assert "malloc(40)" in found[1][1]


@pytest.mark.parametrize("case", _of("learner/timing.cu"), ids=_name)
def test_times_are_the_same_when_it_is_sanitized(case: Case, compiled: _Compiled) -> None:
    told = re.compile(r"by events (\S+) ms")
    plain, watched = (
        told.findall(_result(case, compiled(case, _virtual()), _virtual(), sanitize=sanitize).stderr)
        for sanitize in (False, True)
    )
    assert plain == watched
    assert float(plain[0]) > 0


@pytest.mark.gpu
@pytest.mark.parametrize("case", [case for case in CASES if not case.only_virtual], ids=_name)
def test_on_a_gpu(case: Case, compiled: _Compiled) -> None:
    if case.devices > device.count():
        pytest.skip(f"needs {case.devices} GPUs")
    target = _real()
    _run(case, compiled(case, target), target)


@pytest.mark.parametrize("case", _of("virtual/unavailable.cu"), ids=_name)
def test_what_is_not_there_says_so_once(case: Case, compiled: _Compiled) -> None:
    said = _run(case, compiled(case, _virtual()), _virtual())
    assert said.count("flashpath: cudaMallocArray is not there on the virtual GPU; ") == 1
    assert "cudaMallocPitch" in said
