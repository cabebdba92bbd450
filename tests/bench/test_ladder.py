from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from flashpath.bench.ladder import ARCHITECTURES, bench_ladder, portability, why_not
from flashpath.bench.record import Record
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Case, Ladder, Language, Rung, Score
from flashpath.messages import Message, Text, told


def rung(
    name: str,
    language: Language = "pytorch",
    arch: str = "any",
    compile_for: Callable[[str], object] | None = None,
) -> Rung:
    return Rung(
        name=name,
        language=language,
        arch=arch,
        file=Path(__file__),
        function=torch.relu,
        compile_for=compile_for,
        readability=5,
        dev_hours=1.0,
    )


def inputs(_device: str) -> tuple[Any, ...]:
    return (torch.randn(100, generator=torch.Generator().manual_seed(2)),)


def check(output: Any, given: tuple[Any, ...]) -> None:
    assert torch.equal(output, given[0].clamp(min=0)), "not the positive part"


def ladder() -> Ladder:
    return Ladder(
        name="relu",
        texts={f"{name}-readability": Text("one line", "一行") for name in ("eager", "naive", "tuned")},
        rungs=[rung("eager"), rung("naive", "cuda", "sm_75"), rung("tuned", "triton", "sm_80")],
        cases=lambda: [Case("small", inputs), Case("medium", inputs)],
        peers=lambda _: {"library": torch.nn.functional.relu},
        check=check,
    )


def bench(**options: Any) -> list[Record]:
    settings: dict[str, Any] = {"device": "cpu", "ceilings": False, "seconds": 0.0, "progress": False}
    return bench_ladder(ladder(), **settings | options).records


def test_rungs_and_peers_on_every_case() -> None:
    records = bench()
    assert [(record.case, record.implementation) for record in records] == [
        (case, name) for case in ("small", "medium") for name in ("eager", "naive", "tuned", "library")
    ]
    assert all(record.ladder == "relu" for record in records)
    eager = records[0]
    assert (eager.language, eager.portability, eager.dev_hours) == ("pytorch", ["any"], 1.0)
    assert eager.readability == Score(5, Text("one line", "一行"))
    assert eager.lines_of_code is not None
    assert eager.time is not None
    assert eager.ratio_to_fastest_peer is not None


def test_rungs_that_need_a_gpu_say_so_on_the_cpu() -> None:
    records = {record.implementation: record for record in bench(cases=["small"])}
    for name, arch in (("naive", "sm_75"), ("tuned", "sm_80")):
        assert records[name].time is None
        assert records[name].skipped
        assert str(records[name].error) == (f"needs a GPU of {arch} or newer")


def test_a_rung_is_skipped_where_it_does_not_take_the_case() -> None:
    def declines(case: Case) -> Message | None:
        return told("kernels.takes-forward") if case.name == "medium" else None

    choosy = replace(ladder(), rungs=[replace(rung("eager"), declines=declines)])
    small, medium = bench_ladder(choosy, device="cpu", ceilings=False, seconds=0.0, progress=False).records[
        ::2
    ]
    assert small.time is not None
    assert (medium.time, medium.skipped, str(medium.error)) == (
        None,
        True,
        "computes the forward direction only",
    )


def test_only_cases_and_extra() -> None:
    def wrong(x: Any) -> Any:
        return x

    records = bench(only=["eager"], cases=["medium"], extra={"mine": torch.relu, "wrong": wrong})
    assert [record.implementation for record in records] == ["eager", "mine", "wrong", "library"]
    assert {record.case for record in records} == {"medium"}
    assert records[1].time is not None
    assert records[2].error is not None
    assert str(records[2].error).startswith("wrong result: not the positive part")


def test_cases_may_be_given() -> None:
    assert {record.case for record in bench(cases=[Case("own", inputs)])} == {"own"}


def test_a_case_named_twice_is_timed_once() -> None:
    assert [record.case for record in bench(cases=["small", "small"], only=["eager"])] == ["small"] * 2


def test_words_in_place_of_ladders_and_lists() -> None:
    with pytest.raises(FlashpathError, match=r"flashpath\.kernels\.ladder\('relu'\)"):
        bench_ladder("relu")  # pyright: ignore[reportArgumentType]
    with pytest.raises(FlashpathError, match=r"only=\['eager'\]"):
        bench(only="eager")
    with pytest.raises(FlashpathError, match=r"cases=\['small'\]"):
        bench(cases="small")
    with pytest.raises(FlashpathError, match=r"cases=\[case\]"):
        bench(cases=Case("own", inputs))
    with pytest.raises(FlashpathError, match="names are needed"):
        bench(extra=[torch.relu])


@pytest.mark.parametrize(
    ("arch", "words"),
    [("sm_75", "needs a GPU of sm_75 or newer"), ("sm_90a", "needs a GPU of sm_90a"), ("any", "needs a GPU")],
)
def test_what_is_missing_on_the_cpu(arch: str, words: str) -> None:
    assert str(why_not(rung("r", "cuda", arch), None)) == words


def test_unknown_rungs_and_cases_are_named() -> None:
    with pytest.raises(FlashpathError, match="no rung 'eagre'"):
        bench(only=["eagre"])
    with pytest.raises(FlashpathError, match="Did you mean small"):
        bench(cases=["smal"])


@pytest.mark.parametrize(
    ("arch", "capability", "runs"),
    [
        ("any", 75, True),
        ("sm_80", 80, True),
        ("sm_80", 90, True),
        ("sm_80", 75, False),
        ("sm_90a", 90, True),
        ("sm_90a", 100, False),
        ("sm_90a", 80, False),
        ("sm_100f", 103, True),
        ("sm_100f", 120, False),
    ],
)
def test_which_gpu_runs_which_architecture(arch: str, capability: int, runs: bool) -> None:
    assert (why_not(rung("r", "cuda", arch), capability) is None) is runs


def test_portability_is_what_compiles() -> None:
    def compile_for(arch: str) -> object:
        if arch in ("sm_75", "sm_100a"):
            raise RuntimeError(f"no cp.async on {arch}")
        return b"cubin"

    assert portability(rung("r", "cuda", "sm_80", compile_for)) == ["sm_80", "sm_86", "sm_89", "sm_90a"]
    assert portability(rung("r", "pytorch")) == ["any"]
    assert portability(rung("r", "cuda", "sm_80")) is None
    assert portability(rung("r", "triton", "sm_80", lambda arch: arch)) == list(ARCHITECTURES)


def test_a_peer_that_is_near_but_less_exact_is_timed_and_told() -> None:
    def truth(given: tuple[Any, ...]) -> Any:
        return given[0].double().clamp(min=0)

    def rough(x: Any) -> Any:
        return torch.relu(x) * 1.001

    def wrong(x: Any) -> Any:
        return -x

    def nothing(x: Any) -> Any:
        return torch.full_like(x, float("nan"))

    def peers(_device: str) -> dict[str, Any]:
        return {"rough": rough, "wrong": wrong, "nothing": nothing}

    own = replace(ladder(), rungs=[rung("eager")], truth=truth, peers=peers)
    options: dict[str, Any] = {"device": "cpu", "ceilings": False, "seconds": 0.0, "progress": False}
    records = {each.implementation: each for each in bench_ladder(own, cases=["small"], **options).records}
    assert records["rough"].time is not None
    assert str(records["rough"].error).startswith("less exact than a rung may be: not the positive part")
    assert records["wrong"].time is None
    assert records["nothing"].time is None
    strict = bench_ladder(replace(own, truth=None), cases=["small"], **options).records
    assert {each.implementation for each in strict if each.time} == {"eager"}
