"""A kernel's function as its user describes it.

The signature `a: float, x: float32[n]` names what the function takes, and the launch
`<<<cdiv(n, 256), 256>>>(n, a, x)` what the kernel is given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from flashpath.errors import FlashpathError
from flashpath.jit.export.expressions import Expression, Number, Operation, Symbol, apply
from flashpath.jit.export.library import DLPACK, MAX_SHARED, SM_COUNT, Argument, Variant
from flashpath.jit.export.passing import Given, alignments, pass_all
from flashpath.jit.module import Kernel
from flashpath.messages import did_you_mean

_SCALARS = {"int": "integer", "float": "float"}
_ARGUMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*([A-Za-z_]\w*)\s*(\[.*\])?\s*", re.DOTALL)
_LAUNCH = re.compile(r"\s*<<<(.*)>>>\s*\((.*)\)\s*", re.DOTALL)
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_CALLS = ("min", "max", "cdiv")


def describe(kernels: Sequence[Kernel], signature: str, launch: str, requires: Sequence[str] = ()) -> Variant:
    """Returns the variant that such a signature and such a launch describe; `requires` are further guards."""
    names = _Names()
    names.declare([declared(text) for text in split(signature)])
    found = _LAUNCH.fullmatch(launch)
    if found is None:
        raise FlashpathError("jit.export.no-launch", launch=launch)
    configuration = [_parsed(each) for each in split(found[1])]
    if not 2 <= len(configuration) <= 3:
        raise FlashpathError("jit.export.no-launch", launch=launch)
    grid, block = (names.dimensions(each) for each in configuration[:2])
    shared = names.number(configuration[2]) if len(configuration) == 3 else 0
    passed = pass_all(kernels[0], [names.given(_parsed(each)) for each in split(found[2])])
    guards = [*names.guards, *(names.condition(each) for each in requires)]
    guards += [each for each in alignments(passed) if each not in guards]
    return Variant(tuple(names.arguments), tuple(guards), tuple(kernels), grid, block, shared, passed)


def split(text: str) -> list[str]:
    """The parts between the commas that stand in no brackets."""
    parts, depth, begin = list[str](), 0, 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [part.strip() for part in (*parts, text[begin:]) if part.strip()]


def declared(text: str) -> tuple[str, str, list[str] | None]:
    """`x: float32[rows, n]` as a name, a type, and the extents; None where it is a number."""
    found = _ARGUMENT.fullmatch(text)
    if found is None:
        raise FlashpathError("jit.export.no-declaration", text=text)
    name, kind, extents = found[1], found[2], found[3]
    if extents is None:
        if kind not in _SCALARS:
            code = "jit.export.tensor-without-extents" if kind in DLPACK else "jit.export.no-scalar"
            raise FlashpathError(code, text=text, kind=kind)
    elif kind not in DLPACK:
        raise FlashpathError("jit.export.no-dtype", text=text, kind=kind, advice=did_you_mean(kind, DLPACK))
    return name, kind, None if extents is None else split(extents[1:-1])


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise FlashpathError("jit.export.no-expression", text=text) from None


@dataclass
class _Names:
    """The names of a description: arguments, extents, and what the GPU tells."""

    arguments: list[Argument] = field(default_factory=list[Argument])
    guards: list[Expression] = field(default_factory=list[Expression])
    numbers: dict[str, Number] = field(
        default_factory=lambda: dict[str, Number]({each.shown: each for each in (SM_COUNT, MAX_SHARED)})
    )

    def declare(self, declarations: Sequence[tuple[str, str, list[str] | None]]) -> None:
        """Takes the arguments, and binds names of extents where they first stand."""
        for index, (name, kind, extents) in enumerate(declarations):
            if self._argument(name) is not None:
                raise FlashpathError("jit.export.name-twice", name=name)
            if extents is None:
                self.arguments.append(Argument(index, name, "integer" if kind == "int" else "float"))
            else:
                self.arguments.append(Argument(index, name, "tensor", kind, len(extents)))
        self.numbers |= {each.name: each.integer for each in self.arguments if each.kind == "integer"}
        others: list[tuple[Symbol, str]] = []
        for argument, (_, _, extents) in zip(self.arguments, declarations, strict=True):
            for dimension, extent in enumerate(extents or ()):
                here = argument.extent(dimension)
                if extent.isidentifier() and extent not in self.numbers:
                    self.numbers[extent] = here
                else:
                    others.append((here, extent))
        self.guards += [Operation("==", (here, self.number(_parsed(extent)))) for here, extent in others]

    def _argument(self, name: str) -> Argument | None:
        return next((each for each in self.arguments if each.name == name), None)

    def given(self, tree: ast.expr) -> Given:
        """What a parameter is given: a tensor, a float, or a number."""
        if isinstance(tree, ast.Constant) and (tree.value is None or isinstance(tree.value, float)):
            return tree.value
        if isinstance(tree, ast.Name) and tree.id not in self.numbers:
            argument = self._argument(tree.id)
            if argument is not None:
                return argument
        return self.number(tree)

    def dimensions(self, tree: ast.expr) -> tuple[Number, Number, Number]:
        """A grid or a block: one number, or up to three in brackets."""
        trees = tree.elts if isinstance(tree, ast.Tuple) else [tree]
        if not 1 <= len(trees) <= 3:
            raise FlashpathError("jit.export.dimensions", text=ast.unparse(tree))
        x, y, z = [*map(self.number, trees), 1, 1][:3]
        return x, y, z

    def condition(self, text: str) -> Expression:
        """A comparison that has to hold."""
        tree = _parsed(text)
        if not isinstance(tree, ast.Compare) or len(tree.ops) != 1:
            raise FlashpathError("jit.export.no-comparison", text=text)
        left, right = self.number(tree.left), self.number(tree.comparators[0])
        made = apply(_OPERATORS[type(tree.ops[0])], left, right) if type(tree.ops[0]) in _OPERATORS else 0
        if isinstance(made, int):
            raise FlashpathError("jit.export.no-comparison", text=text)
        return made

    def number(self, tree: ast.expr) -> Number:
        """The number that an expression stands for."""
        match tree:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name):
                if name in self.numbers:
                    return self.numbers[name]
                known = [*self.numbers, *(f"{each.name}.size" for each in self.arguments if each.rank)]
                raise FlashpathError("jit.export.unknown-name", name=name, known=known)
            case ast.Attribute(value=ast.Name(id=name), attr="size" | "address" as attribute):
                argument = self._argument(name)
                if argument is not None and argument.kind == "tensor":
                    return cast("Symbol", getattr(argument, attribute))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return self._applied(tree, _OPERATORS[type(op)], left, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._applied(tree, "neg", operand)
            case ast.Call(func=ast.Name(id=name), args=operands, keywords=[]) if name in _CALLS:
                if len(operands) == 2:
                    return self._applied(tree, name, *operands)
            case _:
                pass
        raise FlashpathError("jit.export.no-number", text=ast.unparse(tree), functions=_CALLS)

    def _applied(self, tree: ast.expr, name: str, *operands: ast.expr) -> Number:
        try:
            return apply(name, *map(self.number, operands))
        except (ZeroDivisionError, ValueError):
            raise FlashpathError("jit.export.no-expression", text=ast.unparse(tree)) from None
