"""What a learner's Python may contain: names that are their own, and the file's own name."""

from __future__ import annotations

import pytest

from flashpath.course.sandbox import Refused, check_python


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x\n\n\nif __name__ == '__main__':\n    print(f(1))\n",
        "def f(x):\n    input = x + 1\n    return input\n",
        "def f(input):\n    return [input for input in [input]]\n",
        "def f(x):\n    vars = [x]\n    return lambda k: vars[k]\n",
    ],
)
def test_own_names_are_allowed(source: str) -> None:
    check_python(source, "f.py", ("math", "numpy"))


@pytest.mark.parametrize(
    "source",
    [
        "__name__ = 'os'\n",
        "def f(x):\n    return x.__name__\n",
        "read = open\nopen = 1\n",
        "def f(x, open=open):\n    return open(x)\n",
        "def g():\n    open = 1\n\n\ndef f(x):\n    return open(x)\n",
        "def f(x):\n    open = 1\n    def g():\n        global open\n        open(x)\n    return g()\n",
        "def f(x):\n    open = 1\n    class A:\n        r = open\n        open = 2\n    return A.r(x)\n",
        "class A:\n    open = open\n",
        "def f(x):\n    return [open(x) for open in [open]]\n",
        "def f(x):\n    eval: int\n    return [eval for _ in [0]] + [e for e in (lambda: exec)()]\n",
        "x = [1]\nfor open in [open]:\n    open(x)\n",
    ],
)
def test_binding_a_name_does_not_free_python_s_own(source: str) -> None:
    with pytest.raises(Refused):
        check_python(source, "f.py", ("math", "numpy"))


def test_what_is_nested_too_deeply_is_refused_in_words() -> None:
    for text in ("x = " + "+".join(["1"] * 3000), "x = " + "(" * 150 + "1" + ")" * 150, "-" * 3000 + "1"):
        try:
            check_python(text + "\n", "f.py", ("math",))
        except Refused as error:
            assert "nested" in str(error)  # noqa: PT017
