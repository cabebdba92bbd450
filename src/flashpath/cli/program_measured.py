"""`flashpath profile FILE.cu --device cuda`: what Nsight measures, beside what the virtual GPU counts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashpath import gpus
from flashpath.bench import nsight
from flashpath.bench.nsight.compute import MOST_LAUNCHES
from flashpath.cli import measured_view
from flashpath.cli.failures import tell
from flashpath.cli.output import console, print_json
from flashpath.cli.program_profile import Wanted, check_launch, chosen_launches, count_launches, source_of
from flashpath.cli.run import check_timeline
from flashpath.errors import FlashpathError
from flashpath.jit import device as cuda
from flashpath.jit import programs
from flashpath.messages import Message, say
from flashpath.vgpu.profiles import profile_for
from flashpath.vgpu.recorded import Recording

if TYPE_CHECKING:
    from flashpath.bench.nsight import Activity, MeasuredLaunch, Problem
    from flashpath.jit.programs import Recipe


@dataclass
class Measured:
    """What the runs of one program came to."""

    device: cuda.CudaDevice
    gpu: gpus.Gpu  # that is played where the launches are counted: the same product, if it is described
    launches: list[MeasuredLaunch] = field(default_factory=list["MeasuredLaunch"])
    activities: list[Activity] = field(default_factory=list["Activity"])
    problems: list[Problem] = field(default_factory=list["Problem"])
    counted: Recording | None = None  # None: the virtual GPU did not bring the program to its end
    pairs: list[measured_view.Pair] = field(default_factory=list[measured_view.Pair])
    unlike: list[str] = field(default_factory=list[str])

    @property
    def kernels(self) -> list[Activity]:
        return [each for each in self.activities if each.kind == "kernel"]


def measure_program(recipe: Recipe, arguments: Sequence[str], timeout: float | None, wanted: Wanted) -> int:
    """Run the program under each profiler and on the virtual GPU; returns the program's exit code."""
    if wanted.timeline is not None:
        check_timeline(wanted.timeline)
    device = cuda.device(recipe.target.index)
    found = Measured(
        device, gpus.match_device_name(device.name) or profile_for(recipe.target.arch, "virtual")
    )
    # Beside JSON nothing else is printed: what the program says goes to stderr then.
    how = programs.Run(timeout, output=2 if wanted.as_json else None)
    program = programs.build(recipe)
    with nsight.Session(program, arguments, how) as session:
        if not _measure(session, found):
            return _exit_code(session)
        stopped = _count(recipe, session, found)
        if stopped is not None:
            return stopped
    for problem in found.problems:
        tell(f"flashpath: {problem}")
    if wanted.timeline is not None:
        _write_timeline(found, wanted.timeline)
    if found.counted is not None:
        _pair(found)
        check_launch(wanted, len(found.counted.launches))
    if wanted.as_json:
        print_json({"exit_code": session.code, **_plain(found)})
    else:
        _show(recipe, found, wanted)
    return _exit_code(session)


def _exit_code(session: nsight.Session) -> int:
    """The program's own; a failure where it never came to its end."""
    return 1 if session.code is None else session.code


# ---- The runs ------------------------------------------------------------------------------------------


def _measure(session: nsight.Session, found: Measured) -> bool:
    """Under nsys first, which disturbs the program least; False: the program was ended by us."""
    nsys, ncu = nsight.find("nsys"), nsight.find("ncu")
    tools = [tool.name for tool in (nsys, ncu) if tool is not None]
    runs = {"tools": tools, "gpu": found.gpu.name, "count": len(tools) + 1}
    often = say("cli.measured-runs", **runs) if tools else say("cli.measured-runs-once", gpu=found.gpu.name)
    tell(f"flashpath: {often}")
    if nsys is None:
        found.problems.append(nsight.missing("nsys"))
    else:
        found.activities, problem = nsight.record_timeline(nsys, session)
        found.problems += [problem] if problem else []
        if session.stopped:
            return False
    if ncu is None:
        found.problems.append(nsight.missing("ncu"))
    else:
        found.launches, problem = nsight.measure_launches(ncu, session)
        found.problems += [problem] if problem else []
    return not session.stopped


