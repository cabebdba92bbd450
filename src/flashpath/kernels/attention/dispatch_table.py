"""What rungs of attention and of decoding that a call may choose between took: dispatch_table.json's data.

`python benchmarks/dispatch_table.py benchmarks/results/<gpu>.json` writes it from a benchmark's records.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.messages import Message

FILE = Path(__file__).with_suffix(".json")
# The rungs of the ladder that backends are, by direction.
RUNGS: Mapping[str, Mapping[str, str]] = {
    "forward": {"triton": "flash_v2_triton", "cuda": "flash_v2_cuda"},
    "backward": {"triton": "flash_v2_triton_backward", "cuda": "flash_v2_cuda_backward"},
}
DECODE_RUNGS: Mapping[str, str] = {"triton": "split_triton", "cuda": "split_cuda"}


class Times:
    """What each backend took of a measured problem."""

    gpu: str
    microseconds: Mapping[str, float]

    @property
    def problem(self) -> Message:
        raise NotImplementedError

    def why(self, is_same: bool) -> Message:
        """Says that this measurement decides: of the same problem, or of the nearest that was measured."""
        params = {"gpu": self.gpu, "problem": self.problem, "times": self.times}
        return Message("kernels.measured", params) if is_same else Message("kernels.measured-near", params)

    @property
    def fastest(self) -> str:
        return min(self.microseconds, key=lambda backend: self.microseconds[backend])

    @property
    def times(self) -> str:
        """The fastest first."""
        ordered = sorted(self.microseconds.items(), key=lambda item: item[1])
        return ", ".join(f"{backend} {_digits(time)} µs" for backend, time in ordered)


def _digits(time: float) -> str:
    """So many that those of short steps can be told apart."""
    return f"{time:,.1f}" if time < 100 else f"{time:,.0f}"


def layout(page_size: int | None) -> Message:
    """Says how a cache of keys and values is laid out."""
    return Message("kernels.pages", {"size": page_size}) if page_size else Message("kernels.no-pages")


@dataclass(frozen=True)
class Cell(Times):
    """One measured attention."""

    capability: tuple[int, int]
    direction: str
    dim: int
    causal: bool
    sequence: int
    batch: int
    heads: int
    microseconds: Mapping[str, float]
    gpu: str

    @property
    def problem(self) -> Message:
        """Says what was measured."""
        mask = Message("kernels.causal") if self.causal else Message("kernels.full")
        sizes = {"batch": self.batch, "sequence": self.sequence, "heads": self.heads, "dim": self.dim}
        return Message("kernels.measured-attention", {**sizes, "mask": mask})


@dataclass(frozen=True)
class DecodeCell(Times):
    """One measured step: a query for each sequence, against a full cache of a half type."""

    capability: tuple[int, int]
    batch: int
    keys: int
    heads: int
    kv_heads: int
    dim: int
    page_size: int  # 0: no pages
    microseconds: Mapping[str, float]
    gpu: str

    @property
    def size(self) -> int:
        """Returns the bytes of the cache."""
        return 4 * self.batch * self.keys * self.kv_heads * self.dim

    @property
    def problem(self) -> Message:
        """Says what was measured."""
        sizes = {"batch": self.batch, "keys": self.keys, "heads": self.heads, "kv_heads": self.kv_heads}
        return Message("kernels.measured-step", {**sizes, "dim": self.dim, "layout": layout(self.page_size)})


@dataclass(frozen=True)
class Table:
    """All cells, and the runs that they were measured in."""

    runs: tuple[str, ...] = ()
    cells: tuple[Cell, ...] = ()
    decode_runs: tuple[str, ...] = ()
    decode_cells: tuple[DecodeCell, ...] = ()

    def nearest(
        self,
        capability: tuple[int, int],
        direction: str,
        dim: int,
        causal: bool,
        sequence: int,
        count: int = 1,
    ) -> list[Cell]:
        """Cells of the same capability, direction and mask: by dimension first, then by length, as ratios."""

        def distance(cell: Cell) -> tuple[float, float]:
            return abs(math.log2(cell.dim / dim)), abs(math.log2(cell.sequence / max(1, sequence)))

        alike = (capability, direction, causal)
        found = [cell for cell in self.cells if (cell.capability, cell.direction, cell.causal) == alike]
        return sorted(found, key=distance)[:count]

    def nearest_steps(
        self, capability: tuple[int, int], is_paged: bool, size: int, batch: int, count: int = 1
    ) -> list[DecodeCell]:
        """Cells of the same capability, with pages or without: by bytes of the cache first, then by batch."""

        def distance(cell: DecodeCell) -> tuple[float, float]:
            return abs(math.log2(cell.size / max(1, size))), abs(math.log2(cell.batch / max(1, batch)))

        alike = (capability, is_paged)
        found = [cell for cell in self.decode_cells if (cell.capability, bool(cell.page_size)) == alike]
        return sorted(found, key=distance)[:count]


@functools.cache
def table() -> Table:
    """The one that the package has."""
    return read(FILE)


def read(path: Path) -> Table:
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Table(
            tuple(data["runs"]),
            tuple(_cell(each) for each in data["cells"]),
            tuple(data["decode_runs"]),
            tuple(_decode_cell(each) for each in data["decode_cells"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FlashpathError(
            "kernels.no-table", path=str(path), error=f"{type(error).__name__}: {error}"
        ) from None


def _cell(data: Mapping[str, Any]) -> Cell:
    if data["direction"] not in RUNGS:
        raise ValueError(f"no cell: {data}")
    return Cell(
        _capability(data),
        data["direction"],
        int(data["dim"]),
        bool(data["causal"]),
        int(data["sequence"]),
        int(data["batch"]),
        int(data["heads"]),
        _microseconds(data),
        str(data["gpu"]),
    )


def _decode_cell(data: Mapping[str, Any]) -> DecodeCell:
    sizes = {name: int(data[name]) for name in ("batch", "keys", "heads", "kv_heads", "dim", "page_size")}
    return DecodeCell(
        capability=_capability(data), **sizes, microseconds=_microseconds(data), gpu=str(data["gpu"])
    )


def _capability(data: Mapping[str, Any]) -> tuple[int, int]:
    major, minor = map(int, str(data["capability"]).split("."))
    return major, minor


def _microseconds(data: Mapping[str, Any]) -> dict[str, float]:
    found = {str(backend): float(time) for backend, time in data["microseconds"].items()}
    if not found:
        raise ValueError(f"no cell: {data}")
    return found


def write(path: Path, table: Table) -> None:
    """A cell to a line."""
    parts = [
        '"made_by": "python benchmarks/dispatch_table.py"',
        *_written("runs", table.runs),
        *_written("cells", [_line(cell) for cell in table.cells]),
        *_written("decode_runs", table.decode_runs),
        *_written("decode_cells", [_line(cell) for cell in table.decode_cells]),
    ]
    path.write_text("{\n " + ",\n ".join(parts) + "\n}\n", encoding="utf-8")


def _written(name: str, items: Sequence[Any]) -> Iterator[str]:
    lines = ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in items)
    yield f'"{name}": [\n  {lines}\n ]' if items else f'"{name}": []'


def _line(cell: Cell | DecodeCell) -> dict[str, Any]:
    data = dataclasses.asdict(cell)
    gpu, capability = data.pop("gpu"), "{}.{}".format(*data.pop("capability"))
    times = {name: round(time, 2) for name, time in data.pop("microseconds").items()}
    return {"gpu": gpu, "capability": capability, **data, "microseconds": times}
