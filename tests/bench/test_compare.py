from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from flashpath import kernels
from flashpath.bench.arrays import copy_of, same_bits, tensors
from flashpath.bench.ceilings import Ceilings
from flashpath.bench.compare import compare
from flashpath.bench.failure import shown
from flashpath.bench.implementation import Implementation
from flashpath.bench.ladder import bench_ladder
from flashpath.bench.record import Record
from flashpath.bench.timer import CpuTimer, Function, nothing
from flashpath.bench.varying import Varying
from flashpath.errors import FlashpathError, MissingDevice
from flashpath.kernels.rung import Case, Score
from flashpath.messages import Text, speaking

N = 1000
CEILINGS = Ceilings(copy_bytes_per_s=1e6, read_bytes_per_s=2e6, flops_per_s={"fp32": 1e6})


def vectors(_device: str) -> tuple[Any, ...]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(N, generator=generator), torch.randn(N, generator=generator)


ADD = Case("add", vectors, bytes=12 * N, flops=N, parameters={"n": N})


def adding(clock: Any, seconds: float) -> Callable[..., Any]:
    """x + y, which takes so long by the fake clock."""

    def add(x: Any, y: Any) -> Any:
        clock.advance(seconds)
        return x + y

    return add


def check_sum(output: Any, inputs: tuple[Any, ...]) -> None:
    torch.testing.assert_close(output, inputs[0] + inputs[1])


def compared(clock: Any, implementations: dict[str, Any], cases: Any = (ADD,), **options: Any) -> Any:
    settings: dict[str, Any] = {"device": "cpu", "ceilings": CEILINGS, "seconds": 0.0, "progress": False}
    return compare(implementations, cases, timer=CpuTimer(clock.nanoseconds), **settings | options)


def by_name(results: Any) -> dict[str, Record]:
    return {record.implementation: record for record in results}


def test_eager_calls_are_timed_beside_the_others_where_asked_for(clock: Any) -> None:
    class Slower(CpuTimer):
        """A clock of calls for which the host takes 5 ms more."""

        def sampler(self, function: Function, before: Function = nothing) -> Any:
            def with_host() -> None:
                clock.advance(0.005)
                function()

            return super().sampler(with_host, before)

    implementations: dict[str, Any] = {"mine": adding(clock, 0.020), "wrong": operator.sub}
    found = by_name(compared(clock, implementations, check=check_sum, eager=Slower(clock.nanoseconds)))
    assert found["mine"].time is not None
    assert found["mine"].time.median == pytest.approx(0.020)
    assert found["mine"].eager is not None
    assert found["mine"].eager.median == pytest.approx(0.025)
    assert found["wrong"].eager is None
    without = by_name(compared(clock, implementations, check=check_sum))
    assert without["mine"].eager is None


def test_eager_calls_want_a_gpu(clock: Any) -> None:
    with pytest.raises(FlashpathError, match="on a CPU"):
        compared(clock, {"mine": adding(clock, 0.020)}, eager=True)


@pytest.mark.gpu
def test_eager_calls_of_a_rung_have_a_plan() -> None:
    ladder = kernels.ladder("softmax")
    (record, peer) = (
        each
        for each in bench_ladder(
            ladder,
            cases=["forward 32768 × 1024 bfloat16"],
            only=["resident"],
            peers=["torch"],
            ceilings=False,
            seconds=0.05,
            with_portability=False,
            eager=True,
        )
    )
    for each in (record, peer):
        assert each.time is not None
        assert each.eager is not None
        assert each.eager.method == "eager calls in a row"
        assert 0.5 < each.eager.median / each.time.median < 1.5  # the GPU is the longer of the two


