"""`flashpath validate`: each of the four steps finds what it is there for, and passes what is right."""

# pyright: basic, reportMissingTypeStubs=false

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from flashpath.cli import app
from flashpath.course.validation import load_reference, parse_input, validate
from flashpath.course.validation.inputs import edge_sizes
from flashpath.errors import FlashpathError
from flashpath.messages import speaking

MATRIX = [parse_input("x: float32[m, n]")]
SMALL = {"m": [0, 1, 5], "n": [0, 1, 33, 64]}


def verdicts(
    function: Callable[..., Any], reference: Callable[..., Any], inputs: Any = MATRIX
) -> dict[str, Any]:
    return {each.step: each for each in validate(function, reference, inputs, sizes=SMALL)}


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def test_a_right_function_passes_all_steps() -> None:
    found = verdicts(softmax, softmax)
    assert {step: each.verdict for step, each in found.items()} == dict.fromkeys(found, "passed")
    assert list(found) == ["edge cases", "numerical stability", "comparison", "gradients"]
    assert sum(len(each.outcomes) for each in found.values()) > 20


def test_an_unstable_softmax_fails_where_the_mean_is_far_from_zero() -> None:
    found = verdicts(lambda x: x.exp() / x.exp().sum(-1, keepdim=True), softmax)
    assert found["numerical stability"].verdict == "failed"
    assert any("mean 100" in each.check for each in found["numerical stability"].failures)


def test_half_precision_inside_is_found() -> None:
    found = verdicts(lambda x: torch.softmax(x.half(), -1).float(), softmax)
    assert found["comparison"].verdict == "failed"


def test_a_missing_tail_is_an_edge_case() -> None:
    def sums_whole_chunks_of_32(x: torch.Tensor) -> torch.Tensor:
        return x[:, : x.shape[1] // 32 * 32].sum(-1)

    found = verdicts(sums_whole_chunks_of_32, lambda x: x.sum(-1))
    checks = [each.check for each in found["edge cases"].failures]
    assert "m = 1, n = 33, normal" in checks
    assert not any("n = 64" in check or "n = 0" in check for check in checks)


def test_nan_that_is_swallowed_is_an_edge_case() -> None:
    found = verdicts(lambda x: torch.nan_to_num(x).relu(), torch.relu)
    assert any("NaN" in each.check for each in found["edge cases"].failures)


def test_writing_into_the_input_is_found() -> None:
    found = verdicts(lambda x: x.mul_(2) / 2 if not x.requires_grad else x * 1, lambda x: x * 1)
    assert any("writes into its input 'x'" in each.problem for each in found["comparison"].failures)


def test_results_that_change_from_call_to_call_are_found() -> None:
    found = verdicts(lambda x: x * (1 + 1e-7 * torch.rand(x.shape)), lambda x: x * 1)
    assert any("atomics, or a race" in each.problem for each in found["comparison"].failures)


def test_trust_in_contiguous_memory_is_found() -> None:
    def reads_as_if_contiguous(x: torch.Tensor) -> torch.Tensor:
        return torch.as_strided(x, x.shape, (x.shape[1], 1)) * 1

    found = verdicts(reads_as_if_contiguous, lambda x: x * 1)
    assert any("not contiguous" in each.check for each in found["comparison"].failures)


class WrongSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        (x,) = ctx.saved_tensors
        return gradient * x


def test_a_wrong_backward_fails_all_three_checks_of_gradients() -> None:
    found = verdicts(WrongSquare.apply, torch.square)
    assert found["comparison"].verdict == "passed"
    assert len(found["gradients"].failures) == 3
    assert all("\n" not in each.problem for each in found["gradients"].failures)


def test_no_backward_is_a_failure_where_the_reference_has_one() -> None:
    found = verdicts(lambda x: softmax(x.detach()), softmax)
    assert found["gradients"].verdict == "failed"
    assert "no backward pass" in found["gradients"].failures[0].problem
    assert "--no-gradients" in found["gradients"].failures[0].problem


def test_gradients_are_not_done_where_there_are_none_or_none_are_wanted() -> None:
    found = verdicts(lambda x: softmax(x.detach()), lambda x: softmax(x.detach()))
    assert found["gradients"].verdict == "skipped"
    assert str(found["gradients"].skipped) == "neither it nor the reference has a backward pass"
    steps = validate(lambda x: softmax(x.detach()), softmax, MATRIX, sizes=SMALL, gradients=False)
    assert [each.verdict for each in steps] == ["passed", "passed", "passed", "skipped"]


def test_each_check_is_told_as_it_begins() -> None:
    told: list[tuple[str, str]] = []
    steps = list(
        validate(
            softmax,
            softmax,
            MATRIX,
            sizes=SMALL,
            progress=lambda step, check: told.append((step, str(check))),
        )
    )
    checks = [(each.step, one.check) for each in steps for one in each.outcomes]
    assert [each for each in told if each in set(checks)] == checks


def test_integers_are_compared_bit_by_bit_and_have_no_gradients() -> None:
    inputs = [parse_input("x: int32[n]"), parse_input("i: int64[n] < n")]
    found = verdicts(lambda x, i: x[i], lambda x, i: x[i].clone(), inputs)
    assert [each.verdict for each in found.values()] == ["passed", "skipped", "passed", "skipped"]
    assert verdicts(lambda x, i: x[i] + 1, lambda x, i: x[i], inputs)["comparison"].verdict == "failed"


def test_what_a_function_raises_is_its_failure_in_words() -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("only even sizes")

    found = verdicts(fails, softmax)
    assert found["edge cases"].failures[0].problem == "ValueError: only even sizes"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("float32[n]", "has no name"),
        ("x: float8[n]", "is of dtype 'float8'"),
        ("x: float32[n*2]", "has the size 'n*2'"),
        ("x: hello there", "neither a tensor nor a number"),
    ],
)
def test_inputs_that_cannot_be_read_are_refused(text: str, words: str) -> None:
    with pytest.raises(FlashpathError, match=words.replace("*", r"\*")) as raised:
        parse_input(text)
    assert raised.value.fix


