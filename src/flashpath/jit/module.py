"""A compiled module and its kernels."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flashpath import settings
from flashpath.errors import FlashpathError, MissingDevice
from flashpath.jit import cache, device, launch, ptx
from flashpath.jit.arguments import HOST, NOWHERE, ArgumentPacker, describe
from flashpath.jit.names import KernelName, kernel_not_found
from flashpath.jit.resources import Resources, read_resources
from flashpath.jit.signature import Signature, make_signature


@dataclass(frozen=True)
class Module:
    """The kernels of one source, compiled for one architecture. `module["name"]` is a `Kernel`."""

    source: str  # the text that was compiled, rendered where it was a template
    source_name: str
    arch: str
    ptx: str
    cubin: bytes
    log: str  # what the compilers said: warnings, registers, spills
    names: tuple[KernelName, ...]
    cache_entry: cache.Entry

    @property
    def build_seconds(self) -> float:
        """How long the compilers took, be it now or when the cache was filled."""
        return float(self.cache_entry.build["seconds"])

    @functools.cached_property
    def _entries(self) -> dict[str, ptx.Entry]:
        return {entry.name: entry for entry in ptx.entries(self.ptx)}

    @functools.cached_property
    def _resources(self) -> dict[str, Resources]:
        return read_resources(self.log)

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
            raise FlashpathError(
                f"{name!r} is overloaded:\n    {choices}", "Use the mangled name on the left."
            )
        (found,) = matches.values()
        entry = self._entries[found.lowered]
        kernel = Kernel(
            name=found.name,
            lowered=found.lowered,
            signature=make_signature(entry.parameters, found.parameters),
            module=self,
            ptx=entry.text,
            resources=self._resources[found.lowered],
            max_threads=entry.max_threads,
        )
        self._kernels[name] = kernel
        return kernel

    def __iter__(self) -> Iterator[Kernel]:
        return (self[name] for name in self.kernels)

    def __contains__(self, name: str) -> bool:
        return any(_normal(name) in (_normal(each.name), each.lowered) for each in self.names)

    @property
    def kernels(self) -> list[str]:
        """The C++ names of the kernels; the mangled one where a name is overloaded."""
        plain = [each.name for each in self.names]
        return [each.name if plain.count(each.name) == 1 else each.lowered for each in self.names]

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
    resources: Resources
    max_threads: int | None  # __launch_bounds__, where the source has them

    @property
    def arch(self) -> str:
        return self.module.arch

    def launch(
        self,
        grid: launch.Dim,
        block: launch.Dim,
        args: Sequence[Any] = (),
        shared: int = 0,
        stream: Any = None,
        *,
        cluster: launch.Dim | None = None,
        cooperative: bool = False,
    ) -> None:
        """Run the kernel where its arrays are: on their GPU, on torch's current stream by default.

        `shared` is the dynamic shared memory in bytes. The call returns before the kernel has ended.
        """
        self._launch(self._shape(grid, block, shared, cluster, cooperative), stream, args)

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., None]:
        """`kernel[grid, block](…)`; shared memory and stream may follow, as in `<<<>>>`."""
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise launch.LaunchError(
                f"{self.name}[…] was given {configuration!r}.",
                "Write kernel[grid, block](arguments…), as in <<<grid, block>>>.",
            )
        grid, block, *rest = configuration
        shared, stream = (*rest, 0)[0], rest[1] if len(rest) == 2 else None
        shape = self._shape(grid, block, shared, None, False)
        return lambda *args: self._launch(shape, stream, args)

    def _launch(self, shape: launch.Shape, stream: Any, args: Sequence[Any]) -> None:
        parameters, where = self._packer.pack(args)
        if where < 0:
            where = self._device_for(where)
        handle = launch.stream_handle(stream, where)
        if self._debug:
            self._print_launch(shape, handle, args)
        launch.launch_on(self._loaded(where), shape, handle, parameters)

    def _shape(self, grid: Any, block: Any, shared: int, cluster: Any, cooperative: bool) -> launch.Shape:
        key = (grid, block, shared, cluster, cooperative)
        try:
            return self._shapes[key]
        except KeyError:
            known = True
        except TypeError:
            known = False  # lists cannot be looked up
        if not hasattr(shared, "__index__") or shared < 0:
            raise launch.LaunchError(
                f"shared is {shared!r}.", "Give the dynamic shared memory in bytes, 0 or more."
            )
        shape = launch.Shape(
            launch.dim3(grid, "grid"),
            launch.dim3(block, "block"),
            int(shared),
            None if cluster is None else launch.dim3(cluster, "cluster"),
            cooperative,
        )
        if known:
            self._shapes[key] = shape
        return shape

    @functools.cached_property
    def _shapes(self) -> dict[Any, launch.Shape]:
        return {}

    @functools.cached_property
    def _packer(self) -> ArgumentPacker:
        return ArgumentPacker(self.name, self.signature)

    @functools.cached_property
    def _debug(self) -> bool:
        return settings.debug()

    @functools.cached_property
    def _on_device(self) -> dict[int, launch.LoadedKernel]:
        return {}

    def _loaded(self, index: int) -> launch.LoadedKernel:
        try:
            return self._on_device[index]
        except KeyError:
            loaded = launch.LoadedKernel(self.name, self.lowered, self.module.cubin, self.arch, index)
            self._on_device[index] = loaded
            return loaded

    def _device_for(self, where: int) -> int:
        if where == NOWHERE and device.count():
            return launch.default_device()
        got = "arrays on the CPU" if where == HOST else "no array, and there is no GPU"
        gpu = (
            "Move the arrays to the GPU: x.cuda()."
            if device.count()
            else "Run on a machine with an NVIDIA GPU."
        )
        raise MissingDevice(
            f"{self.name} was given {got}. Arrays on the CPU run on the virtual GPU, which this version does "
            "not have yet.",
            f"{gpu} Without a GPU, fp.explain(kernel) shows what was compiled.",
        )

    def _print_launch(self, shape: launch.Shape, stream: int, args: Sequence[Any]) -> None:
        extras = f" cluster={shape.cluster}" if shape.cluster else ""
        extras += " cooperative" if shape.cooperative else ""
        shown = ", ".join(
            f"{parameter}: {describe(arg)}"
            for parameter, arg in zip(self.signature.parameters, args, strict=True)
        )
        print(
            f"[flashpath] {self.name} <<<{shape.grid}, {shape.block}, {shape.shared} B, stream {stream:#x}>>>"
            f"{extras} ({shown})",
            file=sys.stderr,
        )

    def __repr__(self) -> str:
        return f"<flashpath kernel {self.name}{self.signature}, {self.arch}>"