def test_rates_ratio_and_fraction(clock: Any) -> None:
    results = compared(
        clock,
        {"mine": adding(clock, 0.020)},
        peers={"slow peer": adding(clock, 0.080), "fast peer": adding(clock, 0.040)},
    )
    mine = by_name(results)["mine"]
    assert mine.time is not None
    assert mine.time.median == pytest.approx(0.020)
    assert mine.gb_per_s == pytest.approx(12 * N / 0.020 / 1e9)
    assert mine.tflop_per_s == pytest.approx(N / 0.020 / 1e12)
    assert mine.ratio_to_fastest_peer == pytest.approx(2.0)
    assert mine.ceiling == "copy"
    assert mine.fraction_of_ceiling == pytest.approx(12 * N / 1e6 / 0.020)
    assert mine.parameters == {"n": N}
    assert mine.peak_memory_bytes is None
    assert by_name(results)["fast peer"].ratio_to_fastest_peer == pytest.approx(1.0)
    assert by_name(results)["fast peer"].is_peer
    assert not results.interrupted


def test_peers_may_be_named_among_the_implementations(clock: Any) -> None:
    functions = {"mine": adding(clock, 0.010), "library": adding(clock, 0.005)}
    results = by_name(compared(clock, functions, peers=["library"]))
    assert results["mine"].ratio_to_fastest_peer == pytest.approx(0.5)
    assert (results["mine"].is_peer, results["library"].is_peer) == (False, True)


def test_without_peers_and_ceilings_there_is_no_ratio_and_no_fraction(clock: Any) -> None:
    record = by_name(compared(clock, {"mine": adding(clock, 0.010)}, ceilings=False))["mine"]
    assert record.ratio_to_fastest_peer is None
    assert record.fraction_of_ceiling is None
    assert record.time is not None


def test_a_wrong_result_is_recorded_and_never_timed(clock: Any) -> None:
    calls: list[int] = []

    def wrong(x: Any, y: Any) -> Any:
        calls.append(1)
        result = x + y
        result[-1] = 100.0
        return result

    results = by_name(compared(clock, {"right": adding(clock, 0.01), "wrong": wrong}))
    assert results["wrong"].time is None
    assert results["wrong"].error is not None
    assert str(results["wrong"].error).startswith(
        "wrong result: the result differs from 'right' in 1 of 1,000"
    )
    assert len(calls) == 1
    assert results["right"].time is not None


def test_the_given_check_decides(clock: Any) -> None:
    def minus(x: Any, y: Any) -> Any:
        return x - y

    functions = {"minus": minus, "plus": adding(clock, 0.01)}
    results = by_name(compared(clock, functions, check=check_sum))
    assert results["minus"].error is not None
    assert "wrong result" in shown(results["minus"].error)
    assert results["plus"].time is not None


def test_an_implementation_that_raises_fails_alone(clock: Any) -> None:
    def broken(x: Any, y: Any) -> Any:
        raise NotImplementedError("odd sizes")

    results = by_name(compared(clock, {"broken": broken, "right": adding(clock, 0.01)}))
    assert str(results["broken"].error) == "NotImplementedError: odd sizes"
    assert results["right"].time is not None


def test_a_triton_kernel_without_a_gpu_is_told_what_it_needs(clock: Any) -> None:
    def launches(x: Any, y: Any) -> Any:  # what Triton says of its own
        raise RuntimeError("0 active drivers ([]). There should only be one.")

    (record,) = compared(clock, {"mine": launches}).records
    assert shown(record.error or "", "en").startswith("needs a GPU: it launches a Triton kernel")
    assert "profile=True" in shown(record.error or "", "zh")


def test_an_assertion_of_the_implementation_itself_is_no_wrong_result(clock: Any) -> None:
    def picky(x: Any, y: Any) -> Any:
        raise AssertionError("x must be 16-byte aligned")

    results = by_name(compared(clock, {"right": adding(clock, 0.01), "picky": picky}))
    assert str(results["picky"].error) == "AssertionError: x must be 16-byte aligned"


