"""What decides for a rung before its speed does: the caller's wish, and the languages of a score_mod."""

from __future__ import annotations

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.score_mod import ScoreMod

BACKENDS = ("triton", "cuda")


def decided(operator: str, backend: str | None, mod: ScoreMod | None) -> tuple[str, str] | None:
    """(backend, why), or None where both may answer."""
    if backend is not None:
        if backend not in BACKENDS:
            raise FlashpathError(
                f"{operator} got backend={backend!r:.80}.",
                f"It knows {', '.join(BACKENDS)} and reference, or None for the fastest of them.",
            )
        return backend, "it was asked for"
    if mod is not None and (mod.cuda is None or mod.triton is None):
        language = "triton" if mod.cuda is None else "cuda"
        mod.form(language)  # refuses, where it has neither
        return language, f"it is the only language that the score_mod {mod.name!r} is given in"
    return None
