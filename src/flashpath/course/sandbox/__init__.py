"""Processes that build and run what a learner wrote, and can do little else.

kernels.py         KernelSession: CUDA C++ and Triton kernels on the virtual GPU
functions.py       FunctionSession: Python functions, called by value
programs.py        ProgramSession: whole programs, host code included, with our CUDA runtime
errors.py          BuildFailed, TimedOut, Crashed, Raised, Refused
job.py             what is to be built, what it may take, what comes back
cuda_source.py     what a learner's CUDA C++ may include
directives.py      the directives in it that name files
python_source.py   what a learner's Python may contain
triton_source.py   a learner's Triton file → PTX, in a child that sees no data
headers/           stand-ins for headers of the standard library that device code can do with
messages.py        all that is said, in English and Chinese
machine_paths.py   compilers' texts without the paths of this machine
child.py           one child process: started, asked, ended
nursery.py         where children come from: forked where their libraries are loaded
folders.py         its folder: made, measured, removed
places.py          which files it may read
enforcement.py     which of the restrictions hold on this system
inside/            what runs in the children; docs/sandbox.md says what it can and cannot do
"""

from flashpath.course.sandbox.enforcement import enforced
from flashpath.course.sandbox.errors import BuildFailed, Crashed, Raised, Refused, SandboxError, TimedOut
from flashpath.course.sandbox.functions import FunctionSession
from flashpath.course.sandbox.job import KernelJob, KernelRun, Limits, Parameter, ProgramRun
from flashpath.course.sandbox.kernels import KernelSession
from flashpath.course.sandbox.programs import ProgramSession
from flashpath.course.sandbox.python_source import check_python

__all__ = [
    "BuildFailed",
    "Crashed",
    "FunctionSession",
    "KernelJob",
    "KernelRun",
    "KernelSession",
    "Limits",
    "Parameter",
    "ProgramRun",
    "ProgramSession",
    "Raised",
    "Refused",
    "SandboxError",
    "TimedOut",
    "check_python",
    "enforced",
]
