"""The learner's clone of another project's repository, which guided readings are checked against.

Nothing of a clone is executed, and git is not asked: files inside of it are read as text, up to a size. The
readings are graded without a clone too; with one, the verdict says where it differs from what the answers
rest on.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from flashpath import settings
from flashpath.course.content.exercise import Upstream
from flashpath.messages import Text

FOLDERS = Text("upstream", "上游源码")  # of a work folder: where clones lie
_MOST_BYTES = 1 << 20  # of a file that is searched
_MOST_REFS = 8 << 20  # of packed-refs
_MOST_TAGS = 4096
_MOST_PLACES = 64  # where a name occurs, and might be defined
_LONGEST_HEAD = 4000  # characters from a function's name to its body
_LONGEST_BODY = 200_000

_WORD = re.compile(r"[A-Za-z_]\w*")
_HASH = re.compile(r"[0-9a-f]{40}")
_REF = re.compile(r"refs/[\w./+-]{1,200}")
# Comments, and the texts in quotes that hide what looks like one. Each ends at the file's end at the latest.
_C_COMMENTS = re.compile(
    r'(?P<text>"(?:\\.|[^"\\\n])*+")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL
)  # no single quotes: digits have them, too
_PYTHON_COMMENTS = re.compile(
    r'(?P<text>"""(?:\\.|[^\\])*?(?:"""|\Z)|"(?:\\.|[^"\\\n])*+"|\'(?:\\.|[^\'\\\n])*+\')|#[^\n]*', re.DOTALL
)

_NO_MARKS = {ord(mark): " " for mark in "(){};"}  # in quotes they open and close nothing


@dataclass(frozen=True)
class Clone:
    """A clone that was found, the commit that it has checked out, and a tag of that commit, if known."""

    root: Path
    commit: str | None
    tag: str | None

    @property
    def version(self) -> str | None:
        """The tag, or how the commit begins."""
        return self.tag or (self.commit[:7] if self.commit else None)


# ---- Where it lies -------------------------------------------------------------------------------------


def place_in(work_folder: Path | None, upstream: Upstream, lang: str) -> str:
    """Returns where a clone is to be put, as one types it in the work folder, or anywhere."""
    return f"{FOLDERS.in_(lang)}/{upstream.name}" if work_folder is not None else upstream.name


def find_clone(upstream: Upstream, work_folder: Path | None) -> Clone | None:
    """The first folder that looks like a clone of it."""
    for place in _places(upstream.name, work_folder):
        try:
            if place.is_dir() and ((place / ".git").exists() or (place / upstream.path).is_file()):
                root = place.resolve()
                commit = _checked_out(root)
                return Clone(root, commit, _tag_of(root, commit) if commit else None)
        except OSError:
            continue
    return None


def _places(name: str, work_folder: Path | None) -> Iterator[Path]:
    named = settings.UPSTREAM.value
    if named is not None:
        folder = settings.expanded(named)
        yield from (folder / name, folder)
        return  # what is named is meant
    if work_folder is not None:
        yield from (work_folder / FOLDERS.en / name, work_folder / FOLDERS.zh / name, work_folder / name)
        yield work_folder.parent / name


# ---- Which version it is -------------------------------------------------------------------------------


def _checked_out(root: Path) -> str | None:
    """The commit of HEAD, as its files say; None where they do not."""
    folders = _git_folders(root)
    head = (_text(folders[0] / "HEAD", _MOST_BYTES) or "").strip() if folders else ""
    if head.startswith("ref:"):
        name = head[4:].strip()
        if not _REF.fullmatch(name) or ".." in name:
            return None
        loose = (_text(folder / name, _MOST_BYTES) for folder in folders)
        head = next((text.strip() for text in loose if text), "") or _packed(folders).get(name, "")
    return head if _HASH.fullmatch(head) else None


def _git_folders(root: Path) -> list[Path]:
    """The repository's folder, and the one that it shares where it is a worktree."""
    git = root / ".git"
    if git.is_file():
        said = (_text(git, _MOST_BYTES) or "").strip()
        if not said.startswith("gitdir:"):
            return []
        git = root / said[7:].strip()
    shared = (_text(git / "commondir", _MOST_BYTES) or "").strip()
    return [git, git / shared] if shared else [git]


def _packed(folders: list[Path]) -> dict[str, str]:
    """Each packed reference with its commit: of an annotated tag the one that it names."""
    found: dict[str, str] = {}
    for folder in folders:
        last = None
        for line in (_text(folder / "packed-refs", _MOST_REFS) or "").splitlines():
            if line.startswith("^") and last is not None:
                found[last] = line[1:].strip()
            elif not line.startswith("#"):
                commit, _, last = line.partition(" ")
                found[last] = commit
    return found


def _tag_of(root: Path, commit: str) -> str | None:
    """The name of a tag of the commit; annotated tags are known where they are packed."""
    folders = _git_folders(root)
    for name, packed in _packed(folders).items():
        if packed == commit and name.startswith("refs/tags/"):
            return name.removeprefix("refs/tags/")
    for folder in folders:
        tags = folder / "refs" / "tags"
        if not tags.is_dir():
            continue
        with os.scandir(tags) as entries:
            for _, entry in zip(range(_MOST_TAGS), entries, strict=False):
                if entry.is_file() and (_text(Path(entry.path), _MOST_BYTES) or "").strip() == commit:
                    return entry.name
    return None


# ---- What is in a file ---------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _read_as(path: Path, changed: int, size: int) -> str | None:
    del changed, size
    return _text(path, _MOST_BYTES)


def text_of(clone: Clone, path: str) -> str | None:
    """A file of the clone as text; None where there is none, or none that is read."""
    file = (clone.root / path).resolve()
    if not file.is_relative_to(clone.root):
        return None
    try:
        now = file.stat()
    except OSError:
        return None
    return _read_as(file, now.st_mtime_ns, now.st_size)


def _text(path: Path, most: int) -> str | None:
    """The text of a plain file that is not too large."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as opened:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = opened.read(most + 1)
    except (OSError, ValueError):
        return None
    return data.decode("utf-8", "replace") if len(data) <= most else None


def has_name(text: str, function: str) -> bool:
    """Whether the last name of `function` (`A::b`: b) is a word of the text."""
    names = _WORD.findall(function)
    return bool(names) and re.search(rf"\b{names[-1]}\b", text) is not None


def has_text(text: str, function: str, held: str, *, python: bool) -> bool:
    """Whether `held` is in what `function` is defined as, blanks and comments left out.

    A name that is defined nowhere, such as a field's, stands in its struct (`A::b`), else in the whole text.
    """
    comments = _PYTHON_COMMENTS if python else _C_COMMENTS
    code = comments.sub(lambda match: (match["text"] or " ").translate(_NO_MARKS), text)
    for name in reversed(_WORD.findall(function)):
        bodies = list(_python_bodies(code, name) if python else _c_bodies(code, name))
        if bodies:
            break
    else:
        bodies = [code]
    wanted = _squeezed(held)
    return any(wanted in _squeezed(body) for body in bodies)


def _squeezed(text: str) -> str:
    return "".join(text.replace("\\\n", "").split())


def _c_bodies(code: str, name: str) -> Iterator[str]:
    """Each definition of a function, struct or macro, its template parameters included."""
    for _, place in zip(range(_MOST_PLACES), re.finditer(rf"\b{name}\b", code), strict=False):
        before = code[max(0, place.start() - _LONGEST_HEAD) : place.start()]
        begin = place.start() - len(before) + max(before.rfind(mark) for mark in ";{}") + 1
        before = before.rstrip()
        is_initializer = before.endswith((",", ":")) and not before.endswith("::")
        opened = None if is_initializer else _opening(code, place.end())
        if opened is None:
            continue
        depth = 0
        for brace in re.finditer(r"[{}]", code[opened : opened + _LONGEST_BODY]):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                yield code[begin : opened + brace.end()]
                break


def _opening(code: str, start: int) -> int | None:
    """Where the body begins whose head goes on at `start`; None where that is no head of a definition."""
    depth, lists = 0, False  # of bases or initializers, after a colon
    for mark in re.finditer(r"::|[(){};:,]", code[start : start + _LONGEST_HEAD]):
        if mark[0] == "(":
            depth += 1
        elif mark[0] == ")":
            depth -= 1
            if depth < 0:
                return None
        elif depth == 0 and mark[0] == ":":
            lists = True
        elif depth == 0 and (mark[0] in "{;" or (mark[0] == "," and not lists)):
            return start + mark.start() if mark[0] == "{" else None
    return None


def _python_bodies(code: str, name: str) -> Iterator[str]:
    """Each definition of a function or class, up to the next line that is indented no deeper."""
    lines = code.splitlines(keepends=True)
    for number, line in enumerate(lines):
        head = re.match(rf"(\s*)(?:def|class) {name}\b", line)
        if head is None:
            continue
        body = [line]
        for each in lines[number + 1 :]:
            bare = each.strip()
            if bare and not bare.startswith(")") and len(each) - len(each.lstrip()) <= len(head[1]):
                break
            body.append(each)
        yield "".join(body)