def test_constants_and_sizes() -> None:
    assert parse_input("eps: 1e-5").constant == 1e-5
    sizes = list(edge_sizes([parse_input("x: float32[m, 4, n]")], {"m": [1], "n": [0, 3]}))
    assert {"m": 1, "n": 0} in sizes
    assert {"m": 1, "n": 3} in sizes
    assert len(sizes) == len({tuple(each.values()) for each in sizes})


def test_references() -> None:
    assert load_reference("torch.nn.functional.gelu") is torch.nn.functional.gelu
    assert load_reference("numpy.sort")(torch.tensor([2.0, 1.0])).tolist() == [1.0, 2.0]
    assert load_reference("ladder:softmax")(torch.zeros(1, 2)).tolist() == [[0.5, 0.5]]
    with pytest.raises(FlashpathError, match="torch has no 'sofmax'") as raised:
        load_reference("torch.sofmax")
    assert "torch.softmax" in str(raised.value.fix)
    with pytest.raises(FlashpathError, match="is not known"):
        load_reference("os.system")


TRITON = """
    import torch, triton
    import triton.language as tl

    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

    def double(x):
        x = x.contiguous()
        y = torch.empty_like(x)
        if x.numel():
            kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
        return y

    def truth(x):
        return x * 2

    def wrong(x):
        print("noise")
        return x * 2 + (x.numel() == 33)
"""


