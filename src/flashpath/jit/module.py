"""A compiled module and its kernels."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.gpus.shape import Dim, LaunchError, LaunchShape, dim3, shared_bytes
from flashpath.jit import cache, ptx
from flashpath.jit.launcher import Launcher
from flashpath.jit.loading import LoadedKernel
from flashpath.jit.names import KernelName, kernel_not_found
from flashpath.jit.packing import ArgumentPacker
from flashpath.jit.resources import Resources, read_resources
from flashpath.jit.signature import Signature, make_signature
from flashpath.jit.toolkit import header_name
from flashpath.jit.ways_out import runs_to_end
from flashpath.vgpu.device import VirtualKernel, VirtualModule
from flashpath.vgpu.options import Options, checked_exact

CUBIN, LOG = "kernel.cubin", "compiler.log"  # in an entry of the cache
_MOST_LAUNCHERS = 4096  # a program whose shapes never repeat shall not fill the memory with them


@dataclass(frozen=True)
class Module:
    """The kernels of one source, compiled for one architecture. `module["name"]` is a `Kernel`."""

    source: str  # the text that was compiled, rendered where it was a template
    source_name: str
    arch: str
    ptx: str
    names: tuple[KernelName, ...]
    cache_entry: cache.Entry  # with machine code, or without
    assemble: Callable[[], cache.Entry]  # the entry with machine code

    @functools.cached_property
    def _assembled(self) -> cache.Entry:
        return self.cache_entry if CUBIN in self.cache_entry.files else self.assemble()

    @property
    def is_assembled(self) -> bool:
        """Whether its machine code is there; if not, it is made when it is first asked for."""
        return CUBIN in self.cache_entry.files or "_assembled" in self.__dict__

    @property
    def cubin(self) -> bytes:
        return self._assembled.files[CUBIN]

    @property
    def log(self) -> str:
        """Returns what the compilers said: warnings, registers, spills."""
        return self._assembled.files[LOG].decode()

    @property
    def build_seconds(self) -> float:
        """Returns how long the compilers took, be it now or when the cache was filled."""
        return float(self._assembled.build["seconds"])

    @functools.cached_property
    def _entries(self) -> dict[str, ptx.Entry]:
        return {entry.name: entry for entry in ptx.entries(self.ptx)}

    @functools.cached_property
    def resources(self) -> dict[str, Resources]:
        """Returns what the kernels use of an SM, by their mangled names."""
        return read_resources(self.cubin, self.log)

    @functools.cached_property
    def virtual(self) -> VirtualModule:
        """The module on the virtual GPU, with its variables; set up when first asked for."""
        return VirtualModule(self.ptx, header_name)

    @functools.cached_property
    def _kernels(self) -> dict[str, Kernel]:
        return {}

    def __getitem__(self, name: str) -> Kernel:
        """The kernel of that C++ name: extern "C", a template instance, a qualified or a mangled name."""
        if name in self._kernels:
            return self._kernels[name]
        wanted = _normal(name)
        matches = {each.lowered: each for each in self.names if wanted in (_normal(each.name), each.lowered)}
        if not matches:
            raise kernel_not_found(name, self.kernels, self.source)
        if len(matches) > 1:
            choices = "\n    ".join(f"{low}  {_parameter_list(each)}" for low, each in matches.items())
            raise FlashpathError("jit.overloaded", name=name, choices=choices)
        (found,) = matches.values()
        entry = self._entries[found.lowered]
        kernel = Kernel(
            name=found.name,
            lowered=found.lowered,
            signature=make_signature(entry.parameters, found.parameters),
            module=self,
            ptx=entry.text,
            max_threads=entry.max_threads,
        )
        self._kernels[name] = kernel
        return kernel

    def __iter__(self) -> Iterator[Kernel]:
        return (self[name] for name in self.kernels)

    def __contains__(self, name: str) -> bool:
        return any(_normal(name) in (_normal(kernel.name), kernel.lowered) for kernel in self.names)

    @property
    def kernels(self) -> list[str]:
        """The C++ names of the kernels; the mangled one where a name is overloaded."""
        plain = [kernel.name for kernel in self.names]
        return [kernel.name if plain.count(kernel.name) == 1 else kernel.lowered for kernel in self.names]

    def __repr__(self) -> str:
        return f"<flashpath module {self.source_name}, {self.arch}: {', '.join(self.kernels) or 'no kernel'}>"


def _normal(name: str) -> str:
    return "".join(name.split())


def _parameter_list(name: KernelName) -> str:
    return f"({', '.join(map(str, name.parameters))})" if name.parameters is not None else ""


@dataclass(frozen=True, eq=False)
class Kernel:
    """One `__global__` function, compiled for one architecture."""

    name: str
    lowered: str
    signature: Signature
    module: Module
    ptx: str
    max_threads: int | None  # __launch_bounds__, where the source has them

    @property
    def arch(self) -> str:
        return self.module.arch

    @property
    def resources(self) -> Resources:
        """Returns what ptxas says that it uses of an SM."""
        return self.module.resources[self.lowered]

    def launch(
        self,
        grid: Dim,
        block: Dim,
        args: Sequence[Any] = (),
        shared: int = 0,
        stream: Any = None,
        *,
        cluster: Dim | None = None,
        cooperative: bool = False,
        exact: bool = True,
    ) -> None:
        """Run the kernel where its arrays are: on their GPU, on torch's current stream by default.

        `shared` is the dynamic shared memory in bytes. On a GPU the call returns before the kernel has ended.
        Arrays on the CPU, NumPy's and torch's, run on the virtual GPU, to the end. `exact` is for these:
        without it tensor cores and approximate functions are faster, and their last bits not the hardware's.
        """
        if exact is not True and exact is not False:  # 1 would be found where True is
            exact = checked_exact(exact)
        try:  # looked up here first: a call less on the way of every launch
            launcher = self._launchers[grid, block, shared, cluster, cooperative, exact]
        except (KeyError, TypeError):
            launcher = self._launcher(grid, block, shared, cluster, cooperative, exact)
        launcher.launch(args, stream)

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        """`kernel[grid, block](…)`; shared memory and stream may follow, as in `<<<>>>`."""
        try:  # as in `launch`
            return self._launchers[configuration]
        except (KeyError, TypeError):
            pass
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise LaunchError("jit.launch-brackets", kernel=self.name, value=repr(configuration))
        grid, block, *rest = configuration
        launcher = self._launcher(grid, block, rest[0] if rest else 0, None, False, True)
        if len(rest) < 2:
            self._keep(configuration, launcher)
            return launcher
        return lambda *args: launcher.launch(args, rest[1])

    def _launcher(
        self, grid: Any, block: Any, shared: Any, cluster: Any, cooperative: bool, exact: bool
    ) -> Launcher:
        key = (grid, block, shared, cluster, cooperative, exact)
        try:
            return self._launchers[key]
        except (KeyError, TypeError):  # lists cannot be looked up
            pass
        shape = LaunchShape(
            dim3(grid, "grid"),
            dim3(block, "block"),
            shared_bytes(shared),
            None if cluster is None else dim3(cluster, "cluster"),
            cooperative,
        )
        launcher = Launcher(self, shape, Options(exact=exact))
        self._keep(key, launcher)
        return launcher

    def _keep(self, key: tuple[Any, ...], launcher: Launcher) -> None:
        if len(self._launchers) >= _MOST_LAUNCHERS:
            self._launchers.clear()
        with contextlib.suppress(TypeError):
            self._launchers[key] = launcher

    @functools.cached_property
    def _launchers(self) -> dict[Any, Launcher]:
        return {}

    @functools.cached_property
    def packer(self) -> ArgumentPacker:
        """Checks and packs this kernel's arguments."""
        return ArgumentPacker(self.name, self.signature)

    @functools.cached_property
    def _on_device(self) -> dict[int, LoadedKernel]:
        return {}

    def loaded(self, index: int) -> LoadedKernel:
        """The kernel in the memory of a GPU; loaded when first asked for."""
        if index not in self._on_device:
            self._on_device[index] = LoadedKernel(
                self.name, self.lowered, self.module.cubin, self.arch, index
            )
        return self._on_device[index]

    @functools.cached_property
    def virtual(self) -> VirtualKernel:
        """The kernel on the virtual GPU; made ready when first asked for."""
        kernel = self.module.virtual.kernel(self.lowered, self.name)
        module = self.module
        kernel.runs_to_end = runs_to_end(module.source, module.source_name, module.ptx, self.ptx)
        return kernel

    def __repr__(self) -> str:
        return f"<flashpath kernel {self.name}{self.signature}, {self.arch}>"
