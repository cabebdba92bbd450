"""`fp.export`: a kernel, or a rung of a ladder, as a library with one TVM-FFI function.

What a rung's host function decides is not written again: it is followed, once for each kind of call that
the library is to take (`recording.py`). So the library does what the rung does wherever its guards hold, and
says so elsewhere.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashpath.errors import FlashpathError
from flashpath.gpus import parse_arch
from flashpath.jit import Kernel
from flashpath.jit.export.building import build
from flashpath.jit.export.description import describe
from flashpath.jit.export.library import Function, Variant
from flashpath.jit.export.writing import about
from flashpath.kernels.recording import Recording
from flashpath.kernels.rung import Rung

ARCHITECTURES = ("sm_80", "sm_90")
MOST_VARIANTS = 64


@dataclass(frozen=True)
class Exported:
    """A library that was written: where it is, and what its function takes and does."""

    path: Path
    name: str
    signature: str
    architectures: tuple[str, ...]
    variants: int
    about: str  # which variants there are; the library itself says it too

    def __fspath__(self) -> str:
        return str(self.path)


def export(
    what: Kernel | Sequence[Kernel] | Rung,
    path: str | Path,
    signature: str | Sequence[str],
    launch: str | None = None,
    *,
    name: str | None = None,
    requires: Sequence[str] = (),
    sizes: Mapping[str, Sequence[int | str]] | None = None,
    arch: Sequence[str] = ARCHITECTURES,
) -> Exported:
    """Writes a shared library: one function that TVM-FFI can call, and the kernels' code for several GPUs.

    Of a kernel, or of the same kernel compiled for several architectures:

        fp.export(saxpy, "saxpy.so", "a: float, x: float32[n], y: float32[n]",
                  "<<<cdiv(n, 256), 256>>>(n, a, x, y)")

    The signature names the function's arguments: tensors by type and extents, numbers as int or float. The
    launch is written as in CUDA. `requires` are further comparisons that have to hold, such as "n % 4 == 0".

    Of a rung, whose host function decides the launch:

        fp.export(fp.kernels.ladder("softmax")["resident"], "softmax.so",
                  "x: float32[64, n], out: float32[64, n]", sizes={"n": [128, 1000, 4096]})

    A signature then has numbers for extents. The rung is asked what it does for each combination of the
    sizes, and for each signature where there are several; the library takes every call for which the rung
    would do the same, so most extents are free. Options of the rung, `eps=1e-6`, are fixed in the library.

    The function is called `name`, by default as the file is. It returns nothing: outputs are arguments.
    """
    function = name or Path(path).name.partition(".")[0]
    if not re.fullmatch(r"[A-Za-z_]\w*", function, re.ASCII):
        raise FlashpathError("kernels.export-name", name=function)
    if isinstance(what, Rung):
        if launch is not None or requires:
            raise FlashpathError("kernels.export-launch-of-rung", rung=what.name)
        texts = [signature] if isinstance(signature, str) else list(signature)
        variants = variants_of(what, [each for text in texts for each in _sized(text, sizes or {})], arch)
    else:
        if launch is None or not isinstance(signature, str) or sizes:
            raise FlashpathError("kernels.export-launch-of-kernel")
        kernels = [what] if isinstance(what, Kernel) else list(what)
        _require_same(kernels)
        variants = (describe(kernels, signature, launch, requires),)
    made = Function(function, variants, about(function, variants))
    return Exported(
        build(made, path), function, made.signature, made.architectures, len(variants), made.about
    )


def _require_same(kernels: Sequence[Kernel]) -> None:
    """Checks that all are the same kernel, each for another architecture."""
    if not kernels or not all(isinstance(each, Kernel) for each in kernels):
        raise FlashpathError("kernels.export-no-kernel", value=repr(kernels))
    architectures = [each.arch for each in kernels]
    same = {(each.lowered, str(each.signature)) for each in kernels}
    if len(same) != 1 or len(set(architectures)) != len(architectures):
        raise FlashpathError(
            "kernels.export-unlike", names=[f"{each.name} ({each.arch})" for each in kernels]
        )


def _sized(text: str, sizes: Mapping[str, Sequence[int | str]]) -> Iterator[str]:
    """The signature with each combination of sizes in the place of their names."""
    for values in itertools.product(*sizes.values()):
        sized = text
        for name, value in zip(sizes, values, strict=True):
            sized = re.sub(rf"\b{re.escape(name)}\b(?!\s*[:=])", str(value), sized)
        yield sized


# ---- Rungs -----------------------------------------------------------------------------------------------


def variants_of(rung: Rung, signatures: Sequence[str], architectures: Sequence[str]) -> tuple[Variant, ...]:
    """Returns what the rung does for these signatures: a variant for each that no other covers."""
    if rung.language != "cuda":
        raise FlashpathError("kernels.export-language", rung=rung.name, language=rung.language)
    if rung.arch != "any":
        least = parse_arch(rung.arch)
        for each in map(parse_arch, architectures):
            if (each.major, each.minor) < (least.major, least.minor):
                raise FlashpathError("kernels.export-arch", rung=rung.name, least=rung.arch, arch=each.name)
    variants: list[Variant] = []
    for signature in signatures:
        recorded = Recording(rung, signature, tuple(architectures))
        if variants and [each.name for each in recorded.arguments] != [
            each.name for each in variants[0].arguments
        ]:
            raise FlashpathError("kernels.export-other-arguments", signature=signature)
        if not any(map(recorded.is_covered_by, variants)):
            variants.append(recorded.variant())
        if len(variants) > MOST_VARIANTS:
            raise FlashpathError("kernels.export-many", most=MOST_VARIANTS)
    if not variants:
        raise FlashpathError("kernels.export-no-signature")
    return tuple(variants)
