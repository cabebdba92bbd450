"""`flashpath explain FILE.py`: the Triton kernels that a program launches, stage by stage, with layouts."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import runpy
import sys
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashpath.cli.explain import chosen_stages, show_stage
from flashpath.cli.output import console, print_json
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.jit.triton_explanation import TritonExplanation
    from flashpath.layout.triton_layouts import TensorLayout

_STAGES = ("source", "ttir", "ttgir", "layouts", "ptx", "sass")
_DEVICES = "CUDA_VISIBLE_DEVICES"
_MOST_ROWS, _MOST_COLUMNS = 16, 10  # of a layout: the corner that is drawn


def explain_program(
    file: Path, kernel: str | None, arch: str | None, gpu: str | None, stage: str, as_json: bool
) -> None:
    """Runs the program on the virtual GPU, and shows what became of the kernels that it launched."""
    from flashpath.jit.triton_explanation import explain_triton
    from flashpath.layout.triton_layouts import tensor_layouts

    stages = chosen_stages(stage, _STAGES)
    explained = [explain_triton(each, gpu) for each in _launched(file, arch, gpu)]
    names = list(dict.fromkeys(each.kernel for each in explained))
    if not names:
        raise FlashpathError("cli.explain-no-triton-kernel", file=file)
    if kernel is not None and kernel not in names:
        raise FlashpathError("cli.explain-not-launched", name=kernel, file=file, known=names)
    wanted = [each for each in explained if kernel in (None, each.kernel)]
    if as_json:
        print_json([_data(each, tensor_layouts(each.ttgir)) for each in wanted])
        return
    out = console()
    for each in wanted:
        _show(out, each, stages, tensor_layouts(each.ttgir))


def _launched(file: Path, arch: str | None, gpu: str | None) -> list[Any]:
    """What the program prints goes to stderr: the explanation alone is the output."""
    from flashpath import vgpu

    if not file.is_file():
        raise FlashpathError("cli.explain-program-missing", file=file)
    with vgpu.triton(arch, gpu) as played, _as_program(file), contextlib.redirect_stdout(sys.stderr):
        try:
            runpy.run_path(str(file), run_name="__main__")
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            if end.code not in (None, 0):
                raise FlashpathError("cli.explain-program-ended", file=file) from None
        except FlashpathError:
            raise
        except Exception as error:
            own = error.__traceback__
            while own is not None and own.tb_frame.f_code.co_filename != str(file):  # runpy's frames and ours
                own = own.tb_next
            traceback.print_exception(error.with_traceback(own))
            raise FlashpathError("cli.explain-program-ended", file=file) from None
        return played.kernels


@contextlib.contextmanager
def _as_program(file: Path) -> Generator[None]:
    arguments, path, devices = sys.argv[:], sys.path[:], os.environ.get(_DEVICES)
    sys.argv[:] = [str(file)]
    sys.path[0] = str(file.absolute().parent)
    os.environ[_DEVICES] = ""  # it finds no GPU, and keeps its tensors on the CPU
    try:
        yield
    finally:
        sys.argv[:], sys.path[:] = arguments, path
        del os.environ[_DEVICES]
        if devices is not None:
            os.environ[_DEVICES] = devices


# ---- What is shown -------------------------------------------------------------------------------------


def _show(
    out: Console, explained: TritonExplanation, stages: tuple[str, ...], layouts: list[TensorLayout]
) -> None:
    if "source" in stages:
        show_stage(out, "source", explained.source, "python", explained.source_name)
    for name, text in (("ttir", explained.ttir), ("ttgir", explained.ttgir)):
        if name in stages:
            show_stage(out, name, text, "text")
    if "layouts" in stages:
        _show_layouts(out, layouts)
    if "ptx" in stages:
        show_stage(out, "ptx", explained.ptx, "ptx")
    if "sass" in stages:
        show_stage(out, "sass", explained.sass, "text")
    if stages:
        out.rule(say("cli.explain-resources"), align="left")
    out.print(str(explained), markup=False)


def _show_layouts(out: Console, layouts: list[TensorLayout]) -> None:
    from flashpath.cli.layout import Drawing
    from flashpath.cli.layout_view import show

    out.rule(say("cli.explain-layouts"), align="left")
    for layout in layouts:
        shape = " × ".join(map(str, layout.shape))
        heading = [say("cli.explain-layout", name=layout.name, shape=shape, element=layout.element)]
        if layout.attribute != layout.name:
            heading.append(f"  {layout.attribute}")
        if layout.held is None:
            heading.append(say("cli.explain-layout-not-drawn"))
            show(out, Drawing(heading, [], [], {}), everything=True)
            continue
        heading.append(f"  {layout.held.layout}")
        show(out, Drawing(heading, [_corner(layout)], [], {}), everything=True)
        out.print()


def _corner(layout: TensorLayout) -> Any:
    from flashpath.layout.picture import Panel, owner_panel
    from flashpath.messages import told

    assert layout.held is not None
    rows, columns = layout.held.tile
    panel = owner_panel(layout.held, told("layout.panel-thread-value"))
    if rows <= _MOST_ROWS and columns <= _MOST_COLUMNS:
        return panel
    title = told(
        "cli.explain-corner",
        rows=min(rows, _MOST_ROWS),
        columns=min(columns, _MOST_COLUMNS),
        all=rows,
        each=columns,
    )
    return Panel(title, [row[:_MOST_COLUMNS] for row in panel.cells[:_MOST_ROWS]])


def _data(explained: TritonExplanation, layouts: list[TensorLayout]) -> dict[str, Any]:
    made = {field.name: getattr(explained, field.name) for field in dataclasses.fields(explained)}
    made["layouts"] = [
        {
            "name": layout.name,
            "attribute": layout.attribute,
            "shape": layout.shape,
            "element": layout.element,
            "layout": str(layout.held.layout) if layout.held else None,
            "owners": layout.held.owners() if layout.held else None,
        }
        for layout in layouts
    ]
    return made
