"""How the sandbox's errors read as failures: no word of the engine's own insides."""

from __future__ import annotations

from flashpath.course.grader.cases import Case
from flashpath.course.grader.texts import say
from flashpath.course.grader.verdict import Failure
from flashpath.course.sandbox import BuildFailed, Crashed, Raised, Refused, SandboxError, TimedOut


def failure_of(error: SandboxError, lang: str, case: Case | None = None) -> Failure:
    """What building or running an answer ended with."""
    details = error.problem.splitlines()
    fix = (f"→ {error.fix}",) if error.fix else ()
    if isinstance(error, TimedOut):
        text = "timeout-import" if error.at_import else "timeout"
        return Failure("timeout", say(lang, text, seconds=error.seconds))
    if isinstance(error, BuildFailed):
        return Failure("compile", say(lang, "compile"), (*details, *fix))
    if isinstance(error, Raised) and case is not None:
        return Failure("crashed", say(lang, "raised", case=case.said(lang)), (*details, *fix))
    if isinstance(error, Refused):
        return Failure("refused", say(lang, "refused", problem=details[0]), (*details[1:], *fix))
    if isinstance(error, Crashed):
        return Failure("crashed", say(lang, "crashed", problem=error.how), (*error.last, *fix))
    return Failure("crashed", say(lang, "crashed", problem=details[0]), (*details[1:], *fix))
