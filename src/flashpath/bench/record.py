"""The one record format: a measurement of one implementation on one case, as a line of JSON."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from flashpath.bench.environment import Environment
from flashpath.bench.failure import Reason, shown
from flashpath.bench.timer import Timing
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Score


class BadRecord(FlashpathError):
    """A line or a file is no record; it is read by `record_files`, which says where."""


@dataclass(frozen=True)
class Time:
    """Seconds of one call, how they were taken and from how many samples."""

    median: float
    p20: float
    p80: float
    method: str
    samples: int

    @classmethod
    def of(cls, timing: Timing) -> Time | None:
        if timing.median is None or timing.p20 is None or timing.p80 is None:
            return None
        return cls(timing.median, timing.p20, timing.p80, timing.method, len(timing.samples))


@dataclass(frozen=True)
class Record:
    """One implementation on one case: how fast, how close to the best, and what it cost to write.

    `ratio_to_fastest_peer` is the peer's time over this one's: above 1 is faster than every peer.
    `fraction_of_ceiling` is the least time that the measured `ceiling` allows over the time taken.
    `eager` is a call as a person makes it, the host counted; None where nobody asked for it.
    `distance` is the largest one from the result in float64, in units of that result's largest element.
    """

    implementation: str
    case: str
    environment: Environment
    timestamp: str
    parameters: Mapping[str, Any]
    ladder: str | None = None
    language: str | None = None
    is_peer: bool = False
    time: Time | None = None
    eager: Time | None = None
    gb_per_s: float | None = None
    tflop_per_s: float | None = None
    peak_memory_bytes: int | None = None
    distance: float | None = None
    ratio_to_fastest_peer: float | None = None
    fraction_of_ceiling: float | None = None
    ceiling: str | None = None
    lines_of_code: int | None = None
    dev_hours: float | None = None
    portability: Sequence[str] | None = None
    readability: Score | None = None
    debugging: Score | None = None
    error: Reason | None = None  # why there is no time; or, with a time, what a peer is less exact by
    skipped: bool = False  # it cannot run on this machine; `error` says why

    def to_json(self) -> str:
        """Returns the record as a line of JSON, in English whatever is spoken: it is kept."""
        fields = asdict(self) | {"error": None if self.error is None else shown(self.error, "en")}
        for score in ("readability", "debugging"):
            given: Score | None = getattr(self, score)
            fields[score] = given and {"value": given.value, "reason": given.in_("en")}
        # NaN is no JSON: other readers would refuse the line.
        return json.dumps(fields, ensure_ascii=False, allow_nan=False, default=str)

    @classmethod
    def from_json(cls, line: str) -> Record:
        fields: Any = json.loads(line)
        if not isinstance(fields, dict):
            raise BadRecord("bench.record-no-object", value=line[:40])
        return read_dataclass(cls, cast("dict[str, Any]", fields))


def read_dataclass(kind: type[Any], fields: Mapping[str, Any], inside: str = "") -> Any:
    """A dataclass of the fields of a JSON object; BadRecord names the one that is of the wrong type."""
    hints = _type_hints(kind)
    for name in fields:
        if name not in hints:
            raise BadRecord("bench.record-unknown-field", name=inside + name)
    return kind(**{name: read_value(value, hints[name], inside + name) for name, value in fields.items()})


@functools.cache
def _type_hints(kind: type[Any]) -> dict[str, Any]:
    """Kept: thousands of records are of few classes, whose annotations are text to be evaluated."""
    return get_type_hints(kind)


def read_value(value: Any, hint: Any, name: str) -> Any:
    """The value where it is of the type that the hint says; a dataclass is made of a JSON object."""
    for choice in get_args(hint) if isinstance(hint, UnionType) else (hint,):
        kind = get_origin(choice) or choice
        if kind is Any:
            return value
        if is_dataclass(kind) and isinstance(value, dict):
            return read_dataclass(cast("type[Any]", kind), cast("dict[str, Any]", value), f"{name}.")
        if kind is Sequence and isinstance(value, list):
            return [read_value(item, get_args(choice)[0], name) for item in cast("list[Any]", value)]
        if kind is Mapping and isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {key: read_value(item, get_args(choice)[1], f"{name}.{key}") for key, item in items}
        if isinstance(value, bool):  # which is an int to Python
            if kind is bool:
                return value
        elif kind in (str, int, float, type(None)) and isinstance(
            value, (int, float) if kind is float else kind
        ):
            return value
    expected = hint.__name__ if isinstance(hint, type) else str(hint)
    raise BadRecord("bench.record-field-type", name=name, expected=expected, value=repr(value))
