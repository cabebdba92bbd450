"""Why rungs and peers do not take a case, as far as several ladders say the same."""

from __future__ import annotations

from flashpath.kernels.rung import Case, Declines
from flashpath.messages import Message, told


def takes(parameter: str, *values: object, otherwise: Message) -> Declines:
    """Declines the cases in which that parameter is none of the values."""
    return lambda case: None if case.parameters[parameter] in values else otherwise


forward_only = takes("direction", "forward", otherwise=told("kernels.takes-forward"))
backward_only = takes("direction", "backward", otherwise=told("kernels.takes-backward"))


def no_bfloat16(case: Case) -> Message | None:
    return told("kernels.takes-no-bfloat16") if case.dtype == "bfloat16" else None