def test_a_record_is_kept_in_english_whatever_is_spoken(clock: Any) -> None:
    def refused(_output: Any, _inputs: tuple[Any, ...]) -> bool:
        return False

    with speaking("zh"):
        (record,) = compared(clock, {"mine": adding(clock, 0.01)}, check=refused).records
        assert shown(record.error or "") == "结果错误：检查返回了 False"
        kept = Record.from_json(record.to_json())
    assert kept.error == "wrong result: the check returned False"
    scored = dataclasses.replace(record, readability=Score(5, Text("one line", "一行")))
    with speaking("zh"):
        assert Record.from_json(scored.to_json()).readability == Score(5, "one line")


def test_working_in_place_is_refused_and_spoils_nobody_elses_inputs(clock: Any) -> None:
    def in_place(x: Any, y: Any) -> Any:
        return x.add_(y)

    functions = {"in place": in_place, "first": adding(clock, 0.01), "second": adding(clock, 0.01)}
    for check in (None, check_sum):
        results = by_name(compared(clock, functions, check=check))
        assert (results["first"].error, results["second"].error) == (None, None)
        assert results["in place"].time is None
        assert results["in place"].error is not None
        assert str(results["in place"].error).startswith("it changes its inputs (argument 0)")
        assert "work on a copy" in shown(results["in place"].error)


def keeping(key: Callable[[Any], object]) -> Callable[..., Any]:
    """x + y, computed once for each key."""
    kept: dict[object, Any] = {}

    def add(x: Any, y: Any) -> Any:
        if key(x) not in kept:
            kept[key(x)] = x + y
        return kept[key(x)]

    return add


def by_address(x: Any) -> object:
    return x.data_ptr()


def by_shape(x: Any) -> object:
    return x.shape


DRAWN = Case("drawn anew", lambda _: (torch.randn(N), torch.randn(N)), bytes=12 * N)


@pytest.mark.parametrize("key", [by_address, by_shape])
@pytest.mark.parametrize("check", [None, check_sum])
@pytest.mark.parametrize("comes_first", [True, False])
def test_a_kept_result_is_found_on_new_data(
    clock: Any, key: Callable[[Any], object], check: Any, comes_first: bool
) -> None:
    functions = {"keeps": keeping(key), "adds": adding(clock, 0.01), "too": adding(clock, 0.01)}
    if not comes_first:
        functions = dict(reversed(functions.items()))
    results = by_name(compared(clock, functions, [DRAWN], check=check))
    assert results["keeps"].time is None
    assert results["keeps"].gb_per_s is None
    assert results["keeps"].error is not None
    assert str(results["keeps"].error).startswith("wrong result on new data: ")
    assert (results["adds"].error, results["too"].error) == (None, None)


@pytest.mark.parametrize("check", [None, check_sum])
def test_a_kept_result_is_found_on_ready_arguments_too_and_they_stay_as_they_were(
    clock: Any, check: Any
) -> None:
    x, y = vectors("cpu")
    before = x.clone()
    functions = {"adds": adding(clock, 0.01), "keeps": keeping(by_address)}
    results = by_name(compared(clock, functions, {"ready": (x, y)}, check=check))
    assert results["adds"].error is None
    assert "wrong result on new data" in str(results["keeps"].error)
    assert torch.equal(x, before)


def by_version(x: Any) -> object:
    return x.data_ptr(), x._version


def by_content(x: Any) -> object:
    return hash(x.numpy().tobytes())


@pytest.mark.parametrize("key", [by_version, by_content])
def test_a_result_is_kept_for_nobody_who_asks_again(clock: Any, key: Callable[[Any], object]) -> None:
    """Who keeps results by what torch or the bytes say of the inputs computes each time, and is timed so."""
    kept: dict[object, Any] = {}

    def keeps(x: Any, y: Any) -> Any:
        if key(x) not in kept:
            clock.advance(0.01)
            kept[key(x)] = x + y
        return kept[key(x)]

    results = by_name(
        compared(clock, {"keeps": keeps, "adds": adding(clock, 0.01)}, [DRAWN], check=check_sum)
    )
    assert results["keeps"].time is not None
    assert results["keeps"].time.median == pytest.approx(0.01)
    assert results["keeps"].time.p20 == pytest.approx(0.01)


