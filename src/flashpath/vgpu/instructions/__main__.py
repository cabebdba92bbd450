"""`python -m flashpath.vgpu.instructions DOCUMENT.md …`."""

from __future__ import annotations

from flashpath.vgpu.instructions.document import main

main()
