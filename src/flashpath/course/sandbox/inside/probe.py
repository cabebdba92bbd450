"""A child that only says which restrictions it is under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

from . import frames, restrict


def prepare(plan: Mapping[str, Any]) -> None:
    """Nothing is needed."""
    del plan


def serve(requests: BinaryIO, answers: BinaryIO, folder: str, state: None) -> None:
    """Answer the one question."""
    del folder, state
    frames.read_frame(requests)
    frames.write_frame(answers, {"in_force": restrict.in_force})
