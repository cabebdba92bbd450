"""Opens the learner for a command; what does not stop the command is told on stderr."""

from __future__ import annotations

from contextlib import AbstractContextManager

from flashpath.cli.failures import tell
from flashpath.course.learner import Learner
from flashpath.course.learner import learning as opened
from flashpath.errors import FlashpathError
from flashpath.messages import Message, say


def learning(lang: str | None = None, *, must_keep: bool = True) -> AbstractContextManager[Learner]:
    """Opens the learner; a command that can do without progress (`must_keep=False`) warns and goes on."""
    return opened(lang, warn, must_keep=must_keep)


def warn(what: Message | FlashpathError) -> None:
    tell(say("cli.warning", what=str(what)))
