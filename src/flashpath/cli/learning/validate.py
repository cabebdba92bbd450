"""`flashpath validate FILE.py:function --reference …`: the four steps, on any kernel of one's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.course.validation import Job, StepResult

_WORDS = {
    "edge cases": ("edge cases", "边界情况"),
    "numerical stability": ("numerical stability", "数值稳定性"),
    "comparison": ("comparison with the reference", "与参考实现对比"),
    "gradients": ("gradients", "梯度检查"),
    "passed": ("passed", "通过"),
    "failed": ("failed", "未通过"),
    "skipped": ("not done", "未检查"),
    "loading": ("loading", "加载"),
    "no input is a floating-point tensor": (
        "no input is a floating-point tensor",
        "没有浮点张量输入",
    ),
    "it was not asked for: --no-gradients": (
        "it was not asked for: --no-gradients",
        "按 --no-gradients 的要求未检查",
    ),
    "neither it nor the reference has a backward pass": (
        "neither it nor the reference has a backward pass",
        "它和参考实现都没有反向传播",
    ),
    "and": (" and ", "、"),
    "all but": ("What was checked holds. Not done: {}.", "已检查的步骤全部通过。未检查：{}。"),
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
    gradients: Annotated[
        bool, typer.Option(help="Check gradients; a function that needs none goes without.")
    ] = True,
    timeout: Annotated[
        float, typer.Option(help="Seconds that one check may take, of which there are about 30.", min=0.001)
    ] = 60.0,
    lang: Annotated[str | None, typer.Option(help="zh or en.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was checked as JSON.")] = False,
) -> None:
    """Edge cases, numerical stability, comparison with a reference, gradients: on a function of your own.

    The function takes and returns torch tensors, and so does the reference, with the same arguments. Without
    a GPU, Triton kernels that it launches run on the virtual one. The reference in float64 is the truth; the
    error may be twice that of the reference in the same precision. A function without gradients fails where
    the reference has them: say --no-gradients if it is to have none. The exit code is 1 if a step fails, and
    124 if a check took longer than --timeout; the words then say in which line it was.

    Examples:

        flashpath validate softmax.py:my_softmax --reference ladder:softmax --input 'x: float32[m, n]'

        flashpath validate mine.py:forward_only --reference torch.relu --no-gradients --timeout 10

        flashpath validate gelu.py:gelu --reference torch.nn.functional.gelu --sizes n=0,1,1000

        flashpath validate norm.py:rms --reference norm.py:slow --input 'x: float32[m, n]' --input 'eps: 1e-5'
    """
    from flashpath import settings
    from flashpath.cli.output import console, print_json
    from flashpath.course.validation import Job, StepResult

    chosen = 1 if settings.language(lang) == "zh" else 0
    wanted = tuple(declared or ["x: float32[n]"])
    job = Job(where, reference, wanted, _sizes(sizes or []), device, seed, gradients)
    view = _View(console(), chosen, as_json)
    steps: list[StepResult] = []
    target = ""
    for each in view.followed(job, timeout):
        if isinstance(each, StepResult):
            steps.append(each)
        else:
            target = each
    good = all(each.verdict != "failed" for each in steps)
    if as_json:
        print_json(
            {
                "function": where,
                "reference": reference,
                "device": target,
                "passed": good,
                "not_done": _not_done(steps),
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
        view.close(good, _not_done(steps))
    if not good:
        raise typer.Exit(124 if any(each.was_hung for each in steps) else 1)


def _not_done(steps: list[StepResult]) -> list[str]:
    from flashpath.course.validation import STEPS

    done = {each.step for each in steps if each.verdict != "skipped"}
    return [each for each in STEPS if each not in done]


class _View:
    """What is checked now, on a terminal; then the steps, one by one."""

    def __init__(self, out: Console, chosen: int, as_json: bool) -> None:
        self.out, self.chosen, self.as_json = out, chosen, as_json

    def say(self, word: str) -> str:
        return _WORDS[word][self.chosen]

    def followed(self, job: Job, seconds: float) -> Iterator[str | StepResult]:
        """The device, and each step as it is done."""
        from rich.console import Console
        from rich.markup import escape

        from flashpath.course.validation import Started, validate_apart

        # On stderr, so that it is seen where the results are piped, and never among them.
        with Console(stderr=True, highlight=False).status(self.say("loading")) as status:
            for each in validate_apart(job, seconds):
                if isinstance(each, Started):
                    status.update(escape(f"{self.say(each.step)}: {each.check}"))
                    continue
                if not isinstance(each, str) and not self.as_json:
                    self._show(each)
                yield each

    def _show(self, result: StepResult) -> None:
        mark, style = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("–", "dim")}[
            result.verdict
        ]
        out, say = self.out, self.say
        # Of a step that was cut short, only the last check is known.
        amount = f", {len(result.outcomes)} {say('checks')}" if len(result.outcomes) > 1 else ""
        out.print(f"[{style}]{mark}[/] [bold]{say(result.step)}[/]: {say(result.verdict)}{amount}")
        if result.skipped:
            out.print(f"    {say(result.skipped)}", markup=False)
        for failure in result.failures[:3]:
            out.print(f"    {failure.check}: {failure.problem}", markup=False)
        if len(result.failures) > 3:
            out.print(f"    … {len(result.failures) - 3} {say('more')}")
        sys.stdout.flush()

    def close(self, good: bool, not_done: list[str]) -> None:
        if not good:
            self.out.print(self.say("some"))
        elif not not_done:
            self.out.print(self.say("all"))
        else:
            names = self.say("and").join(map(self.say, not_done))
            self.out.print(self.say("all but").format(names), markup=False)


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
