"""What users read stands in catalogues: no sentence in English is left in the code, Python or C++."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import flashpath

SOURCE = Path(flashpath.__file__).parent

# Three words of English in a row, or two after "the", "is" and their like: a sentence, or a part of one.
_SENTENCE = re.compile(r"\b[A-Za-z][a-z']* [a-z']+ [a-z']+|^ ?(?:the|is|of|are|an?) [a-z]+ ")
# Whose arguments are not read by users, or are there in both languages.
_CALLS = {"Text", "compile", "search", "match", "fullmatch", "startswith", "AttributeError", "Variable"}
# What holds English on purpose, and why.
KEPT = {
    # For developers: what `make figures` and the commands of development print, and defects of our own.
    "course/figures/parts.py": "a defect of a figure",
    "course/listing.py": "a command of development",
    "course/making.py": "a command of development",
    "course/content/lesson.py": "compared by a test of the lessons' languages",
    "course/sandbox/inside/frames.py": "runs beside answers, where nothing of flashpath may be loaded",
    "course/sandbox/functions.py": "a defect of the caller in our own code",
    "course/sandbox/kernels.py": "a defect of the caller in our own code",
    "course/sandbox/programs.py": "a defect of the caller in our own code",
    "course/sandbox/nursery.py": "caught beside it",
    "documents.py": "a command of development",
    "kernels/elementwise/traffic.py": "a command of development",
    "messages/__init__.py": "caught where messages are read",
    "ops/plans/gradient.py": "why a call is not replayed: told to tests alone",
    "ops/plans/recording.py": "why a call is not replayed: told to tests alone",
    "ops/plans/triton_launches.py": "why a call is not replayed: told to tests alone",
    "vgpu/instructions/document.py": "a command of development",
    "vgpu/recorded.py": "a file of our own that another version wrote",
    "jit/mangling.py": "caught where names are read",
    "cli/doctor/find.py": "caught beside it",
    "bench/ceilings.py": "a defect of the caller in our own code",
    # Documents and drawings of results, which are in English.
    "bench/beside_naive.py": "documents",
    "bench/lengths.py": "drawings",
    "bench/plot.py": "matplotlib's names",
    # Records are data: the names of methods, which tables translate.
    "bench/known_peers.py": "a method's name in records",
    "bench/eager.py": "a method's name in records",
    "bench/cuda_timer.py": "a method's name in records",
    "bench/table.py": "names of methods in records",
    "bench/nsight/systems.py": "names of operations in records",
    "gpus/occupancy.py": "names of limits in reports, which vgpu/report/names.py translates",
    "vgpu/report/names.py": "names of limits in reports",
    "vgpu/program_report.py": "names of operations in recordings",
    "vgpu/exactness.py": "a record of what was measured",
    # Other languages and other programs.
    "compat/distribution.py": "the metadata of a package",
    "cli/doctor/tools.py": "a command line",
    "vgpu/host.py": "a command line",
    "kernels/attention/decode/ladder.py": "names of cases in records",
    "kernels/matmul/ladder.py": "names of cases in records",
    "kernels/sort/ladder.py": "names of cases in records",
    "kernels/quantize/operations.py": "Python, as a call of a rung is written",
    "course/figures/units/coalescing.py": "both languages stand there",
    "course/figures/units/flash_source_map.py": "both languages stand there, and keys of a record",
    "course/workspace/marker.py": "what the reader of TOML says",
    "course/workspace/pages.py": "a command line",
    "course/expressions.py": "names of NumPy",
    "course/state/schema.py": "SQL",
    "jit/diagnostics.py": "what compilers say",
    "jit/export/writing.py": "C++ that is compiled",
    "jit/names.py": "CUDA C++",
    "jit/nvcc.py": "what nvcc says",
    "jit/nvcc_names.py": "CUDA C++",
    "jit/packing.py": "Python that is compiled",
    "jit/programs/errors.py": "what compilers say",
    "jit/signature.py": "CUDA C++",
    "ops/plans/replay.py": "Python that is compiled",
    "vgpu/report/classes.py": "opcodes",
}


def _python() -> Iterator[tuple[str, int, str]]:
    """The sentences in Python: where, and the text."""
    for file in sorted(SOURCE.rglob("*.py")):
        if file.name == "messages.py":
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        yield from ((file.relative_to(SOURCE).as_posix(), *found) for found in _in_tree(tree))


def _in_tree(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Constant(value=str(text)):
            if _SENTENCE.search(text) and not text.startswith("flashpath "):  # a command line
                yield node.lineno, text
        case ast.Call(func=function) if ast.unparse(function).rpartition(".")[2] in _CALLS:
            pass
        case ast.Dict() if _has_chinese(node):  # both languages stand there
            pass
        case ast.Expr(value=ast.Constant()):  # a docstring
            pass
        case ast.Assert(test=test):  # what it says is a defect of our own
            yield from _in_tree(test)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _in_tree(child)


def _has_chinese(node: ast.AST) -> bool:
    texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return any(isinstance(text, str) and re.search("[\u4e00-\u9fff]", text) for text in texts)


@functools.cache
def _found() -> tuple[tuple[str, int, str], ...]:
    return tuple(_python())


def test_no_sentence_stands_in_python() -> None:
    found = [f"{file}:{line}: {text[:80]!r}" for file, line, text in _found() if file not in KEPT]
    assert not found, "\n".join(found)


def test_whatever_is_kept_is_there() -> None:
    assert KEPT.keys() - {file for file, _, _ in _found()} == set()


# NVIDIA's own words for each error, which cudaGetErrorString gives as it does on a GPU.
_NVIDIAS = "runtime/api/errors.cpp"
# Docstrings for Python, names of operations in recordings, which Python translates, a defect of our own, and
# what stands in both languages.
_IN_CPP = re.compile(
    r'"[A-Z].*[.]"|"copy, (?:(?:host|device) to (?:host|device)|between devices)"'
    r'|std::logic_error|"this program is'
)


def test_no_sentence_stands_in_cpp() -> None:
    wrong: list[str] = []
    for file in sorted((SOURCE / "vgpu").rglob("*")):
        if file.suffix not in (".cpp", ".h") or file.as_posix().endswith(_NVIDIAS):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            code = line.partition(" //")[0].strip()
            if code.startswith(("//", "#")) or _IN_CPP.search(code):
                continue
            for text in re.findall(r'"((?:[^"\\]|\\.)*)"', code):
                if _SENTENCE.search(text):
                    wrong.append(f"{file.relative_to(SOURCE)}:{number}: {text!r}")
    assert not wrong, "\n".join(wrong)
