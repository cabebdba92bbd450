"""Mistakes of host code that are planted in programs: each is found at its line, and nothing else is."""

from __future__ import annotations

import re
import signal
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from compiling import compiled_ahead

from flashpath.jit import programs
from flashpath.jit.programs.host_code import HostCode
from flashpath.jit.programs.running import environment
from flashpath.vgpu import recorded
from flashpath.vgpu.findings import Finding, merged
from flashpath.vgpu.host_findings import HostFinding, merged_of_host

HERE = Path(__file__).parent
_COMPILERS = 2  # at once
_SECONDS = 60  # far more than any takes: it hangs

_NAMED = re.compile(r"NAMED\((\w+)\)")
_FUNCTION = re.compile(r"void (\w+)\(\) \{")
_MARK = re.compile(r"// (BUG|OTHER)(?: of (\w+))?(?:: ([\w-]+))?")


@dataclass
class Function:
    """One function of a program, and what its comments say that is found."""

    file: Path
    name: str
    bugs: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])  # kinds and lines
    others: set[int] = field(default_factory=set[int])  # lines of the other parties

    def __str__(self) -> str:
        return f"{self.file.stem}-{self.name}"


def _functions(folder: str) -> list[Function]:
    return [each for file in sorted((HERE / folder).glob("*.cu")) for each in _functions_of(file)]


def _functions_of(file: Path) -> Iterator[Function]:
    text = file.read_text()
    bugs: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    others: defaultdict[str, set[int]] = defaultdict(set)
    within = ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _FUNCTION.match(line):
            within = found[1]
        for what, of, kind in _MARK.findall(line):
            if what == "BUG":
                bugs[of or within].add((kind, number))
            else:
                others[of or within].add(number)
    names = [name for name in _NAMED.findall(text) if name != "function"]
    assert set(bugs) | set(others) <= set(names), f"{file}: a comment is of no function that is run"
    for name in names:
        yield Function(file, name, bugs[name], others[name])


PLANTED = _functions("planted")
CORRECT = _functions("correct")

_Compiled = Callable[[Path], programs.Program]


@pytest.fixture(scope="module")
def compiled(request: pytest.FixtureRequest) -> Iterator[_Compiled]:
    """Compiles the programs that the chosen tests will want, in their order, while they run."""
    futures: dict[Path, Future[programs.Program]] = {}

    def start(file: Path) -> Future[programs.Program]:
        if file not in futures:
            recipe = programs.make_recipe([file], programs.choose_target("virtual"), checked=True)
            futures[file] = pool.submit(programs.build, recipe)
        return futures[file]

    with ThreadPoolExecutor(_COMPILERS) as pool:
        for _, given in compiled_ahead(request):
            function = given.get("function")
            if isinstance(function, Function):
                start(function.file)
        yield lambda file: start(file).result()
        pool.shutdown(cancel_futures=True)


def _run(program: programs.Program, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program.path, *arguments],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        env=environment(program.recipe, options),
        check=False,
    )


def _found(
    program: programs.Program, folder: Path, *arguments: str
) -> tuple[list[Finding | HostFinding], subprocess.CompletedProcess[str]]:
    record = folder / "record"
    done = _run(program, *arguments, sanitize=True, record=record)
    recording = recorded.read(record, HostCode(program))
    return [*merged(recording.findings), *merged_of_host(recording.host_findings)], done


def _others(findings: list[Finding | HostFinding]) -> Iterator[int]:
    """The lines of other parties: of a kernel's finding, the launch."""
    for finding in findings:
        if isinstance(finding, Finding):
            yield int(finding.launched[0].rpartition(":")[2])
        elif finding.other is not None and finding.other.stack:
            yield finding.other.stack[0].line


@pytest.mark.parametrize("function", PLANTED, ids=str)
def test_a_planted_bug_is_found_and_nothing_else(
    function: Function, compiled: _Compiled, tmp_path: Path
) -> None:
    findings, _ = _found(compiled(function.file), tmp_path, function.name)
    told = "\n".join(map(str, findings))
    assert {(each.kind, each.line) for each in findings} == function.bugs, told
    assert {Path(each.file).name for each in findings} <= {function.file.name}, told
    assert set(_others(findings)) == function.others, told


@pytest.mark.parametrize("function", [*PLANTED, *CORRECT], ids=str)
def test_nothing_is_found_in_a_program_that_is_right(
    function: Function, compiled: _Compiled, tmp_path: Path
) -> None:
    program = compiled(function.file)
    findings, done = _found(program, tmp_path, function.name, "mended")
    assert [*map(str, findings)] == []
    assert done.returncode == 0, done.stdout + done.stderr
    plain = _run(program, function.name, "mended")
    assert (plain.returncode, plain.stdout) == (0, done.stdout), plain.stderr


@pytest.mark.parametrize(
    "function", [each for each in PLANTED if each.name == "host_reads_device_memory"], ids=str
)
def test_a_host_that_crashes_dies_as_it_would_unwatched(
    function: Function, compiled: _Compiled, tmp_path: Path
) -> None:
    _, done = _found(compiled(function.file), tmp_path, function.name)
    assert done.returncode == -signal.SIGSEGV


@pytest.mark.gpu
@pytest.mark.parametrize(
    "file", sorted({each.file for each in [*PLANTED, *CORRECT]}), ids=lambda file: file.stem
)
def test_the_right_ones_are_right_on_a_gpu(file: Path) -> None:
    program = programs.build(programs.make_recipe([file], programs.choose_target("cuda")))
    for function in [*PLANTED, *CORRECT]:
        if function.file == file:
            done = _run(program, function.name, "mended")
            assert done.returncode == 0, f"{function}: {done.stdout}{done.stderr}"
