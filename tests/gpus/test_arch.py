"""Names of architectures: what is read, what is refused and what the refusal suggests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashpath.errors import FlashpathError
from flashpath.gpus import UnknownArch, archs, parse_arch, runs_on


@pytest.mark.parametrize(
    ("name", "capability", "suffix", "compute", "generation"),
    [
        ("sm_75", (7, 5), "", "compute_75", "Turing"),
        ("sm_89", (8, 9), "", "compute_89", "Ada Lovelace"),
        ("sm_90a", (9, 0), "a", "compute_90a", "Hopper"),
        ("sm_100", (10, 0), "", "compute_100", "Blackwell"),
        ("sm_103a", (10, 3), "a", "compute_103a", "Blackwell"),
        ("sm_120", (12, 0), "", "compute_120", "Blackwell"),
    ],
)
def test_parse(name: str, capability: tuple[int, int], suffix: str, compute: str, generation: str) -> None:
    arch = parse_arch(name)
    assert (arch.name, str(arch)) == (name, name)
    assert (arch.major, arch.minor) == arch.capability == capability
    assert (arch.suffix, arch.compute, arch.generation) == (suffix, compute, generation)


def test_known_targets_are_those_of_the_compiler() -> None:
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    status, numbers = nvrtc.nvrtcGetSupportedArchs()
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    ours = {arch.major * 10 + arch.minor for arch in archs()}
    assert ours == set(numbers)


def test_list_goes_from_old_to_new_without_repeats() -> None:
    order = [(arch.capability, arch.suffix) for arch in archs()]
    assert order == sorted(set(order))


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("sm90", "Write sm_90."),
        ("90", "Write sm_90."),
        ("9.0a", "Write sm_90a."),
        ("compute_80", "Write sm_80."),
        ("SM_80", "Write sm_80."),
        (" sm_80", "Write sm_80."),
        ("sm_70", "Write sm_75."),
        ("sm_80a", "Write sm_80."),
        ("sn_90a", "Write sm_90a."),
        ("ampere", "Write sm_80 or sm_86 or sm_87 or sm_88."),
        ("Ada", "Write sm_89."),
        ("hopper", "Write sm_90 or sm_90a."),
    ],
)
def test_unknown_suggests_what_was_meant(text: str, suggestion: str) -> None:
    with pytest.raises(UnknownArch) as caught:
        parse_arch(text)
    assert repr(text) in caught.value.problem
    assert caught.value.fix is not None
    assert caught.value.fix.startswith(suggestion)
    assert all(f" {arch}" in caught.value.fix for arch in archs())


@pytest.mark.parametrize("text", ["", "H100", "gfx942", "native"])
def test_no_suggestion_is_better_than_a_wrong_one(text: str) -> None:
    with pytest.raises(UnknownArch) as caught:
        parse_arch(text)
    assert caught.value.fix is not None
    assert caught.value.fix.startswith('Write an architecture as "sm_80". Known: sm_75')


@given(st.text(max_size=12))
def test_any_other_text_is_refused_and_nothing_else_happens(text: str) -> None:
    try:
        arch = parse_arch(text)
    except FlashpathError:
        assert text not in [arch.name for arch in archs()]
    else:
        assert arch.name == text


@pytest.mark.parametrize(
    ("code", "device", "expected"),
    [
        ("sm_80", (8, 0), True),
        ("sm_80", (8, 6), True),
        ("sm_86", (8, 0), False),
        ("sm_80", (9, 0), False),
        ("sm_90", (8, 9), False),
        ("sm_90a", (9, 0), True),
        ("sm_100", (10, 3), True),
        ("sm_100a", (10, 3), False),
        ("sm_103", (10, 0), False),
        ("sm_120", (12, 1), True),
        ("sm_100", (12, 0), False),
    ],
)
def test_runs_on(code: str, device: tuple[int, int], expected: bool) -> None:
    assert runs_on(code, device) is expected
    assert runs_on(parse_arch(code), device) is expected


def test_runs_on_refuses_unknown_code() -> None:
    with pytest.raises(UnknownArch, match="sm_81"):
        runs_on("sm_81", (8, 0))
