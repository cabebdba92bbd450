"""The rungs in Triton: half types and tf32 on whatever tensor cores the GPU has; on Hopper, by wgmma."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import Any

from flashpath.kernels.arguments import FLOATS, widest_pack
from flashpath.kernels.building import sm_count, triton_compiles_for, triton_device
from flashpath.kernels.matmul.configs import (
    IN_PARTS,
    LARGE,
    MEDIUM,
    MORE_CONFIGS,
    OF_ONE_TILE,
    ROW_BYTES,
    SMALL,
    Config,
)
from flashpath.kernels.matmul.epilogue import Epilogue
from flashpath.kernels.matmul.problem import FOLDER, Problem, is_transposed, prepare
from flashpath.kernels.matmul.tensor_core import epilogues_only, products_only
from flashpath.kernels.rung import Rung

ENOUGH_PROGRAMS = 64  # large tiles, where there are so many: for half of an H200's SMs at least


def triton_pointers(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, config: Config | None = None
) -> Any:
    return _with_pointers("pointers", a, b, precision, out, config)


def triton_block_pointers(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, config: Config | None = None
) -> Any:
    return _with_pointers("block_pointers", a, b, precision, out, config)


def triton_descriptors(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, config: Config | None = None
) -> Any:
    m, n, k, result = problem = _prepare(a, b, precision, out)
    config = config or config_for(result)
    if _is_empty(problem):
        return result
    tiled = Tiled(a, b, result)
    with triton_device(a):
        kernel_of("descriptors")[(config.programs(m, n),)](
            *tiled.descriptors(config), m, n, k, PRECISION=precision, **config.constants(a.element_size())
        )
    return tiled.result()


def triton_persistent(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, config: Config | None = None
) -> Any:
    problem = _prepare(a, b, precision, out, takes_transposed=True)
    return _persistent(a, b, precision, problem, None, config)


def triton_fused(
    a: Any,
    b: Any,
    precision: str = "ieee",
    out: Any | None = None,
    epilogue: Epilogue | None = None,
    *,
    config: Config | None = None,
) -> Any:
    """triton_persistent with an epilogue in the same kernel."""
    problem, after = _prepare(a, b, precision, out, takes_transposed=True), epilogue or Epilogue()
    after.check(problem.out)
    return _persistent(a, b, precision, problem, after, config)


def triton_autotuned(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    m, n, k, result = problem = _prepare(a, b, precision, out)
    if config_for(result) is SMALL or _is_empty(problem):
        return _persistent(a, b, precision, problem, None, None)  # nothing to choose from: small tiles
    tiled, programs = Tiled(a, b, result), sm_count(a)
    with triton_device(a):
        module_of("autotuned").autotuned(a.element_size())[
            lambda meta: (min(programs, -(-m // meta["BLOCK_M"]) * -(-n // meta["BLOCK_N"])),)
        ](
            *tiled.descriptors(SMALL),
            m,
            n,
            k,
            **_after(None),
            TURNED_A=False,
            TURNED_B=False,
            PRECISION=precision,
            PROGRAMS=programs,
        )
    return tiled.result()


# ---- Launches ------------------------------------------------------------------------------------------


class Tiled:
    """Three matrices as descriptors have them: every row at a multiple of 16 bytes.

    Where rows are elsewhere, a descriptor cannot describe them: then it is copies that are described, and the
    result is copied back. Of a transposed matrix the rows are its columns.
    """

    def __init__(self, a: Any, b: Any, out: Any) -> None:
        self.out = out
        self.turned_a, self.turned_b = is_transposed(a), is_transposed(b)
        a, b = a.t() if self.turned_a else a, b.t() if self.turned_b else b
        self.a, self.b, self.to = (self._aligned(each) for each in (a, b, out))
        for each, copy in ((a, self.a), (b, self.b)):
            if copy is not each:
                copy.copy_(each)

    @staticmethod
    def _aligned(matrix: Any) -> Any:
        width = 16 // matrix.element_size()
        if widest_pack(matrix, multiple=matrix.shape[1]) == width:
            return matrix
        rows, columns = matrix.shape
        return matrix.new_empty(rows, -(-columns // width) * width)[:, :columns]

    def descriptors(self, config: Config) -> tuple[Any, Any, Any]:
        describe: Any = importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor.from_tensor
        block_k = ROW_BYTES // self.out.element_size()
        of_a, of_b = [config.m, block_k], [block_k, config.n]
        return (
            describe(self.a, of_a[::-1] if self.turned_a else of_a),
            describe(self.b, of_b[::-1] if self.turned_b else of_b),
            describe(self.to, [config.m, config.n // config.split]),
        )

    def result(self) -> Any:
        if self.to is not self.out:
            self.out.copy_(self.to)
        return self.out


def _prepare(a: Any, b: Any, precision: str, out: Any | None, *, takes_transposed: bool = False) -> Problem:
    return prepare(
        a, b, precision, out, dtypes=FLOATS, precisions=("tf32",), takes_transposed=takes_transposed
    )


def config_for(out: Any, epilogue: Epilogue | None = None) -> Config:
    """The largest tiles that fit into shared memory, where there are enough of them to keep the GPU busy."""
    is_read = epilogue is not None and (epilogue.mask is not None or epilogue.residual is not None)
    large = MEDIUM if is_read or out.element_size() > 2 else LARGE
    return large if large.programs(*out.shape) >= ENOUGH_PROGRAMS else SMALL


def _is_empty(problem: Problem) -> bool:
    """Where there is nothing to multiply; sums of nothing are 0."""
    if not problem.k:
        problem.out.zero_()
    return not (problem.m and problem.n and problem.k)


def module_of(name: str) -> Any:
    return importlib.import_module(f"flashpath.kernels.matmul.triton_{name}")


def kernel_of(name: str) -> Any:
    return getattr(module_of(name), f"matmul_{name}")


def _with_pointers(name: str, a: Any, b: Any, precision: str, out: Any | None, config: Config | None) -> Any:
    m, n, k, result = problem = _prepare(a, b, precision, out)
    config = config or config_for(result)
    if _is_empty(problem):
        return result
    aligned = n % 16 == 0 and k % 16 == 0 and all(each.data_ptr() % 16 == 0 for each in (a, b, result))
    with triton_device(a):
        kernel_of(name)[(config.programs(m, n),)](
            a, b, result, m, n, k, ALIGNED=aligned, PRECISION=precision, **config.constants(a.element_size())
        )
    return result


def _after(epilogue: Epilogue | None) -> dict[str, Any]:
    """The persistent kernel's arguments for what follows the product."""
    after = epilogue or Epilogue()
    return {
        "scale": after.scale,
        "bias_ptr": after.bias,
        "mask_ptr": after.mask,
        "residual_ptr": after.residual,
        "FUSED": epilogue is not None,
        "ACTIVATION": after.activation,
    }


