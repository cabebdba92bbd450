"""Where an operator runs, as far as the choice of its rung depends on it: a tensor's GPU, or one by name."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from flashpath import gpus
from flashpath.jit import device as cuda
from flashpath.messages import Message
from flashpath.vgpu.profiles import profile_for


@dataclass(frozen=True)
class Where:
    """A GPU, or where `capability` is None the virtual one."""

    name: str | Message
    capability: tuple[int, int] | None
    shared: int  # bytes of shared memory that a block can have
    sm_count: int  # 1 of the virtual GPU: enough blocks to meet, not thousands

    @property
    def arch(self) -> str | None:
        return None if self.capability is None else "sm_{}{}".format(*self.capability)


def where_is(tensor: Any) -> Where:
    """Returns the GPU that a tensor is on; for any other tensor, the virtual GPU."""
    return _of_index(tensor.get_device()) if tensor.is_cuda else virtual()


@functools.cache
def _of_index(index: int) -> Where:
    gpu = cuda.device(index)
    return Where(gpu.name, gpu.capability, gpu.max_shared_per_block, gpu.sm_count)


def virtual() -> Where:
    gpu = profile_for(cuda.default_arch())
    return Where(Message("kernels.virtual-gpu"), None, gpu.architecture.max_shared_per_block_bytes, 1)


def named(text: str) -> Where:
    """`cpu` or `virtual`, `cuda` for this machine's own, `sm_90`, or a product such as `H200`."""
    word = text.strip().lower()
    if word in ("cpu", "virtual"):
        return virtual()
    if re.fullmatch(r"cuda(:\d+)?", word):
        return _of_index(int(word.partition(":")[2] or 0))
    if re.match(r"(sm|compute)|[\d.]+$", word):
        arch = gpus.parse_arch(word)
        limits = gpus.architecture(arch.capability)
        name = "sm_{}{}".format(*arch.capability)
        sms = profile_for(name, "virtual").sm_count
        return Where(name, arch.capability, limits.max_shared_per_block_bytes, sms)
    gpu = gpus.gpu(text)
    return Where(gpu.name, gpu.capability, gpu.architecture.max_shared_per_block_bytes, gpu.sm_count)
