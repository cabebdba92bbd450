"""Every answer under attacks/ tries to cheat or to break out: each must fail to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashpath import settings
from flashpath.course.content import load_course
from flashpath.course.grader import grade
from flashpath.course.sandbox import (
    FunctionSession,
    KernelJob,
    KernelSession,
    Limits,
    Parameter,
    ProgramSession,
    SandboxError,
    enforced,
    functions,
    kernels,
    programs,
)
from tests.harness.compilers import needs_nvcc

ROOT = Path(__file__).parents[2]
ATTACKS = Path(__file__).parent / "attacks"
LIMITS = Limits(
    build_seconds=20.0,
    run_seconds=10.0,
    cpu_seconds=60.0,
    memory_bytes=300 << 20,
    file_bytes=1 << 20,
    folder_bytes=64 << 20,
)
QUICK = Limits(build_seconds=1.5, import_seconds=1.5, run_seconds=1.0, memory_bytes=1 << 30)
NUMBERS = (Parameter("n", "int32", False), Parameter("x", "float32", True), Parameter("y", "float32", True))

linux = pytest.mark.skipif(sys.platform != "linux", reason="landlock and seccomp are Linux's")


def _expected(path: Path) -> set[str]:
    """What the second line of an attack says must come of it."""
    return set(path.read_text().splitlines()[1].lstrip("#/ ").split())


def _files(folder: str) -> list[Any]:
    return [pytest.param(path, id=path.stem) for path in sorted((ATTACKS / folder).glob("*.*"))]


def _named(error: SandboxError) -> str:
    """The kind of an error that a learner can read: no traceback of the engine's is in it."""
    shown = str(error)
    return "TRACEBACK" if "Traceback" in shown or "course/sandbox" in shown else type(error).__name__


# ---- Python --------------------------------------------------------------------------------------------


def _bytes(path: Path) -> np.ndarray[Any, Any]:
    return np.frombuffer(str(path).encode(), np.uint8)


@pytest.fixture
def outside(tmp_path: Path) -> dict[str, list[Any]]:
    """What attacks are told of the outside: paths that they want, halves of what is expected."""
    record = tmp_path / "progress.sqlite"
    record.write_text("failed")
    package = Path(settings.__file__).parent
    answers = [package / "settings.py", package / "kernels" / "__init__.py", Path(__file__), record]
    secret = np.random.default_rng().integers(0, 256, 64, np.uint8)
    half = np.random.default_rng().integers(0, 256, 64, np.uint8)
    return {
        "read_answers": [_bytes(path) for path in answers],
        "write_verdict": [_bytes(record), _bytes(tmp_path / "new"), _bytes(Path(__file__))],
        "stat_outside": [_bytes(path) for path in (record, Path(__file__), ROOT / "README.md")],
        "change_modes": [_bytes(record), _bytes(Path(__file__))],
        "scan_memory": [half, half ^ secret],
    }


def _outcome(path: Path, more: list[Any], limits: Limits = LIMITS) -> str:
    """The kind of error, or denied, or wrong, or CHEATED."""
    x = np.arange(1.0, 9.0)
    try:
        imports = ("math", "numpy")
        with FunctionSession(path.read_text(), path.name, "answer", imports, limits=limits) as session:
            values = [session.call((x, *more))[0], session.call((x + 1, *more))[0]]
    except SandboxError as error:
        return _named(error)
    numbers = [value for value in values if isinstance(value, float)]
    if "denied" in _expected(path):
        return "denied" if numbers == [0.0, 0.0] else "CHEATED"
    right = [np.array_equal(value, 2 * given) for value, given in zip(values, (x, x + 1), strict=True)]
    return "CHEATED" if all(right) else "wrong"


_PYTHON = [each for each in _files("python") if each.id != "fall_back"]


@pytest.mark.parametrize("path", _files("python"))
def test_a_function_as_it_is_handed_in(path: Path, outside: dict[str, list[Any]]) -> None:
    expected = _expected(path)
    limits = QUICK if "TimedOut" in expected else LIMITS
    outcome = _outcome(path, outside.get(path.stem, []), limits)
    assert outcome in {*expected, "Refused"} - {"refused"}


