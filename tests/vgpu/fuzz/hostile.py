"""Changes that an author would make on purpose: sinks, calls, offsets, sizes and types that are wrong."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from words import TYPE, TYPES, WORDS, Draft

Change = Callable[[Draft, Draft, random.Random], None]

_EXTREMES = (
    "0x7fffffffffffffff", "0x8000000000000000", "-0x8000000000000000", "0xffffffffffffffff", "2147483647",
    "-2147483648", "2147483648", "4294967295", "4294967296", "-1", "65536", "1073741824",
)  # fmt: skip
_PROVIDED = ("vprintf", "malloc", "free", "__assertfail", "cudaGetParameterBufferV2", "nobody")
_SIZES = ("b8", "b16", "b32", "b64", "b128")
_REGISTER = re.compile(r"%[a-zA-Z_]+\d+$")


def _first_register_after(words: list[str], opcode: int) -> int | None:
    for k in range(opcode + 1, min(opcode + 12, len(words))):
        if words[k] == ";":
            return None
        if _REGISTER.match(words[k]):
            return k
    return None


def drop_result(draft: Draft, other: Draft, choose: random.Random) -> None:
    """The result of some instruction goes to the sink."""
    opcodes = draft.places("opcode")
    for opcode in choose.sample(opcodes, min(3, len(opcodes))):
        if (result := _first_register_after(draft.words, opcode)) is not None:
            return draft.put(result, result + 1, "_")
    return None


def drop_operand(draft: Draft, other: Draft, choose: random.Random) -> None:
    """Any register becomes the sink."""
    if registers := draft.places("register"):
        at = choose.choice(registers)
        draft.put(at, at + 1, "_")


def move_far(draft: Draft, other: Draft, choose: random.Random) -> None:
    """An address, or a symbol, gets an offset far from anything."""
    if closing := draft.places("]"):
        at = choose.choice(closing)
        draft.put(at, at, "+" + choose.choice(_EXTREMES))


def change_type(draft: Draft, other: Draft, choose: random.Random) -> None:
    """One of the types of an instruction, or of a declaration, becomes another."""
    if typed := draft.places("type"):
        at = choose.choice(typed)
        word = draft.words[at]
        place = choose.choice(list(TYPE.finditer(word)))
        draft.put(at, at + 1, word[: place.start()] + choose.choice(TYPES) + word[place.end() :])


def grow_declaration(draft: Draft, other: Draft, choose: random.Random) -> None:
    """An array, an alignment, a file's number or a range of registers becomes very large."""
    words = draft.words
    numbers = [
        k
        for k in draft.places("number")
        if words[k - 1] in ("[", "<") or words[max(0, k - 2)] in (".align", ".file", ".loc")
    ]
    if numbers:
        at = choose.choice(numbers)
        draft.put(at, at + 1, choose.choice((*_EXTREMES, "0", "3", "1048577", "1099511627776")))


_CONSTANTS = (
    "0", "1", "-1", "7U", "31", "0x10", "0777", "0b101", "-0x8000000000000000", "0xffffffffffffffffU", "1.5",
    "0d3FF0000000000000", "0f7FC00000", "WARP_SZ", "9223372036854775807", "1e300", "~0", "!0", "64",
)  # fmt: skip
_OPERATORS = (
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "&&", "||", "==", "!=", "<", ">", "<=", ">=",
)  # fmt: skip


def _expression(choose: random.Random, depth: int = 0) -> str:
    shape = choose.randrange(5) if depth < 4 else 0
    if shape == 0:
        return choose.choice(_CONSTANTS)
    a, b = _expression(choose, depth + 1), _expression(choose, depth + 1)
    if shape == 1:
        return f"({choose.choice(('-', '~', '!', '+', '(.s64)', '(.u64)'))}{a})"
    return f"({a} ? {b} : {a})" if shape == 2 else f"({a} {choose.choice(_OPERATORS)} {b})"


def write_expression(draft: Draft, other: Draft, choose: random.Random) -> None:
    """A number becomes something to be worked out: it may overflow, shift too far or divide by zero."""
    if numbers := draft.places("number"):
        at = choose.choice(numbers)
        draft.put(at, at + 1, _expression(choose, 1))


def guard_by_anything(draft: Draft, other: Draft, choose: random.Random) -> None:
    """An instruction is guarded by a register of any type."""
    registers, opcodes = draft.places("register"), draft.places("opcode")
    if registers and opcodes:
        predicates = [k for k in registers if draft.words[k].startswith("%p")] or registers
        at, register = (
            choose.choice(opcodes),
            draft.words[choose.choice(choose.choice((registers, predicates)))],
        )
        draft.put(at, at, f"@{choose.choice(('', '!'))}{register} ")


