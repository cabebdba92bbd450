"""What libraries reached that cannot be imported beside everything else: shares of a copy's bandwidth.

The figures stand in `benchmarks/results/*-known-peers.json`, from runs on another day: by ladder and case,
GB/s of the case's least bytes or microseconds, and the GB/s that a copy reached then.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection
from typing import Any

from flashpath import settings
from flashpath.bench.ceilings import Ceilings
from flashpath.bench.record import Time
from flashpath.kernels.rung import Case

KNOWN_SHARE = "its known share of copy bandwidth"
"""How such a time was come by."""


@functools.cache
def _known() -> tuple[dict[str, Any], ...]:
    files = sorted(settings.content_dir("benchmarks/results").glob("*-known-peers.json"))
    return tuple(json.loads(file.read_text(encoding="utf-8")) for file in files)


def shares(ladder: str | None, case: Case) -> dict[str, float]:
    """Returns the shares of the copy bandwidth that libraries reached in this case of a ladder."""
    found: dict[str, float] = {}
    for known in _known():
        copied: float = known["copy_gb_per_s"]
        for name, speed in known["gb_per_s"].get(ladder, {}).get(case.name, {}).items():
            found[name] = speed / copied
        for name, taken in known["microseconds"].get(ladder, {}).get(case.name, {}).items():
            found[name] = case.bytes / (taken * 1e3) / copied
    return found


def known_peers(
    ladder: str | None, case: Case, timed: Collection[str], ceilings: Ceilings | None
) -> dict[str, Time]:
    """Returns the times of libraries that are not here, by their known share of this run's copy bandwidth."""
    bandwidth = ceilings.copy_bytes_per_s if ceilings else None
    if not bandwidth:
        return {}
    absent = {name: share for name, share in shares(ladder, case).items() if name not in timed}
    seconds = {name: case.bytes / (share * bandwidth) for name, share in absent.items()}
    return {name: Time(each, each, each, KNOWN_SHARE, samples=0) for name, each in seconds.items()}
