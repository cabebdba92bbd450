"""The child that imports a learner's Triton file and compiles one kernel of it to PTX. It sees no data."""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from . import frames, learner_file
from .learner_file import Failed

_TYPES = {
    "bool": "i1", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32",
    "uint32": "u32", "int64": "i64", "uint64": "u64", "float16": "fp16", "bfloat16": "bf16",
    "float32": "fp32", "float64": "fp64", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
}  # fmt: skip
_POINTERS_ARE_ALIGNED = [["tt.divisibility", 16]]
_WARP = 32
# Addresses, and advice that a learner cannot follow: nobody sets variables of the process that builds.
_CANNOT_BE_DONE = re.compile(r" at 0x[0-9a-f]{6,}|\s*Alternatively, set the envvar .*", re.DOTALL)


def prepare(plan: Mapping[str, Any]) -> None:
    """Load Triton, and have it ask its tools for their versions while it may still start them."""
    triton: Any = importlib.import_module("triton")
    importlib.import_module("triton.language")
    nvidia: Any = importlib.import_module("triton.backends.nvidia.compiler")
    capability: int = plan["capability"]
    # Block pointers are taught, with words on what follows them: a verdict does not say it at every answer.
    warnings.filterwarnings("ignore", message="tl.make_block_ptr is deprecated")
    backend: Any = triton.compiler.make_backend(_target(capability))
    with contextlib.suppress(AttributeError, TypeError):
        backend.hash()
        _ = nvidia.get_ptxas(capability).version
        triton.runtime.cache.triton_key()  # a digest of all of Triton, which each child would make
    # PTX is all that is wanted: machine code would need the assembler, a process of its own.
    nvidia.CUDABackend.make_cubin = _no_machine_code


def warm(plan: Mapping[str, Any]) -> None:
    """Compile something, into a folder that goes again."""
    triton: Any = importlib.import_module("triton")
    first: Any = importlib.import_module("inside.triton_first").first
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        types = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        source = triton.compiler.ASTSource(first, types, {(3,): 128})
        capability: int = plan["capability"]
        options = {"num_warps": 4, "ptx_version": _ptx_version(capability)}
        triton.compile(source, target=_target(capability), options=options)


def _no_machine_code(*_: object) -> bytes:
    return b""


def _ptx_version(capability: int) -> int:
    """The oldest that knows the GPU: other assemblers than Triton's own are to read it."""
    return 88 if capability in (103, 110, 121) else 87


def _target(capability: int) -> Any:
    compilers: Any = importlib.import_module("triton.backends.compiler")
    return compilers.GPUTarget("cuda", capability, _WARP)


def serve(requests: BinaryIO, answers: BinaryIO, folder: str, state: None) -> None:
    """Import the file, then build what of it is asked for: two messages, since each has its own time."""
    del state
    module: Any = None
    while True:
        try:
            message, _ = frames.read_frame(requests)
        except frames.Closed:
            return
        try:
            if message["do"] == "load":
                module = learner_file.load(message["source"], folder, message["file_name"])
                frames.write_frame(answers, {"ok": True})
            else:
                header, ptx = _build(module, message, folder)
                frames.write_frame(answers, {"ok": True, **header}, [np.frombuffer(ptx, np.uint8)])
        except Failed as error:
            frames.write_frame(answers, error.as_data())
        sys.stderr.flush()


def _build(module: Any, message: Mapping[str, Any], folder: str) -> tuple[dict[str, Any], bytes]:
    path = Path(folder) / message["file_name"]
    kernel: Any = getattr(module, message["kernel"], None)
    triton: Any = importlib.import_module("triton")
    jit: Any = importlib.import_module("triton.runtime.jit")
    if kernel is None:
        raise Failed("course.sandbox.no-kernel", name=message["kernel"])
    if not isinstance(kernel, jit.JITFunction):
        raise Failed("course.sandbox.not-jit", kernel=message["kernel"])
    signature, constants, attributes = _signature(kernel, message)
    try:
        source = triton.compiler.ASTSource(kernel, signature, constants, attributes)
        options = {"num_warps": message["num_warps"], "ptx_version": _ptx_version(message["capability"])}
        made = triton.compile(source, target=_target(message["capability"]), options=options)
        metadata, text = made.metadata, made.asm["ptx"]
    except MemoryError:
        raise Failed("course.sandbox.no-memory-compile") from None
    except BaseException as error:  # what a learner's own class raises while Triton looks at it, too
        raise _compile_failure(error, message["source"], path) from None
    header = {
        "name": metadata.name,
        "num_warps": metadata.num_warps,
        "num_ctas": metadata.num_ctas,
        "shared": metadata.shared,
        "scratch": metadata.global_scratch_size + metadata.profile_scratch_size,
        "descriptors": bool(getattr(metadata, "tensordesc_meta", None)),
    }
    return header, text.encode() if isinstance(text, str) else bytes(text)


