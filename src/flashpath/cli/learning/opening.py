"""Opens the learner for a command; what does not stop the command is told on stderr."""

from __future__ import annotations

from contextlib import AbstractContextManager

from flashpath.cli.failures import warn
from flashpath.course.learner import Learner
from flashpath.course.learner import learning as opened


def learning(
    lang: str | None = None, *, must_keep: bool = True, must_show: bool = True
) -> AbstractContextManager[Learner]:
    """Opens the learner; a command that keeps or shows no progress warns where it cannot be had."""
    return opened(lang, warn, must_keep=must_keep, must_show=must_show)
