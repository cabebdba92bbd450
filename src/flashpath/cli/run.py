"""`flashpath run`: a whole CUDA or Python program, compiled if need be, on a GPU or on the virtual one."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from flashpath.cli.quick import Argument, Option

if TYPE_CHECKING:
    from rich.status import Status

    from flashpath.jit.programs import Program, Target


def for_program(words: Sequence[str]) -> list[str]:
    """The words with those after `--`, which are the program's, as values of a hidden option."""
    at = words.index("--") if "--" in words else len(words)
    return [*words[:at], *(f"--argument={word}" for word in words[at + 1 :])]


def run(
    files: Annotated[list[Path], Argument(help="A .cu file, or several: .cu, .cpp, .cc, .c; or a .py file.")],
    device: Annotated[
        str | None,
        Option(help="cuda, cuda:1, virtual, or the GPU to play: H200, A100, …; by default a GPU, if any."),
    ] = None,
    devices: Annotated[int | None, Option(help="How many virtual GPUs.", min=1, max=64)] = None,
    timeout: Annotated[float | None, Option(help="Seconds after which it is ended.", min=0.001)] = None,
    timeline: Annotated[
        Path | None, Option(help="Write the modelled timeline here: .html, or .json (Chrome trace).")
    ] = None,
    arch: Annotated[
        str | None, Option("--arch", "-arch", help="sm_75 … sm_121a; by default the GPU's own.")
    ] = None,
    define: Annotated[list[str] | None, Option("--define", "-D", help="NAME or NAME=VALUE.")] = None,
    include: Annotated[list[Path] | None, Option("--include", "-I", help="A folder of headers.")] = None,
    std: Annotated[str | None, Option("--std", "-std", help="c++17, c++20, …")] = None,
    optimize: Annotated[str | None, Option("--optimize", "-O", help="0 … 3: of host code.")] = None,
    library: Annotated[list[str] | None, Option("--library", "-l", help="A library to link.")] = None,
    library_folder: Annotated[
        list[Path] | None, Option("--library-folder", "-L", help="A folder of libraries.")
    ] = None,
    option: Annotated[list[str] | None, Option(help="A flag for nvcc, as it is.")] = None,
    exact: Annotated[
        bool | None, Option("--exact/--no-exact", help="The bits of the GPU played, or faster.")
    ] = None,
    seed: Annotated[int | None, Option(help="Of the order of warps and blocks.", min=0)] = None,
    budget: Annotated[
        int | None, Option(help="Warp instructions after which a launch is stopped.", min=1)
    ] = None,
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Not a word about modelled times, or warnings.")
    ] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Show nvcc's commands.")] = False,
    argument: Annotated[list[str] | None, Option(hidden=True)] = None,
) -> int:
    """Compile a CUDA program, host code included, and run it: on a GPU, or on the virtual GPU.

    With several files device code of one may use that of another. The program's input, output and exit code
    are its own; what stands after -- is for it. The executable is kept in the cache, and made again when a
    file that it is made from changes. On the virtual GPU times are modelled, not measured.

    A Python program is run as it is; where there is no GPU, its Triton kernels run on the virtual one.

    Examples:

        flashpath run saxpy.cu

        flashpath run saxpy.cu --device H200 -O2 -std=c++20 -- 1000000

        flashpath run main.cu kernels.cu -I include -D TILE=32 --timeout 10

        flashpath run pipeline.cu --devices 2 --timeline pipeline.html

        flashpath run softmax.py --device virtual
    """
    from flashpath.cli.compiling import in_options
    from flashpath.cli.shipped import shipped_all
    from flashpath.errors import FlashpathError
    from flashpath.jit import programs

    files = shipped_all(files)
    target = programs.choose_target(device, arch)
    settings = {"devices": devices, "exact": exact, "seed": seed, "budget": budget, "timeline": timeline}
    if any(file.suffix == ".py" for file in files):
        compiling = {"arch": arch, "define": define, "include": include, "std": std, "optimize": optimize}
        linking = {"library": library, "library-folder": library_folder, "option": option}
        _check_python(files, {**settings, **compiling, **linking})
        from flashpath.jit.programs.python import run_python

        return run_python(files[0], target, argument or (), programs.Run(timeout))
    _check_settings(target, settings)
    recipe = programs.make_recipe(
        files,
        target,
        defines=define or (),
        includes=include or (),
        std=std,
        optimize=optimize,
        libraries=library or (),
        library_folders=library_folder or (),
        options=option or (),
    )
    with timeline_file(timeline) as trace, _Screen(quiet, verbose) as screen:
        how = programs.Run(timeout, {**settings, "timeline": trace, "quiet": quiet})
        try:
            code = programs.run(recipe, argument or (), how, watcher=screen)
        except FlashpathError as error:
            raise in_options(error) from None
    return code


