"""A process that crashes without a learner's doing says so, and sends nobody to look for memory."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flashpath.course.grader.failing import failure_of
from flashpath.course.grader.verdict import said
from flashpath.course.sandbox import (
    BuildFailed,
    Crashed,
    FunctionSession,
    KernelJob,
    KernelSession,
    Parameter,
    triton_source,
)
from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.inside.failures import as_answer, bounded
from flashpath.jit.diagnostics import CompileError, Diagnostic
from flashpath.messages import Message, say, speaking, told

posix = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
SOURCE = 'extern "C" __global__ void one(float* x) { x[threadIdx.x] = 1; }\n'
JOB = KernelJob("cuda", SOURCE, "one.cu", "one", parameters=(Parameter("x", "float32", True),))
_MEMORY = "Look for memory"


def _crashed(how: signal.Signals) -> Crashed:
    """What is said where the process that plays kernels ends by that signal."""
    with KernelSession(JOB) as session:
        child = session._child  # pyright: ignore[reportPrivateUsage]
        assert child is not None
        os.kill(child.pid, how)
        with pytest.raises(Crashed) as caught:
            session.run((1,), (32,), 0, (np.zeros(32, np.float32),), ("x",))
    return caught.value


@posix
@pytest.mark.parametrize("how", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash_of_the_compiler_or_the_engine_is_no_learners(how: signal.Signals) -> None:
    error = _crashed(how)
    shown = str(error)
    assert "flashpath's own" in shown
    assert how.name in shown
    assert "report it" in shown
    assert _MEMORY not in shown
    failure = failure_of(error)
    assert failure.reason == "crashed"
    assert "flashpath's own" in str(failure.headline)
    assert not any(_MEMORY in line for line in said(failure.details))
    with speaking("zh"):
        assert "flashpath 自己" in str(failure.headline)
        assert any("报告" in line for line in said(failure.details))


@posix
def test_a_process_that_the_system_ended_may_have_taken_its_memory() -> None:
    assert _MEMORY in str(_crashed(signal.SIGKILL))


def test_a_defect_is_to_be_reported() -> None:
    with KernelSession(JOB) as session, pytest.raises(Crashed) as caught:
        session._check({"defect": "KeyError: 3"})  # pyright: ignore[reportPrivateUsage]
    assert "KeyError: 3" in str(caught.value)
    assert "report it" in str(caught.value)
    assert _MEMORY not in str(caught.value)


@posix
def test_a_learners_own_crash_is_theirs() -> None:
    source = (
        "import numpy as np\ndef f():\n    np.lib.stride_tricks.as_strided(np.zeros(1), (1 << 40,))[-1] = 1\n"
    )
    with (
        FunctionSession(source, "f.py", "f", ("numpy",)) as session,
        pytest.raises(Crashed, match="SIGSEGV") as caught,
    ):
        session.call(())
    assert "a call that ends the process" in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="Triton is Linux's")
@pytest.mark.parametrize(("name", "words"), [("SIGABRT", "Triton's compiler"), ("SIGKILL", _MEMORY)])
def test_a_crash_of_tritons_compiler_is_told_as_one(
    name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(child: Child, step: Message, *_: Any, **__: Any) -> Any:
        if step.code == "course.sandbox.building":
            raise Crashed(told("course.sandbox.ended-by-signal", signal=name))
        return {"ok": True}, []

    monkeypatch.setattr(triton_source.Child, "ask", ask)
    job = KernelJob("triton", "import triton\n", "k.py", "k", parameters=())
    with pytest.raises(Crashed, match=name) as caught, KernelSession(job):
        pass
    assert words in str(caught.value)


def test_what_compilers_quote_is_short_before_it_is_sent() -> None:
    long = '"' * 500_000
    found = [Diagnostic("a.cu", line, 1, "error", long, long, long) for line in range(1, 1000)]
    params = {"problem": long, "parts": [told("course.sandbox.in-file", file="a.cu", problem=long)] * 5}
    error = CompileError("course.sandbox.in-file", diagnostics=found, log=long, file="a", **params)
    answer = as_answer(error)
    assert len(str(answer)) < 200_000
    assert Message.from_data(answer["failed"]).params["problem"] == bounded(long)
    assert answer["diagnostics"][0]["line"] == 1


@pytest.mark.parametrize("line", ["#if " + "(" * 30_000 + "\n#endif", "_Pragma(" * 20_000])
def test_a_compiler_that_quotes_without_end_is_understood(line: str, tmp_path: Path) -> None:
    job = KernelJob("cuda", f"{line}\n{SOURCE}", "one.cu", "one", parameters=JOB.parameters)
    with pytest.raises(BuildFailed) as caught, KernelSession(job):
        pass
    assert len(str(caught.value)) < 20_000
    assert say("course.sandbox.sent-no-answer") not in str(caught.value)
