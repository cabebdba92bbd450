"""What the virtual GPU computes to the bit as hardware does, and how that was verified."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exact:
    """An instruction whose results had no bit different from those of a GPU."""

    instruction: str
    compared_on: str  # how many inputs
    gpu: str = "NVIDIA H200"


def _special_functions() -> tuple[Exact, ...]:
    units = ("ex2", "rcp", "rsqrt", "sqrt", "lg2", "sin", "cos")
    return (
        *(Exact(f"{unit}.approx{ftz}.f32", "all 2^32") for unit in units for ftz in ("", ".ftz")),
        Exact("tanh.approx.f32", "all 2^32"),
        *(Exact(f"div.{kind}{ftz}.f32", "2^32 pairs") for kind in ("approx", "full") for ftz in ("", ".ftz")),
        Exact("rcp.approx.ftz.f64", "all 2^32 upper words"),
        Exact("rsqrt.approx.ftz.f64", "all 2^32 upper words"),
        Exact("rsqrt.approx.f64", "2^32 mixed doubles"),
        *(
            Exact(f"{opcode}{pair}", "all 2^16 of each half" if pair else "all 2^16")
            for opcode in ("ex2.approx.f16", "ex2.approx.ftz.bf16", "tanh.approx.f16", "tanh.approx.bf16")
            for pair in ("", "x2")
        ),
    )


# The approximate instructions, in launches with exact numerics (the default). The units of GPUs older than
# Hopper are taken to be the same, which was not measured.
SPECIAL_FUNCTIONS = _special_functions()
