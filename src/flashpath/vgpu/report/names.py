"""What a report calls things, in the language that is spoken."""

from __future__ import annotations

from flashpath.messages import Message

_NAMES = {
    "integer": "vgpu.class-integer",
    "logic": "vgpu.class-logic",
    "half": "vgpu.class-half",
    "special function": "vgpu.class-special-function",
    "tensor core": "vgpu.class-tensor-core",
    "conversion": "vgpu.class-conversion",
    "compare": "vgpu.class-compare",
    "move": "vgpu.class-move",
    "global load": "vgpu.class-global-load",
    "shared load": "vgpu.class-shared-load",
    "local load": "vgpu.class-local-load",
    "parameter load": "vgpu.class-parameter-load",
    "constant load": "vgpu.class-constant-load",
    "generic load": "vgpu.class-generic-load",
    "global store": "vgpu.class-global-store",
    "shared store": "vgpu.class-shared-store",
    "local store": "vgpu.class-local-store",
    "parameter store": "vgpu.class-parameter-store",
    "generic store": "vgpu.class-generic-store",
    "global atomic": "vgpu.class-global-atomic",
    "shared atomic": "vgpu.class-shared-atomic",
    "asynchronous copy": "vgpu.class-asynchronous-copy",
    "atomic": "vgpu.class-atomic",
    "texture": "vgpu.class-texture",
    "cache hint": "vgpu.class-cache-hint",
    "warp-wide": "vgpu.class-warp-wide",
    "barrier": "vgpu.class-barrier",
    "control": "vgpu.class-control",
    "memory": "vgpu.bound-memory",
    "compute": "vgpu.bound-compute",
    "threads per block": "vgpu.limit-threads-per-block",
    "shared memory": "vgpu.limit-shared-memory",
    "registers": "vgpu.limit-registers",
    "warps": "vgpu.limit-warps",
    "blocks": "vgpu.limit-blocks",
}


def named(name: str) -> str:
    """Returns the name of a class of instructions, a bound or a limit; `float32` stays."""
    return Message(_NAMES[name]).text() if name in _NAMES else name
