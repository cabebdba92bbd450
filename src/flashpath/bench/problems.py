"""The problems of a comparison: ready cases, or a learner's own arguments made into cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from flashpath.bench.arrays import tensors
from flashpath.bench.device import resolve_device
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Case

Cases = Sequence[Case] | Mapping[str, Any]


def as_cases(cases: Cases, device: str | None) -> tuple[list[Case], str]:
    """The cases, and the device they run on: ready arguments lie on one already."""
    check_kind(cases)
    if not cases:
        raise FlashpathError("bench.no-cases")
    if not isinstance(cases, Mapping):
        return list(cases), resolve_device(device)
    homes = {name: home_of(arguments) for name, arguments in cases.items()}
    chosen = resolve_device(device or next(iter(homes.values())))
    for name, home in homes.items():
        if home != chosen:
            raise FlashpathError("bench.case-elsewhere", case=name, home=home, device=chosen)
    return [ready_case(name, arguments) for name, arguments in cases.items()], chosen


def check_kind(cases: object) -> None:
    if isinstance(cases, Mapping):
        return
    if not isinstance(cases, Sequence) or isinstance(cases, str):
        raise FlashpathError("bench.cases-kind", kind=type(cases).__name__)
    for case in cast("Sequence[object]", cases):
        if not isinstance(case, Case):
            raise FlashpathError("bench.case-kind", kind=type(case).__name__)


def home_of(arguments: Any) -> str:
    return "cuda" if any(tensor.is_cuda for tensor in tensors(arguments)) else "cpu"


def ready_case(name: str, arguments: Any) -> Case:
    """A case of ready arguments: a tuple of them, or one alone."""
    ready = cast("tuple[Any, ...]", arguments) if isinstance(arguments, tuple) else (arguments,)
    floating = [tensor.dtype for tensor in tensors(arguments) if tensor.is_floating_point()]
    return Case(
        name,
        inputs=lambda _device: ready,
        dtype=str(floating[0]).removeprefix("torch.") if floating else "int32",
    )
