"""Compilers set to work before a run, in several processes: from their caches the run itself starts at once.

A rung is compiled for its first call, for its portability once for every architecture. One process after the
other would take minutes for that; compilers keep what they made on disk, where the run finds it.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import suppress
from typing import Any

from flashpath.bench.failure import FAILURES
from flashpath.kernels import ladder as find_ladder
from flashpath.kernels.rung import Case, Ladder, Peer

Maker = Callable[[], Case]  # what another process makes a case by: it cannot be sent one


def warm(
    name: str,
    makers: Sequence[Maker],
    jobs: int,
    *,
    peers: Collection[str] = (),
    archs: Sequence[str] = (),
    on_done: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Compile the rungs of a ladder for these cases and architectures, and those of its peers that compile.

    What fails here fails again in the run, and is told there.
    """
    tasks: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
    ladder = find_ladder(name)
    rungs = [rung for rung in ladder if rung.language != "pytorch"]
    tasks += [(_run, (name, rung, make)) for rung, make in _calls(ladder, makers, peers)]
    tasks += [(_compile, (name, rung.name, arch)) for rung in rungs for arch in archs]
    if not tasks:
        return
    # Not forked: a GPU does not survive that.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context) as pool:
        futures: list[Future[None]] = [pool.submit(function, *given) for function, given in tasks]
        for done, future in enumerate(as_completed(futures), start=1):
            with suppress(*FAILURES):  # also where a process died, and took the pool with it
                future.result()
            on_done(done, len(futures))


def _calls(ladder: Ladder, makers: Iterable[Maker], peers: Collection[str]) -> list[tuple[str, Maker]]:
    """Returns, for each compiled rung, two cases of every kind it takes: the smallest, and a middle one."""
    made = sorted(((make(), make) for make in makers), key=lambda maker: maker[0].flops)
    takers = {rung.name: rung.declines for rung in ladder if rung.language != "pytorch"}
    for name, peer in ladder.peers("cuda").items() if peers else ():
        if name in peers:
            takers[name] = peer.declines if isinstance(peer, Peer) else None
    calls: list[tuple[str, Maker]] = []
    for name, declines in takers.items():
        kinds: dict[tuple[Any, ...], list[Maker]] = {}
        for case, make in made:
            if declines is None or declines(case) is None:
                kinds.setdefault(_kind(case), []).append(make)
        for alike in kinds.values():
            calls += [(name, maker) for maker in dict.fromkeys((alike[0], alike[len(alike) // 2]))]
    return calls


def _kind(case: Case) -> tuple[Any, ...]:
    """Returns what a case is beside its length."""
    return tuple((name, value) for name, value in case.parameters.items() if name != "sequence")


def _run(name: str, implementation: str, make: Maker) -> None:
    ladder, case = find_ladder(name), make()
    function: Any = {rung.name: rung.function for rung in ladder}.get(implementation)
    if function is None:
        peer = ladder.peers("cuda")[implementation]
        function = peer.function if isinstance(peer, Peer) else peer
    function(*case.inputs("cuda"))


def _compile(name: str, rung: str, arch: str) -> None:
    compile_for = find_ladder(name)[rung].compile_for
    if compile_for is not None:
        compile_for(arch)
