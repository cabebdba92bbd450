"""`flashpath doctor`: what this machine has, what it lacks, and the command that mends it."""

from __future__ import annotations

from typing import Annotated

import typer

from flashpath.messages import say


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help=say("cli.doctor.json"))] = False,
) -> None:
    """Looks at this machine, and says how to mend what is missing."""
    from flashpath.cli.doctor import report
    from flashpath.cli.doctor.checks import run_checks
    from flashpath.cli.output import console, print_json
    from flashpath.course.learner.sightings import saw

    groups = run_checks()
    if as_json:
        print_json(report.as_json(groups))
    else:
        report.show(groups, console())
    saw(report.sights(groups))
    if any(check.failed for group in groups.values() for check in group):
        raise typer.Exit(1)