def test_nothing_is_faster_than_memory(clock: Any) -> None:
    """12 kB at 2 MB/s, and twice that fast at the most: 3 ms."""
    functions = {"adds": adding(clock, 0.02), "near": adding(clock, 0.0031), "naps": adding(clock, 0.0029)}
    results = by_name(compared(clock, functions, [DRAWN]))
    assert (results["adds"].error, results["near"].error) == (None, None)
    assert results["naps"].time is None
    assert str(results["naps"].error).startswith(
        "it returned after 2.90 ms; memory alone needs at least 3.00 ms"
    )
    assert by_name(compared(clock, functions, [DRAWN], ceilings=False))["naps"].error is None


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(10.0),
        torch.arange(12.0).reshape(3, 4).t(),
        torch.arange(6.0).to(torch.float8_e4m3fn),
        torch.arange(8.0).to(torch.bfloat16).requires_grad_(),
        torch.complex(torch.arange(4.0), torch.ones(4)),
        np.arange(5.0),
        [torch.arange(5.0), {"y": torch.arange(4.0).double()}],
    ],
    ids=["plain", "turned", "8 bits", "gradient", "complex", "numpy", "nested"],
)
def test_inputs_vary_and_have_the_values_that_they_had(value: Any) -> None:
    before = copy_of(value)
    change = Varying((value,), is_drawn=True)
    seen: list[Any] = []
    for _ in range(3):
        change()
        assert not any(same_bits(value, each) for each in (before, *seen))
        seen.append(copy_of(value))
    ours, theirs = tensors(value), tensors(before)
    for now, then in zip(ours, theirs, strict=True):
        numbers = [torch.view_as_real(each) if each.is_complex() else each.float() for each in (now, then)]
        assert torch.equal(*(each.detach().flatten().sort().values for each in numbers))


@pytest.mark.parametrize(
    "value", [torch.arange(9), torch.ones(1), torch.zeros(0), torch.ones(1).expand(7), torch.tensor(3.0)]
)
def test_what_may_mean_something_stays_what_it_is(value: Any) -> None:
    before, version = copy_of(value), value._version
    Varying((value,), is_drawn=True)()
    assert same_bits(value, before)
    assert value._version > version or value.numel() == 0 or 0 in value.stride()
    own = torch.arange(5.0)
    version = own._version
    Varying((own,), is_drawn=False)()
    assert torch.equal(own, torch.arange(5.0))
    assert own._version > version


def test_a_check_that_knows_one_answer_is_not_asked_about_other_data(clock: Any) -> None:
    x, y = vectors("cpu")
    answer = x + y

    def check(output: Any, _inputs: tuple[Any, ...]) -> bool:
        return torch.equal(output, answer)

    (record,) = compared(clock, {"adds": adding(clock, 0.01)}, {"ready": (x, y)}, check=check).records
    assert record.error is None
    assert record.time is not None


def test_a_function_that_does_not_take_made_up_data_keeps_its_time(clock: Any) -> None:
    def picky(x: Any) -> Any:
        if not bool((x == x.floor()).all()):
            raise ValueError("whole numbers only")
        return x + 1

    (record,) = compared(clock, {"picky": picky}, {"ready": torch.tensor([1.0, 3.0])}).records
    assert record.error is None
    assert record.ceiling == "copy"


def test_in_place_from_the_second_call_on_is_found(clock: Any) -> None:
    calls: list[int] = []

    def later(x: Any, y: Any) -> Any:
        calls.append(1)
        return x + y if len(calls) < 5 else x.add_(y)

    (record,) = compared(clock, {"later": later}, [DRAWN], check=check_sum).records
    assert "changes its inputs (argument 0)" in str(record.error)


