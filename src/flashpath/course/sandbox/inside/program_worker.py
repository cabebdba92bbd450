"""The child that becomes a learner's program: it runs no code of theirs before, and none of ours after."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, BinaryIO

from . import frames


def prepare(plan: Mapping[str, Any]) -> None:
    """Nothing is needed."""
    del plan


def serve(requests: BinaryIO, answers: BinaryIO, folder: str, state: None) -> None:
    """Become the program that the only message names.

    It prints into a file, and what goes wrong into the pipe of what children print. The runtime writes its
    record into the pipe of answers: nobody takes back what is in a pipe.
    """
    del folder, state
    try:
        message, _ = frames.read_frame(requests)
    except frames.Closed:
        return
    requests.close()
    os.dup2(os.open(message["output"], os.O_WRONLY | os.O_APPEND), 1)
    record = answers.fileno()
    os.set_inheritable(record, True)
    variables = {
        **message["environment"],
        message["settings"]: f"{message['told']}\nrecord=/proc/self/fd/{record}",
    }
    os.execve(message["program"], [message["name"], *message["arguments"]], variables)
