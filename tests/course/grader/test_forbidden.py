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
    for lang in ("en", "zh"):
        failure = check(source, FORBIDDEN, lang)
        assert failure is not None
        assert failure.reason == "refused"
        assert str(len(source.rstrip().splitlines())) in failure.headline


@pytest.mark.parametrize(
    "source", ["import numpy as np\ny = np.exp(x)", "import torch\nexp3 = torch.exp(x)", "def broken(:\n"]
)
def test_the_rest_is_left_alone(source: str) -> None:
    assert check(source, FORBIDDEN, "en") is None


def test_nothing_is_forbidden_where_nothing_is_named() -> None:
    assert check("import numpy as np\nnp.exp2(1)", (), "en") is None