@pytest.mark.parametrize(
    ("verdict", "error"),
    [
        (False, "wrong result: the check returned False"),
        (np.False_, "wrong result: the check returned False"),
        (True, None),
        (np.True_, None),
        (None, None),
    ],
)
def test_a_check_that_returns_false_is_a_wrong_result(clock: Any, verdict: Any, error: str | None) -> None:
    def check(_output: Any, _inputs: tuple[Any, ...]) -> Any:
        return verdict

    (record,) = compared(clock, {"mine": adding(clock, 0.01)}, check=check).records
    assert (record.error and str(record.error)) == error


def test_another_dtype_is_a_wrong_result(clock: Any) -> None:
    def wide(x: Any, y: Any) -> Any:
        return (x + y).double()

    results = by_name(compared(clock, {"adds": adding(clock, 0.01), "wide": wide}))
    assert "of dtype float64, but 'adds' returned float32" in str(results["wide"].error)


def test_sys_exit_in_an_implementation_is_its_failure(clock: Any) -> None:
    calls: list[int] = []

    def leaves(x: Any, y: Any) -> Any:
        sys.exit(7)

    def leaves_later(x: Any, y: Any) -> Any:
        calls.append(1)
        if len(calls) == 6:
            sys.exit("enough")
        return x + y

    functions = {"adds": adding(clock, 0.01), "leaves": leaves, "later": leaves_later}
    results = by_name(compared(clock, functions))
    assert str(results["leaves"].error) == "SystemExit: 7"
    assert str(results["later"].error) == "SystemExit: enough"
    assert results["adds"].time is not None


def test_on_the_cpu_the_ceiling_is_that_of_the_cases_size(clock: Any) -> None:
    large = Case("large", lambda _: (torch.randn(2**17), torch.randn(2**17)), bytes=12 * 2**17)
    results = compare({"add": torch.add}, [ADD, large], device="cpu", seconds=0.01, progress=False)
    assert results.ceilings is None
    small_record, large_record = results.records
    assert (small_record.ceiling, small_record.fraction_of_ceiling) == (None, None)
    assert large_record.ceiling == "copy"
    assert large_record.fraction_of_ceiling is not None


def test_a_case_without_arguments_is_recorded_and_the_next_one_runs(clock: Any) -> None:
    def too_large(_device: str) -> tuple[Any, ...]:
        raise MemoryError("80 TB")

    results = compared(clock, {"mine": adding(clock, 0.01)}, [Case("huge", too_large), ADD])
    huge, small = results.records
    assert str(huge.error) == "the arguments of the case 'huge' could not be made: MemoryError: 80 TB"
    assert small.time is not None


def test_ready_arguments_of_a_learner(clock: Any) -> None:
    a, b = vectors("cpu")
    results = compared(clock, {"mine": adding(clock, 0.01)}, {"1000 floats": (a, b)}, device=None)
    (record,) = results.records
    assert record.case == "1000 floats"
    assert record.environment.device == "cpu"
    assert record.gb_per_s == pytest.approx(12 * N / 0.01 / 1e9)  # two inputs and the output, once each


def test_one_ready_argument_needs_no_tuple(clock: Any) -> None:
    (record,) = compared(clock, {"sum": torch.sum}, {"x": vectors("cpu")[0]}).records
    assert record.error is None


def test_what_is_known_beside_speed_is_recorded(clock: Any) -> None:
    given = Implementation(
        adding(clock, 0.01),
        language="triton",
        file=__file__,
        dev_hours=2.5,
        readability=Score(5, "short"),
        debugging=Score(2, "no printf"),
        portability=["sm_80"],
    )
    (record,) = compared(clock, {"mine": given}).records
    assert (record.language, record.dev_hours, record.portability) == ("triton", 2.5, ["sm_80"])
    assert (record.readability, record.debugging) == (Score(5, "short"), Score(2, "no printf"))
    assert record.lines_of_code is not None
    assert record.lines_of_code > 100
    assert record.environment.versions is not None


def test_each_record_is_handed_on_when_its_case_is_done(clock: Any) -> None:
    seen: list[str] = []

    def see(record: Record) -> None:
        seen.append(record.case)

    def second_inputs(device: str) -> tuple[Any, ...]:
        assert seen == ["add"]
        return vectors(device)

    compared(
        clock,
        {"mine": adding(clock, 0.01)},
        [ADD, Case("again", second_inputs)],
        on_record=see,
    )
    assert seen == ["add", "again"]


