"""Products are fused into sums where ptxas fuses them, and nowhere else."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from flashpath.jit import assembler, machine_code, toolkit
from flashpath.vgpu.device import VirtualModule

from . import exact
from .contraction_rules import RULES, Rule, module
from .harness import Case, floats, run, same

_MODULES = {target: VirtualModule(module(target)) for target in ("sm_80", "sm_90")}
_FUSED = ("fma", "fmsub", "fnmadd", "fnmsub")


def executed(rule: Rule) -> Counter[str]:
    """The floating-point operations that the engine runs for a rule's kernel."""
    found: Counter[str] = Counter()
    for operation in _MODULES[rule.target].kernel(rule.kernel).program.operations:
        name, _, number = operation.rstrip("*").partition(".")
        if number.rstrip("x2").endswith(("f16", "f3", "f64")):
            found["fma" if name in _FUSED else {"sub": "add"}.get(name, name)] += 1
    return found


def expected(rule: Rule) -> tuple[int, int, int]:
    return rule.fused, rule.products, rule.sums


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_engine_fuses(rule: Rule) -> None:
    found = executed(rule)
    assert (found["fma"], found["mul"], found["add"]) == expected(rule)


@pytest.fixture(scope="module")
def sass() -> dict[str, str]:
    """What ptxas makes of all rules, by target."""
    if toolkit.line_disassembler() is None:
        pytest.skip("no disassembler is on this machine")
    listings: dict[str, str] = {}
    for target in _MODULES:
        cubin, log = assembler.assemble(module(target), "sm_90", ())
        assert cubin is not None, log
        listing = machine_code.listing_with_lines(cubin)
        assert listing is not None
        listings[target] = listing
    return listings


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_ptxas_fuses_the_same(rule: Rule, sass: dict[str, str]) -> None:
    found: Counter[str] = Counter()
    for operation, count in machine_code.arithmetic(sass[rule.target], rule.kernel).items():
        found[operation.kind[:3]] += count
    if "division" in rule.name:
        found["mul"] = rule.products  # the others are products of the division itself
    assert (found["fma"], found["mul"], found["add"]) == expected(rule)


# ---- Values --------------------------------------------------------------------------------------------

_SIGNS = {  # what stands in PTX, and the same as one fused operation
    "add.TYPE %d, %m, %c;": "fma.rn.TYPE %d, %a, %b, %c;",
    "add.TYPE %d, %c, %m;": "fma.rn.TYPE %d, %a, %b, %c;",
    "sub.TYPE %d, %m, %c;": "neg.TYPE %c, %c; fma.rn.TYPE %d, %a, %b, %c;",
    "sub.TYPE %d, %c, %m;": "neg.TYPE %a, %a; fma.rn.TYPE %d, %a, %b, %c;",
    "neg.TYPE %m, %m; sub.TYPE %d, %m, %c;": "neg.TYPE %a, %a; neg.TYPE %c, %c; fma.rn.TYPE %d, %a, %b, %c;",
    # A factor that changes in between is the old one in the product.
    "mov.BITS %t, %a; add.TYPE %a, %c, %c; sub.TYPE %d, %m, %t;":
        "neg.TYPE %c, %a; fma.rn.TYPE %d, %a, %b, %c;",
    # Both a sum that takes the product in and one that needs it rounded.
    "mov.BITS %t, %c; sub.TYPE %c, %c, %m; mul.rn.TYPE %d, %c, %m;":
        "mul.rn.TYPE %t, %a, %b; sub.rn.TYPE %c, %c, %t; mul.rn.TYPE %d, %c, %t;",
}  # fmt: skip
_TYPES = {"f32": "f32", "f64": "f64", "f16": "f16", "bf16": "bf16", "f16x2": "f16", "bf16x2": "bf16"}


@pytest.mark.parametrize(
    ("number", "flags"),
    [*((number, "") for number in _TYPES), *((number, ".ftz") for number in ("f32", "f16", "f16x2"))],
)
def test_a_fused_sum_rounds_once(number: str, flags: str) -> None:
    dtype = exact.DTYPES[_TYPES[number]]
    inputs = [floats(dtype, seed) for seed in (1, 2, 3)]
    # Sums that nearly cancel: where one rounding or two matters most.
    with np.errstate(all="ignore"):
        inputs[2][::4] = -(inputs[0][::4] * inputs[1][::4]).astype(dtype)
    if number.endswith("x2"):
        inputs = [each.view(np.uint32) for each in inputs]
    bits = f"b{8 * inputs[0].itemsize}"

    def case(text: str) -> Case:
        whole = f".reg .{bits} %m, %t; {text}".replace("BITS", bits)
        whole = re.sub(r"(add|sub|mul|fma|neg)((?:\.rn)?)\.TYPE", rf"\1\2{flags}.{number}", whole)
        return Case(whole, inputs[0].dtype, *inputs)

    signs = {a: b for a, b in _SIGNS.items() if number != "bf16x2" or not a.startswith("neg")}
    fused = run([case(f"mul.TYPE %m, %a, %b; {text}") for text in signs])
    explicit = run([case(text) for text in signs.values()])
    for text, got, wanted in zip(signs, fused, explicit, strict=True):
        assert np.array_equal(got.view(np.uint8), wanted.view(np.uint8)), text


def test_one_rounding_differs_from_two() -> None:
    # (1 + 2^-12)^2 - 1 is 2^-11 + 2^-24; the rounded product has lost its last bit.
    a, c = np.full(256, 1 + 2.0**-12, np.float32), np.full(256, -1, np.float32)
    once, twice = run(
        [
            Case("mul.f32 %d, %a, %b; add.f32 %d, %d, %c;", np.float32, a, a, c),
            Case("mul.rn.f32 %d, %a, %b; add.rn.f32 %d, %d, %c;", np.float32, a, a, c),
        ]
    )
    assert np.all(once == 2.0**-11 + 2.0**-24)
    assert np.all(twice == 2.0**-11)


def test_lanes_that_branch_away_get_no_product() -> None:
    a = floats(np.float32, 5, 256)
    text = """setp.lt.f32 %p, %a, 0f00000000; mov.b32 %d, %b; @%p bra PAST;
              mul.f32 %x, %a, %b; mov.b32 %a, 0; @%q bra NEVER; NEVER: sub.f32 %d, %x, %b; PAST:"""
    (got,) = run([Case(text, np.float32, a, np.full(256, 3, np.float32))])
    with np.errstate(all="ignore"):
        wanted = np.where(a < 0, 3, (a.astype(np.float64) * 3 - 3).astype(np.float32))
    assert same(got, wanted).all()


def test_code_for_the_debugger_is_not_fused() -> None:
    text = module("sm_80").replace(".target sm_80", ".target sm_80, debug")
    operations = VirtualModule(text).kernel("rule_product_plus").program.operations
    assert "mul.f32" in operations
    assert "add.f32" in operations
