"""Which files a source includes, found by scanning: NVRTC writes no dependency file.

The scan looks at every `#include` and `__has_include`, also in branches the preprocessor will skip: it may
name a file too many, which at worst rebuilds a kernel, but never one too few.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\")", re.DOTALL)
_INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:\"(?P<quoted>[^\"\n]+)\"|<(?P<angled>[^>\n]+)>|(?P<macro>\w+))",
    re.MULTILINE,
)
_HAS_INCLUDE = re.compile(r"__has_include\s*\(\s*(?:\"(?P<quoted>[^\"\n]+)\"|<(?P<angled>[^>\n]+)>)")


def without_comments(text: str) -> str:
    """The text with comments blanked and string literals kept; line breaks stay where they were."""

    def blank(match: re.Match[str]) -> str:
        return match.group(1) or re.sub(r"[^\n]", " ", match.group(0))

    return _COMMENT.sub(blank, text)


class ScannedIncludes:
    """The files of the user and of the project behind a source, with the digest of each."""

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.by_macro: list[str] = []  # `#include NAME`: what it names cannot be known by scanning

    @property
    def complete(self) -> bool:
        """Whether the digests stand for everything that the compiler will read of the user's."""
        return not self.by_macro


def scan_includes(text: str, folder: Path | None, include_folders: Sequence[Path]) -> ScannedIncludes:
    """Follow the includes of `text` recursively; what is found nowhere belongs to the toolkit."""
    result = ScannedIncludes()
    _scan(text, folder, include_folders, result)
    return result


def _scan(text: str, folder: Path | None, include_folders: Sequence[Path], result: ScannedIncludes) -> None:
    code = without_comments(text)
    for match in [*_INCLUDE.finditer(code), *_HAS_INCLUDE.finditer(code)]:
        groups = match.groupdict()
        if groups.get("macro"):
            result.by_macro.append(groups["macro"])
            continue
        near = [folder] if groups["quoted"] and folder else []
        path = _find(groups["quoted"] or groups["angled"], [*near, *include_folders])
        if path is None or str(path) in result.digests:
            continue
        content = path.read_bytes()
        result.digests[str(path)] = hashlib.sha256(content).hexdigest()
        _scan(content.decode("utf-8", errors="replace"), path.parent, include_folders, result)


def _find(name: str, folders: Iterable[Path]) -> Path | None:
    for folder in folders:
        if (folder / name).is_file():
            return (folder / name).resolve()
    return None
