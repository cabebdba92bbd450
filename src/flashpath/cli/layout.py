"""`flashpath layout`: a CuTe layout, what is made of it, or an MMA instruction, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flashpath.cli.options import Lang
from flashpath.errors import FlashpathError
from flashpath.messages import say

if TYPE_CHECKING:
    from flashpath.layout import AnyLayout, Layout, MmaAtom, Tiler
    from flashpath.layout.banks import BankAccess
    from flashpath.layout.picture import Panel

_MOST = 65_536  # elements that are drawn
_DIVIDES, _PRODUCTS = ("zipped", "logical", "tiled"), ("blocked", "raked", "logical")
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
_OPERANDS = ("A", "B", "C")


@dataclass(frozen=True)
class Drawing:
    """What there is to show: lines above, panels, and what the banks do."""

    heading: list[str]
    panels: list[Panel]
    banks: list[BankAccess]
    data: dict[str, Any]


def layout(
    text: Annotated[str | None, typer.Argument(metavar="LAYOUT", help=say("cli.layout-text"))] = None,
    compose: Annotated[str | None, typer.Option(help=say("cli.layout-compose"))] = None,
    divide: Annotated[str | None, typer.Option(help=say("cli.layout-divide"))] = None,
    product: Annotated[str | None, typer.Option(help=say("cli.layout-product"))] = None,
    kind: Annotated[str | None, typer.Option(help=say("cli.layout-kind"))] = None,
    swizzle: Annotated[str | None, typer.Option(help=say("cli.layout-swizzle"))] = None,
    mma: Annotated[str | None, typer.Option(help=say("cli.layout-mma"))] = None,
    operand: Annotated[list[str] | None, typer.Option(help=say("cli.layout-operand"))] = None,
    tile: Annotated[str | None, typer.Option(help=say("cli.layout-tile"))] = None,
    bits: Annotated[int, typer.Option(help=say("cli.layout-bits"))] = 16,
    banks: Annotated[bool, typer.Option("--banks", help=say("cli.layout-banks"))] = False,
    everything: Annotated[bool, typer.Option("--all", help=say("cli.layout-all"))] = False,
    save: Annotated[Path | None, typer.Option(help=say("cli.layout-save"), dir_okay=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help=say("cli.option-json"))] = False,
    lang: Lang = None,
) -> None:
    """Draws a layout or an MMA instruction in the terminal, into a file, or writes it as JSON."""
    from flashpath import settings
    from flashpath.cli.output import console, print_json
    from flashpath.layout import LayoutError, mma_names

    settings.language(lang)
    if save is not None and save.suffix != ".svg":
        raise FlashpathError("cli.layout-save-suffix", file=save)
    if bits not in _SIZES:
        raise FlashpathError("cli.layout-no-such-size", bits=bits, known=list(_SIZES))
    if mma == "list":
        names = mma_names()
        print_json(names) if as_json else typer.echo("\n".join(names))
        return
    try:
        if mma is not None:
            given = (text, compose, divide, product, kind, swizzle, tile)
            drawing = _instruction(mma, operand or _OPERANDS, any(value is not None for value in given))
        elif text is None:
            raise FlashpathError("cli.layout-nothing")
        elif tile is not None:
            drawing = _thread_value(text, tile)
        else:
            drawing = drawing_of(
                text,
                compose=compose,
                divide=divide,
                product=product,
                kind=kind,
                swizzle=swizzle,
                bits=bits,
                shows_banks=banks,
            )
    except LayoutError as error:
        error.reader = "command"
        raise
    if save is not None:
        save_svg(drawing, save)
    if as_json:
        print_json(drawing.data)
    elif save is not None:
        typer.echo(say("cli.tour-saved", file=save))
    else:
        from flashpath.cli.layout_view import show

        show(console(), drawing, everything)


def save_svg(drawing: Drawing, file: Path) -> None:
    """Writes the picture into a file."""
    from flashpath.cli.layout_view import bank_lines
    from flashpath.layout import svg

    file.write_text(svg.draw(drawing.panels, drawing.heading, bank_lines(drawing.banks)), encoding="utf-8")


# ---- A layout, and what is made of it --------------------------------------------------------------------


def drawing_of(
    text: str,
    *,
    compose: str | None = None,
    divide: str | None = None,
    product: str | None = None,
    kind: str | None = None,
    swizzle: str | None = None,
    bits: int = 16,
    shows_banks: bool = False,
) -> Drawing:
    """Applies the operations in the order of the options' names, and draws what comes out."""
    from flashpath.layout import bank_accesses, composition, parse_layout, parse_swizzle, parse_tiler
    from flashpath.layout.picture import block_panel, index_panel, tile_panel
    from flashpath.layout.swizzle import ComposedLayout

    if divide is not None and product is not None:
        raise FlashpathError("cli.layout-divide-or-product")
    if kind is not None and divide is None and product is None:
        raise FlashpathError("cli.layout-kind-of-nothing", kind=kind)
    made = parse_layout(text)
    _refuse_large(made)
    steps = [str(made)]
    panels: list[Panel] = []
    if compose is not None:
        made = composition(made, parse_tiler(compose))
        steps.append(say("cli.layout-composed", text=compose, result=made))
    if divide is not None:
        tiler = parse_tiler(divide)
        name, divided = _divided(made, tiler, kind or _DIVIDES[0])
        panels.append(tile_panel(made, tiler))
        made = divided
        steps.append(say("cli.layout-operation", name=name, text=divide, result=made))
    if product is not None:
        tiler = parse_tiler(product)
        block = made
        name, made, repeats = _multiplied(made, tiler, kind or _PRODUCTS[0])
        steps.append(say("cli.layout-operation", name=name, text=product, result=made))
        _refuse_large(made)
        panels.append(block_panel(made, block, repeats))
    if swizzle is not None:
        if isinstance(made, ComposedLayout):
            raise FlashpathError("cli.layout-swizzled-already", layout=made)
        made = ComposedLayout(parse_swizzle(swizzle), 0, made)
        steps.append(say("cli.layout-swizzled", result=made))
    _refuse_large(made)
    if product is None or swizzle is not None or shows_banks:
        panels.append(index_panel(made, bits, shows_banks))
    accesses = bank_accesses(made, bits)
    return Drawing([*steps, *_facts(made)], panels, accesses, _data(text, steps, made, bits, accesses))