def _check_settings(target: Target, settings: dict[str, Any]) -> None:
    """Refuse what only the virtual GPU knows where a real one is used."""
    from flashpath.errors import FlashpathError

    given = [name for name, value in settings.items() if value is not None]
    if given and not target.is_virtual:
        advice = "flashpath profile --timeline has a real GPU's; " if given == ["timeline"] else ""
        raise FlashpathError(
            f"--{given[0]} is for the virtual GPU, and this program runs on cuda:{target.index}.",
            f"Leave it out ({advice}--device virtual runs it on the virtual GPU).",
        )


def _check_python(files: Sequence[Path], options: dict[str, Any]) -> None:
    """Refuse what means nothing for a Python program."""
    from flashpath.errors import FlashpathError

    if len(files) > 1:
        raise FlashpathError(
            f"{len(files)} files were given, and one is a Python program.",
            "Give it alone; what is meant for it stands after --.",
        )
    for name, value in options.items():
        if value:
            raise FlashpathError(
                f"--{name} is for CUDA programs, and {files[0]} is a Python program.", "Leave it out."
            )


class _Screen:
    """Tells on stderr what happens before the program runs; on a terminal what is being done, for a while."""

    def __init__(self, quiet: bool, verbose: bool) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self._doing = ExitStack()
        self._shown: Status | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._doing.close()

    def progress(self, doing: str) -> None:
        if not sys.stderr.isatty() or self.verbose:
            return
        from rich.console import Console
        from rich.text import Text

        if self._shown is None:
            self._shown = self._doing.enter_context(Console(stderr=True).status(""))
        self._shown.update(Text(f"{doing} …"))

    def command(self, command: str) -> None:
        if self.verbose:
            print(command, file=sys.stderr, flush=True)

    def ready(self, program: Program) -> None:
        self._doing.close()
        if program.built and program.log and not self.quiet:
            print(program.log, file=sys.stderr, flush=True)  # warnings
        if self.verbose:
            origin = "built" if program.built else "from the cache"
            print(f"{origin}: {program.path}", file=sys.stderr, flush=True)


@contextmanager
def timeline_file(wanted: Path | None) -> Generator[Path | None]:
    """Where the program is to write its trace; a page is made from it when the program has ended."""
    if wanted is None:
        yield None
        return
    import tempfile

    check_timeline(wanted)
    with tempfile.TemporaryDirectory(prefix="flashpath-timeline-") as folder:
        trace = Path(folder) / "trace.json" if wanted.suffix == ".html" else wanted.absolute()
        wanted.unlink(missing_ok=True)
        yield trace
        if not trace.is_file():
            print("flashpath: no timeline was written: the program did not come to its end.", file=sys.stderr)
        elif wanted.suffix == ".html":
            from flashpath.cli.timeline_page import write_page

            write_page(trace, wanted)


def check_timeline(wanted: Path) -> None:
    """Refuse what no timeline can be written to."""
    from flashpath.errors import FlashpathError

    if wanted.suffix not in (".html", ".json"):
        raise FlashpathError(f"--timeline is {wanted}.", "It ends in .html (a page) or .json (Chrome trace).")
    if not wanted.parent.is_dir():
        raise FlashpathError(f"--timeline: there is no folder {wanted.parent}.", "Make it first.")
    try:
        wanted.open("ab").close()
    except OSError as error:
        raise FlashpathError(
            f"--timeline: {wanted} cannot be written: {error.strerror}.", "Name another file."
        ) from None
