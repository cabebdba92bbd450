"""Compiles the kernels of this folder to PTX and keeps it: `python make_ptx.py`. No GPU is needed.

Run it only to change the kernels: results of a GPU must then be made anew (make_golden.py).
"""

from __future__ import annotations

# pyright: basic
import importlib.util
import json
import lzma
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import catalogue
import no_numbers

import flashpath as fp
from flashpath.vgpu.device import VirtualModule

_FAST = ["-use_fast_math"]


def _without_lines(ptx: str) -> str:
    """PTX without what only a debugger reads: places in the source change no result, and take most room."""
    code = ptx.split("\t.section\t.debug", 1)[0]
    kept = [line for line in code.splitlines() if not re.match(r"\s*(\.loc\s|\.file\s|//)", line)]
    return "\n".join(line.split("//")[0].rstrip() for line in kept if line.strip()) + "\n"


def _keep(module: str, ptx: str, **about: object) -> dict[str, object]:
    text = _without_lines(ptx)
    (catalogue.PTX / f"{module}.ptx.xz").write_bytes(lzma.compress(text.encode(), preset=9))
    return {"sha256": catalogue.digest(text), **about}


def _imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _triton_ptx(kernel: catalogue.TritonKernel) -> tuple[str, int]:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    module = _imported(catalogue.FOLDER / "triton_kernels.py")
    signature = {**kernel.signature, **dict.fromkeys(kernel.constants, "constexpr")}
    function = getattr(module, kernel.function)
    attributes = {
        (k,): [["tt.divisibility", 16]] for k, name in enumerate(signature) if signature[name].startswith("*")
    }
    source = ASTSource(function, signature, kernel.constants, attributes)
    options = {"num_warps": kernel.warps, "num_stages": kernel.stages}
    compiled = triton.compile(source, GPUTarget("cuda", kernel.arch, 32), options)
    return compiled.asm["ptx"], compiled.metadata.shared


def main() -> None:
    catalogue.PTX.mkdir(exist_ok=True)
    index: dict[str, object] = {}
    source = catalogue.FOLDER / "kernels.cu"
    for module, options in (("cuda", []), ("cuda_fast", _FAST)):
        compiled = fp.compile(source, "sm_80", options=options)
        index[module] = _keep(module, compiled.ptx)
    for name, kernel in catalogue.TRITON.items():
        ptx, shared = _triton_ptx(kernel)
        index[f"triton_{name}"] = _keep(f"triton_{name}", ptx, shared=shared)
    rules = _imported(catalogue.FOLDER.parent.parent / "instructions" / "contraction_rules.py")
    kernels: dict[str, list[tuple[str, str]]] = {}
    for target in ("sm_80", "sm_90"):
        index[f"rules_{target}"] = _keep(f"rules_{target}", rules.module(target))
        kernels[f"rules_{target}"] = [(r.kernel, r.register) for r in rules.MEASURED if r.target == target]
    index["no_numbers"] = _keep("no_numbers", no_numbers.module())
    for module in index:
        VirtualModule(catalogue.load_ptx(module))
    index["rules"] = kernels
    (catalogue.PTX / "index.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
