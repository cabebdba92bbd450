"""Mangled names are read back as the types that were written; what cannot be read is said, not guessed."""

from __future__ import annotations

import contextlib
import random
import re
from pathlib import Path

import numpy
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import flashpath as fp
from flashpath.jit import KernelCache
from flashpath.jit.mangling import Unreadable, demangle, signature_argument


@pytest.mark.parametrize(
    ("mangled", "name", "parameters"),
    [
        ("_Z1kv", "k", []),
        ("_Z3addPfPKfi", "add", ["float*", "const float*", "int"]),
        ("_ZL1kPf", "k", ["float*"]),
        ("_ZN2ns3barEPfi", "ns::bar", ["float*", "int"]),
        ("_Z5saxpyIfEviT_PKS0_PS0_", "saxpy<float>", ["int", "float", "const float*", "float*"]),
        ("_ZN1a1b1kIfLi3EEEvPT_PKS2_", "a::b::k<float, 3>", ["float*", "const float*"]),
        ("_Z1kILb1ELin7ELj4EEvv", "k<true, -7, (unsigned int)4>", []),
        ("_Z1kPKPKfPPf", "k", ["const float* const*", "float**"]),
        ("_Z1kPA3_fPFviE", "k", ["float[3]*", "void(int)*"]),
        ("_Z1kP6__halfPK13__nv_bfloat16", "k", ["__half*", "const __nv_bfloat16*"]),
        ("_Z1k4PairIS_IifES0_ES1_", "k", ["Pair<Pair<int, float>, Pair<int, float>>"] * 2),
        ("_Z1kN2ns1SES0_PKS0_", "k", ["ns::S", "ns::S", "const ns::S*"]),
        ("_ZN46_GLOBAL__N__00000000_9_source_cu_1363cd9c_88231kEPf", "(anonymous namespace)::k", ["float*"]),
        ("_Z1kSt4pairIifE", "k", ["std::pair<int, float>"]),
    ],
)
def test_known_names(mangled: str, name: str, parameters: list[str]) -> None:
    function = demangle(mangled)
    assert function.name == name
    assert [str(each) for each in function.parameters] == parameters


def test_pointers_know_what_they_point_to() -> None:
    (kind,) = demangle("_Z1kPPKf").parameters
    assert kind.pointee is not None
    assert kind.pointee.pointee is not None
    assert (kind.pointee.pointee.text, kind.pointee.pointee.const) == ("const float", True)
    assert kind.pointee.pointee.pointee is None


def test_a_signature_marker_tells_which_kernel_and_its_types() -> None:
    index, parameters = signature_argument("_Z12fp_signatureILi13EPFviPKfEE")
    assert (index, [each.text for each in parameters]) == (13, ["int", "const float*"])
    with pytest.raises(Unreadable, match="no pointer to a function"):
        signature_argument("_Z12fp_signatureILi13EPfE")


@pytest.mark.parametrize(
    "mangled",
    [
        "",
        "_Z",
        "main",
        "_Z1",
        "_Z9short",
        "_Z0v",
        "_Z1kS_",  # refers to what was not there
        "_Z1kS9_",
        "_Z1kS",
        "_Z1kSz_",
        "_Z1kT_",
        "_Z1kDpT_",
        "_Z1kILi3",
        "_Z1kN2ns",
        "_ZNE",
        "_Z²k",
        "_Z1kRf",
        "_Z1k" + "P" * 5000 + "f",
        "_Z" + "9" * 5000 + "k",
    ],
)
def test_unreadable_names_are_said_to_be_so(mangled: str) -> None:
    with pytest.raises(Unreadable):
        demangle(mangled)


def test_types_that_double_with_every_letter_are_given_up() -> None:
    mangled = "_Z1kPFviE"  # components 0 and 1: the function, the pointer to it
    for step in range(200):
        latest = numpy.base_repr(2 * step, 36)
        mangled += f"PFvS{latest}_S{latest}_E"
    with pytest.raises(Unreadable, match="more than 100000 characters"):
        demangle(mangled)


_MANGLED = st.lists(
    st.sampled_from(
        [
            "_Z",
            "N",
            "E",
            "S_",
            "S0_",
            "S1_",
            "St",
            "I",
            "L",
            "Li3",
            "P",
            "K",
            "F",
            "v",
            "f",
            "i",
            "T_",
            "T0_",
            "J",
            "A3_",
            "1k",
            "2ns",
            "3Foo",
            "D",
            "Dp",
            "DF16_",
            "n",
            "_",
            "0",
            "S",
            "T",
            "R",
            "9",
        ]
    ),
    max_size=30,
).map("".join)


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(max_size=40), _MANGLED).map("_Z".__add__) | st.text(max_size=20))
@example("_Z1kS\u0661_")
def test_no_name_raises_anything_but_unreadable(mangled: str) -> None:
    for read in (demangle, signature_argument):
        with contextlib.suppress(Unreadable):
            read(mangled)


