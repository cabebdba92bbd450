"""How a run of thousands of records is kept: one JSON document in which nothing is said twice.

    {
    "environments": {
    "3f2a90c1d4": {"device": "cuda", "gpu": "NVIDIA H200", …}
    },
    "ladders": [
    {"ladder": "elementwise", "implementations": {
    "scalar": {"language": "cuda", "lines_of_code": 19, …}
    }, "cases": [
    {"case": "gelu 2^20 float32", "environment": "3f2a90c1d4", "timestamp": …, "parameters": …, "records": [
    {"implementation": "scalar", "time": …, "gb_per_s": …}
    ]}
    ]}
    ]
    }

A record is a line, and what it has of its ladder, case and implementation is said once. An environment is
named by a digest of what it holds, not by a number: when one ladder is measured anew, no line of another
changes. Fields that have their default are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from flashpath.bench.record import BadRecord, Record, read_dataclass

# What a record shares with all others of its implementation, and with all others of its case.
_OF_IMPLEMENTATION = (
    "language",
    "is_peer",
    "lines_of_code",
    "dev_hours",
    "portability",
    "readability",
    "debugging",
)
_OF_CASE = ("case", "environment", "timestamp", "parameters", "ceiling")
_DEFAULTS = {each.name: each.default for each in fields(Record) if each.default is not MISSING}

_Fields = dict[str, Any]


@dataclass
class _Case:
    shared: _Fields
    records: list[_Fields] = field(default_factory=list[_Fields])


@dataclass
class _Ladder:
    name: str | None
    implementations: dict[str, _Fields] = field(default_factory=dict[str, _Fields])
    cases: list[_Case] = field(default_factory=list[_Case])

    def takes(self, name: str | None, implementation: str, facts: _Fields) -> bool:
        """Whether the next record may stand here: not where an implementation has changed since."""
        return self.name == name and self.implementations.get(implementation, facts) == facts


def is_document(first_line: str) -> bool:
    """Whether a file that begins so holds a stored run; a file of single records has a whole one there."""
    return first_line.strip() == "{"


def write(records: Iterable[Record]) -> str:
    """The document of these records, in their order."""
    environments: dict[str, _Fields] = {}
    ladders: list[_Ladder] = []
    for record in records:
        said: _Fields = json.loads(record.to_json())
        name = _digest(said["environment"])
        environments[name] = said["environment"]
        said = {key: value for key, value in said.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
        said["environment"] = name
        _add(ladders, said)
    parts = ["{", '"environments": {', _members(environments), "},", '"ladders": [']
    parts += [",\n".join(map(_ladder_lines, ladders)), "]", "}"]
    return "\n".join(filter(None, parts)) + "\n"


def _add(ladders: list[_Ladder], said: _Fields) -> None:
    name, implementation = said.pop("ladder", None), said["implementation"]
    facts = _taken(said, _OF_IMPLEMENTATION)
    shared = _taken(said, _OF_CASE)
    if not ladders or not ladders[-1].takes(name, implementation, facts):
        ladders.append(_Ladder(name))
    ladders[-1].implementations[implementation] = facts
    cases = ladders[-1].cases
    if not cases or cases[-1].shared != shared:
        cases.append(_Case(shared))
    cases[-1].records.append(said)


def _taken(said: _Fields, names: Iterable[str]) -> _Fields:
    return {name: said.pop(name) for name in names if name in said}


def _digest(environment: _Fields) -> str:
    return hashlib.sha256(json.dumps(environment, sort_keys=True).encode()).hexdigest()[:10]


def _ladder_lines(ladder: _Ladder) -> str:
    cases = ",\n".join(map(_case_lines, ladder.cases))
    head = f'{{"ladder": {_line(ladder.name)}, "implementations": {{'
    return f'{head}\n{_members(ladder.implementations)}\n}}, "cases": [\n{cases}\n]}}'


def _case_lines(case: _Case) -> str:
    records = ",\n".join(map(_line, case.records))
    return f'{_line(case.shared)[:-1]}, "records": [\n{records}\n]}}'


def _members(table: Mapping[str, _Fields]) -> str:
    return ",\n".join(f"{_line(name)}: {_line(value)}" for name, value in table.items())


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read(text: str) -> list[Record]:
    """The records of a document; BadRecord, ValueError, TypeError or LookupError says what in it is wrong."""
    document = _table(json.loads(text), "the document")
    environments = _table(document["environments"], "environments")
    return [
        _record(ladder, case, said, environments)
        for ladder in document["ladders"]
        for case in ladder["cases"]
        for said in case["records"]
    ]


def _record(ladder: _Fields, case: _Fields, said: _Fields, environments: _Fields) -> Record:
    shared = {name: value for name, value in case.items() if name != "records"}
    shared |= {"ladder": ladder["ladder"], "environment": environments[case["environment"]]}
    name = said["implementation"]
    try:
        return read_dataclass(Record, {**shared, **ladder["implementations"][name], **said})
    except BadRecord as error:
        case_name, ladder_name = case["case"], ladder["ladder"]
        raise BadRecord(
            "bench.record-in-case", name=name, case=case_name, ladder=ladder_name, why=error.said
        ) from None


def _table(value: Any, name: str) -> _Fields:
    if not isinstance(value, dict):
        raise BadRecord("bench.record-part-no-object", name=name, value=str(value)[:40])
    return value  # pyright: ignore[reportUnknownVariableType]
