"""`python -m flashpath.cli`, for where the script is not on PATH."""

from flashpath.cli import main

main()
