"""`resources.toml`: every book, paper, document, course and community that the tracks name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flashpath.course.content.table import Table, check_slug, parse
from flashpath.messages import Text

KINDS = ("book", "paper", "document", "course", "community", "repository", "talk", "tool")


@dataclass(frozen=True)
class Resource:
    key: str
    title: Text
    kind: str
    url: str | None = None
    by: str | None = None
    note: Text | None = None


@dataclass(frozen=True)
class ResourceUse:
    """A resource as a week names it: `cuda-guide:1-3` is chapters 1 to 3 of it."""

    key: str
    part: str | None = None

    def __str__(self) -> str:
        return f"{self.key}:{self.part}" if self.part else self.key


def load_resources(file: Path) -> dict[str, Resource]:
    """By key, in the order of the file: one table for each, `[cuda-guide]`."""
    if not file.exists():
        return {}
    whole = Table({"resources": parse(file)}, file)
    found: dict[str, Resource] = {}
    for key, table in whole.named_tables("resources"):
        table.path = key
        check_slug(table, "", key)
        url = table.maybe_string("url")
        if url is not None and not url.startswith(("https://", "http://")):
            table.wrong("url", "course.content.not-an-address", url=url)
        found[key] = Resource(
            key=key,
            title=table.text("title", one_for_both=True),
            kind=table.choice("kind", KINDS),
            url=url,
            by=table.maybe_string("by"),
            note=table.maybe_text("note"),
        )
    return found
