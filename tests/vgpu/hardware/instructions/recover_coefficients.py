"""Measure the special functions of this machine's GPU, and recover the integers that its units compute with.

    python tests/vgpu/hardware/instructions/recover_coefficients.py [--output FILE]

Writes exec/arithmetic/special_functions/coefficients.h of the engine. What the units do is known and told in
docs/decisions/0011-special-functions.md, but for the three coefficients of every segment. Each result says
between which two numbers the sum before it lay. Least squares over the 2^17 (or 2^16) results of a segment
give c1 and c2 to a small part of a unit, and then what all results leave for c0 must have a number in common.

Any machine with an NVIDIA GPU and flashpath's own dependencies will do; verify_all_inputs.py tells
whether a GPU computes as the engine does.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gpu_runs import InstructionRuns
from special_function_cases import INSTRUCTIONS, Array, Instruction, sweep

ENGINE = Path(__file__).parents[4] / "src/flashpath/vgpu/engine"
HEADER = ENGINE / "exec/arithmetic/special_functions/coefficients.h"

Coefficients = tuple[int, int, int]


def truncated_square(x: Array) -> Array:
    """The square of a 17-bit number without its lower partial products; see interpolator.h."""
    upper = x >> 9
    return (upper * upper >> 1) + sum((upper >> k) * (x >> (9 - k) & 1) for k in range(1, 8))


def recovered(x: Array, least: Array, below: Array) -> Coefficients:
    """The integers with least <= c0 + c1·x + c2·square(x) < below for every x."""
    square = truncated_square(x)
    bounded = below < least + 2.0**40  # where the result is clamped there is no upper bound
    columns = np.stack([np.ones(len(x)), x / 2**17, square / 2**15], 1)[bounded]
    middle = ((least + below) / 2)[bounded]
    inverse: Array = np.linalg.pinv(columns)
    estimate = inverse @ (middle - middle[0])
    c1, c2 = round(float(estimate[1]) / 2**17), round(float(estimate[2]) / 2**15)
    # Where a segment has few distinct results the estimate may be off by some units.
    near = sorted(itertools.product(range(-2, 3), range(-8, 9)), key=lambda by: (abs(by[0]), abs(by[1])))
    for by1, by2 in near:
        slope, bend = c1 + by1, c2 + by2
        rest: Array = slope * x + bend * square
        smallest = int((np.ceil(least).astype(np.int64) - rest).max())
        largest = int((np.ceil(np.minimum(below, 2.0**60)).astype(np.int64) - 1 - rest).min())
        if smallest <= largest:
            return smallest, slope, bend
    raise SystemExit("no three integers give what was measured: these are not the units of an H200")


def segments(least: Array, below: Array, count: int) -> list[Coefficients]:
    """Of a table of `count` segments of equal width."""
    width = len(least) // count
    x = np.arange(width, dtype=np.int64) << (17 - width.bit_length() + 1)
    # A function may treat the first argument of all, a power of two, by itself.
    starts = [1] + [0] * (count - 1)
    parts = zip(least.reshape(count, width), below.reshape(count, width), starts, strict=True)
    return [recovered(x[start:], above[start:], under[start:]) for above, under, start in parts]


def values(bits: Array) -> Array:
    return bits.view(np.float32).astype(np.float64)


def cut(value: Array, bits: int, finest: int | None = None) -> tuple[Array, Array]:
    """Where 2^bits·v lay, of which `value` is what is left after 24 digits, and none below 2^finest."""
    place = np.frexp(value)[1] - 24
    unit = 2.0 ** (place if finest is None else np.maximum(place, finest))
    return np.ldexp(value, bits), np.ldexp(value + unit, bits)


@dataclass(frozen=True)
class Measured:
    gpu: InstructionRuns

    def of(self, name: str, bits: Array) -> Array:
        return values(self.gpu.run(INSTRUCTIONS[name], bits))

    def binade(self, name: str, exponent: int) -> Array:
        return self.of(name, sweep(127 + exponent))

    def reciprocal(self) -> list[Coefficients]:
        return segments(*cut(self.binade("rcp.approx.ftz.f32", 0), 40), 128)

    def reciprocal_root(self) -> list[Coefficients]:
        odd, even = (self.binade("rsqrt.approx.ftz.f32", exponent) for exponent in (1, 0))
        return segments(*cut(odd, 40), 64) + segments(*cut(even, 40), 64)

    def root(self) -> list[Coefficients]:
        odd, even = (self.binade("sqrt.approx.ftz.f32", exponent) for exponent in (1, 0))
        return segments(*cut(odd, 40), 64) + segments(*cut(even, 40), 64)

    def exponential(self) -> list[Coefficients]:
        return segments(*cut(self.binade("ex2.approx.ftz.f32", 0) / 2, 38), 64)

    def logarithm(self) -> list[Coefficients]:
        """Of the exponents 0 and 1, which are added, and -1, where the sum is complemented."""
        opcode = "lg2.approx.ftz.f32"
        least, below = cut(self.binade(opcode, 0), 38, -36)
        more, less = cut(self.binade(opcode, 1), 38)
        magnitude, above = cut(-self.binade(opcode, -1), 38, -36)
        one = 2.0**38
        least = np.maximum(np.maximum(least, more - one), one - above)
        below = np.minimum(np.minimum(below, less - one), one - magnitude)
        return segments(least, below, 64)

    def sine(self) -> list[Coefficients]:
        """Of the middle of each of the 2^23 steps of a quarter turn, through the product with 1/2π."""
        factor = np.float64(np.float32(1 / (2 * np.pi)))
        steps = np.arange(1 << 23)
        radians = ((steps + 0.5) * 2.0**-25 / factor).astype(np.float32)
        turns = radians.astype(np.float64) * factor
        assert (np.floor(turns * 2.0**25) == steps).all()
        sine = self.of("sin.approx.ftz.f32", radians.view(np.uint32))
        least, below = cut(sine, 37, -37)
        return segments(least, np.where(sine >= 1, np.inf, below), 64)

    def tangent(self) -> Iterator[tuple[int, list[Coefficients]]]:
        """Of each exponent from -8 to 2; how many segments it has shows in the bits that change nothing."""
        for exponent in range(-8, 3):
            tangent = self.binade("tanh.approx.f32", exponent)
            changed = np.flatnonzero(np.diff(tangent)) + 1
            step = int(np.bitwise_or.reduce(changed) & -np.bitwise_or.reduce(changed))
            bits = 6 - (step.bit_length() - 1)
            least, below = cut(tangent[::step], 38 - min(exponent, -1))
            yield bits, segments(least, np.where(tangent[::step] >= 1, np.inf, below), 1 << bits)


def table(comment: str, name: str, rows: Sequence[Coefficients]) -> str:
    lines = ["   "]
    for row in rows:
        text = f" {{{row[0]}, {row[1]}, {row[2]}}},"
        if len(lines[-1]) + len(text) > 118:
            lines.append("   ")
        lines[-1] += text
    body = "\n".join(lines).rstrip(",")
    return f"// {comment}\ninline constexpr Segment {name}[] = {{\n{body}}};\n"


def header(measured: Measured) -> str:
    tangent = list(measured.tangent())
    firsts = np.cumsum([0, *(len(rows) for _, rows in tangent)])
    binades = ", ".join(f"{{{first}, {bits}}}" for first, (bits, _) in zip(firsts, tangent, strict=False))
    return "\n".join(
        [
            f"// Made by recover_coefficients.py on an {measured.gpu.name}; not to be edited.",
            "#pragma once\n",
            '#include "exec/arithmetic/special_functions/interpolator.h"\n',
            "namespace flashpath::exec::special {\n",
            table("2^40 stands for 1.", "kReciprocal", measured.reciprocal()),
            table(
                "2^40 stands for 1. Of odd exponents, whose biased form is even; then of even ones.",
                "kReciprocalRoot",
                measured.reciprocal_root(),
            ),
            table("As before.", "kRoot", measured.root()),
            table("2^38 stands for 1.", "kExponential", measured.exponential()),
            table("2^38 stands for 1.", "kLogarithm", measured.logarithm()),
            table("Of a quarter turn. 2^37 stands for 1.", "kSine", measured.sine()),
            "// Each exponent from -8 to 2 has 2^bits segments, from the `first` on.",
            "struct TangentBinade {\n  u32 first, bits;\n};",
            f"inline constexpr TangentBinade kTangentBinade[] = {{\n    {binades}}};\n",
            table(
                "2^38 stands for the power of two with the argument's exponent, or for 1/2 if that is less.",
                "kTangent",
                [row for _, rows in tangent for row in rows],
            ),
            "}  // namespace flashpath::exec::special\n",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=HEADER)
    options = parser.parse_args(arguments)
    used: list[Instruction] = [each for each in INSTRUCTIONS.values() if each.sweeps]
    options.output.write_text(header(Measured(InstructionRuns(used))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
