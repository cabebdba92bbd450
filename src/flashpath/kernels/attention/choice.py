"""What decides for a rung before its speed does: the GPU, the caller's wish, the languages of a score_mod."""

from __future__ import annotations

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.score_mod import ScoreMod
from flashpath.kernels.where import Where
from flashpath.messages import Message

BACKENDS = ("triton", "cuda")
LEAST = (8, 0)
ASKED = Message("kernels.asked")
VIRTUAL = Message("kernels.virtual-cuda")


def decided(
    operator: str, backend: str | None, mod: ScoreMod | None, where: Where
) -> tuple[str, Message] | None:
    """Returns (backend, why), or None where both may answer."""
    if backend is not None and backend not in BACKENDS:
        raise FlashpathError("kernels.no-backend", operator=operator, backend=f"{backend!r:.80}")
    if where.capability is not None and where.capability < LEAST:
        raise FlashpathError("kernels.gpu-too-old", operator=operator, gpu=where.name, arch=where.arch)
    if backend is not None:
        if mod is not None:
            mod.form(backend)  # refuses, where it has none
        return backend, ASKED
    if mod is not None and (mod.cuda is None or mod.triton is None):
        language = "triton" if mod.cuda is None else "cuda"
        mod.form(language)  # refuses, where it has neither
        return language, Message("kernels.only-language", {"name": repr(mod.name)})
    return None


def unmeasured(why: Message) -> Message:
    """Says that no measurement of the GPU is known, and what decided instead."""
    return Message("kernels.unmeasured", {"why": why})
