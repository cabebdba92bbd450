"""A ladder's rungs, its peers and a learner's own functions, compared on the ladder's cases."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence

from flashpath.bench.ceilings import Ceilings
from flashpath.bench.compare import Results, compare
from flashpath.bench.device import load_torch, resolve_device
from flashpath.bench.implementation import Implementation, Implementations
from flashpath.bench.record import Record
from flashpath.bench.timer import Timer
from flashpath.errors import FlashpathError
from flashpath.kernels.rung import Case, Ladder, Rung
from flashpath.messages import Message, told

_CASES_SHOWN = 5
ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a")


def bench_ladder(
    ladder: Ladder,
    *,
    cases: Sequence[Case | str] | None = None,
    extra: Implementations | None = None,
    device: str | None = None,
    only: Sequence[str] | None = None,
    peers: Sequence[str] | None = None,
    with_portability: bool = True,
    ceilings: bool | Ceilings = True,
    seconds: float = 0.5,
    progress: bool = True,
    on_record: Callable[[Record], None] | None = None,
    timer: Timer | None = None,
    eager: bool | Timer = False,
) -> Results:
    """Compare the rungs of a ladder, its peers and `extra` functions.

    `cases` are cases or names of the ladder's own; `only` names the rungs to run, `peers` those of the other
    libraries. A rung that cannot run on this device is skipped: recorded with the reason in place of a time.
    `with_portability` compiles every rung for every architecture, to say which it is for.
    """
    check_arguments(ladder, cases, extra, only)
    if isinstance(peers, str):
        raise FlashpathError("bench.wants-list", option="peers", given=repr(peers))
    device = resolve_device(device)
    capability = gpu_capability() if device == "cuda" else None
    chosen = [ladder[name] for name in only] if only is not None else list(ladder.rungs)
    chosen_cases = choose_cases(ladder, cases)  # before rungs are compiled: a wrong name is told at once
    return compare(
        {rung.name: as_implementation(rung, capability, with_portability) for rung in chosen}
        | dict(extra or {}),
        chosen_cases,
        device=device,
        peers=choose_peers(ladder, device, peers),
        check=ladder.check,
        truth=ladder.truth,
        ceilings=ceilings,
        seconds=seconds,
        progress=progress,
        on_record=on_record,
        ladder=ladder.name,
        timer=timer,
        eager=eager,
    )


def check_arguments(ladder: object, cases: object, extra: object, only: object) -> None:
    """Refuses what a caller gives in another shape: a name for a ladder, a word for a list."""
    if not isinstance(ladder, Ladder):
        raise FlashpathError("bench.not-a-ladder", given=repr(ladder))
    for option, given in (("only", only), ("cases", cases)):
        if isinstance(given, (str, Case)):
            shown = f"{given!r}" if isinstance(given, str) else "case"
            raise FlashpathError("bench.wants-list", option=option, given=shown)
    if extra is not None and not isinstance(extra, Mapping):
        raise FlashpathError("bench.extra-unnamed", kind=type(extra).__name__)


def choose_peers(ladder: Ladder, device: str, names: Sequence[str] | None) -> Implementations:
    peers = ladder.peers(device)
    if names is None:
        return peers
    if unknown := [name for name in names if name not in peers]:
        raise FlashpathError(
            "bench.no-peer", ladder=ladder.name, peer=unknown[0], names=list(peers) or Message("bench.none")
        )
    return {name: peers[name] for name in names}


def as_implementation(rung: Rung, capability: int | None, with_portability: bool = True) -> Implementation:
    """A rung as an implementation; `capability` is that of the GPU (90 for sm_90), None on the CPU."""
    return Implementation(
        rung.function,
        language=rung.language,
        file=rung.file,
        dev_hours=rung.dev_hours,
        readability=rung.score("readability"),
        debugging=rung.score("debugging"),
        portability=portability(rung) if with_portability else None,
        obstacle=why_not(rung, capability),
        declines=rung.declines,
    )


def why_not(rung: Rung, capability: int | None) -> Message | None:
    """Why the rung cannot be timed on this device, if it cannot."""
    parts = re.fullmatch(r"sm_(\d+)([af]?)", rung.arch)
    if capability is None:
        if rung.language == "pytorch":
            return None
        if parts is None:
            return told("bench.needs-gpu")
        return told("bench.needs-arch-alone" if parts[2] else "bench.needs-arch", arch=rung.arch)
    if parts is None:  # "any"
        return None
    needed, suffix = int(parts[1]), parts[2]
    # sm_90a is of one chip alone, sm_100f of one family; without a letter, newer chips run older code.
    fits = {
        "": capability >= needed,
        "a": capability == needed,
        "f": capability >= needed and capability // 10 == needed // 10,
    }
    return None if fits[suffix] else told("bench.wrong-arch", arch=rung.arch, capability=capability)


def portability(rung: Rung) -> list[str] | None:
    """The architectures that the rung compiles for; None where there is no way to try."""
    if rung.compile_for is None:
        return ["any"] if rung.language == "pytorch" else None
    compiles: list[str] = []
    for arch in ARCHITECTURES:
        try:
            rung.compile_for(arch)
        except Exception:
            continue  # that it does not compile is the answer
        compiles.append(arch)
    return compiles


def choose_cases(ladder: Ladder, given: Sequence[Case | str] | None) -> Sequence[Case]:
    own: Mapping[str, Case] = {case.name: case for case in ladder.cases()}
    if given is None:
        return list(own.values())
    chosen: list[Case] = []
    for case in given:
        if isinstance(case, Case):
            chosen.append(case)
        elif case in own:
            if own[case] not in chosen:  # named twice, timed once
                chosen.append(own[case])
        else:
            raise FlashpathError(
                "bench.no-case",
                ladder=ladder.name,
                case=case,
                near=_shown_cases(str(case), list(own)),
                count=len(own),
            )
    return chosen


def _shown_cases(given: str, names: Sequence[str]) -> Message:
    """A few, each on a line, those first that are most like what was wanted; and how to see all."""
    words = given.split()
    near = [name for name in names if words and all(word in name.split() for word in words)]
    near += [name for name in difflib.get_close_matches(given, names, _CASES_SHOWN) if name not in near]
    if len(near) == 1:
        return Message("bench.case-near", {"name": near[0]})
    shown = (near or names)[:_CASES_SHOWN]
    lines = {"lines": "".join(f"\n      {name}" for name in shown)}
    if near:
        return Message("bench.cases-nearest", lines)
    return Message("bench.cases-first" if len(names) > len(shown) else "bench.cases-all", lines)


def gpu_capability() -> int:
    major, minor = load_torch().cuda.get_device_capability()
    return int(major) * 10 + int(minor)