def _insert_code(draft: Draft, code: str, choose: random.Random) -> None:
    """Behind some instruction of some function."""
    if ends := draft.ends():
        at = choose.choice(ends)
        draft.put(at, at, f"{code}\n")


def _insert_at_top(draft: Draft, declaration: str) -> None:
    head, line, _ = draft.text.partition(".address_size 64\n")
    if line:
        at = len(WORDS.findall(head + line))
        draft.put(at, at, f"{declaration}\n")


def _passed(choose: random.Random) -> tuple[list[str], list[str]]:
    """The types of what a call passes and gets."""
    arguments = [choose.choice(_SIZES) for _ in range(choose.choice((0, 1, 1, 2, 2, 3, 5, 6)))]
    return arguments, [choose.choice(_SIZES)] if choose.random() < 0.5 else []


def _call(callee: str, arguments: list[str], results: list[str], tail: str = "") -> str:
    declared = [f".param .{size} fuzz_in{k};" for k, size in enumerate(arguments)]
    declared += [f".param .{size} fuzz_out{k};" for k, size in enumerate(results)]
    given = ", ".join(f"fuzz_in{k}" for k in range(len(arguments)))
    got = "(" + ", ".join(f"fuzz_out{k}" for k in range(len(results))) + "), " if results else ""
    return f"{{ {' '.join(declared)} call {got}{callee}{', (' + given + ')' if arguments else ''}{tail}; }}"


def _signature(name: str, arguments: list[str], results: list[str]) -> str:
    passed = ", ".join(f".param .{size} fuzz_p{k}" for k, size in enumerate(arguments))
    returned = (
        "(" + ", ".join(f".param .{size} fuzz_r{k}" for k, size in enumerate(results)) + ") "
        if results
        else ""
    )
    return f"{returned}{name} ({passed})"


def misdeclare(draft: Draft, other: Draft, choose: random.Random) -> None:
    """A function that the engine provides is declared, and called, with parameters of its author's choice."""
    name = choose.choice(_PROVIDED)
    arguments, results = _passed(choose)
    if f" {name}" not in draft.text:
        _insert_at_top(draft, f".extern .func {_signature(name, arguments, results)};")
    _insert_code(draft, _call(name, arguments, results), choose)


def call_by_address(draft: Draft, other: Draft, choose: random.Random) -> None:
    """A function, a kernel, a variable or any number is called."""
    names = draft.functions() or ["0"]
    callee = choose.choice((*names, *names, *_EXTREMES))
    arguments, results = _passed(choose)
    prototype = f"fuzz_type: .callprototype {_signature('_', arguments, results)};"
    call = _call("%fuzz_callee", arguments, results, ", fuzz_type")
    code = f"{{ .reg .b64 %fuzz_callee; mov.b64 %fuzz_callee, {callee}; {prototype} {call} }}"
    _insert_code(draft, code, choose)


def call_by_name(draft: Draft, other: Draft, choose: random.Random) -> None:
    """A function or a kernel of the module is called, with parameters that may be others than its own."""
    names = draft.functions()
    if names:
        arguments, results = _passed(choose)
        _insert_code(draft, _call(choose.choice(names), arguments, results), choose)


def print_wide(draft: Draft, other: Draft, choose: random.Random) -> None:
    """A text of the module asks for fields of any width."""
    text = f"%{choose.choice(('', '0', '-', '#+'))}{choose.choice(('', '9', '4097', '999999999', '*'))}"
    text += choose.choice(("", ".", ".999999999", ".*")) + choose.choice(
        ("d", "s", "lld", "f", "c", "p", "n", "%", "")
    )
    data = ", ".join(map(str, (*text.encode(), 0)))
    name = f"fuzz_text{choose.randrange(1 << 20)}"
    _insert_at_top(draft, f".global .b8 {name}[{len(text) + 1}] = {{{data}}};")
    if "vprintf" not in draft.text:
        _insert_at_top(
            draft, ".extern .func (.param .b32 fuzz_r) vprintf (.param .b64 fuzz_f, .param .b64 fuzz_a);"
        )
    code = (
        f"{{ .reg .b64 %fuzz_at; .param .b64 fuzz_f; .param .b64 fuzz_a; .param .b32 fuzz_c; "
        f"mov.b64 %fuzz_at, {name}; st.param.b64 [fuzz_f], %fuzz_at; st.param.b64 [fuzz_a], %fuzz_at; "
        f"call (fuzz_c), vprintf, (fuzz_f, fuzz_a); }}"
    )
    _insert_code(draft, code, choose)


HOSTILE: tuple[Change, ...] = (
    drop_result, drop_result, drop_operand, move_far, change_type, change_type, grow_declaration,
    guard_by_anything, write_expression, write_expression, misdeclare, misdeclare, call_by_address,
    call_by_name, print_wide,
)  # fmt: skip
