"""linear_cross_entropy, forward and backward: time and peak memory beside torch, Liger and Cut Cross Entropy.

    python benchmarks/linear_cross_entropy.py [RECORDS.jsonl] [--size ROWS HIDDEN CLASSES] [--seconds S]

Each step makes the mean loss and the gradients of x and of the weight, in bfloat16. Results are compared
before anything is timed. The marks: at least as fast as the fastest peer, and no more memory than Liger.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from flashpath import ops
from flashpath.bench import append, compare
from flashpath.kernels.peers import library, with_compiled
from flashpath.kernels.rung import Case

SIZES = ((8192, 4096, 128256), (8192, 4096, 32000), (32768, 2048, 50257))
OURS = "linear_cross_entropy"


def case(rows: int, hidden: int, classes: int) -> Case:
    import torch

    def inputs(device: str) -> tuple[Any, ...]:
        x = torch.randn(rows, hidden, device=device, dtype=torch.bfloat16)
        weight = torch.randn(classes, hidden, device=device, dtype=torch.bfloat16) / hidden**0.5
        return x, weight, torch.randint(classes, (rows,), device=device)

    both = rows * hidden + classes * hidden
    return Case(
        name=f"{rows} × {hidden} × {classes} bfloat16",
        inputs=inputs,
        bytes=2 * 2 * both + 8 * rows,  # x, weight and their gradients once
        flops=6 * rows * hidden * classes,
        dtype="bfloat16",
        parameters={"rows": rows, "hidden": hidden, "classes": classes},
    )


def step(loss_of: Callable[..., Any]) -> Callable[..., Any]:
    """A function of x, weight and target: the loss, and its gradients of both."""

    def called(x: Any, weight: Any, target: Any) -> tuple[Any, Any, Any]:
        import torch

        leaves = [each.detach().requires_grad_() for each in (x, weight)]
        with torch.enable_grad():
            loss = loss_of(*leaves, target)
        dx, dweight = torch.autograd.grad(loss, leaves)
        return loss.detach().float(), dx, dweight

    return called


def of_torch(x: Any, weight: Any, target: Any) -> Any:
    import torch

    return torch.nn.functional.cross_entropy((x @ weight.t()).float(), target)


def implementations(device: str) -> tuple[dict[str, Callable[..., Any]], dict[str, Callable[..., Any]]]:
    """Ours, and the peers that this machine has."""
    peers = {name: step(function) for name, function in with_compiled(device, of_torch).items()}
    liger = library("liger_kernel.transformers.functional") if device == "cuda" else None
    if liger is not None:
        peers["Liger"] = step(liger.liger_fused_linear_cross_entropy)
    cut = library("cut_cross_entropy") if device == "cuda" else None
    if cut is not None:
        peers["Cut Cross Entropy"] = step(cut.linear_cross_entropy)
    return {OURS: step(ops.linear_cross_entropy)}, peers


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", help="append the records to this file")
    parser.add_argument("--size", type=int, nargs=3, metavar=("ROWS", "HIDDEN", "CLASSES"))
    parser.add_argument("--seconds", type=float, default=0.5, help="for each implementation of each size")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args(arguments)
    ours, peers = implementations(options.device)
    sizes = [tuple(options.size)] if options.size else SIZES
    results = compare(
        ours,
        [case(*size) for size in sizes],
        device=options.device,
        peers=peers,
        seconds=options.seconds,
        progress=False,
        ladder=OURS,
    )
    print(results.table())
    if options.file:
        append(options.file, results.records)
    return int(any(record.error for record in results))


if __name__ == "__main__":
    raise SystemExit(main())
