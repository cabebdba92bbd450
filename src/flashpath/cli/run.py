"""`flashpath run`: a whole CUDA or Python program, compiled if need be, on a GPU or on the virtual one."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from flashpath.cli.quick import Argument, Option
from flashpath.messages import Message, say

if TYPE_CHECKING:
    from rich.status import Status

    from flashpath.jit.programs import Program, Target


def for_program(words: Sequence[str]) -> list[str]:
    """The words with those after `--`, which are the program's, as values of a hidden option."""
    at = words.index("--") if "--" in words else len(words)
    return [*words[:at], *(f"--argument={word}" for word in words[at + 1 :])]


def run(
    files: Annotated[list[Path], Argument(help=say("cli.run-files"))],
    device: Annotated[
        str | None,
        Option(help=say("cli.run-device")),
    ] = None,
    devices: Annotated[int | None, Option(help=say("cli.run-devices"), min=1, max=64)] = None,
    timeout: Annotated[float | None, Option(help=say("cli.run-timeout"), min=0.001)] = None,
    timeline: Annotated[Path | None, Option(help=say("cli.run-timeline"))] = None,
    arch: Annotated[str | None, Option("--arch", "-arch", help=say("cli.run-arch"))] = None,
    define: Annotated[list[str] | None, Option("--define", "-D", help=say("cli.option-define"))] = None,
    include: Annotated[list[Path] | None, Option("--include", "-I", help=say("cli.option-include"))] = None,
    std: Annotated[str | None, Option("--std", "-std", help=say("cli.run-std"))] = None,
    optimize: Annotated[str | None, Option("--optimize", "-O", help=say("cli.run-optimize"))] = None,
    library: Annotated[list[str] | None, Option("--library", "-l", help=say("cli.run-library"))] = None,
    library_folder: Annotated[
        list[Path] | None, Option("--library-folder", "-L", help=say("cli.option-library-folder"))
    ] = None,
    option: Annotated[list[str] | None, Option(help=say("cli.run-option"))] = None,
    exact: Annotated[bool | None, Option("--exact/--no-exact", help=say("cli.run-exact"))] = None,
    seed: Annotated[int | None, Option(help=say("cli.run-seed"), min=0)] = None,
    budget: Annotated[int | None, Option(help=say("cli.option-budget"), min=1)] = None,
    quiet: Annotated[bool, Option("--quiet", "-q", help=say("cli.run-quiet"))] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help=say("cli.run-verbose"))] = False,
    argument: Annotated[list[str] | None, Option(hidden=True)] = None,
) -> int:
    """Compiles and runs a whole program; returns its exit code."""
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

        code = run_python(files[0], target, argument or (), programs.Run(timeout))
        _keep(code, files[0], argument or ())
        return code
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
    _keep(code, files[0], argument or ())
    return code


def _keep(code: int, file: Path, arguments: Sequence[str]) -> None:
    """Tasks of a track may be done by a program that ended well."""
    if code == 0:
        from flashpath.course.learner.sightings import saw_run

        saw_run(file, arguments)


def _check_settings(target: Target, settings: dict[str, Any]) -> None:
    """Refuse what only the virtual GPU knows where a real one is used."""
    from flashpath.errors import FlashpathError

    given = [name for name, value in settings.items() if value is not None]
    if given and not target.is_virtual:
        if given == ["timeline"]:
            raise FlashpathError("cli.run-timeline-on-gpu", index=target.index)
        raise FlashpathError("cli.run-on-gpu", option=f"--{given[0]}", index=target.index)


def _check_python(files: Sequence[Path], options: dict[str, Any]) -> None:
    """Refuse what means nothing for a Python program."""
    from flashpath.errors import FlashpathError

    if len(files) > 1:
        raise FlashpathError("cli.run-python-beside-others", count=len(files))
    for name, value in options.items():
        if value:
            raise FlashpathError("cli.run-option-of-cuda", option=f"--{name}", file=files[0])


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

    def progress(self, doing: Message) -> None:
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
            origin = "cli.run-built" if program.built else "cli.run-from-cache"
            print(Message(origin, {"path": program.path}), file=sys.stderr, flush=True)


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
            print("flashpath: " + say("cli.no-timeline-of-program"), file=sys.stderr)
        elif wanted.suffix == ".html":
            from flashpath.cli.timeline_page import write_page

            write_page(trace, wanted)


def check_timeline(wanted: Path) -> None:
    """Refuse what no timeline can be written to."""
    from flashpath.errors import FlashpathError

    if wanted.suffix not in (".html", ".json"):
        raise FlashpathError("cli.timeline-suffix", file=wanted)
    if not wanted.parent.is_dir():
        raise FlashpathError("cli.timeline-folder", folder=wanted.parent)
    try:
        wanted.open("ab").close()
    except OSError as error:
        raise FlashpathError("cli.timeline-not-written", file=wanted, why=error.strerror) from None