def _count(recipe: Recipe, session: nsight.Session, found: Measured) -> int | None:
    """The launches on the virtual GPU; an exit code where a signal ended it."""
    played = dataclasses.replace(recipe, target=programs.Target(recipe.target.arch, found.gpu))
    log = session.folder / "virtual.log"
    with session.streams(log) as (given, output, errors):
        quiet = dataclasses.replace(
            session.run_options, options={"quiet": True}, input=given, output=output, errors=errors
        )
        try:
            code, recording = count_launches(played, session.arguments, quiet)
            if recording.launches:  # an engine that is not built shows here, where it costs no measurement
                recording.launches[0].report(found.gpu)
        except FlashpathError as error:
            found.problems.append(
                nsight.Problem("virtual GPU", say("cli.measured-nothing-counted", why=error))
            )
            return None
    if code in _SIGNALLED and code != session.code:
        return code
    if session.code is None:
        session.code = code
    if code == session.code:
        found.counted = recording
        return None
    said = log.read_text(errors="replace").strip().splitlines()[-1:]
    ends = {"gpu": found.gpu.name, "code": code, "expected": session.code}
    late = code == programs.TIMED_OUT
    what = Message("cli.measured-took-longer" if late else "cli.measured-ended-otherwise", ends)
    words = say("cli.measured-it-said", words=said[0]) if said else ""
    fix = say("cli.measured-smaller-problem") if late else None
    found.problems.append(nsight.Problem("virtual GPU", f"{what}{words}", fix))
    return None


_SIGNALLED = (129, 130, 143)  # hung up, Ctrl-C, asked to end


# ---- Side by side --------------------------------------------------------------------------------------


def _pair(found: Measured) -> None:
    assert found.counted is not None
    counted = [nsight.Launch(each.kernel.name, each.grid, each.block) for each in found.counted.launches]
    places: dict[str, tuple[int | None, ...]] = {}
    for tool, measured, cut_short in (
        ("ncu", [nsight.Launch(each.kernel, each.grid, each.block) for each in found.launches], True),
        ("nsys", [nsight.Launch(each.name, each.grid, each.block) for each in found.kernels], False),
    ):
        full = len(found.launches) == MOST_LAUNCHES
        matches = nsight.match(counted, measured, f"under {tool}", cut_short=cut_short and full)
        places[tool] = matches.places
        if measured:  # a tool that measured nothing has said why
            found.unlike += matches.unlike
    if len(found.launches) == MOST_LAUNCHES < len(counted):
        found.unlike.append(say("cli.measured-first-launches", count=MOST_LAUNCHES))
    kernels = found.kernels
    for launch, at, in_run in zip(found.counted.launches, places["ncu"], places["nsys"], strict=True):
        found.pairs.append(
            measured_view.Pair(
                launch.kernel.name,
                launch.seconds,
                None if at is None else found.launches[at],
                None if in_run is None else kernels[in_run],
            )
        )


def _write_timeline(found: Measured, file: Path) -> None:
    from flashpath.cli.timeline_page import write_page

    if not found.activities:
        tell("flashpath: " + say("cli.no-timeline-recorded"))
        return
    trace = json.dumps(nsight.trace_of(found.activities, found.device.name))
    if file.suffix == ".json":
        file.write_text(trace, encoding="utf-8")
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="flashpath-timeline-") as folder:
        path = Path(folder) / "trace.json"
        path.write_text(trace, encoding="utf-8")
        write_page(path, file)


def _plain(found: Measured) -> dict[str, Any]:
    """As JSON has it: the counted reports, and all that was measured, a place for each of them."""
    counted = [] if found.counted is None else found.counted.launches
    measured = {
        "gpu": found.device.name,
        "bounds_of": found.gpu.name,
        "launches": [measured_view.plain_pair(each, found.gpu) for each in found.pairs],
        "ncu": [dataclasses.asdict(each) for each in found.launches],
        "nsys": [dataclasses.asdict(each) for each in found.activities],
        "unlike": found.unlike,
        "problems": [dataclasses.asdict(each) for each in found.problems],
    }
    return {"launches": [each.report(found.gpu).to_dict() for each in counted], "measured": measured}


def _show(recipe: Recipe, found: Measured, wanted: Wanted) -> None:
    from flashpath.cli.profile_view import show

    out = console()
    out.print()
    if found.counted is None:
        measured_view.show_alone(out, found.device.name, found.launches, found.kernels)
        return
    launches = found.counted.launches
    if not launches:
        out.print(say("cli.profile-no-kernel"))
        return
    same = gpus.match_device_name(found.device.name) is not None
    names = {"device": found.device.name, "gpu": found.gpu.name}
    where = say("cli.measured-where", **names) if same else say("cli.measured-where-unlike", **names)
    measured_view.show_summary(out, where, found.gpu, found.pairs)
    for difference in found.unlike:
        out.print(say("cli.measured-unlike", what=difference), markup=False)
    out.print()
    chosen = chosen_launches(launches, wanted, [each.seconds or 0.0 for each in found.pairs])
    for number in chosen:
        launch = launches[number - 1]
        report = launch.report(found.gpu)
        out.print(say("cli.profile-launch-number", number=number), style="bold")
        measured_view.show_launch(out, found.device.name, found.gpu, found.pairs[number - 1], report)
        name, source = source_of(recipe, launch)
        show(out, report, name, source)
    if len(chosen) < len(launches):
        out.print(say("cli.profile-other-launches"), markup=False)
