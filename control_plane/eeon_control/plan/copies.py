"""The clone session by which a switch makes frames of its own: pauses, and congestion notification messages.
Pure."""

from __future__ import annotations

from eeon_control import constants
from eeon_control.entries import CLONE_SESSIONS, Action, Entry, Exact


def session() -> Entry:
    """Copies go to the port that the program keeps for them, whole and once."""
    to_itself = Action("clone_to", (("port", constants.COPY_PORT),))
    return Entry(CLONE_SESSIONS, (Exact("session", constants.COPY_SESSION),), (to_itself,))