def _signature(
    kernel: Any, message: Mapping[str, Any]
) -> tuple[dict[str, str], dict[Any, Any], dict[Any, Any]]:
    """The parameters in the exercise's order; constants by their names. Integers are plain values: what is
    compiled does not depend on what they are."""
    constants: dict[str, Any] = message["constants"]
    wanted: list[dict[str, Any]] = message["parameters"]
    names = list(kernel.arg_names)
    line = _line_of(kernel)
    plain = [name for name in names if name not in constants]
    if missing := [name for name in constants if name not in names]:
        raise Failed("course.sandbox.no-constexpr", line, kernel=message["kernel"], name=missing[0])
    if len(plain) != len(wanted):
        called = ", ".join([*(each["name"] for each in wanted), *constants])
        own = ", ".join(names)
        raise Failed("course.sandbox.takes-others", line, kernel=message["kernel"], own=own, called=called)
    signature: dict[str, str] = {}
    values: dict[Any, Any] = {}
    attributes: dict[Any, Any] = {}
    given = iter(wanted)
    for index, name in enumerate(names):
        if name in constants:
            signature[name] = "constexpr"
            values[(index,)] = constants[name]
            continue
        each = next(given)
        kind = _TYPES[each["dtype"]]
        signature[name] = f"*{kind}" if each["is_array"] else kind
        if each["is_array"]:
            attributes[(index,)] = _POINTERS_ARE_ALIGNED
        if kernel.params[index].is_constexpr:
            raise Failed("course.sandbox.is-constexpr", line, name=name)
    return signature, values, attributes


def _line_of(kernel: Any) -> int:
    return int(getattr(kernel, "starting_line_number", 0))


def _compile_failure(error: BaseException, source: str, path: Path) -> Failed:
    """The innermost place of the learner's that Triton's compiler names, and what it says of it."""
    errors: Any = importlib.import_module("triton.compiler.errors")
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__
    place: tuple[int, int | None] | None = None
    for each in chain:
        if isinstance(each, errors.CompilationError):
            place = _place(each, source) or place
    last = chain[-1]
    text = getattr(last, "error_message", None) or str(last) or type(last).__name__
    if helper := re.match(r"Unsupported function referenced: <function ([\w.<>]+)", str(text)):
        return _plain_helper(helper[1].rpartition(".")[2], source)
    text = re.sub(r"^(\w+)\((['\"])(.*)\2\)$", r"\1: \3", str(text), flags=re.DOTALL)  # some are a repr
    text = _CANNOT_BE_DONE.sub("", text)[:2000]
    if place is None:
        failed = learner_file.failure(chain[0], path)
        return Failed("course.sandbox.python-says", failed.line, text=f"{type(last).__name__}: {text}")
    return Failed("course.sandbox.python-says", *place, text=text)


def _plain_helper(name: str, source: str) -> Failed:
    """A kernel calls a function that Triton does not compile: told where that function is made."""
    made, called = 0, 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            made = made or node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            called = called or node.lineno
    if not made:
        return Failed("course.sandbox.calls-plain-python", called, name=name)
    if not called:
        return Failed("course.sandbox.needs-jit", made, name=name)
    return Failed("course.sandbox.needs-jit-at", made, name=name, line=called)


def _place(error: Any, source: str) -> tuple[int, int | None] | None:
    """The line in the file: Triton counts from the kernel's own `def`."""
    node, text = error.node, error.src
    if not isinstance(text, str) or not hasattr(node, "lineno"):
        return None
    at = source.find(text.strip("\n"))
    if at < 0:
        name = re.match(r"\s*def\s+(\w+)", text)
        found = re.search(rf"^\s*def\s+{name[1]}\b", source, re.MULTILINE) if name else None
        if found is None:
            return None
        at = found.start() + len(found[0]) - len(found[0].lstrip())
    return source.count("\n", 0, at) + int(node.lineno), int(node.col_offset) + 1
