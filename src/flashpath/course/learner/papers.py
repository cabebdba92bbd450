"""Papers are their authors' and are not shipped: where there is a network, a work folder can fetch them."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashpath.course.workspace.first_week import PAPER_FILES, PAPERS
from flashpath.errors import FlashpathError
from flashpath.messages import Message

if TYPE_CHECKING:
    from flashpath.course.content import Resource
    from flashpath.course.workspace import Workspace

_SECONDS = 30.0  # without a byte
_LARGEST = 64 * 2**20  # bytes
_PIECE = 2**16
_ARXIV = re.compile(r"https://arxiv\.org/abs/(\S+)")


@dataclass(frozen=True)
class Fetched:
    """A paper that lies in the work folder now, or why it does not."""

    key: str
    path: Path
    was_there: bool = False
    problem: FlashpathError | None = None


def address_of(resource: Resource) -> str | None:
    """Returns where the PDF of a paper is; None where only a page about it is known."""
    found = _ARXIV.fullmatch(resource.url or "")
    return f"https://arxiv.org/pdf/{found[1]}" if found else None


def fetch_papers(workspace: Workspace, papers: Iterable[Resource]) -> list[Fetched]:
    """Saves each paper that has an address; one that is there already is left as it is."""
    fetched: list[Fetched] = []
    for paper in papers:
        address, path = address_of(paper), place_of(workspace, paper.key)
        if address is None:
            continue
        if path.exists():
            fetched.append(Fetched(paper.key, path, was_there=True))
            continue
        try:
            _save(address, path)
            fetched.append(Fetched(paper.key, path))
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            problem = FlashpathError(
                "course.paper-not-fetched", title=paper.title.in_(workspace.lang), why=str(why), url=paper.url
            )
            fetched.append(Fetched(paper.key, path, problem=problem))
    return fetched


def place_of(workspace: Workspace, key: str) -> Path:
    """In the folder of papers that the work folder has, else in one of its own."""
    name = PAPERS.in_(workspace.lang)
    folder = next(iter(sorted(workspace.root.glob(f"*/{name}"))), workspace.root / name)
    named = PAPER_FILES.get(key)
    return folder / (named.in_(workspace.lang) if named is not None else f"{key}.pdf")


def _save(address: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    request = urllib.request.Request(address, headers={"User-Agent": "flashpath"})
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file, urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            size = 0
            while piece := answer.read(_PIECE):
                if size == 0 and not piece.startswith(b"%PDF"):
                    raise ValueError(Message("course.paper-is-no-pdf").text())
                size += len(piece)
                if size > _LARGEST:
                    raise ValueError(Message("course.paper-too-large", {"most": _LARGEST >> 20}).text())
                file.write(piece)
            if size < int(answer.headers.get("Content-Length") or 1):
                raise ValueError(Message("course.paper-cut-short", {"bytes": size}).text())
        Path(partial).replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            Path(partial).unlink()
