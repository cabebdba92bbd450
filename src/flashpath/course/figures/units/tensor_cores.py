"""Figures of the unit on tensor cores: speed, fragments, formats, counts, and what sums in half cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.kernels.matmul import float32, tensor_core
from flashpath.layout.mma_atoms import mma_atom
from flashpath.layout.thread_value import ThreadValue
from flashpath.vgpu.report import Report

_UNIT = "units/17-tensor-cores"
_CASE = "4096³ {}"


# ---- The ladder ----------------------------------------------------------------------------------------


def speed(lang: str) -> Figure:
    """The best float32 rung and those on tensor cores, 4096³ on an H200, from the records."""
    title = {"en": "4096³ on an H200, TFLOP/s", "zh": "4096³，H200，TFLOP/s"}[lang]
    rows = (
        ("float32", "warp_tiled"),
        ("tfloat32", "wmma"),
        ("tfloat32", "mma_ldmatrix"),
        ("tfloat32", "mma_pipelined"),
        ("bfloat16", "wmma"),
        ("bfloat16", "mma_ldmatrix"),
        ("bfloat16", "mma_pipelined"),
        ("bfloat16", "torch"),
    )
    measured = _measured()
    bars = [
        (f"{dtype} {name}", measured[dtype, name], f"{measured[dtype, name]:.3g}") for dtype, name in rows
    ]
    return Picture().heading(title).bars(bars).both()


def _measured() -> dict[tuple[str, str], float]:
    """TFLOP/s on an H200 by type and implementation."""
    from flashpath.bench.record_files import load_runs

    cases = {_CASE.format(dtype): dtype for dtype in ("float32", "tfloat32", "bfloat16")}
    return {
        (cases[run.case], run.implementation): run.tflop_per_s
        for run in load_runs(settings.content_dir("benchmarks/results"))
        if run.ladder == "matmul" and run.case in cases and "H200" in str(run.environment.gpu)
        if run.tflop_per_s is not None
    }


_SIZE = {"m": 128, "n": 128, "k": 512}  # of what is counted


def counts(lang: str) -> Figure:
    """What a rung in float32 and two on tensor cores execute for 2,048 multiply-adds."""
    columns = {
        "en": ("warp instructions", "multiply-adds", "passes of shared"),
        "zh": ("warp 指令", "乘加指令", "共享内存趟数"),
    }[lang]
    rows: list[list[str]] = []
    labels: list[str] = []
    for label, report in _counted():
        products = _SIZE["m"] * _SIZE["n"] * _SIZE["k"] / 2048
        kind = "tensor core" if report.tensor_operations else "float32"
        multiply_adds = report.instructions_by_class[kind] / 32
        passes = report.shared_load.wavefronts + report.shared_store.wavefronts
        numbers = (report.warp_instructions, multiply_adds, passes)
        rows.append([f"{number / products:.3g}" for number in numbers])
        labels.append(label)
    groups: list[list[Group]] = [[0, 1, 2] for _ in rows]
    return Picture().grid(rows, groups, rows=labels, columns=columns).both()


def _counted() -> list[tuple[str, Report]]:
    m, n, k = _SIZE["m"], _SIZE["n"], _SIZE["k"]
    found: list[tuple[str, Report]] = []
    for rung, dtype, folder, arguments in (
        ("vectorized", "float32", float32.FOLDER, "<true>"),
        ("wmma", "bfloat16", tensor_core.FOLDER, "<__nv_bfloat16, true>"),
        ("mma_ldmatrix", "bfloat16", tensor_core.FOLDER, "<__nv_bfloat16, true>"),
    ):
        name = f"matmul_{rung}{arguments}"
        kernel = jit.compile(folder / f"{rung}.cu", "sm_80", name_expressions=[name])[name]
        kind = np.dtype(np.float32 if dtype == "float32" else ml_dtypes.bfloat16)
        arrays = np.ones((m, k), kind), np.ones((k, n), kind), np.zeros((m, n), kind)
        tile = (tensor_core.SIMPLE_TILE, tensor_core.SIMPLE_TILE)
        grid = (float32.blocks(m, n, tile),)
        report = jit.profile(kernel, grid=grid, block=(256,), shared=0, args=(m, n, k, *arrays))
        found.append((f"{rung} {dtype}", report))
    return found


# ---- Fragments -----------------------------------------------------------------------------------------

_INSTRUCTION = "SM80_16x8x16_F32F16F16F32_TN"


_Owners = list[list[tuple[int, int]]]  # of each row and column: the lane, and which of its values


def _operands() -> tuple[_Owners, _Owners, _Owners]:
    """Returns who holds A, B and D."""
    atom = mma_atom(_INSTRUCTION)
    assert atom.a is not None
    assert atom.b is not None
    by_column = _owners(atom.b)
    return _owners(atom.a), [list(row) for row in zip(*by_column, strict=True)], _owners(atom.c)


def _owners(fragment: ThreadValue) -> _Owners:
    return [[owners[0] for owners in row] for row in fragment.owners()]


def fragments(lang: str) -> Figure:
    """Which lane holds each register of A, of B, and each element of D; colours are registers."""
    words = {
        "en": (
            "A: lane of each register",
            "B: lane of each register",
            "D: lane of each float",
            "register {}",
        ),
        "zh": ("A：每个寄存器的 lane", "B：每个寄存器的 lane", "D：每个 float 的 lane", "{} 号寄存器"),
    }[lang]
    a, b, d = _operands()
    of_a = Picture().grid(
        [[row[c][0] for c in range(0, 16, 2)] for row in a],
        [[row[c][1] // 2 for c in range(0, 16, 2)] for row in a],
        title=words[0],
        rows=range(16),
        columns=[f"{c}-{c + 1}" for c in range(0, 16, 2)],
    )
    of_b = Picture().grid(
        [[lane for lane, _ in b[r]] for r in range(0, 16, 2)],
        [[value // 2 for _, value in b[r]] for r in range(0, 16, 2)],
        title=words[1],
        rows=[f"{r}-{r + 1}" for r in range(0, 16, 2)],
        columns=range(8),
    )
    of_d = Picture().grid(
        [[lane for lane, _ in row] for row in d],
        [[value for _, value in row] for row in d],
        title=words[2],
        rows=range(16),
        columns=range(8),
    )
    legend: list[tuple[Group, str]] = [(register, words[3].format(register)) for register in range(4)]
    picture = Picture()
    for part in (of_a, of_b, of_d):
        picture.parts += part.parts
    return picture.legend(legend).both()


_DRAWN_LANE = 6


def lane(lang: str) -> Figure:
    """The elements of A, B and D that one lane holds, by value."""
    words = {
        "en": ("A, lane {}", "B", "D", "V: value of the lane"),
        "zh": ("A，lane {}", "B", "D", "V：该 lane 的值的编号"),
    }[lang]
    a, b, d = _operands()
    pictures = [
        _of_lane(a, words[0].format(_DRAWN_LANE), 2),
        _of_lane(b, words[1], 2),
        _of_lane(d, words[2], 1),
    ]
    return Picture().side_by_side(*pictures).note(words[3]).both()


def _of_lane(owners: Sequence[Sequence[tuple[int, int]]], title: str, per_register: int) -> Picture:
    cells = [[f"V{value}" if who == _DRAWN_LANE else "" for who, value in row] for row in owners]
    groups: list[list[Group]] = [
        [value // per_register if who == _DRAWN_LANE else None for who, value in row] for row in owners
    ]
    return Picture().grid(cells, groups, title=title, rows=range(len(cells)), columns=range(len(cells[0])))


# ---- Formats and errors --------------------------------------------------------------------------------


def formats(lang: str) -> Figure:
    """Sign, exponent and mantissa of the formats of 19 and 16 bits."""
    note = {
        "en": "S: sign   E: exponent, the range   M: mantissa, the precision",
        "zh": "S：符号   E：指数，决定范围   M：尾数，决定精度",
    }[lang]
    rows: list[list[str]] = []
    groups: list[list[Group]] = []
    kinds = (("TF32", 8, 10), ("BF16", 8, 7), ("FP16", 5, 10))
    for _, exponent, mantissa in kinds:
        empty = 18 - exponent - mantissa
        rows.append(["S", *"E" * exponent, *"M" * mantissa, *[""] * empty])
        groups.append([2, *[0] * exponent, *[1] * mantissa, *[None] * empty])
    return Picture().grid(rows, groups, rows=[name for name, _, _ in kinds]).note(note).both()


_TERMS = (16, 64, 256, 1024)


def drift(lang: str) -> Figure:
    """The error of sums in float and in half, for the same inputs, against float64, on the virtual GPU."""
    title, columns = {
        "en": (
            "error of a · b by mma.sync, inputs between 0 and 1 in FP16",
            ("k", "FP32 sums", "FP16 sums", "times"),
        ),
        "zh": (
            "mma.sync 计算 a · b 的误差，输入是 0 到 1 之间的 FP16",
            ("k", "FP32 累加", "FP16 累加", "倍数"),
        ),
    }[lang]
    generator = np.random.default_rng(17)
    rows: list[list[str]] = []
    for terms in _TERMS:
        a = generator.random((16, terms)).astype(np.float16)
        b = generator.random((8, terms)).astype(np.float16)
        exact = a.astype(np.float64) @ b.astype(np.float64).T
        errors: list[float] = []
        for file in ("solution.cu", "skeleton.cu"):
            c = np.zeros((16, 8), np.float32)
            kernel = jit.compile(_exercise("drifting-sums", file), "sm_80", name_expressions=["product"])[
                "product"
            ]
            kernel.launch((1, 1), (32,), (16, 8, terms, a, b, c))
            errors.append(float(np.sqrt(np.mean(((c - exact) / exact) ** 2))))
        rows.append([str(terms), *(f"{error:.1e}" for error in errors), f"{errors[1] / errors[0]:,.0f}"])
    groups: list[list[Group]] = [[None, 0, 1, None] for _ in rows]
    return Picture().grid(rows, groups, title=title, columns=columns).both()


def _exercise(name: str, file: str) -> Path:
    return settings.content_dir("course") / _UNIT / "exercises" / name / file
