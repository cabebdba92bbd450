"""How the sandbox's errors read as failures: no word of the engine's own insides."""

from __future__ import annotations

import re

from flashpath.course.grader.cases import Case
from flashpath.course.grader.chinese import in_language
from flashpath.course.grader.texts import say
from flashpath.course.grader.verdict import Failure
from flashpath.course.sandbox import BuildFailed, Crashed, Raised, Refused, SandboxError, TimedOut

# What the process of a function says of a value that it cannot send; it has raised nothing.
_RETURNED = re.compile(
    r"(?:\S+: )?(?:Value (?P<place>\d+) is an? (?P<kind>.+?)(?:: return .+)?|It returned .+?)\.?"
)


def failure_of(
    error: SandboxError, lang: str, case: Case | None = None, *, is_built: bool = False
) -> Failure:
    """What building an answer ended with, or, where it is built, running it."""
    details = [in_language(line, lang) for line in error.problem.splitlines()]
    fix = (f"→ {in_language(error.fix, lang)}",) if error.fix else ()
    if isinstance(error, TimedOut):
        return Failure("timeout", _timeout(error, lang))
    if isinstance(error, BuildFailed):
        reason = "launch" if is_built else "compile"
        return Failure(reason, say(lang, reason), (*details, *fix))
    if isinstance(error, Raised) and case is not None:
        returned = _RETURNED.fullmatch(error.problem)
        if returned is not None:
            return Failure("wrong", _no_value(returned, case, lang))
        return Failure("crashed", say(lang, "raised", case=case.said(lang)), (*details, *fix))
    if isinstance(error, Refused):
        return Failure("refused", say(lang, "refused", problem=details[0]), (*details[1:], *fix))
    if isinstance(error, Crashed):
        return Failure(
            "crashed", say(lang, "crashed", problem=in_language(error.how, lang)), (*error.last, *fix)
        )
    return Failure("crashed", say(lang, "crashed", problem=details[0]), (*details[1:], *fix))


def _timeout(error: TimedOut, lang: str) -> str:
    is_building = error.what.startswith(("building", "loading"))
    key = "timeout-import" if error.at_import else "timeout-compile" if is_building else "timeout"
    return say(lang, key, seconds=error.seconds)


def _no_value(returned: re.Match[str], case: Case, lang: str) -> str:
    """None is most often a forgotten return."""
    kind = returned["kind"]
    if kind is None:
        return say(lang, "too-many-values", case=case.said(lang))
    key = "nothing-returned" if kind == "NoneType" else "no-numbers"
    return say(lang, key, kind=kind, place=returned["place"], case=case.said(lang))
