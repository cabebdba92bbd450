"""Where the notes of a work folder lie, and which of them are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashpath.course.learner.note_templates import is_written

if TYPE_CHECKING:
    from flashpath.course.workspace import Workspace

_DOCTOR = "`flashpath doctor`"  # the note on the environment is written by it
_FOLDERS = {"en": "notes", "zh": "笔记"}
EXPORT_MARK = ".flashpath-export"
"""The file that marks a folder as an export: what lies in it are copies."""


def place_of(workspace: Workspace, name: str) -> Path:
    """The file of a note: as flashpath.toml says, or one of that name among the notes, there or new."""
    if name in workspace.notes():
        return workspace.notes()[name]
    for folder in _folders(workspace.root):
        if (folder / f"{name}.md").exists():
            return folder / f"{name}.md"
    return workspace.root / _FOLDERS[workspace.lang] / f"{name}.md"


def list_notes(workspace: Workspace) -> list[tuple[Path, bool]]:
    """Every note that is there, and whether somebody wrote in it."""
    files = set(workspace.notes().values())
    files |= {file for folder in _folders(workspace.root) for file in folder.rglob("*.md")}
    files = {file for file in files if not _is_exported(file, workspace.root)}
    return [(file, _is_written(file)) for file in sorted(files) if file.is_file()]


def written_notes(workspace: Workspace) -> frozenset[str]:
    """Returns the names of the notes that are written, as tasks of a track name them."""
    listed = workspace.notes()
    names = {name for name, file in listed.items() if _is_written(file)}
    known = set(listed.values())
    names |= {file.stem for file, written in list_notes(workspace) if written and file not in known}
    return frozenset(names)


def _folders(root: Path) -> list[Path]:
    """Returns the folders of notes: the work folder's own, and those of its weeks."""
    return [
        folder
        for name in _FOLDERS.values()
        for folder in (root / name, *root.glob(f"*/{name}"))
        if folder.is_dir()
    ]


def _is_written(file: Path) -> bool:
    try:
        text = file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return False
    return is_written(text) or _DOCTOR in text


def _is_exported(file: Path, root: Path) -> bool:
    """Whether the file lies in an export, which may be in the middle of being written."""
    folders = (folder for folder in file.parents if folder.is_relative_to(root))
    return any((folder / EXPORT_MARK).exists() for folder in folders)
