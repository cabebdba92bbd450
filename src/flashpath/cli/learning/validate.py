"""`flashpath validate FILE.py:function --reference …`: the four steps, on any kernel of one's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from flashpath.cli.options import AsJson, Lang
from flashpath.messages import say, speaking

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.course.validation import Job, StepResult

_WORDS = {
    "edge cases": "cli.learning.validate-edge-cases",
    "numerical stability": "cli.learning.validate-stability",
    "comparison": "cli.learning.validate-comparison",
    "gradients": "cli.learning.validate-gradients",
    "passed": "cli.learning.validate-passed",
    "failed": "cli.learning.validate-failed",
    "skipped": "cli.learning.validate-skipped",
}


def _word(word: str) -> str:
    """Returns what a step or a verdict is called."""
    return say(_WORDS[word]) if word in _WORDS else word


def validate(
    where: Annotated[str, typer.Argument(metavar="FILE:FUNCTION", help=say("cli.learning.validate-where"))],
    reference: Annotated[str, typer.Option(help=say("cli.learning.validate-reference"))],
    declared: Annotated[
        list[str] | None, typer.Option("--input", help=say("cli.learning.validate-input"))
    ] = None,
    sizes: Annotated[list[str] | None, typer.Option(help=say("cli.learning.validate-sizes"))] = None,
    device: Annotated[str | None, typer.Option(help=say("cli.learning.validate-device"))] = None,
    seed: Annotated[int, typer.Option(help=say("cli.learning.validate-seed"), min=0)] = 0,
    gradients: Annotated[bool, typer.Option(help=say("cli.learning.validate-check-gradients"))] = True,
    timeout: Annotated[float, typer.Option(help=say("cli.learning.validate-timeout"), min=0.001)] = 60.0,
    lang: Lang = None,
    as_json: AsJson = False,
) -> None:
    """Checks a function of one's own in four steps, and exits with 1 where one of them fails."""
    from flashpath import settings
    from flashpath.cli.output import console, print_json
    from flashpath.cli.shipped import shipped_function
    from flashpath.course.validation import Job, StepResult

    with speaking(settings.language(lang)):
        wanted = tuple(declared or ["x: float32[n]"])
        files = shipped_function(where), shipped_function(reference)
        job = Job(*files, wanted, _sizes(sizes or []), device, seed, gradients)
        view = _View(console(), as_json)
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
                            "skipped": each.skipped and each.skipped.text(),
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

    def __init__(self, out: Console, as_json: bool) -> None:
        self.out, self.as_json = out, as_json

    def followed(self, job: Job, seconds: float) -> Iterator[str | StepResult]:
        """The device, and each step as it is done."""
        from rich.console import Console
        from rich.markup import escape

        from flashpath.course.validation import Started, validate_apart

        # On stderr, so that it is seen where the results are piped, and never among them.
        with Console(stderr=True, highlight=False).status(say("cli.learning.validate-loading")) as status:
            for each in validate_apart(job, seconds):
                if isinstance(each, Started):
                    status.update(escape(f"{_word(each.step)}: {each.check}"))
                    continue
                if not isinstance(each, str) and not self.as_json:
                    self._show(each)
                yield each

    def _show(self, result: StepResult) -> None:
        mark, style = {"passed": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("–", "dim")}[
            result.verdict
        ]
        out = self.out
        # Of a step that was cut short, only the last check is known.
        amount = (
            say("cli.learning.validate-checks", count=len(result.outcomes))
            if len(result.outcomes) > 1
            else ""
        )
        out.print(f"[{style}]{mark}[/] [bold]{_word(result.step)}[/]: {_word(result.verdict)}{amount}")
        if result.skipped:
            out.print(f"    {result.skipped}", markup=False)
        for failure in result.failures[:3]:
            out.print(f"    {failure.check}: {failure.problem}", markup=False)
        if len(result.failures) > 3:
            out.print(say("cli.learning.validate-more", count=len(result.failures) - 3))
        sys.stdout.flush()

    def close(self, good: bool, not_done: list[str]) -> None:
        if not good:
            self.out.print(say("cli.learning.validate-some"))
        elif not not_done:
            self.out.print(say("cli.learning.validate-all"))
        else:
            self.out.print(
                say("cli.learning.validate-all-but", names=[_word(step) for step in not_done]), markup=False
            )


def _sizes(given: list[str]) -> dict[str, list[int]]:
    from flashpath.errors import FlashpathError

    found: dict[str, list[int]] = {}
    for text in given:
        letter, equals, numbers = (part.strip() for part in text.partition("="))
        parts = [part.strip() for part in numbers.split(",")]
        if not equals or not letter.isidentifier() or not all(part.isdecimal() for part in parts):
            raise FlashpathError("cli.learning.validate-sizes-format", text=text)
        found[letter] = [int(part) for part in parts]
    return found
