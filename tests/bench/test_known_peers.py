"""Peers that cannot be imported stand in comparisons by what they reached on another day."""

from __future__ import annotations

import pytest

from flashpath import kernels
from flashpath.bench.ceilings import Ceilings
from flashpath.bench.known_peers import KNOWN_SHARE, known_peers, shares
from flashpath.kernels.rung import Case


def _case(ladder: str, name: str) -> Case:
    return next(case for case in kernels.ladder(ladder).cases() if case.name == name)


@pytest.mark.parametrize(
    ("ladder", "name", "expected"),
    [
        ("softmax", "forward 32768 × 4096 bfloat16", {"quack": 3985 / 4296}),
        ("sort", "keys 2^24 int32", {"CuPy (CUB)": 261 / 4296}),
        ("softmax", "backward 32768 × 4096 bfloat16", {}),
    ],
)
def test_shares_of_a_case(ladder: str, name: str, expected: dict[str, float]) -> None:
    assert shares(ladder, _case(ladder, name)) == pytest.approx(expected)


def test_microseconds_become_a_share() -> None:
    case = _case("attention_decode", "64 × 65536 pages of 16 bfloat16")
    taken = case.bytes / (shares("attention_decode", case)["FlashInfer"] * 4296e9)
    assert taken == pytest.approx(3874e-6)


def test_a_known_peer_gets_the_time_of_its_share_of_this_copy() -> None:
    case = _case("softmax", "forward 32768 × 4096 bfloat16")
    found = known_peers("softmax", case, [], Ceilings(2148e9))
    assert found.keys() == {"quack"}
    assert found["quack"].median == pytest.approx(case.bytes / (3985e9 / 2))
    assert (found["quack"].method, found["quack"].samples) == (KNOWN_SHARE, 0)
    assert known_peers("softmax", case, ["quack"], Ceilings(2148e9)) == {}
    assert known_peers("softmax", case, [], Ceilings(None)) == {}
    assert known_peers(None, case, [], Ceilings(2148e9)) == {}


def test_every_figure_is_of_a_case_that_is_there() -> None:
    from flashpath.bench.known_peers import _known  # pyright: ignore[reportPrivateUsage]

    for known in _known():
        for unit in ("gb_per_s", "microseconds"):
            for ladder, cases in known[unit].items():
                assert cases.keys() <= {case.name for case in kernels.ladder(ladder).cases()}
