"""Log lines: one for each change of state, as `key=value` text or as JSON, without secrets.

2026-01-31T12:00:00.123Z info restored switch=leaf1 seconds=1.2 entries=61 program_loaded=true
{"time": "2026-01-31T12:00:00.123Z", "level": "info", "event": "restored", "switch": "leaf1", ...}
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

from eeon_control.printable import one_line

_LOGGER = logging.getLogger("eeon.controller")
_FIELDS = "eeon_fields"


def say(level: int, event: str, **fields: str | int | float | bool) -> None:
    """Logs an event (`event`, a fixed word) and its details, without empty fields."""
    kept = {key: value for key, value in fields.items() if value != ""}
    _LOGGER.log(level, event, extra={_FIELDS: kept})


def set_up(form: str, level: str, stream: TextIO | None = None) -> None:
    """Directs all log lines of this process to `stream` (default: stderr), as `text` or `json`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _LOGGER.setLevel(level.upper())


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {key}={_text(value)}" for key, value in _fields(record).items())
        return f"{_time(record)} {record.levelname.lower()} {record.getMessage()}{fields}"


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _time(record), "level": record.levelname.lower(), "event": record.getMessage()}
        return json.dumps(line | _fields(record))


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields = dict(getattr(record, _FIELDS, {}))
    if record.exc_info:
        fields["traceback"] = logging.Formatter().formatException(record.exc_info)
    return fields


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    plain = text.isprintable() and not any(char in text for char in ' "=')
    return text if plain else one_line(json.dumps(text, ensure_ascii=False))
