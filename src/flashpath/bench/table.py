"""The one table printer, and the progress bar.

Into a pipe a table is plain text at its full width: a column cut to fit a terminal that is not there would
lose numbers.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from flashpath.bench.failure import is_out_of_memory, shown
from flashpath.bench.known_peers import KNOWN_SHARE
from flashpath.bench.record import Record
from flashpath.messages import Message, say, told

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NO_VALUE = "–"
# How records name the methods of timing, and what is shown.
_METHODS = {
    "perf_counter, warm caches": "bench.method-cpu",
    "graph replay, cold L2": "bench.method-graph",
    "events, cold L2": "bench.method-events",
    "events, cold L2; includes launch gaps, no graph": "bench.method-events-no-graph",
    "eager calls in a row": "bench.method-eager",
    KNOWN_SHARE: "bench.method-known-share",
}
UNBOUNDED = 10_000


def print_table(records: Sequence[Record], file: IO[str] | None = None) -> None:
    """Print the records, a table per case: in colour on a terminal, plain and uncut anywhere else."""
    from rich.console import Console

    out: IO[str] = file or sys.stdout
    if out.isatty():
        _print(records, Console(file=out))
    else:
        out.write(table_text(records))


def table_text(records: Sequence[Record]) -> str:
    """The same as plain text."""
    from rich.console import Console

    text = io.StringIO()
    _print(records, Console(file=text, width=UNBOUNDED, no_color=True, force_terminal=False))
    return "".join(line.rstrip() + "\n" for line in text.getvalue().splitlines())


def _print(records: Sequence[Record], console: Console) -> None:
    from rich.text import Text

    for case in dict.fromkeys((record.ladder, record.case) for record in records):
        of_case = [record for record in records if (record.ladder, record.case) == case]
        parameters = ", ".join(f"{name}={value}" for name, value in of_case[0].parameters.items())
        title = " · ".join(part for part in (*case, parameters) if part)
        _print_columns(
            console, title, [(say(heading), [show(r) for r in of_case]) for heading, show in MEASURED]
        )
        for record in of_case:
            if record.error:
                console.print(Text(f"{record.implementation}: {shown(record.error)}"))
    # What the case does not change is shown once, of those that ran.
    distinct = list({record.implementation: record for record in records if not record.skipped}.values())
    if any(show(record) != NO_VALUE for _, show in JUDGED[1:] for record in distinct):
        columns = [(say(heading), [show(record) for record in distinct]) for heading, show in JUDGED]
        _print_columns(console, say("bench.beside-speed"), columns)
        for record in distinct:
            if line := reasons(record, record.implementation):
                console.print(Text(line))


def _print_columns(console: Console, title: str, columns: Sequence[tuple[str, list[str]]]) -> None:
    """A table without the columns in which nothing stands."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table: Table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD)
    shown = [(heading, cells) for heading, cells in columns if any(cell != NO_VALUE for cell in cells)]
    for index, (heading, _) in enumerate(shown):
        # Folded, never cut, where a terminal is too narrow.
        table.add_column(heading, justify="left" if index == 0 else "right", overflow="fold")
    for row in zip(*(cells for _, cells in shown), strict=True):
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def seconds(value: float | None) -> str:
    if value is None:
        return NO_VALUE
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{digits(value / scale)} {unit}"
    return f"{digits(value / 1e-9)} ns"


def memory(value: int | None) -> str:
    if value is None:
        return NO_VALUE
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= scale:
            return f"{digits(value / scale)} {unit}"
    return f"{value} B"


def digits(value: float | None) -> str:
    """Three significant digits, all digits before the point, no exponent."""
    if value is None:
        return NO_VALUE
    size = abs(value)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3 if size >= 0.1 else 4
    return f"{value:,.{decimals}f}"


def fraction(record: Record) -> str:
    if record.fraction_of_ceiling is None:
        return NO_VALUE
    return say("bench.of-ceiling", fraction=record.fraction_of_ceiling, ceiling=record.ceiling)


def median(record: Record) -> str:
    if record.time:
        return seconds(record.time.median)
    if record.skipped:
        return say("bench.skipped")
    return say("bench.out-of-memory") if is_out_of_memory(record.error) else say("bench.failed")


def distance(record: Record) -> str:
    return NO_VALUE if record.distance is None else f"{record.distance:.1e}"


def reasons(record: Record, implementation: str) -> str:
    """Says why the judgements are what they are; empty where there are none."""
    judged = {"bench.column-readable": record.readability, "bench.column-debuggable": record.debugging}
    scores = [
        told("bench.score", what=Message(code), value=score.value, reason=score.reason)
        for code, score in judged.items()
        if score
    ]
    return say("bench.scores", name=implementation, scores=scores) if scores else ""


def spread(record: Record) -> str:
    return f"{seconds(record.time.p20)} … {seconds(record.time.p80)}" if record.time else NO_VALUE


def method(record: Record) -> str:
    """Returns how a record was timed, in the language that is spoken; a method that nobody knows stays."""
    if record.time is None:
        return NO_VALUE
    stored, _, why = record.time.method.partition(": ")
    return say(_METHODS[stored], why=why) if stored in _METHODS else record.time.method


def name(record: Record) -> str:
    return record.implementation + (say("bench.peer") if record.is_peer else "")


Column = tuple[str, Callable[[Record], str]]  # the code of its heading, and its cells

MEASURED: Sequence[Column] = (
    ("bench.column-implementation", name),
    ("bench.column-language", lambda record: record.language or NO_VALUE),
    ("bench.column-median", median),
    ("bench.column-spread", spread),
    ("bench.column-eager", lambda record: seconds(record.eager and record.eager.median)),
    ("bench.column-gb", lambda record: digits(record.gb_per_s)),
    ("bench.column-tflop", lambda record: digits(record.tflop_per_s)),
    ("bench.column-peer", lambda record: digits(record.ratio_to_fastest_peer)),
    ("bench.column-ceiling", fraction),
    ("bench.column-memory", lambda record: memory(record.peak_memory_bytes)),
    ("bench.column-distance", distance),
    ("bench.column-method", method),
)

JUDGED: Sequence[Column] = (
    ("bench.column-implementation", name),
    (
        "bench.column-lines",
        lambda record: NO_VALUE if record.lines_of_code is None else str(record.lines_of_code),
    ),
    ("bench.column-hours", lambda record: digits(record.dev_hours)),
    (
        "bench.column-archs",
        lambda record: NO_VALUE if record.portability is None else " ".join(record.portability),
    ),
    (
        "bench.column-readable",
        lambda record: str(record.readability.value) if record.readability else NO_VALUE,
    ),
    ("bench.column-debuggable", lambda record: str(record.debugging.value) if record.debugging else NO_VALUE),
)


@contextmanager
def progress_bar(total: int, wanted: bool) -> Generator[Callable[[str], None]]:
    """A function to call once per step with what was done; a bar on stderr, only where that is a terminal."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda _description: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda description: bar.update(task, advance=1, description=escape(description))