def test_ctrl_c_keeps_the_cases_that_were_done(clock: Any) -> None:
    def interrupted(_device: str) -> tuple[Any, ...]:
        raise KeyboardInterrupt

    results = compared(clock, {"mine": adding(clock, 0.01)}, [ADD, Case("next", interrupted), ADD])
    assert results.interrupted
    assert [record.case for record in results] == ["add"]


def test_ctrl_c_while_timing_keeps_the_samples_of_the_case(clock: Any) -> None:
    calls: list[int] = []

    def interrupted(x: Any, y: Any) -> Any:
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        clock.advance(0.01)
        return x + y

    results = compared(clock, {"mine": interrupted}, [ADD, ADD])
    assert results.interrupted
    (record,) = results.records
    assert record.time is not None
    assert record.time.samples == 2  # after one call to check it, three to warm up and one to rehearse


def test_nothing_to_compare(clock: Any) -> None:
    with pytest.raises(FlashpathError, match="no implementations"):
        compared(clock, {})
    with pytest.raises(FlashpathError, match="no cases"):
        compared(clock, {"mine": adding(clock, 0.01)}, [])


@pytest.mark.parametrize("given", [torch.add, [torch.add], "torch.add", None])
def test_implementations_need_names(clock: Any, given: Any) -> None:
    with pytest.raises(FlashpathError, match="each needs a name"):
        compared(clock, given)


@pytest.mark.parametrize("given", [ADD, "add", 3, None, torch.zeros(3), ["add"], [ADD, (1, 2)]])
def test_cases_of_a_wrong_kind(clock: Any, given: Any) -> None:
    with pytest.raises(FlashpathError, match=r"not a (list of cases|Case)"):
        compared(clock, {"add": torch.add}, given)


@pytest.mark.parametrize("given", ["1", None, float("nan"), float("inf"), -1, True])
def test_seconds_that_are_no_time(clock: Any, given: Any) -> None:
    with pytest.raises(FlashpathError, match="no length of time"):
        compared(clock, {"add": torch.add}, seconds=given)


def test_misused_names_and_values(clock: Any) -> None:
    with pytest.raises(FlashpathError, match="neither a dict nor a list"):
        compared(clock, {"mine": torch.add}, peers="mine")
    with pytest.raises(FlashpathError, match="cannot be called"):
        compared(clock, {"mine": 3})
    with pytest.raises(FlashpathError, match="both an implementation and a peer"):
        compared(clock, {"mine": torch.add}, peers={"mine": torch.add})
    with pytest.raises(FlashpathError, match="not among the implementations"):
        compared(clock, {"mine": torch.add}, peers=["library"])
    with pytest.raises(FlashpathError, match="'cuda' or 'cpu'"):
        compared(clock, {"mine": torch.add}, device="H200")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there(clock: Any) -> None:
    with pytest.raises(MissingDevice, match="no GPU"):
        compared(clock, {"mine": torch.add}, device="cuda")


@pytest.mark.gpu
def test_memory_and_unwritten_outputs_on_a_gpu() -> None:
    x, y = torch.rand(2**20, device="cuda"), torch.rand(2**20, device="cuda")

    def unwritten(x: Any, y: Any) -> Any:
        return torch.empty_like(x)

    results = by_name(compare({"add": torch.add, "unwritten": unwritten}, {"1M": (x, y)}, ceilings=False))
    assert results["add"].peak_memory_bytes == 4 * 2**20
    assert results["unwritten"].error is not None
    assert "wrong result" in shown(results["unwritten"].error)


@pytest.mark.gpu
def test_ready_arguments_on_another_device_are_refused_on_a_gpu() -> None:
    with pytest.raises(FlashpathError, match="are on 'cpu'"):
        compare({"add": torch.add}, {"x": vectors("cpu")}, device="cuda")
