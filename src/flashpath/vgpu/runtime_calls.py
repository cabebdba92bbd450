"""The calls of the CUDA runtime API that the virtual GPU's library has, as a section of docs/programs.md.

`python -m flashpath.vgpu.runtime_calls docs/programs.md` makes the section anew, from the library itself.
"""

from __future__ import annotations

import re
import struct
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from flashpath.documents import with_section
from flashpath.vgpu import runtime_library
from flashpath.vgpu.cubin import sections

SECTION = "calls"
_WIDTH = 118
_SYMBOL = struct.Struct("<IBBHQQ")
_PER_THREAD = re.compile(r"_pt(ds|sz)$")

# What a call is about, by the first pattern that its name matches.
_TOPICS = {
    "graphs": r"Graph|Capture",
    "errors": r"Error",
    "symbols": r"Symbol",
    "streams": r"cudaStream|HostFunc|StreamPriority|UpdateCapture",
    "events": r"cudaEvent",
    "pools of memory": r"MemPool|MallocAsync|FreeAsync|FromPool",
    "copies and fills": r"Memcpy|Memset",
    "memory": r"Malloc|Free|Host|MemGetInfo|MemAdvise|Prefetch|Pointer|MemRange|ChannelDesc",
    "launches and kernels": r"Launch|Func|Kernel|Occupancy",
    "several GPUs": r"Peer|P2P",
    "devices": r"Device|Version|Limit|Ctx|Profiler|Thread",
}


def available() -> list[str]:
    """The names of all calls that work, sorted; those for streams of a thread's own stand for the same."""
    library = runtime_library.folder() / f"lib{runtime_library.NAME}.so"
    found = dict(sections(library.read_bytes()))
    strings = found[".dynstr"]
    names: set[str] = set()
    for name, _, _, section, *_ in _SYMBOL.iter_unpack(found[".dynsym"]):
        text = strings[name : strings.index(0, name)].decode()
        if section and text.startswith("cuda"):
            names.add(_PER_THREAD.sub("", text))
    return sorted(names - set(runtime_library.unavailable()))


def by_topic() -> dict[str, list[str]]:
    """The calls that work, by what they are about."""
    topics: dict[str, list[str]] = {topic: [] for topic in _TOPICS}
    for name in available():
        topic = next((topic for topic, pattern in _TOPICS.items() if re.search(pattern, name)), "other")
        topics.setdefault(topic, []).append(name)
    return {topic: names for topic, names in topics.items() if names}


def section() -> str:
    """The section between the markers."""

    def rows() -> Iterator[str]:
        yield ""
        yield "| about | calls |"
        yield "|---|---|"
        for topic, names in by_topic().items():
            yield f"| {topic} | {' '.join(f'`{name}`' for name in names)} |"
        yield ""
        missing = " ".join(f"`{name}`" for name in runtime_library.unavailable())
        yield textwrap.fill(
            "Not there: a program that names one of these can be linked; called, it says so, and what to do "
            f"instead, and returns `cudaErrorNotSupported`: {missing}.",
            _WIDTH,
            break_on_hyphens=False,
        )
        yield ""
        yield ""

    return "\n".join(rows())


def main() -> None:
    """Write it into the documents that are named."""
    for name in sys.argv[1:]:
        document = Path(name)
        document.write_text(
            with_section(document.read_text(encoding="utf-8"), SECTION, section()), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
