"""The order in which the findings of a whole program are told."""

from __future__ import annotations

import pytest

from flashpath.messages import Message
from flashpath.vgpu.findings import Finding
from flashpath.vgpu.host_findings import Frame, HostFinding, HostParty
from flashpath.vgpu.recorded import Recording

_SAID = Message("vgpu.stream", {"number": 1})
_COPY, _LAUNCH, _OTHER_LAUNCH = ((Frame("main", "p.cu", line),) for line in (10, 11, 20))


def _read_too_early(stack: tuple[Frame, ...]) -> Finding:
    launched = tuple(map(str, stack))
    return Finding("uninitialized", _SAID, "p.cu", 3, (0, 0, 0), (0, 0, 0), launched=launched)


@pytest.mark.parametrize("launch_is_found_at", ["here", "the other side"])
def test_a_missing_order_comes_before_what_its_launch_read_too_early(launch_is_found_at: str) -> None:
    sides = (_LAUNCH, _COPY) if launch_is_found_at == "here" else (_COPY, _LAUNCH)
    unordered = HostFinding("missing-sync", _SAID, sides[0], HostParty(_SAID, sides[1]))
    recording = Recording(
        findings=[_read_too_early(_LAUNCH)], host_findings=[unordered], host_findings_before=[0]
    )
    assert [each.kind for each in recording.in_order()] == ["missing-sync", "uninitialized"]


def test_what_another_launch_read_is_told_as_it_came() -> None:
    unordered = HostFinding("missing-sync", _SAID, _COPY, HostParty(_SAID, _LAUNCH))
    recording = Recording(
        findings=[_read_too_early(_OTHER_LAUNCH)], host_findings=[unordered], host_findings_before=[0]
    )
    assert [each.kind for each in recording.in_order()] == ["uninitialized", "missing-sync"]