def _divided(made: AnyLayout, tiler: Tiler, kind: str) -> tuple[str, AnyLayout]:
    from flashpath.layout import logical_divide, tiled_divide, zipped_divide

    if kind not in _DIVIDES:
        raise FlashpathError("cli.layout-no-such-kind", kind=kind, known=list(_DIVIDES))
    function = {"zipped": zipped_divide, "logical": logical_divide, "tiled": tiled_divide}[kind]
    return function.__name__, function(made, tiler)


def _multiplied(block: AnyLayout, tiler: Tiler, kind: str) -> tuple[str, AnyLayout, Layout]:
    """Returns the function's name, the product, and where each repetition of the block begins."""
    from flashpath.layout import Layout, blocked_product, logical_product, raked_product, zipped_product

    if kind not in _PRODUCTS:
        raise FlashpathError("cli.layout-no-such-kind", kind=kind, known=list(_PRODUCTS))
    inner = block if isinstance(block, Layout) else block.inner
    if kind != "logical":
        if isinstance(tiler, tuple) and all(isinstance(extent, int) for extent in tiler):
            tiler = Layout(tuple(extent for extent in tiler if isinstance(extent, int)))
        tiler = Layout(tiler) if isinstance(tiler, int) else tiler
        if not isinstance(tiler, Layout):
            raise FlashpathError("cli.layout-product-by-mode", kind=kind)
        function = blocked_product if kind == "blocked" else raked_product
        return function.__name__, function(block, tiler), zipped_product(inner, tiler)[1]
    return "logical_product", logical_product(block, tiler), zipped_product(inner, tiler)[1]


def _refuse_large(made: AnyLayout) -> None:
    if made.size > _MOST:
        raise FlashpathError("cli.layout-too-large", layout=made, size=made.size, most=_MOST)


