"""Records what the profilers say of `pipeline.cu`, for tests that have neither them nor a GPU.

    python tests/bench/nsight/record.py tests/bench/nsight/recorded

It runs on any machine with an NVIDIA GPU, ncu and nsys; what a tool that is missing would write is left as it
is. README.md beside this says what was recorded where.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import sys
from pathlib import Path

from flashpath.bench import nsight
from flashpath.jit import programs

HERE = Path(__file__).parent
TABLES = ("KERNEL", "MEMCPY", "MEMSET")


def main() -> int:
    folder = Path(sys.argv[1])
    recipe = programs.make_recipe([HERE / "pipeline.cu"], programs.choose_target("cuda"))
    with nsight.Session(programs.build(recipe), ["256"]) as session:
        if ncu := nsight.find("ncu"):
            print(nsight.measure_launches(ncu, session)[1])
            text = (session.folder / "launches.csv").read_text()
            # Where the program lay is nobody's business.
            text = re.sub(r"(process \d+) \(.*\)", r"\1 (pipeline)", text)
            (folder / "pipeline.csv").write_text(text)
        if nsys := nsight.find("nsys"):
            print(nsight.record_timeline(nsys, session)[1])
            database = session.folder / "timeline.sqlite"
            if database.is_file():
                (folder / "pipeline.sql").write_text("\n".join(dump(database)) + "\n")
    return 0


def dump(database: Path) -> list[str]:
    """The tables that are read, and of the strings those that they name: the rest is of the machine."""
    statements: list[str] = []
    with contextlib.closing(sqlite3.connect(database)) as opened:
        names: set[int] = set()
        for table in (f"CUPTI_ACTIVITY_KIND_{each}" for each in TABLES):
            found = opened.execute("SELECT sql FROM sqlite_master WHERE name = ?", [table]).fetchone()
            if found is None:
                continue
            statements.append(re.sub(r"\s+", " ", re.sub(r"--.*", "", found[0])) + ";")
            rows = opened.execute(f"SELECT * FROM {table}")
            columns = [each[0] for each in rows.description]
            texts = [at for at, name in enumerate(columns) if name.endswith("Name")]
            hidden = {at for at, name in enumerate(columns) if name == "globalPid"}
            for row in rows:
                names |= {row[at] for at in texts if row[at] is not None}
                values = ("0" if at in hidden else quoted(value) for at, value in enumerate(row))
                statements.append(f"INSERT INTO {table} VALUES ({', '.join(values)});")
        statements.append("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);")
        for number, text in opened.execute("SELECT id, value FROM StringIds ORDER BY id"):
            if number in names:
                statements.append(f"INSERT INTO StringIds VALUES ({number}, {quoted(text)});")
    return statements


def quoted(value: object) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


if __name__ == "__main__":
    sys.exit(main())
