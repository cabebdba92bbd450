"""`fp.watch`: what every launch on the virtual GPU counts and finds, whoever launches it."""

from __future__ import annotations

import importlib.util
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from flashpath.vgpu.options import Options

if TYPE_CHECKING:
    from flashpath.vgpu.report import Report


class Watch(NamedTuple):
    """A watch over launches, and the reports of those so far."""

    options: Options
    device: str | None
    reports: list[Report]


_current: ContextVar[Watch | None] = ContextVar("flashpath watch", default=None)


def current() -> Watch | None:
    """The innermost `fp.watch` around this call."""
    return _current.get()


@contextmanager
def watch(device: str | None = None, *, sanitize: bool = False) -> Generator[list[Report]]:
    """Count what functions launch on the virtual GPU: `with fp.watch() as reports: rung(x)`.

    The list gets the report of each launch, CUDA and Triton alike, in order. `device` names the GPU that is
    meant, as for `fp.profile`; with `sanitize` each report lists what `fp.sanitize` finds in one order,
    and a fault is among it instead of raised. Launches on a real GPU are not watched.
    """
    options = Options(count=True, sanitize=sanitize)
    reports: list[Report] = []
    token = _current.set(Watch(options, device, reports))
    try:
        with _triton_gpu(device, options, reports):
            yield reports
    finally:
        _current.reset(token)


def _triton_gpu(
    device: str | None, options: Options, reports: list[Report]
) -> AbstractContextManager[object]:
    if importlib.util.find_spec("triton") is None:
        return nullcontext()
    from flashpath.vgpu.triton_driver import watched

    return watched(device, options, reports)