def _facts(made: AnyLayout) -> list[str]:
    """Says how many coordinates and indices there are, and whether they are one to one."""
    different = len(set(made.indices()))
    size, cosize = made.size, made.cosize
    if different < size:
        reached = say("cli.layout-shared", different=different)
    elif size == cosize:
        reached = say("cli.layout-bijective", last=size - 1)
    else:
        reached = say("cli.layout-gaps", gaps=cosize - size, last=cosize - 1)
    return [say("cli.layout-facts", size=size, cosize=cosize, rank=made.rank, reached=reached)]


def _data(
    text: str, steps: list[str], made: AnyLayout, bits: int, accesses: list[BankAccess]
) -> dict[str, Any]:
    from flashpath.layout import Layout, bank, coalesce
    from flashpath.layout.banks import rows_of

    inner = made if isinstance(made, Layout) else made.inner
    indices = rows_of(made)
    return {
        "given": text,
        "layout": str(made),
        "shape": inner.shape,
        "stride": inner.stride,
        "swizzle": None if isinstance(made, Layout) else made.swizzle,
        "coalesced": str(coalesce(made)),
        "size": made.size,
        "cosize": made.cosize,
        "injective": made.is_injective(),
        "steps": steps[1:],
        "indices": indices,
        "bits": bits,
        "banks": [[bank(index, bits) for index in row] for row in indices],
        "accesses": accesses,
    }


# ---- Threads and values ----------------------------------------------------------------------------------


def _thread_value(text: str, tile: str) -> Drawing:
    from flashpath.layout import Layout, ThreadValue, parse_layout, parse_tile
    from flashpath.layout.picture import owner_panel
    from flashpath.messages import told

    made = parse_layout(text)
    _refuse_large(made)
    if not isinstance(made, Layout):
        raise FlashpathError("cli.layout-swizzled-tile", layout=made)
    held = ThreadValue(made, parse_tile(tile))
    rows, columns = held.tile
    _refuse_large(Layout(held.tile))
    threads, values = (mode.size for mode in made)
    heading = [
        str(made),
        say("cli.layout-tile-facts", threads=threads, values=values, rows=rows, columns=columns),
    ]
    data = {"layout": str(made), "tile": held.tile, "owners": held.owners()}
    return Drawing(heading, [owner_panel(held, told("layout.panel-thread-value"))], [], data)


def _instruction(name: str, operands: list[str] | tuple[str, ...], has_layout: bool) -> Drawing:
    from flashpath.layout import mma_atom
    from flashpath.layout.picture import atom_panels

    if has_layout:
        raise FlashpathError("cli.layout-and-mma")
    operands = [operand.upper() for operand in operands]
    for operand in operands:
        if operand not in _OPERANDS:
            raise FlashpathError("cli.layout-no-such-operand", operand=operand, known=list(_OPERANDS))
    atom = mma_atom(name)
    m, n, k = atom.extents
    d, a, b, c = atom.types
    heading = [
        name,
        say("cli.layout-mma-facts", m=m, n=n, k=k, d=d, a=a, b=b, c=c, threads=atom.threads.size),
    ]
    if atom.threads.size < 32:
        heading.append(say("cli.layout-quad-pair", lanes=atom.threads.indices()))
    if shared := [operand for operand in operands if atom.operands[operand] is None]:
        heading.append(say("cli.layout-in-shared", operands=shared))
    return Drawing(heading, atom_panels(atom, operands), [], _atom_data(atom, operands))


def _atom_data(atom: MmaAtom, operands: list[str]) -> dict[str, Any]:
    held = {name: atom.operands[name] for name in operands}
    return {
        "atom": atom.name,
        "extents": dict(zip("mnk", atom.extents, strict=True)),
        "types": dict(zip("DABC", atom.types, strict=True)),
        "threads": str(atom.threads),
        "operands": {
            name: {"layout": str(of.layout), "tile": of.tile, "owners": of.owners()} if of else None
            for name, of in held.items()
        },
    }
