"""Logits of a few rows at a time, and the gradients that are added up meanwhile: of linear_cross_entropy."""

from collections.abc import Iterator

import torch

from flashpath.ops.norm_parts import like

Tensor = torch.Tensor
ROWS = 256  # a part has a multiple of so many rows


def rows_at_once(rows: int, hidden: int, classes: int) -> int:
    """As many rows as have no more logits than all of x has elements, in whole multiples of ROWS."""
    fitting = rows * hidden // max(1, classes)
    return min(rows, max(ROWS, fitting // ROWS * ROWS))


class Sums:
    """The gradients, as parts of the logits' gradient come in.

    That of the weight is added up in the weight's type, of which a product rounds once for each part, and of
    float16 in float32: the sum over all rows could pass 65,504.
    """

    def __init__(self, x: Tensor, weight: Tensor, wanted: tuple[bool, bool, bool]) -> None:
        self.x, self.weight = x, weight
        self.of_x, self.of_weight, self.of_bias = places(x, weight, wanted)
        self.wanted = wanted
        if not len(x):  # sums of nothing
            self.of_weight.zero_()
        self.of_bias.zero_()

    def add(self, start: int, d: Tensor) -> None:
        rows = slice(start, start + len(d))
        wants_x, wants_weight, wants_bias = self.wanted
        if wants_x:
            torch.mm(d, self.weight, out=self.of_x[rows])
        if wants_weight:
            self._add_products(d.t(), self.x[rows], is_first=not start)
        if wants_bias:
            self.of_bias += d.sum(0, dtype=torch.float32)

    def _add_products(self, d: Tensor, x: Tensor, is_first: bool) -> None:
        total = self.of_weight
        beta = 0 if is_first else 1
        if total.dtype == d.dtype:
            torch.addmm(total, d, x, beta=beta, out=total)
        elif d.is_cuda:
            torch.addmm(total, d, x, out_dtype=total.dtype, beta=beta, out=total)  # pyright: ignore[reportCallIssue]
        else:
            torch.addmm(total, d.to(total.dtype), x.to(total.dtype), beta=beta, out=total)


def places(x: Tensor, weight: Tensor, wanted: tuple[bool, bool, bool]) -> tuple[Tensor, Tensor, Tensor]:
    """New tensors for the gradients of x, weight and bias; empty where they are not wanted."""
    kind = torch.float32 if weight.dtype == torch.float16 else weight.dtype
    of_x = like(x) if wanted[0] else x.new_empty(0)
    of_weight = weight.new_empty(weight.shape if wanted[1] else 0, dtype=kind)
    return of_x, of_weight, x.new_empty(len(weight) if wanted[2] else 0, dtype=torch.float32)


class Logits:
    """Parts of the logits, each in the memory of the one before."""

    def __init__(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> None:
        self.x, self.weight, self.bias = x, weight, bias
        self.step = max(1, rows_at_once(len(x), x.shape[1], len(weight)))
        self.memory = x.new_empty((self.step, len(weight)))

    def __iter__(self) -> Iterator[tuple[int, Tensor]]:
        for start in range(0, len(self.x), self.step):
            x = self.x[start : start + self.step]
            logits = self.memory[: len(x)]
            if self.bias is None:
                torch.mm(x, self.weight.t(), out=logits)
            else:
                torch.addmm(self.bias, x, self.weight.t(), out=logits)
            yield start, logits
