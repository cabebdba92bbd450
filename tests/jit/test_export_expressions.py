"""Numbers of exported libraries: followed as ints, written in C++, simplified with the same meaning."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from flashpath.jit import export, toolkit
from flashpath.jit.export.expressions import (
    FUNCTIONS,
    Number,
    Symbol,
    apply,
    cpp,
    evaluate,
    shown,
    simplified,
    substituted,
)
from flashpath.jit.export.followed import Known, Trace

N, M = Symbol("n", "n"), Symbol("m", "m")
HEADERS = Path(export.__file__).parent


def _random_number(choose: random.Random, depth: int) -> Number:
    if depth == 0 or choose.random() < 0.15:
        return choose.choice([N, M, choose.randint(-9, 9), 1000])
    name = choose.choice(["+", "-", "*", "//", "%", "&", "|", "min", "max", "cdiv", "neg", "bit_length", "<"])
    count = 1 if name in ("neg", "bit_length") else 2
    try:
        return apply(name, *(_random_number(choose, depth - 1) for _ in range(count)))
    except ZeroDivisionError:
        return N


def test_cpp_computes_what_python_does(tmp_path: Path) -> None:
    choose = random.Random(7)
    lines: list[str] = []
    expected: list[int | None] = []
    values = [(choose.randint(-(10**4), 10**4), choose.randint(-50, 50)) for _ in range(6)]
    # 2^64 divided by a length is what packed rows are multiplied with, instead of being divided.
    large = [
        apply("//", 2**64 - 1, N),
        apply("*", apply("+", N, 2**64), M),
        apply("neg", apply("*", N, 2**70)),
    ]
    for number in [*large, *(_random_number(choose, 3) for _ in range(150))]:
        for n, m in values:
            lines.append(f"tell([](Wide n, Wide m) {{ return Wide({cpp(number)}); }}, {n}ll, {m}ll);")
            try:
                result = evaluate(number, {N: n, M: m})
            except ZeroDivisionError:
                expected.append(None)
            else:
                expected.append(result)
    body = "\n  ".join(lines)
    (tmp_path / "program.cpp").write_text(
        f"""
namespace exported::words {{ const char* const kZero = "zero"; const char* const kShift = "shift"; }}
#include "{HEADERS}/arithmetic.h"
#include <cstdio>
using namespace exported;
template <class F> void tell(F f, Wide n, Wide m) {{
  try {{ std::puts(digits(f(n, m)).c_str()); }} catch (const Problem&) {{ std::puts("-"); }}
}}
int main() {{
  {body}
}}
"""
    )
    compiler = str(toolkit.host_compiler_path())
    subprocess.run([compiler, "-std=c++17", "-w", "program.cpp", "-o", "program"], cwd=tmp_path, check=True)
    told = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True).stdout.split()
    wrong = [
        (line, got, want)
        for line, got, want in zip(lines, told, expected, strict=True)
        if got != ("-" if want is None else str(want))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (apply("cdiv", apply("*", N, M), 256), "cdiv(n * m, 256)"),
        (apply("-", N, apply("-", M, 1)), "n - (m - 1)"),
        (apply("*", apply("+", N, 1), M), "(n + 1) * m"),
        (apply("%", apply("|", N, M), 8), "(n | m) % 8"),
        (apply("neg", apply("+", N, 2)), "-(n + 2)"),
        (apply("<=", apply("<<", 1, apply("bit_length", N)), 8), "1 << bit_length(n) <= 8"),
        (apply("-", N, N), "0"),
    ],
)
def test_numbers_are_shown_as_python_writes_them(number: Number, text: str) -> None:
    assert shown(number) == text


# ---- Following -------------------------------------------------------------------------------------------


def _rows(n: Known, m: Known) -> tuple[object, ...]:
    """Host code with all that host functions do: comparisons, powers of two, text, loops."""
    if n > 4096:
        return ("long", -(-n // 4096))
    lanes = 1 << (-(-n // 32) - 1).bit_length()
    width = 4
    while width > 1 and (n % width or m % width):
        width //= 2
    name = f"kernel<{lanes}, {width}>"
    return (name, min(n, m), max(1, n // width), divmod(m, 3)[1])


def _followed(
    n: int, m: int, function: Callable[[Known, Known], tuple[object, ...]]
) -> tuple[Trace, list[object]]:
    trace = Trace()
    return trace, list(function(trace.known(N, n), trace.known(M, m)))


def test_where_the_guards_hold_the_host_code_decides_the_same() -> None:
    choose = random.Random(3)
    met = 0
    for n0, m0 in [(1000, 500), (96, 96), (5000, 1), (1, 4), (4096, 4096)]:
        trace, results = _followed(n0, m0, _rows)
        fixed, guards = simplified(list(trace.guards))
        for _ in range(3000):
            n, m = choose.randint(1, 6000), choose.randint(1, 600)
            values = {N: n, M: m}
            holds = all(evaluate(guard, values) for guard in trace.guards)
            assert holds == all(evaluate(guard, values) for guard in guards), (
                "simplified guards mean the same"
            )
            if not holds:
                continue
            met += 1
            for then, now in zip(results, _followed(n, m, _rows)[1], strict=True):
                if isinstance(then, Known):
                    now = now.value if isinstance(now, Known) else now
                    assert evaluate(then.number, values) == now
                    assert evaluate(substituted(then.number, fixed), values) == now
                else:
                    assert then == now
    assert met > 900


def test_what_python_takes_as_a_number_becomes_a_guard() -> None:
    trace = Trace()
    n = trace.known(N, 12)
    assert [*range(n)][-1] == 11
    assert list(map(shown, trace.guards)) == ["n == 12"]


def test_a_message_with_a_number_fixes_nothing() -> None:
    trace = Trace()
    assert "12" in repr((trace.known(N, 12),))
    assert not trace.guards


def test_a_comparison_with_itself_is_no_guard() -> None:
    trace = Trace()
    n = trace.known(N, 12)
    assert n == trace.known(N, 12)
    assert not n < n
    assert not trace.guards


def test_every_function_has_its_cpp() -> None:
    for name in FUNCTIONS:
        operands = (N, 1, M, 1) if name == "apart" else (N,) if name in ("neg", "bit_length") else (N, M)
        assert cpp(apply(name, *operands))
