"""What `importlib.metadata` finds of flash_attn once flashpath stands in its place.

Programs ask for the version of a distribution before they take its functions. There is no such distribution:
this one has a name, the version whose interface it is, and a summary that says so; it has no files.
"""

import re
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "flash_attn"
_EVERYTHING = metadata.DistributionFinder.Context()


class Standing(metadata.Distribution):
    """The distribution that stands in flash_attn's place."""

    def __init__(self, version: str) -> None:
        self._texts = {
            "METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n"
            "Summary: flash-attn's interface on flashpath's kernels; not flash-attn itself\n",
            "top_level.txt": f"{NAME}\n",
        }

    def read_text(self, filename: Any) -> str | None:
        return self._texts.get(str(filename))

    def locate_file(self, path: Any) -> Any:
        return Path(__file__).parent / "flash_attn" / path


class Finder(metadata.DistributionFinder):
    """Finds distributions, and no modules."""

    def __init__(self, version: str) -> None:
        self._found = Standing(version)

    def find_spec(self, *_: Any) -> None:
        return None

    def find_distributions(
        self, context: metadata.DistributionFinder.Context = _EVERYTHING
    ) -> Iterable[metadata.Distribution]:
        wanted = context.name
        is_it = wanted is None or re.sub(r"[-_.]+", "_", wanted).lower() == NAME
        return [self._found] if is_it else []


def install(version: str) -> None:
    """Puts the finder in front of all others, once."""
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, Finder(version))
