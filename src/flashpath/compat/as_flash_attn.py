"""Importing it does `install_as_flash_attn()`: for `python -m pytest -p flashpath.compat.as_flash_attn …`."""

from flashpath.compat import install_as_flash_attn

install_as_flash_attn()
