"""Python functions in children: called by value, bounded, told by their own lines."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from flashpath.course.sandbox import (
    BuildFailed,
    FunctionSession,
    Limits,
    Raised,
    Refused,
    TimedOut,
    check_python,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")


def test_a_function_is_called_by_value() -> None:
    source = "import numpy as np\ndef f(x, a):\n    x[:] = 0\n    print('called')\n"
    source += "    return x + a, a, np.float32(3)\n"
    with FunctionSession(source, "f.py", "f") as session:
        x = np.ones((2, 3))
        values = session.call((x, 2))
        assert np.array_equal(values[0], np.full((2, 3), 2.0))
        assert values[1] == 2.0
        assert values[2] == np.float32(3)
        assert np.array_equal(x, np.ones((2, 3)))
        assert session.printed == "called\n"


def test_torch_comes_and_goes_as_arrays() -> None:
    source = "import torch\ndef f(x):\n    return x @ x, x.to(torch.bfloat16)\n"
    with FunctionSession(source, "f.py", "f", ("torch",), "torch") as session:
        product, narrow = session.call((np.ones(4, np.float32),))
        assert product == 4.0
        assert isinstance(narrow, np.ndarray)
        assert narrow.dtype.name == "bfloat16"


def test_an_exception_shows_the_learners_line() -> None:
    with FunctionSession("def f(x):\n    y = x\n    return y / 0\n", "f.py", "f") as session:
        with pytest.raises(Raised, match="ZeroDivisionError") as caught:
            session.call((1,))
        assert "return y / 0" in str(caught.value)
        assert caught.value.diagnostics[0].line == 3
        with pytest.raises(Raised):  # and the session goes on
            session.call((2,))


_NOT_AN_EXCEPTION = "class Odd(BaseException):\n    def __str__(self): raise Odd\n"


@pytest.mark.parametrize("raised", ["KeyboardInterrupt", "SystemExit(3)", "GeneratorExit", "Odd()"])
@pytest.mark.parametrize("at_import", [True, False])
def test_no_kind_of_exception_shows_more_than_the_learners_line(raised: str, at_import: bool) -> None:
    body = f"raise {raised}\ndef f(): return 0.0\n" if at_import else f"def f():\n    raise {raised}\n"
    with (
        pytest.raises(BuildFailed if at_import else Raised) as caught,
        FunctionSession(_NOT_AN_EXCEPTION + body, "f.py", "f") as session,
    ):
        session.call(())
    shown = str(caught.value)
    assert f"raise {raised}" in shown
    assert "worker" not in shown
    assert "learner_file" not in shown
    assert not caught.value.printed


def test_a_hang_at_import_says_so() -> None:
    began = time.monotonic()
    limits = Limits(import_seconds=1.0)
    with (
        pytest.raises(TimedOut, match=r"import of f\.py") as caught,
        FunctionSession("while True: pass\ndef f(): return 0.0\n", "f.py", "f", limits=limits),
    ):
        pass
    assert caught.value.at_import
    assert time.monotonic() - began < 15
    assert Limits().import_seconds <= 5


def test_a_hang_says_that_it_hung() -> None:
    with FunctionSession(
        "def f(x):\n    while True: pass\n", "f.py", "f", limits=Limits(run_seconds=0.3)
    ) as session:
        with pytest.raises(TimedOut, match="hung") as caught:
            session.call((1,))
        assert caught.value.seconds == 0.3


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os", "import os"),
        ("from os import path", "import os"),
        ("from . import x", "one file"),
        ("import numpy.ctypeslib", "ctypeslib"),
        ("from numpy import ctypeslib", "ctypeslib"),
        ("import numpy as np\nnp.memmap", "memmap"),
        ("().__class__", "__class__"),
        ("__builtins__", "__builtins__"),
        ("x = open", "open"),
        ("getattr(1, 'real')", "getattr"),
    ],
)
def test_what_an_answer_may_not_contain(source: str, said: str) -> None:
    with pytest.raises(Refused, match=said):
        check_python(source, "f.py", ("math", "numpy"))


def test_what_an_answer_may_contain() -> None:
    check_python(
        "import numpy as np\nfrom math import exp\nfrom __future__ import annotations\nexp2 = 1\n",
        "f.py",
        ("math", "numpy"),
    )
