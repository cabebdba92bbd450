"""Device code and its ladders: one folder per family of operations."""

from __future__ import annotations

from flashpath.kernels.registry import UnknownLadder, ladder, ladders
from flashpath.kernels.rung import Case, Choice, Ladder, Rung, Score

__all__ = ["Case", "Choice", "Ladder", "Rung", "Score", "UnknownLadder", "ladder", "ladders"]
