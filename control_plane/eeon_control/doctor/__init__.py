"""`eeon doctor`: finds what may keep this controller from working here, and says how to fix it."""

from eeon_control.doctor.examination import examine
from eeon_control.doctor.finding import Finding, Level, exit_code

__all__ = ["Finding", "Level", "examine", "exit_code"]
