"""`flashpath doctor`: what this machine has, what it lacks, and the command that mends it."""

from __future__ import annotations

from typing import Annotated

import typer


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Check this machine for what flashpath needs, and say how to mend what is missing.

    Exits with 0 when everything required is there, else with 1. A machine without a GPU is no failure.

    Examples:

        flashpath doctor

        flashpath doctor --json > machine.json
    """
    from flashpath.cli.doctor import report
    from flashpath.cli.doctor.checks import run_checks
    from flashpath.cli.output import console, print_json

    groups = run_checks()
    if as_json:
        print_json(report.as_json(groups))
    else:
        report.show(groups, console())
    if any(check.failed for group in groups.values() for check in group):
        raise typer.Exit(1)
