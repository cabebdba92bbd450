"""The parser on what nvcc, NVRTC and Triton write, against independent readings of the same text."""

from __future__ import annotations

import re
import shutil
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from flashpath import kernels
from flashpath.gpus import parse_arch
from flashpath.jit import Kernel, assembler
from flashpath.kernels import Rung
from tests.harness import ptx_text as ptx

SOURCES = sorted((Path(__file__).parent / "sources").glob("*.cu"))
ARCHS = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a")
SAME_CODE = (
    "calls",
    "variables",
    "inline_assembly",
    "switches",
    "messages",
    "tensor_cores",
    "barrier",
    "bounds",
)
TRITON_KERNELS = ("softmax", "matmul", "histogram", "talk")

CudaPtx = Callable[..., str]


def number(arch: str) -> int:
    return parse_arch(arch).major * 10 + parse_arch(arch).minor


def archs_of(source: Path) -> list[str]:
    least = re.match(r"// at least (\w+)", source.read_text())
    return [arch for arch in ARCHS if least is None or number(arch) >= number(least[1])]


COMPILED = [pytest.param(file, arch, id=f"{file.stem}-{arch}") for file in SOURCES for arch in archs_of(file)]
RUNGS = [
    pytest.param(rung, id=f"{name}-{rung.name}")
    for name in kernels.ladders()
    for rung in kernels.ladder(name)
    if rung.language == "cuda"
]


# ---- An independent reading of PTX ---------------------------------------------------------------------


def without_noise(text: str) -> str:
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"\.section\s+\S+\s*\{[^}]*\}", " ", text)
    return re.sub(r"^\s*\.(?:loc|file)\s.*$", " ", text, flags=re.MULTILINE)


def opcodes_by_function(text: str) -> dict[str, Counter[str]]:
    """Statements between the braces of each function that start with an opcode, counted by opcode."""
    text = without_noise(text)
    found: dict[str, Counter[str]] = {}
    head = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)\s*(?:\([^)]*\))?([^{;]*)([{;])")
    position = 0
    while match := head.search(text, position):
        position = match.end()
        if match[3] == ";":
            continue
        depth = 1
        start = position
        while depth:
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            position += 1
        counts: Counter[str] = Counter()
        for statement in text[start : position - 1].split(";"):
            bare = re.sub(r"^(?:\s|[{}]|[\w$]+\s*:(?!:))*", "", statement)
            bare = re.sub(r"^@!?[%\w$]+\s*", "", bare)
            if opcode := re.match(r"[a-z][\w.:]*", bare):
                counts[opcode[0]] += 1
        found[match[1]] = counts
    return found


def check(text: str) -> ptx.Summary:
    summary = ptx.summarize(text)
    counted = {each.name: Counter(each.opcodes) for each in summary.functions if not each.is_declaration}
    assert counted == opcodes_by_function(text)
    for function in summary.functions:
        assert sum(function.opcodes.values()) == function.instructions
    once = ptx.dump(text)
    assert ptx.dump(once) == once
    again = ptx.summarize(once)
    # Dumps write entries last.
    in_order = sorted(summary.functions, key=lambda each: each.is_entry and not each.is_declaration)
    assert again.functions == tuple(in_order)
    assert (again.version, again.target, again.variables) == (
        summary.version,
        summary.target,
        summary.variables,
    )
    return summary


# ---- What the compilers write --------------------------------------------------------------------------


@pytest.mark.parametrize(("file", "arch"), COMPILED)
def test_cuda(file: Path, arch: str, cuda_ptx: CudaPtx) -> None:
    summary = check(cuda_ptx(file, arch))
    assert arch in summary.target
    assert any(function.is_entry for function in summary.functions)


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.stem)
def test_debug_build(file: Path, cuda_ptx: CudaPtx) -> None:
    arch = archs_of(file)[-1]
    summary = check(cuda_ptx(file, arch, options=("-G",)))
    assert "debug" in summary.target


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
@pytest.mark.parametrize("options", [(), ("-G",)], ids=["plain", "debug"])
@pytest.mark.parametrize("stem", ["calls", "messages", "variables", "inline_assembly", "shared"])
def test_nvcc(stem: str, options: tuple[str, ...], cuda_ptx: CudaPtx) -> None:
    check(cuda_ptx(f"{stem}.cu", "sm_80", compiler="nvcc", options=options))


@pytest.mark.parametrize("rung", RUNGS)
def test_every_cuda_rung(rung: Rung) -> None:
    assert rung.compile_for is not None
    kernel = rung.compile_for("sm_80")
    assert isinstance(kernel, Kernel)
    summary = check(kernel.module.ptx)
    assert any(function.is_entry for function in summary.functions)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("name", TRITON_KERNELS)
def test_triton(name: str, arch: str, triton_ptx: Callable[[str, str], str]) -> None:
    summary = check(triton_ptx(name, arch))
    assert summary[name].is_entry


# ---- The dump means the same: ptxas makes the same machine code of it ----------------------------------


def sections(cubin: bytes) -> dict[str, bytes]:
    """The code and constants of an ELF file, by section."""
    (start,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, start + i * size) for i in range(count)]
    strings = headers[names][4]
    found: dict[str, bytes] = {}
    for name, kind, _, _, offset, length in headers:
        end = cubin.index(b"\0", strings + name)
        text = cubin[strings + name : end].decode()
        if text.startswith((".text", ".nv.constant", ".nv.global")) and kind != 8:  # 8: no bytes in the file
            found[text] = cubin[offset : offset + length]
    return found


def machine_code(text: str, arch: str) -> dict[str, bytes]:
    # Line tables name labels of debug sections, which a dump does not have.
    plain = re.sub(r"^\s*\.loc\s.*$", "", text, flags=re.MULTILINE)
    cubin, log = assembler.assemble(plain, arch, ())
    assert cubin is not None, log
    return sections(cubin)


@pytest.mark.parametrize("arch", ["sm_80", "sm_100a"])
@pytest.mark.parametrize(
    "stem",
    ["calls", "variables", "inline_assembly", "switches", "messages", "tensor_cores", "barrier", "bounds"],
)
def test_ptxas_makes_the_same_code_of_the_dump(stem: str, arch: str, cuda_ptx: CudaPtx) -> None:
    text = cuda_ptx(f"{stem}.cu", arch)
    code = machine_code(text, arch)
    assert any(name.startswith(".text") for name in code)
    assert machine_code(ptx.dump(text), arch) == code
