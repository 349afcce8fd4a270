"""`python -m eeon_control` is `eeon`."""

from eeon_control.cli import main

main()