# ---- What the compiler makes of what was written -------------------------------------------------------

_PRELUDE = """
struct Plain { int a; float b; };
namespace outer {
  struct Inside { double d; };
  namespace inner { template <class T, int N> struct Tile { T data[N]; }; }
  enum class Mode : int { a, b };
}
template <class A, class B> struct Pair { A first; B second; };
template <bool kFlag, unsigned kCount> struct Switch { char c; };
"""
_SCALARS = (
    *("bool", "char", "short", "int", "long", "float", "double"),
    *("signed char", "unsigned char", "unsigned short", "unsigned int"),
    *("unsigned long", "long long", "unsigned long long"),
)


def _random_type(dice: random.Random, depth: int = 0) -> str:
    """A type as C++ spells it and as demangling writes it: both are the same text."""
    choice = dice.random()
    if depth < 3 and choice < 0.45:
        inner = _random_type(dice, depth + 1)
        if dice.random() < 0.5 and not inner.startswith("const ") and not inner.endswith(" const"):
            inner = f"{inner} const" if inner.endswith("*") else f"const {inner}"
        return f"{inner}*"
    if choice < 0.75 or depth >= 4:
        return dice.choice(_SCALARS)
    if choice < 0.85:
        return dice.choice(["Plain", "outer::Inside", "outer::Mode"])
    if choice < 0.9:
        return f"outer::inner::Tile<{_random_type(dice, depth + 2)}, {dice.randrange(1, 40)}>"
    if choice < 0.95:
        first = _random_type(dice, depth + 2)
        return f"Pair<{first}, {dice.choice([first, _random_type(dice, depth + 2)])}>"
    return f"Switch<{dice.choice(['true', 'false'])}, (unsigned int){dice.randrange(100)}>"


def _random_signature(dice: random.Random) -> list[str]:
    pool = [_random_type(dice) for _ in range(dice.randrange(1, 5))]
    return [dice.choice(pool) for _ in range(dice.randrange(0, 8))]  # types that repeat are abbreviated


@pytest.mark.parametrize("seed", range(6))
def test_types_come_back_as_written(seed: int, cache: KernelCache) -> None:
    dice = random.Random(seed)
    lines = [_PRELUDE]
    wanted: dict[str, list[str]] = {}
    expressions: list[str] = []
    for number in range(40):
        types = _random_signature(dice)
        parameters = ", ".join(types)
        lines.append(f'extern "C" __global__ void c{number}({parameters}) {{}}')
        lines.append(f"__global__ void plain{number}({parameters}) {{}}")
        lines.append(
            f"namespace outer {{ namespace deep {{ __global__ void n{number}({parameters}) {{}} }} }}"
        )
        wanted |= {f"c{number}": types, f"plain{number}": types, f"outer::deep::n{number}": types}
        first = _random_type(dice)
        lines.append(
            f"template <class T, int N> __global__ void t{number}(T*, const T*, {parameters or 'int'}) {{}}"
        )
        instance = f"outer::t{number}<{first}, {number}>"
        lines[-1] = f"namespace outer {{ {lines[-1]} }}"
        constant = f"{first} const" if first.endswith("*") else f"const {first}"
        wanted[instance] = [f"{first}*", f"{constant}*", *(types or ["int"])]
        if number % 2:
            expressions.append(instance)  # told by a marker
        else:
            actual = ", ".join(wanted[instance])
            lines.append(f"template __global__ void {instance}({actual});")  # told by its mangled name
    module = fp.compile("\n".join(lines), "sm_80", name_expressions=expressions, cache=cache)
    for name, types in wanted.items():
        kernel = module[name]
        assert [parameter.text for parameter in kernel.signature.parameters] == types, name
    assert len(module.kernels) == len(wanted)


def test_the_header_types_of_cuda(cache: KernelCache, tmp_path: Path) -> None:
    types = [
        "__half",
        "__nv_bfloat16",
        "__half2*",
        "const __nv_bfloat162*",
        "__nv_fp8_e4m3*",
        "float4",
        "dim3",
    ]
    source = tmp_path / "types.cu"
    source.write_text(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
        f'extern "C" __global__ void c({", ".join(types)}) {{}}\n__global__ void p({", ".join(types)}) {{}}\n'
    )
    module = fp.compile(source, "sm_90", cache=cache)
    for name in ("c", "p"):
        assert re.sub(r"[()]", "", str(module[name].signature)).split(", ") == types
