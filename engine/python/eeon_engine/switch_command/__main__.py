"""`python -m eeon_engine.switch_command` is `eeon-switch`."""

import sys

from .main import main

sys.exit(main())
