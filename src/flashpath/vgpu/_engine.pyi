"""The compiled engine (engine/python/module.cpp)."""

from typing import Literal

def vector_extensions() -> list[tuple[str, bool]]:
    """Vector extensions that processor and operating system offer, as (name, present) pairs."""

def probe_amx() -> Literal["absent", "works", "traps"]:
    """Whether AMX is absent, works, or is advertised and traps."""
