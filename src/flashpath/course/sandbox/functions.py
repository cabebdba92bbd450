"""`FunctionSession`: a learner's Python function, called by value in a child of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import PurePath
from typing import Any, Literal, cast

import numpy as np

from flashpath.course.sandbox import places
from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.errors import Crashed, Raised, SandboxError, reported
from flashpath.course.sandbox.job import Array, Limits
from flashpath.course.sandbox.plain import plain_number
from flashpath.course.sandbox.python_source import check_python, failed_at
from flashpath.course.sandbox.session import Session
from flashpath.messages import told


class FunctionSession(Session):
    """`with FunctionSession(…) as session:` imports the file; `session.call(arguments)` calls it."""

    def __init__(
        self,
        source: str,
        file_name: str,
        function: str,
        imports: Collection[str] = ("math", "numpy"),
        arrays: Literal["numpy", "torch"] = "numpy",
        limits: Limits | None = None,
    ) -> None:
        self.source = source
        self.file_name = re.sub(r"[^\w.-]", "_", PurePath(file_name).name) or "answer.py"
        self.function = function
        self.imports = tuple(imports)
        self.arrays = arrays
        super().__init__(limits)

    def __enter__(self) -> FunctionSession:
        check_python(self.source, self.file_name, self.imports)
        plan = {"arrays": self.arrays, "imports": list(self.imports)}
        self._child = Child("function_worker", self.limits, places.for_learners(), trusted=False, plan=plan)
        try:
            header, _ = self._child.ask(
                told("course.sandbox.importing", file=self.file_name),
                self.limits.import_seconds,
                {"do": "load", "source": self.source, "file_name": self.file_name, "function": self.function},
            )
            self._check(header, calling=False)
        except BaseException:
            self.close()
            raise
        return self

    @property
    def printed(self) -> str:
        """What the function printed so far."""
        return self._child.printed if self._child else ""

    def call(self, arguments: Sequence[Any]) -> tuple[Array | float, ...]:
        """Call it on copies of the arguments: what it does to them is seen by nobody.

        What it returns comes as plain arrays and floats, whatever it was; shapes and dtypes are as it made
        them, and for the caller to compare.
        """
        child = self._child
        if child is None:
            raise RuntimeError("the session is closed: use it inside its with block")
        arrays = [cast("Array", each) for each in arguments if isinstance(each, np.ndarray)]
        described = ["array" if isinstance(each, np.ndarray) else plain_number(each) for each in arguments]
        header, found = child.ask(
            told("course.sandbox.calling", function=self.function),
            self.limits.run_seconds,
            {"do": "call", "arguments": described},
            arrays,
            self.limits.answer_bytes,
        )
        self._check(header, calling=True)
        return _returned(header, found)

    def _check(self, header: dict[str, Any], *, calling: bool) -> None:
        if header.get("ok") is True:
            return
        problem, line = reported(header.get("failed")), header.get("line")
        error: SandboxError
        if problem is None or type(line) is not int:
            error = Crashed(told("course.sandbox.sent-no-answer"))
        else:
            inside = line if 0 < line <= self.source.count("\n") + 1 else 0
            shown = failed_at(self.source, self.file_name, problem, inside)
            error = Raised(shown.said, shown.diagnostics, problem) if calling else shown
        error.printed = self.printed
        raise error


def _returned(header: dict[str, Any], found: list[Array]) -> tuple[Array | float, ...]:
    described = header.get("returned")
    if not isinstance(described, list):
        raise Crashed(told("course.sandbox.sent-no-answer"))
    kinds = cast("list[Any]", described)
    if kinds.count("array") != len(found):
        raise Crashed(told("course.sandbox.sent-no-answer"))
    given = iter(found)
    values: list[Array | float] = []
    for kind in kinds:
        if kind == "array":
            values.append(next(given))
        elif isinstance(kind, (int, float)):
            try:
                values.append(float(kind))
            except OverflowError:  # an honest child has made a float of it
                raise Crashed(told("course.sandbox.sent-no-answer")) from None
        else:
            raise Crashed(told("course.sandbox.sent-no-answer"))
    return tuple(values)
