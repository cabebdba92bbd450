"""Which files a source includes, found by scanning: NVRTC writes no dependency file.

The scan looks at every `#include` and `__has_include`, also in branches the preprocessor will skip: it may
name a file too many, which at worst rebuilds a kernel, but never one too few.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_COMMENT_OR_LITERAL = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|(?P<literal>\b(?:u8|u|U|L)?R\"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)\""  # a raw string
    r"|\"(?:\\.|[^\"\\\n])*\""
    r"|(?:\bu8|(?<![0-9A-Fa-f]))'(?:\\.|[^'\\\n])+')",  # the quote in 1'000 starts no character
    re.DOTALL,
)
_INCLUDE = re.compile(
    r"^[^\S\n]*(?:#|%:)[^\S\n]*include(?:_next)?[^\S\n]*"
    r"(?:\"(?P<quoted>[^\"\n]+)\"|<(?P<angled>[^>\n]+)>|(?P<macro>\w+))",
    re.MULTILINE,
)
_HAS_INCLUDE = re.compile(
    r"__has_include(?:_next)?\s*\(\s*"
    r"(?:\"(?P<quoted>[^\"\n]+)\"|<(?P<angled>[^>\n]+)>|(?P<macro>\w+))"
)


def without_comments(text: str, keep_literals: bool = True) -> str:
    """The text with comments (and literals too, if asked) blanked; line breaks stay where they were."""

    def blank(match: re.Match[str]) -> str:
        if match["literal"] and keep_literals:
            return match["literal"]
        return re.sub(r"[^\n]", " ", match.group(0))

    return _COMMENT_OR_LITERAL.sub(blank, text)


class ScannedIncludes:
    """The files of the user and of the project behind a source, with the digest of each."""

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.by_macro: list[str] = []  # `#include NAME`: what it names cannot be known by scanning
        self.unread: list[str] = []  # files that are there, and may not be read

    @property
    def complete(self) -> bool:
        """Whether the digests stand for everything that the compiler will read of the user's."""
        return not self.by_macro and not self.unread


def scan_includes(text: str, folder: Path | None, include_folders: Sequence[Path]) -> ScannedIncludes:
    """Follow the includes of `text` recursively; what is found nowhere belongs to the toolkit."""
    result = ScannedIncludes()
    _scan(text, folder, include_folders, result)
    return result


def _scan(text: str, folder: Path | None, include_folders: Sequence[Path], result: ScannedIncludes) -> None:
    code = without_comments(re.sub(r"\\\r?\n", "", text))  # a backslash joins lines before all else
    for match in [*_INCLUDE.finditer(code), *_HAS_INCLUDE.finditer(code)]:
        groups = match.groupdict()
        if groups.get("macro"):
            result.by_macro.append(groups["macro"])
            continue
        near = [folder] if groups["quoted"] and folder else []
        found = _find(groups["quoted"] or groups["angled"], [*near, *include_folders])
        # Which of several files of that name #include_next takes depends on where it stands: all count.
        for path in found if "_next" in match.group() else found[:1]:
            if str(path) in result.digests:
                continue
            try:
                content = path.read_bytes()
            except OSError:  # the compiler will say so; until then nothing is kept of such a source
                result.unread.append(str(path))
                continue
            result.digests[str(path)] = hashlib.sha256(content).hexdigest()
            _scan(content.decode("utf-8", errors="replace"), path.parent, include_folders, result)


def _find(name: str, folders: Iterable[Path]) -> list[Path]:
    return [(folder / name).resolve() for folder in folders if (folder / name).is_file()]
