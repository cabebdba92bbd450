"""The four steps that every kernel of one's own should pass, on any function that takes and returns tensors.

inputs.py     what the function is called with: `x: float32[m, n]`, over sizes and values
reference.py  what it is compared with: a function of a file, of torch, or of a ladder
steps.py      edge cases, numerical stability, comparison, gradients
apart.py      all of it in a process of its own, which can be ended
child.py      what runs in that process
"""

from flashpath.course.validation.apart import Job, Started, validate_apart
from flashpath.course.validation.inputs import Input, parse_input
from flashpath.course.validation.reference import load_reference
from flashpath.course.validation.steps import STEPS, Outcome, StepResult, validate

__all__ = [
    "STEPS",
    "Input",
    "Job",
    "Outcome",
    "Started",
    "StepResult",
    "load_reference",
    "parse_input",
    "validate",
    "validate_apart",
]
