"""What the course's files name outside them: rungs of ladders, programs, files of the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashpath import settings
from flashpath.errors import FlashpathError

if TYPE_CHECKING:
    from flashpath.kernels.rung import Rung


def rung(name: str) -> Rung:
    """`reduction/shuffle`; loading a ladder loads its host code, so nothing asks for it before it must."""
    from flashpath import kernels

    ladder, slash, of_it = name.partition("/")
    if not slash or not of_it:
        raise FlashpathError("course.content.not-a-rung", name=name)
    return kernels.ladder(ladder)[of_it]


def program_file(name: str) -> Path | None:
    """`cuda/01_hello_cuda.cu`; None where there is none."""
    return _inside(settings.content_dir("programs"), name)


def experiment_file(unit: Path, name: str) -> Path | None:
    """`tiles.py` in the experiments of a unit's folder; None where there is none."""
    return _inside(unit / "experiments", name)


def counterpart_file(name: str) -> Path | None:
    """A file of the package (`kernels/…`), or a program (`programs/…`); None where there is none."""
    first, _, rest = name.partition("/")
    if first == "programs":
        return program_file(rest)
    return _inside(Path(settings.__file__).parent, name)


def _inside(folder: Path, name: str) -> Path | None:
    file = (folder / name).resolve()
    return file if file.is_file() and file.is_relative_to(folder.resolve()) else None
