"""What decides for a rung before its speed does: the GPU, the caller's wish, the languages of a score_mod."""

from __future__ import annotations

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.score_mod import ScoreMod
from flashpath.kernels.where import Where

BACKENDS = ("triton", "cuda")
LEAST = (8, 0)
ASKED = "it was asked for"


def decided(operator: str, backend: str | None, mod: ScoreMod | None, where: Where) -> tuple[str, str] | None:
    """(backend, why), or None where both may answer."""
    if backend is not None and backend not in BACKENDS:
        raise FlashpathError(
            f"{operator} got backend={backend!r:.80}.",
            f"It knows {', '.join(BACKENDS)} and reference, or None for the fastest of them.",
        )
    if where.capability is not None and where.capability < LEAST:
        raise FlashpathError(
            f"{operator}'s kernels are for GPUs of sm_80 and newer; {where.name} is {where.arch}.",
            "Give backend='reference', which torch computes.",
        )
    if backend is not None:
        if mod is not None:
            mod.form(backend)  # refuses, where it has none
        return backend, ASKED
    if mod is not None and (mod.cuda is None or mod.triton is None):
        language = "triton" if mod.cuda is None else "cuda"
        mod.form(language)  # refuses, where it has neither
        return language, f"it is the only language that the score_mod {mod.name!r} is given in"
    return None
