"""Every check, in the order in which they are shown: what is looked for, and what it matters."""

from __future__ import annotations

import sys

from flashpath.cli.doctor import compilers, gpu, machine, python, tools
from flashpath.cli.doctor.check import Check, Question, ask

GROUPS: dict[str, tuple[Question, ...]] = {
    "Python & torch": (
        Question("Python", "flashpath is written for 3.11 and newer.", python.python, required=True),
        Question("torch", "Tensors, references and the ops all stand on it.", python.torch, required=True),
        Question(
            "Triton",
            "Kernels written in Triton do not compile without it; CUDA C++ kernels do.",
            python.triton,
            required=sys.platform == "linux",
        ),
        Question(
            "flash-attn",
            "A peer that benchmarks compare with; flashpath's own kernels do not need it.",
            python.flash_attn,
        ),
        Question(
            "FlashInfer",
            "A peer that benchmarks compare with; flashpath's own kernels do not need it.",
            python.flashinfer,
        ),
    ),
    "Compilers": (
        Question("NVRTC", "No CUDA C++ kernel compiles without it.", compilers.nvrtc, required=True),
        Question("nvJitLink", "No PTX becomes machine code without it.", compilers.nvjitlink, required=True),
        Question(
            "CUDA headers",
            "No kernel that includes cuda_fp16.h, mma.h or cuda/std compiles without them.",
            compilers.cuda_headers,
            required=True,
        ),
        Question(
            "nvcc",
            "Programs with host code and compiler='nvcc' need it; single kernels compile with NVRTC.",
            compilers.nvcc,
        ),
        Question(
            "C++ compiler",
            "nvcc calls it for host code, and the engine is built with it; single kernels need none.",
            compilers.host_compiler,
        ),
    ),
    "GPU": (
        Question("NVIDIA driver", "Kernels compiled for CUDA 13 do not load under an older one.", gpu.driver),
        Question("GPU", "Kernels run at full speed from compute capability 7.5 on.", gpu.gpus),
    ),
    "Tools": (
        Question("Nsight Systems", "The timeline of a program: what waits for what.", tools.nsys),
        Question("Nsight Compute", "Hardware counters of one kernel.", tools.ncu),
        Question("compute-sanitizer", "Finds races and bad accesses on a real GPU.", tools.compute_sanitizer),
        Question("cuda-gdb", "Steps through a kernel on a real GPU.", tools.cuda_gdb),
        Question(
            "Disassembler",
            "The machine code (SASS) of a kernel is not shown without cuobjdump.",
            tools.disassembler,
        ),
        Question("git", "Benchmark reports name the commit that they measured.", tools.git),
    ),
    "This machine": (
        Question(
            "Engine", "No virtual GPU without it; compiling and a real GPU do not need it.", machine.engine
        ),
        Question(
            "Vector extensions",
            "The wider they are, the faster the virtual GPU; it runs with any.",
            machine.vector_extensions,
        ),
        Question("AMX", "Where it traps, torch's bf16 products on the CPU die with SIGILL.", machine.amx),
        Question("Disk", "Compiled kernels are cached; without room each run compiles again.", machine.disk),
        Question(
            "Sandbox",
            "What holds an answer that is graded; docs/sandbox.md says what each part means.",
            machine.sandbox,
        ),
        Question("Environment", "flashpath's variables that are set.", machine.environment),
    ),
}


def run_checks() -> dict[str, list[Check]]:
    """All checks by group."""
    return {title: [ask(question) for question in questions] for title, questions in GROUPS.items()}