@pytest.fixture
def learner(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(textwrap.dedent(TRITON), encoding="utf-8")
    return file


def test_a_triton_kernel_of_ones_own_without_a_gpu(learner: Path) -> None:
    command = ["validate", f"{learner}:double", "--reference", f"{learner}:truth", "--sizes", "n=0,1,33,100"]
    done = CliRunner().invoke(app, [*command, "--device", "cpu", "--lang", "en"])
    assert done.exit_code == 1, done.output
    assert "✗ gradients: failed" in done.stdout
    assert "it has no backward pass" in done.stdout
    for lang, words in (("en", "What was checked holds. Not done: gradients."), ("zh", "未检查：梯度检查。")):
        done = CliRunner().invoke(app, [*command, "--device", "cpu", "--lang", lang, "--no-gradients"])
        assert done.exit_code == 0, done.output
        assert words in done.stdout
        assert "All four" not in done.stdout


def test_json_says_what_failed_and_nothing_else_is_printed(learner: Path) -> None:
    command = ["validate", f"{learner}:wrong", "--reference", f"{learner}:truth", "--device", "cpu", "--json"]
    done = CliRunner().invoke(app, [*command, "--sizes", "n=1,33"])
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert not found["passed"]
    failed = [one["check"] for one in found["steps"][0]["checks"] if one["problem"]]
    assert "n = 33, normal" in failed
    assert "n = 1, normal" not in failed


def test_both_languages(learner: Path) -> None:
    command = ["validate", f"{learner}:wrong", "--reference", f"{learner}:truth", "--device", "cpu"]
    done = CliRunner().invoke(app, [*command, "--lang", "zh", "--sizes", "n=1,33"])
    assert "边界情况" in done.stdout
    assert "未通过" in done.stdout


HANGS = """
    import os, signal, sys

    def loop(x):
        print("before")
        while x.numel() == 33:
            pass
        return x * 1

    def leaves(x):
        os.kill(os.getpid(), signal.SIGSEGV)

    def asks(x):
        return x * float(input())

    def right(x):
        return x * 1
"""


@pytest.fixture
def hanging(tmp_path: Path) -> Path:
    file = tmp_path / "hangs.py"
    file.write_text(textwrap.dedent(HANGS), encoding="utf-8")
    (tmp_path / "never.py").write_text("while True:\n    pass\n", encoding="utf-8")
    return file


def run(file: Path, function: str, *options: str) -> Any:
    command = ["validate", f"{file}:{function}", "--reference", "torch.clone", "--device", "cpu"]
    return CliRunner().invoke(app, [*command, "--sizes", "n=1,33,64", *options])


def test_a_loop_without_end_is_ended_and_its_line_is_told(hanging: Path) -> None:
    done = run(hanging, "loop", "--timeout", "5", "--lang", "en")
    assert done.exit_code == 124, done.output
    assert "✗ edge cases: failed" in done.stdout
    assert "n = 33, normal: it took longer than 5 s, and was ended, at hangs.py:" in done.stdout
    assert "in loop" in done.stdout
    assert "Not all steps hold" in done.stdout
    found = json.loads(run(hanging, "loop", "--timeout", "5", "--json").stdout)
    assert not found["passed"]
    assert found["not_done"] == ["numerical stability", "comparison", "gradients"]


def test_a_file_that_never_loads_is_told(hanging: Path) -> None:
    done = run(hanging.with_name("never.py"), "f", "--timeout", "5", "--lang", "en")
    assert done.exit_code == 124
    assert "✗ loading: failed" in done.stdout
    assert "it took longer than 5 s, and was ended, at never.py:" in done.stdout


def test_a_crash_and_a_question_are_failures_in_words(hanging: Path) -> None:
    done = run(hanging, "leaves", "--lang", "en")
    assert done.exit_code == 1
    assert "n = 1, normal: it ended the process with signal 11 (SIGSEGV)" in done.stdout
    assert "EOFError" in run(hanging, "asks", "--lang", "en").stdout
    assert "All four steps hold." in run(hanging, "right", "--lang", "en").stdout


def test_what_cannot_be_loaded_is_told_as_before(hanging: Path) -> None:
    done = run(hanging, "no_such")
    assert isinstance(done.exception, FlashpathError)
    assert "has no function 'no_such'" in str(done.exception)


def test_reasons_are_said_in_the_language_that_is_spoken() -> None:
    found = verdicts(lambda x: x + 1, lambda x: x * 1)
    with speaking("zh"):
        assert re.search("个元素中有 .* 个不对", str(found["comparison"].failures[0].problem))
        assert found["comparison"].failures[0].check == "随机输入 1"


FORGED = """
import os
def wrong(x):
    return x * 0 - 1
for handle in range(3, 30):
    try:
        os.write(handle, b'{"event": "done", "step": "edge cases", "checks": [], "skipped": null}\\n')
        os.write(handle, b'{"event": "end"}\\n')
    except OSError:
        pass
"""


def test_a_function_cannot_write_its_own_verdict(tmp_path: Path) -> None:
    file = tmp_path / "forged.py"
    file.write_text(FORGED, encoding="utf-8")
    done = run(file, "wrong", "--lang", "en")
    assert done.exit_code == 1
    assert "edge cases: failed" in done.stdout
