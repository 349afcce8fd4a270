"""`python -m eeon_control` runs `eeon`."""

from eeon_control.cli import main

main()
