"""The child that calls a learner's Python function: inputs in, plain arrays out. It knows no answer."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from . import frames, learner_file
from .learner_file import Failed

Array = np.ndarray[Any, Any]
_MOST_RETURNED = 64
_TORCH_STAND_INS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


def prepare(plan: Mapping[str, Any]) -> Any:
    """Load what arrays are made of: torch, where it is wanted."""
    torch: Any = None
    if plan["arrays"] == "torch":
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
    for name in plan["imports"]:
        importlib.import_module(name)  # while files can still be read
    importlib.import_module("ml_dtypes")
    return torch


def serve(requests: BinaryIO, answers: BinaryIO, folder: str, state: Any) -> None:
    """Import the file once, then call its function as often as asked."""
    torch = state
    function: Any = None
    path = Path(folder)
    while True:
        try:
            message, arrays = frames.read_frame(requests)
        except frames.Closed:
            return
        try:
            if message["do"] == "load":
                path = Path(folder) / message["file_name"]
                module = learner_file.load(message["source"], folder, message["file_name"])
                function = getattr(module, message["function"], None)
                if not callable(function):
                    raise Failed("course.sandbox.no-function", name=message["function"])
                frames.write_frame(answers, {"ok": True})
            else:
                header, results = _call(function, path, message["arguments"], arrays, torch)
                frames.write_frame(answers, {"ok": True, **header}, results)
        except Failed as error:
            frames.write_frame(answers, error.as_data())
        sys.stderr.flush()


def _call(
    function: Any, path: Path, described: Sequence[Any], arrays: Sequence[Array], torch: Any
) -> tuple[dict[str, Any], list[Array]]:
    given = iter(arrays)
    arguments = [_argument(next(given), torch) if each == "array" else each for each in described]
    try:
        returned = function(*arguments)
        values: list[Any] = list(returned) if type(returned) in (tuple, list) else [returned]
        if len(values) > _MOST_RETURNED:
            raise Failed("course.sandbox.returned-too-many", count=len(values))
        kinds: list[Any] = []
        results: list[Array] = []
        for place, value in enumerate(values):
            if type(value) in (bool, int, float):
                kinds.append(float(value))
            else:
                kinds.append("array")
                results.append(_plain(value, place, torch))
        return {"returned": kinds}, results
    except Failed:
        raise
    except MemoryError:
        raise Failed("course.sandbox.no-memory-call") from None
    except BaseException as error:  # KeyboardInterrupt and SystemExit too: a learner's code may raise any
        raise learner_file.failure(error, path) from None


def _argument(array: Array, torch: Any) -> Any:
    if torch is None:
        return array
    stand_in = _TORCH_STAND_INS.get(array.dtype.name)
    if stand_in is None:
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(stand_in)).view(getattr(torch, array.dtype.name))


def _plain(value: Any, place: int, torch: Any) -> Array:
    """A plain array with the value's numbers, computed now: nothing lazy leaves this process."""
    if torch is not None and isinstance(value, torch.Tensor):
        if type(value) is not torch.Tensor and type(value) is not torch.nn.Parameter:
            raise _no_numbers(place, type(value).__name__)
        tensor = value.detach().cpu().contiguous()
        name = str(tensor.dtype).removeprefix("torch.")
        if name in _TORCH_STAND_INS:
            bits = tensor.view(getattr(torch, _TORCH_STAND_INS[name])).numpy()
            return bits.view(frames.dtype_named(name))
        return tensor.numpy()
    arrays: Any = np.ndarray, np.generic
    if isinstance(value, arrays):
        if isinstance(value, arrays[0]) and type(value) is not np.ndarray:
            raise _no_numbers(place, type(value).__name__)
        array: Array = np.array(value, copy=True, subok=False)
        if array.dtype.name not in frames.DTYPES:
            raise _no_numbers(place, f"ndarray[{array.dtype}]")
        return array
    raise _no_numbers(place, type(value).__name__)


def _no_numbers(place: int, kind: str) -> Failed:
    return Failed("course.sandbox.returned-no-numbers", place=place + 1, kind=kind[:200])
