"""Names that an exercise forbids are found however they are written."""

from __future__ import annotations

import pytest

from flashpath.course.grader.forbidden import check

FORBIDDEN = ("np.exp2", "torch.softmax", "torch.nn")


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\ny = np.exp2(x)",
        "import numpy\ny = numpy.exp2(x)",
        "import numpy as other\ny = other.exp2(x)",
        "from numpy import exp2\n",
        "from numpy import exp2 as e\n",
        "from numpy import *\n",
        "import torch\ny = torch.softmax(x, 1)",
        "import torch\ny = x.softmax(1)",
        "import torch.nn.functional as F\n",
        "from torch.nn.functional import softmax\n",
        "from torch import nn\n",
        "import torch\nf = torch.nn.functional\n",
    ],
)
def test_it_is_found(source: str) -> None:
    failure = check(source, FORBIDDEN)
    assert failure is not None
    assert failure.reason == "refused"
    assert failure.headline.params["line"] == len(source.rstrip().splitlines())


@pytest.mark.parametrize(
    "source", ["import numpy as np\ny = np.exp(x)", "import torch\nexp3 = torch.exp(x)", "def broken(:\n"]
)
def test_the_rest_is_left_alone(source: str) -> None:
    assert check(source, FORBIDDEN) is None


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    sum = 0.0\n    for v in x:\n        sum += v\n    return sum\n",
        "def f(sum):\n    return sum\n",
        "def f(x):\n    sum = 0\n    def g(v):\n        nonlocal sum\n        sum += v\n    return sum\n",
        "def f(x):\n    return [sum + 1 for sum in x if sum > 0]\n",
        "def f(x):\n    sum: float = 0.0\n    return lambda: sum\n",
    ],
)
def test_a_function_s_own_variable_is_none_of_python_s(source: str) -> None:
    assert check(source, ("sum",)) is None


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return sum(x)\n",
        "def f(x, sum=sum):\n    return sum(x)\n",
        "def f(x):\n    return (lambda sum=sum: sum)()(x)\n",
        "add = sum\nsum = 0\ndef f(x):\n    return add(x)\n",
        "def f(x):\n    global sum\n    if not x:\n        sum = 0\n    return sum(x)\n",
        "def f(x):\n    sum = 0\n    def g():\n        global sum\n        return sum(x)\n    return g()\n",
        "def f(x):\n    sum = 0\n    class A:\n        add = sum\n        sum = 1\n    return A.add(x)\n",
        "class A:\n    add = sum\n    sum = 0\ndef f(x):\n    return A.add(x)\n",
        "def f(x):\n    [sum for sum in x]\n    return sum(x)\n",
        "def f(x):\n    return [sum(x) for sum in [sum]][0]\n",
        "def g():\n    sum = 0\ndef f(x):\n    return sum(x)\n",
        "@sum\ndef f(sum):\n    return sum\n",
        "def f(x: sum, sum=1):\n    return x\n",
    ],
)
def test_binding_a_name_does_not_free_the_builtin(source: str) -> None:
    failure = check(source, ("sum",))
    assert failure is not None
    assert failure.reason == "refused"


def test_nothing_is_forbidden_where_nothing_is_named() -> None:
    assert check("import numpy as np\nnp.exp2(1)", ()) is None