@linux
@pytest.mark.parametrize("path", _PYTHON)
def test_a_function_whose_source_nobody_has_read(
    path: Path, outside: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing := {"landlock", "seccomp"} - set(enforced()):
        pytest.skip(f"this kernel has no {', '.join(missing)}")
    if path.stem == "stat_outside" and "unseen" not in enforced():
        pytest.skip("this system gives no user a namespace of mounts")

    def unread(*_: object) -> None:
        return

    monkeypatch.setattr(functions, "check_python", unread)
    expected = _expected(path)
    limits = QUICK if "TimedOut" in expected else LIMITS
    assert _outcome(path, outside.get(path.stem, []), limits) in expected
    record = Path(bytes(outside["write_verdict"][0]).decode())
    assert record.read_text() == "failed"


# ---- Kernels -------------------------------------------------------------------------------------------


def _kernel_outcome(path: Path, limits: Limits = LIMITS) -> str:
    """The kind of error or of the first finding; unwritten, wrong, or passed."""
    cuda = path.suffix == ".cu"
    job = KernelJob(
        "cuda" if cuda else "triton",
        path.read_text(),
        path.name,
        "answer",
        constants={} if cuda else {"BLOCK": 256},
        parameters=NUMBERS,
    )
    outcomes: list[str] = []
    try:
        with KernelSession(job, limits) as session:
            for n in (1000, 999):
                x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
                y = 2 * x  # as right as an output can be that nobody has written
                run = session.run((4,), (256,), 0, (n, x, y), ("y",), unset=("y",), budget=2_000_000)
                assert len(run.printed) < LIMITS.output_bytes + 100
                if run.findings:
                    return run.findings[0].kind
                if not run.written[0].all():
                    return "unwritten"
                outcomes.append("passed" if np.array_equal(run.arrays[0], 2 * x) else "wrong")
    except SandboxError as error:
        return _named(error)
    return "wrong" if "wrong" in outcomes else "passed"


@pytest.mark.parametrize("path", _files("cuda"))
def test_a_cuda_kernel(path: Path) -> None:
    expected = _expected(path)
    assert _kernel_outcome(path, QUICK if "TimedOut" in expected else LIMITS) in expected


@linux
@pytest.mark.parametrize("hidden", ["settings.py", "kernels/__init__.py"])
def test_what_is_included_past_the_scan_cannot_be_read(hidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "landlock" not in enforced():
        pytest.skip("this kernel has no landlock")

    def unread(*_: object) -> None:
        return

    monkeypatch.setattr(kernels, "check_cuda", unread)
    secret = Path(__file__) if hidden == "settings.py" else Path(settings.__file__).parent / hidden
    source = f'#include "{secret}"\nextern "C" __global__ void answer(int n, const float* x, float* y) {{}}\n'
    job = KernelJob("cuda", source, "answer.cu", "answer", parameters=NUMBERS)
    with pytest.raises(SandboxError, match="cannot open"), KernelSession(job, LIMITS):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="Triton is Linux's")
@pytest.mark.parametrize("path", _files("triton"))
def test_a_triton_kernel(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = _expected(path)
    if "without the reading" in path.read_text().splitlines()[0]:

        def unread(*_: object) -> None:
            return

        monkeypatch.setattr(kernels, "check_triton", unread)
    assert _kernel_outcome(path, QUICK if "TimedOut" in expected else LIMITS) in expected


# ---- Whole programs ------------------------------------------------------------------------------------

_RUNS = Limits(
    build_seconds=20.0, run_seconds=3.0, memory_bytes=1 << 30, file_bytes=16 << 20, folder_bytes=64 << 20
)
_SLOW = Limits(build_seconds=2.0, run_seconds=2.0)


def _program_outcome(path: Path, arguments: list[str], limits: Limits = _RUNS) -> str:
    """The kind of error, the signal, the first finding, `left` before its end; else denied or CHEATED."""
    source = path.read_text().replace("OUTSIDE", str(Path(__file__)))
    try:
        with ProgramSession(source, path.name, limits=limits) as session:
            run = session.run(arguments)
    except SandboxError as error:
        return _named(error)
    assert len(run.printed) + len(run.complained) < 3 * limits.output_bytes
    if run.signal is not None:
        return run.signal
    if run.findings:
        return run.findings[0].kind
    if not run.has_ended:
        return "left"
    return "denied" if run.printed == "got = 0\n" else f"CHEATED: {run}"


@needs_nvcc
@pytest.mark.parametrize("path", _files("programs"))
def test_a_whole_program(path: Path, tmp_path: Path) -> None:
    if missing := {"landlock", "seccomp"} - set(enforced()):
        pytest.skip(f"this kernel has no {', '.join(missing)}")
    record = tmp_path / "progress.sqlite"
    record.write_text("failed")
    package = Path(settings.__file__).parent
    outside = [package / "settings.py", package / "kernels" / "__init__.py", Path(__file__), record]
    before = sorted(tmp_path.iterdir())
    expected = _expected(path)
    limits = _SLOW if path.stem == "template_bomb" else _RUNS
    assert _program_outcome(path, list(map(str, outside)), limits) in expected
    assert record.read_text() == "failed"
    assert sorted(tmp_path.iterdir()) == before


@needs_nvcc
@pytest.mark.parametrize("hidden", ["kernels/__init__.py", __file__])
def test_a_program_includes_nothing_past_the_scan(hidden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "landlock" not in enforced():
        pytest.skip("this kernel has no landlock")

    def unread(*_: object) -> None:
        return

    monkeypatch.setattr(programs, "check_program", unread)
    secret = Path(settings.__file__).parent / hidden
    source = f'#include "{secret}"\nint main() {{}}\n'
    with (
        pytest.raises(SandboxError, match=r"ermission denied|No such file|annot open"),
        ProgramSession(source, "a.cu", limits=_RUNS),
    ):
        pass


# ---- Verdicts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", _files("graded"))
def test_the_verdict_on_an_answer(path: Path) -> None:
    exercise = load_course(Path(__file__).parent / "grader" / "course").exercise("kinds/axpy")
    verdict = grade(exercise, path)
    assert not verdict.passed
    assert verdict.reason in _expected(path)


@pytest.mark.parametrize("path", _files("exercises"))
def test_the_verdict_on_an_answer_to_the_course_s_own_exercise(path: Path) -> None:
    if path.suffix == ".py" and "triton" in path.read_text() and sys.platform != "linux":
        pytest.skip("Triton is Linux's")
    exercise = path.read_text().splitlines()[2].lstrip("#/ ")
    verdict = grade(load_course(ROOT / "course").exercise(exercise), path)
    assert not verdict.passed
    assert verdict.reason in _expected(path)


def test_every_attack_is_refused_or_run() -> None:
    """None was forgotten: every folder has its test, every file its two lines."""
    assert {folder.name for folder in ATTACKS.iterdir() if folder.is_dir()} == {
        "python", "cuda", "triton", "programs", "graded", "exercises",
    }  # fmt: skip
    for path in ATTACKS.glob("*/*.*"):
        assert _expected(path), path
