"""Records as a Markdown document: the latest measurement of everything, a table per GPU, ladder and case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flashpath.bench.record import Record
from flashpath.bench.table import JUDGED, MEASURED, NO_VALUE, Column, reasons
from flashpath.messages import say


def markdown(records: Sequence[Record]) -> str:
    """The newest record of each implementation and case, as tables."""
    parts: list[str] = []
    for gpu in _distinct(_machine(record) for record in records):
        of_gpu = [record for record in records if _machine(record) == gpu]
        for ladder in _distinct(record.ladder or "comparison" for record in of_gpu):
            of_ladder = newest([record for record in of_gpu if (record.ladder or "comparison") == ladder])
            parts.append(f"## {ladder} on {gpu}")
            parts.extend(_case_tables(of_ladder))
            distinct = _one_per_implementation(of_ladder)
            parts.append(table(JUDGED, distinct))
            judged = [line for record in distinct if (line := reasons(record, name(record)))]
            if judged:
                parts.append("\n".join(f"- {line}" for line in judged))
            parts.append(f"Measured on {of_ladder[0].environment.describe()}.")
    return "\n\n".join(parts) + "\n"


def code(text: str) -> str:
    """`text` as a code span that a table cell may hold: nothing in it is read as markup or as a border."""
    fence = "``" if "`" in text else "`"
    padding = " " if "`" in text else ""
    return cell(f"{fence}{padding}{text}{padding}{fence}")


def cell(text: str) -> str:
    """`text` for a table cell: on one line, its pipes escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def name(record: Record) -> str:
    return code(record.implementation) + (" (peer)" if record.is_peer else "")


def newest(records: Sequence[Record]) -> list[Record]:
    """Returns the last record of each implementation and case, in the order they were first met."""
    latest: dict[tuple[str, str], Record] = {}
    for record in records:
        key = (record.case, record.implementation)
        if key not in latest or record.timestamp >= latest[key].timestamp:
            latest[key] = record
    return list(latest.values())


def _case_tables(records: Sequence[Record]) -> list[str]:
    tables: list[str] = []
    for case in _distinct(record.case for record in records):
        of_case = [record for record in records if record.case == case]
        ran = [record for record in of_case if not record.skipped]
        fastest_first = sorted(ran, key=lambda r: r.time.median if r.time else float("inf"))
        skipped = ", ".join(name(record) for record in of_case if record.skipped)
        parts = [f"**{case}**"]
        parts += [table(MEASURED, fastest_first)] if ran else []
        parts += [f"Skipped: {skipped}."] if skipped else []
        tables.append("\n\n".join(parts))
    return tables


def table(columns: Sequence[Column], records: Sequence[Record]) -> str:
    """A Markdown table without the columns in which nothing stands."""
    filled = [("implementation", [name(record) for record in records])]
    filled += [(say(heading), [cell(show(record)) for record in records]) for heading, show in columns[1:]]
    shown = [(heading, cells) for heading, cells in filled if any(cell != NO_VALUE for cell in cells)]
    rows = [[heading for heading, _ in shown], ["---"] + ["---:"] * (len(shown) - 1)]
    rows += [list(row) for row in zip(*(cells for _, cells in shown), strict=True)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _one_per_implementation(records: Sequence[Record]) -> list[Record]:
    return list({record.implementation: record for record in records}.values())


def _machine(record: Record) -> str:
    return record.environment.gpu or record.environment.cpu or record.environment.device


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
