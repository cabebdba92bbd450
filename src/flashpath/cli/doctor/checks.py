"""Every check, in the order in which they are shown: what is looked for, and what it matters."""

from __future__ import annotations

import sys

from flashpath.cli.doctor import compilers, gpu, machine, python, tools
from flashpath.cli.doctor.check import Check, Question, ask

GROUPS: dict[str, tuple[Question, ...]] = {
    "Python & torch": (
        Question("Python", "cli.doctor.python-matters", python.python, required=True),
        Question("torch", "cli.doctor.torch-matters", python.torch, required=True),
        Question(
            "Triton",
            "cli.doctor.triton-matters",
            python.triton,
            required=sys.platform == "linux",
        ),
        Question(
            "flash-attn",
            "cli.doctor.peer-matters",
            python.flash_attn,
        ),
        Question(
            "FlashInfer",
            "cli.doctor.peer-matters",
            python.flashinfer,
        ),
    ),
    "Compilers": (
        Question("NVRTC", "cli.doctor.nvrtc-matters", compilers.nvrtc, required=True),
        Question("nvJitLink", "cli.doctor.nvjitlink-matters", compilers.nvjitlink, required=True),
        Question(
            "CUDA headers",
            "cli.doctor.headers-matters",
            compilers.cuda_headers,
            required=True,
        ),
        Question(
            "nvcc",
            "cli.doctor.nvcc-matters",
            compilers.nvcc,
        ),
        Question(
            "C++ compiler",
            "cli.doctor.compiler-matters",
            compilers.host_compiler,
        ),
    ),
    "GPU": (
        Question("NVIDIA driver", "cli.doctor.driver-matters", gpu.driver),
        Question("GPU", "cli.doctor.gpu-matters", gpu.gpus),
    ),
    "Tools": (
        Question("Nsight Systems", "cli.doctor.nsys-matters", tools.nsys),
        Question("Nsight Compute", "cli.doctor.ncu-matters", tools.ncu),
        Question("compute-sanitizer", "cli.doctor.sanitizer-matters", tools.compute_sanitizer),
        Question("cuda-gdb", "cli.doctor.gdb-matters", tools.cuda_gdb),
        Question(
            "Disassembler",
            "cli.doctor.disassembler-matters",
            tools.disassembler,
        ),
        Question("git", "cli.doctor.git-matters", tools.git),
    ),
    "This machine": (
        Question("Engine", "cli.doctor.engine-matters", machine.engine),
        Question(
            "Vector extensions",
            "cli.doctor.vector-matters",
            machine.vector_extensions,
        ),
        Question("AMX", "cli.doctor.amx-matters", machine.amx),
        Question("Disk", "cli.doctor.disk-matters", machine.disk),
        Question(
            "Sandbox",
            "cli.doctor.sandbox-matters",
            machine.sandbox,
        ),
        Question("Environment", "cli.doctor.environment-matters", machine.environment),
    ),
}


def run_checks() -> dict[str, list[Check]]:
    """All checks by group."""
    return {title: [ask(question) for question in questions] for title, questions in GROUPS.items()}
