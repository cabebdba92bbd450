"""What a recorded call did: memory, launches and torch's own operators, with nothing of the call's values.

Every tensor of a call is a part of some memory: of an argument, of memory that the call made, or of memory
that it was lent. A launch is the kernel's handle, its shape, and its parameters, of which some are addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.gpus.shape import LaunchShape


class NotPlannable(Exception):
    """The call did something that cannot be repeated without asking again. It stays on its usual way."""


@dataclass(frozen=True, eq=False)
class Given:
    """The memory of a tensor argument, which is counted by its position among the call's tensors."""

    position: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any


@dataclass(frozen=True, eq=False)
class Made:
    """Memory that the call allocated, by the tensor that was made first."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any
    bytes: int


@dataclass(frozen=True, eq=False)
class Lent:
    """Memory that is kept elsewhere; each call asks anew, by `again`, for a tensor of this layout."""

    again: Callable[[], Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any


Memory = Given | Made | Lent


@dataclass(frozen=True)
class Part:
    """A tensor: where it begins in its memory, in bytes, and how it is laid out."""

    memory: Memory
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any


@dataclass(frozen=True)
class TensorMap:
    """A descriptor for the tensor memory accelerator: its bytes, in which the address of a part stands."""

    content: bytes
    part: Part


Parameter = bytes | Part | TensorMap


@dataclass(frozen=True)
class Launch:
    """One launch. `owner` keeps the code loaded."""

    name: str
    function: int
    shape: LaunchShape
    parameters: Sequence[Parameter]
    owner: Any
    overlaps: bool = False


@dataclass(frozen=True)
class Operation:
    """One of torch's own operators; tensors among its arguments are parts. `made`: its new tensors."""

    function: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    made: Sequence[Made]


@dataclass(frozen=True)
class Changed:
    """An operator wrote to an argument: whoever saved it for a gradient shall know."""

    part: Part


Step = Launch | Operation | Changed


@dataclass(frozen=True)
class Trace:
    """All steps of a call in their order, and what it returned: a part, None, or a tuple of them."""

    steps: Sequence[Step]
    result: Any