def _persistent(
    a: Any, b: Any, precision: str, problem: Problem, epilogue: Epilogue | None, config: Config | None
) -> Any:
    m, n, k, out = problem
    if epilogue is not None and not k and m and n:
        return out.copy_(epilogue(out.zero_()))
    if _is_empty(problem):
        return out
    config, programs = config or config_for(out, epilogue), sm_count(a)
    tiled = Tiled(a, b, out)
    with triton_device(a):
        kernel_of("persistent")[(min(programs, config.programs(m, n)),)](
            *tiled.descriptors(config),
            m,
            n,
            k,
            **_after(epilogue),
            TURNED_A=tiled.turned_a,
            TURNED_B=tiled.turned_b,
            PRECISION=precision,
            PROGRAMS=programs,
            SPLIT=config.split,
            **config.constants(a.element_size()),
        )
    return tiled.result()


# ---- Entries -------------------------------------------------------------------------------------------

_entry = functools.partial(Rung, arch="sm_80", language="triton")
_SIZES = dict.fromkeys(("m", "n", "k"), "i32")
_TILES = {
    "a_tiles": "tensordesc<bf16[64, 64]>",
    "b_tiles": "tensordesc<bf16[64, 64]>",
    "out_tiles": "tensordesc<bf16[64, 64]>",
}
_CONSTANTS = {"PRECISION": "ieee", "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP": 8}


def _compiles(name: str, signature: Mapping[str, str], **constants: Any) -> Any:
    return triton_compiles_for(
        functools.partial(kernel_of, name), {**signature, **_SIZES}, {**_CONSTANTS, **constants}
    )


_POINTERS = {"a_ptr": "*bf16", "b_ptr": "*bf16", "out_ptr": "*bf16"}
_PERSISTENT = {
    "bias_ptr": None,
    "mask_ptr": None,
    "residual_ptr": None,
    "TURNED_A": False,
    "TURNED_B": False,
    "FUSED": False,
    "ACTIVATION": "none",
    "PROGRAMS": 1,
    "SPLIT": 1,
}
_EVERYWHERE = (LARGE, MEDIUM, SMALL, *MORE_CONFIGS)
_CONFIGS = {"config": (*_EVERYWHERE, *OF_ONE_TILE)}
_PERSISTENT_CONFIGS = {"config": (*_EVERYWHERE, *IN_PARTS)}

RUNGS = (
    _entry(
        name="triton_pointers",
        file=FOLDER / "triton_pointers.py",
        function=triton_pointers,
        choices=_CONFIGS,
        declines=products_only,
        improves_on="mma_pipelined",
        compile_for=_compiles("pointers", _POINTERS, ALIGNED=True),
        readability=4,
        debugging=3,
    ),
    _entry(
        name="triton_block_pointers",
        file=FOLDER / "triton_block_pointers.py",
        function=triton_block_pointers,
        choices=_CONFIGS,
        declines=products_only,
        improves_on="triton_pointers",
        compile_for=_compiles("block_pointers", _POINTERS, ALIGNED=True),
        readability=4,
        debugging=3,
    ),
    _entry(
        name="triton_descriptors",
        file=FOLDER / "triton_descriptors.py",
        function=triton_descriptors,
        choices=_CONFIGS,
        declines=products_only,
        improves_on="triton_block_pointers",
        compile_for=_compiles("descriptors", _TILES),
        readability=5,
        debugging=3,
    ),
    _entry(
        name="triton_persistent",
        file=FOLDER / "triton_persistent.py",
        function=triton_persistent,
        choices=_PERSISTENT_CONFIGS,
        declines=products_only,
        improves_on="triton_descriptors",
        compile_for=_compiles("persistent", {**_TILES, "scale": "fp32"}, **_PERSISTENT),
        readability=4,
        debugging=3,
    ),
    _entry(
        name="triton_autotuned",
        file=FOLDER / "triton_autotuned.py",
        function=triton_autotuned,
        declines=products_only,
        improves_on="triton_persistent",
        compile_for=_compiles("persistent", {**_TILES, "scale": "fp32"}, **_PERSISTENT),
        readability=4,
        debugging=2,
    ),
    _entry(
        name="triton_fused",
        file=FOLDER / "triton_epilogue.py",
        function=triton_fused,
        choices=_PERSISTENT_CONFIGS,
        declines=epilogues_only,
        improves_on="fused",
        compile_for=_compiles(
            "persistent",
            {**_TILES, "scale": "fp32"},
            **{**_PERSISTENT, "FUSED": True, "ACTIVATION": "gelu"},
        ),
        readability=5,
        debugging=3,
    ),
)
