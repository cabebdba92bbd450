"""No family of kernels takes a file of another: what several use stands on neutral ground."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import flashpath.kernels

KERNELS = Path(flashpath.kernels.__file__).parent
ATTENTION = KERNELS / "attention"
NEUTRAL = (KERNELS / "common", ATTENTION / "device")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def family(path: Path) -> Path:
    """Returns the folder of the family that a file belongs to; of neutral ground, the neutral folder."""
    for folder in NEUTRAL:
        if folder in path.parents:
            return folder
    top = ATTENTION if ATTENTION in path.parents else KERNELS
    parts = path.relative_to(top).parts
    return top / parts[0] if len(parts) > 1 else top


def may_take(user: Path, used: Path) -> bool:
    """Whether a file of family `user` may take one of family `used`: its own, neutral, or a folder above."""
    return used == user or used in NEUTRAL or used in user.parents


def _included(file: Path) -> list[Path]:
    return [(file.parent / name).resolve() for name in INCLUDE.findall(file.read_text(encoding="utf-8"))]


def _imported(file: Path) -> list[Path]:
    """Returns the files of modules under `flashpath.kernels` that a file imports, at its top or later."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module)):
                names += [f"{module}.{alias.name}" for alias in node.names]
            case ast.Import():
                names += [alias.name for alias in node.names]
            case ast.Constant(value=str(text)) if re.fullmatch(r"flashpath\.kernels\.[\w.]+", text):
                names.append(text)
            case _:
                pass
    files: list[Path] = []
    for name in names:
        if name.startswith("flashpath.kernels."):
            path = KERNELS.joinpath(*name.split(".")[2:])
            while not (path.is_dir() or path.with_suffix(".py").is_file()):
                path = path.parent
            files.append(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
    return files


def test_no_family_takes_a_file_of_another() -> None:
    crossings: list[str] = []
    for file in sorted(KERNELS.rglob("*")):
        if file.suffix in (".cu", ".cuh"):
            taken = _included(file)
            assert all(other.is_file() for other in taken), file
        elif file.suffix == ".py":
            taken = _imported(file)
        else:
            continue
        user = family(file)
        if user in (KERNELS, ATTENTION):
            continue  # what stands above families, such as the ladder of attention, brings them together
        crossings += [
            f"{file.relative_to(KERNELS)} takes {other.relative_to(KERNELS)}"
            for other in taken
            if not may_take(user, family(other))
        ]
    assert not crossings, "\n".join(crossings)


def test_neutral_ground_takes_nothing_of_families() -> None:
    """Neutral ground of all families does not lean on attention's either."""
    for file in (KERNELS / "common").rglob("*.cu*"):
        assert all(KERNELS / "common" in other.parents for other in _included(file)), file
