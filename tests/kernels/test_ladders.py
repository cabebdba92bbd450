"""What every ladder promises, whatever the operation."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from flashpath import kernels
from flashpath.bench.agreement import distance
from flashpath.errors import FlashpathError
from flashpath.kernels import Score, UnknownLadder


@pytest.mark.parametrize("name", kernels.ladders())
def test_ladder_is_complete(name: str) -> None:
    ladder = kernels.ladder(name)
    assert ladder.name == name
    names = [rung.name for rung in ladder]
    assert len(set(names)) == len(names) == len(ladder)
    assert ladder.reference.language == "pytorch"
    for rung in ladder:
        assert rung.file.is_file()
        assert rung.score("readability") is not None
        assert rung.score("debugging") is not None
        assert rung.improves_on is None or rung.improves_on in names[: names.index(rung.name)]
        if rung.language != "pytorch":
            assert rung.compile_for is not None
    cases = ladder.cases()
    assert all(case.bytes > 0 for case in cases)


@pytest.mark.parametrize("name", kernels.ladders())
def test_a_sample_is_small_and_the_reference_is_near_its_truth(name: str) -> None:
    ladder = kernels.ladder(name)
    assert ladder.sized is not None
    assert len(ladder.sample) == len(ladder.dimensions)
    case = ladder.sized(ladder.sample)
    assert 0 < case.bytes <= 2**22
    output = ladder.reference(*(inputs := case.inputs("cpu")))
    ladder.check(output, inputs)
    if ladder.truth is not None:
        assert distance(output, ladder.truth(inputs)) < 0.01


@pytest.mark.parametrize("name", kernels.ladders())
def test_kernel_headers_state_maths_layout_cost_and_idea(name: str) -> None:
    for rung in kernels.ladder(name):
        if rung.language == "pytorch":
            continue
        header = rung.file.read_text(encoding="utf-8")[:2000]
        first = rung is kernels.ladder(name).rungs[1]
        for word in ("maths", "layout", "cost", "idea", *(() if first else ("improves",))):
            assert re.search(rf"^(?:// +)?{word} ", header, re.MULTILINE), (rung.name, word)


def test_ladders_are_looked_up_without_torch() -> None:
    """Work folders and lessons show rungs; to load torch takes most of what `flashpath start` takes."""
    code = (
        "import sys; from flashpath import kernels\n"
        "for name in kernels.ladders(): kernels.ladder(name)\n"
        "sys.exit('torch' in sys.modules or 'triton' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_framework_below_the_kernels() -> None:
    from pathlib import Path

    for file in Path(kernels.__file__).parent.rglob("*.cu*"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"#include\s*[<\"](?:torch|ATen|c10|pybind11|Python\.h|nanobind)", text), file


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownLadder, match="Did you mean 'vector_add'"):
        kernels.ladder("vectoradd")
    with pytest.raises(FlashpathError, match="one_per_thread"):
        kernels.ladder("vector_add")["two_per_thread"]


def test_a_score_needs_a_reason() -> None:
    with pytest.raises(FlashpathError, match="1 to 5"):
        Score(6, "too good")
    with pytest.raises(FlashpathError, match="reason"):
        Score(3, "")
