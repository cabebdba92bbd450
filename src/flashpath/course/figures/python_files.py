"""Python files of the content, loaded for what figures show of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def module_of(file: Path) -> ModuleType:
    """Returns a file of the content as a module: Triton reads a kernel's source from its file."""
    spec = importlib.util.spec_from_file_location(f"figures_of_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
