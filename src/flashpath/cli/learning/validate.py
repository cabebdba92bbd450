"""`flashpath validate FILE.py:function --reference …`: the four steps, on any kernel of one's own."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from flashpath.course.validation import StepResult

_WORDS = {
    "edge cases": ("edge cases", "边界情况"),
    "numerical stability": ("numerical stability", "数值稳定性"),
    "comparison": ("comparison with the reference", "与参考实现对比"),
    "gradients": ("gradients", "梯度检查"),
    "passed": ("passed", "通过"),
    "failed": ("failed", "未通过"),
    "skipped": ("nothing to check", "无需检查"),
    "checks": ("checks", "项检查"),
    "more": ("more failures", "项其他失败"),
    "all": ("All four steps hold.", "四个步骤全部通过。"),
    "some": (
        "Not all steps hold: mend the first failure, then run this again.",
        "尚有步骤未通过：先改第一处失败，再运行一次。",
    ),
}


def validate(
    where: Annotated[str, typer.Argument(metavar="FILE:FUNCTION", help="Such as softmax.py:my_softmax.")],
    reference: Annotated[
        str,
        typer.Option(
            help="FILE.py:function, torch's or NumPy's (torch.nn.functional.gelu), or ladder:softmax."
        ),
    ],
    declared: Annotated[
        list[str] | None,
        typer.Option(
            "--input", help="An argument, in order: 'x: float32[m, n]', 'i: int64[n] < m', 'eps: 1e-5'."
        ),
    ] = None,
    sizes: Annotated[
        list[str] | None, typer.Option(help="Sizes of a letter, in place of the usual ones: 'm=1,7,128'.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu or cuda; by default the GPU, if there is one.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random inputs.", min=0)] = 0,
    lang: Annotated[str | None, typer.Option(help="zh or en.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was checked as JSON.")] = False,
) -> None:
    """Edge cases, numerical stability, comparison with a reference, gradients: on a function of your own.

    The function takes and returns torch tensors, and so does the reference, with the same arguments. Without
    a GPU, Triton kernels that it launches run on the virtual one. The reference in float64 is the truth; the
    error may be twice that of the reference in the same precision. The exit code is 1 if a step fails.

    Examples:

        flashpath validate softmax.py:my_softmax --reference ladder:softmax --input 'x: float32[m, n]'

        flashpath validate gelu.py:gelu --reference torch.nn.functional.gelu --sizes n=0,1,1000

        flashpath validate norm.py:rms --reference norm.py:slow --input 'x: float32[m, n]' --input 'eps: 1e-5'
    """
    from flashpath import settings
    from flashpath.bench import load_function
    from flashpath.bench.device import resolve_device
    from flashpath.cli.output import console, print_json
    from flashpath.course import validation

    chosen = 1 if settings.language(lang) == "zh" else 0
    inputs = [validation.parse_input(text) for text in declared or ["x: float32[n]"]]
    steps: list[StepResult] = []
    out, real = console(), sys.stdout

    def say(word: str) -> str:
        return _WORDS[word][chosen]

    def show(result: Any) -> None:
        mark, style = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("–", "dim")}[
            result.verdict
        ]
        amount = f", {len(result.outcomes)} {say('checks')}" if result.outcomes else ""
        out.print(f"[{style}]{mark}[/] [bold]{say(result.step)}[/]: {say(result.verdict)}{amount}")
        if result.skipped:
            out.print(f"    {result.skipped}", markup=False)
        for failure in result.failures[:3]:
            out.print(f"    {failure.check}: {failure.problem}", markup=False)
        if len(result.failures) > 3:
            out.print(f"    … {len(result.failures) - 3} {say('more')}")

    target = resolve_device(device)
    with contextlib.redirect_stdout(sys.stderr):  # whatever the functions print
        function, truth = load_function(where), validation.load_reference(reference)
        checked = validation.validate(
            function, truth, inputs, sizes=_sizes(sizes or []), device=target, seed=seed
        )
        for result in checked:
            steps.append(result)
            if not as_json:
                with contextlib.redirect_stdout(real):
                    show(result)
    good = all(each.verdict != "failed" for each in steps)
    if as_json:
        print_json(
            {
                "function": where,
                "reference": reference,
                "device": target,
                "passed": good,
                "steps": [
                    {
                        "step": each.step,
                        "verdict": each.verdict,
                        "skipped": each.skipped,
                        "checks": [{"check": one.check, "problem": one.problem} for one in each.outcomes],
                    }
                    for each in steps
                ],
            }
        )
    else:
        out.print(say("all" if good else "some"))
    if not good:
        raise typer.Exit(1)


def _sizes(given: list[str]) -> dict[str, list[int]]:
    from flashpath.errors import FlashpathError

    found: dict[str, list[int]] = {}
    for text in given:
        letter, equals, numbers = (part.strip() for part in text.partition("="))
        parts = [part.strip() for part in numbers.split(",")]
        if not equals or not letter.isidentifier() or not all(part.isdecimal() for part in parts):
            raise FlashpathError(
                f"--sizes got {text!r}.", "Write LETTER=NUMBERS, such as --sizes n=0,1,1000."
            )
        found[letter] = [int(part) for part in parts]
    return found
