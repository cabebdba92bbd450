"""A kernel from a command's options: what `explain` and `profile` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashpath.errors import FlashpathError
    from flashpath.jit import Kernel
    from flashpath.jit.programs import Program, Recipe


def compile_kernel(
    file: Path,
    kernel: str | None,
    arch: str | None,
    define: Sequence[str],
    include: Sequence[Path],
    option: Sequence[str],
    compiler: str,
) -> Kernel:
    """The kernel of that name in a file; without a name, the only one."""
    from flashpath import jit
    from flashpath.errors import FlashpathError

    if compiler not in ("nvrtc", "nvcc"):
        raise FlashpathError("cli.no-such-compiler", compiler=compiler)
    defines = {
        name: value if equals else None for name, equals, value in (text.partition("=") for text in define)
    }
    instances = [kernel] if kernel is not None and "<" in kernel else []
    try:
        module = jit.compile(
            file,
            arch,
            defines,
            list(include),
            instances,
            list(option),
            compiler="nvcc" if compiler == "nvcc" else "nvrtc",
        )
        if not kernel and len(module.kernels) != 1:
            raise _choose(file, module.kernels, module.source)
        return module[kernel or module.kernels[0]]
    except FlashpathError as error:
        raise in_options(error) from None


def build_program(recipe: Recipe) -> Program:
    """A whole program, from the cache or compiled; advice is said in options."""
    from flashpath.errors import FlashpathError
    from flashpath.jit import programs

    try:
        return programs.build(recipe)
    except FlashpathError as error:
        raise in_options(error) from None


def in_options(error: FlashpathError) -> FlashpathError:
    """Returns the same error, worded in options."""
    error.reader = "command"
    return error


def _choose(file: Path, compiled: list[str], source: str) -> FlashpathError:
    """The error where no kernel was named and there is not exactly one."""
    from flashpath.errors import FlashpathError
    from flashpath.jit.names import declared_kernels

    templates = [each.name for each in declared_kernels(source) if each.is_template]
    names = [*compiled, *(f"{name}<…>" for name in templates)]
    if not names:
        return FlashpathError("cli.file-without-kernel", file=file)
    if not templates:
        return FlashpathError("cli.several-kernels", file=file, count=len(names), names=names)
    example = f"--kernel '{templates[0]}<float>'"
    if compiled:
        return FlashpathError(
            "cli.several-kernels-and-templates", file=file, count=len(names), names=names, example=example
        )
    return FlashpathError("cli.only-templates", file=file, names=names, example=example)
