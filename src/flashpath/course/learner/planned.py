"""What can be done where a unit is planned: its programs, its ladders and its quiz are there already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashpath.messages import Message

if TYPE_CHECKING:
    from flashpath.course.content import Unit

Way = tuple[str, Message]
"""A command, and what it does."""


def ways(unit: Unit) -> list[Way]:
    """Returns the commands that are of use before the unit's lesson is written."""
    found = [
        (f"flashpath run programs/{program}", Message("course.way-program")) for program in unit.programs
    ]
    found += [(f"flashpath ladder {name}", Message("course.way-ladder")) for name in _ladders(unit)]
    if unit.has_quiz:
        found.append((f"flashpath review {unit.name}", Message("course.way-quiz", {"count": len(unit.quiz)})))
    return found


def _ladders(unit: Unit) -> list[str]:
    """Returns the ladders of which a rung is named that exists."""
    from flashpath.kernels import ladders

    known = set(ladders())
    return [name for name in dict.fromkeys(rung.partition("/")[0] for rung in unit.rungs) if name in known]
