"""The calls of the CUDA runtime API that the virtual GPU's library has, as a section of docs/programs.md.

`python -m flashpath.vgpu.runtime_calls docs/programs.md docs/programs.zh.md` makes the section anew, from the
library itself.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from flashpath.documents import wrapped, write_section
from flashpath.messages import say
from flashpath.vgpu import runtime_library
from flashpath.vgpu.cubin import sections, symbols

SECTION = "calls"
_PER_THREAD = re.compile(r"_pt(ds|sz)$")

# The message that says what a call is about, by the first pattern that its name matches.
_TOPICS = {
    "vgpu.calls-driver": r"DriverEntryPoint",
    "vgpu.calls-graphs": r"Graph|Capture",
    "vgpu.calls-errors": r"Error",
    "vgpu.calls-symbols": r"Symbol",
    "vgpu.calls-streams": r"cudaStream|HostFunc|StreamPriority|UpdateCapture",
    "vgpu.calls-events": r"cudaEvent",
    "vgpu.calls-pools": r"MemPool|MallocAsync|FreeAsync|FromPool",
    "vgpu.calls-copies": r"Memcpy|Memset",
    "vgpu.calls-memory": r"Malloc|Free|Host|MemGetInfo|MemAdvise|Prefetch|Pointer|MemRange|ChannelDesc",
    "vgpu.calls-launches": r"Launch|Func|Kernel|Occupancy",
    "vgpu.calls-peers": r"Peer|P2P",
    "vgpu.calls-devices": r"Device|Version|Limit|Ctx|Profiler|Thread",
}


def available() -> list[str]:
    """The names of all calls that work, sorted; those for streams of a thread's own stand for the same."""
    library = runtime_library.folder() / f"lib{runtime_library.NAME}.so"
    found = dict(sections(library.read_bytes()))
    names = {
        _PER_THREAD.sub("", name)
        for name, section in symbols(found, ".dynsym", ".dynstr")
        if section and name.startswith("cuda")
    }
    return sorted(names - set(runtime_library.unavailable()))


def by_topic() -> dict[str, list[str]]:
    """The calls that work, by what they are about."""
    topics: dict[str, list[str]] = {topic: [] for topic in _TOPICS}
    for name in available():
        topic = next((topic for topic, pattern in _TOPICS.items() if re.search(pattern, name)), "other")
        topics.setdefault(topic, []).append(name)
    return {topic: names for topic, names in topics.items() if names}


def section() -> str:
    """Returns the section between the markers, in the language that is spoken."""

    def rows() -> Iterator[str]:
        yield ""
        yield f"| {say('vgpu.calls-about')} | {say('vgpu.calls-calls')} |"
        yield "|---|---|"
        for topic, names in by_topic().items():
            yield f"| {say(topic)} | {' '.join(f'`{name}`' for name in names)} |"
        yield ""
        missing = " ".join(f"`{name}`" for name in runtime_library.unavailable())
        yield wrapped(say("vgpu.calls-missing", names=missing))
        yield ""
        yield ""

    return "\n".join(rows())


def main() -> None:
    """Writes the section into the documents that are named, each in its language."""
    documents = map(Path, sys.argv[1:])
    sys.exit(
        max((write_section(document, SECTION, section, check=False) for document in documents), default=0)
    )


if __name__ == "__main__":
    main()
