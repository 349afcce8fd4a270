"""BMv2's log: the format of its lines, on the console or in a rotated file.

FILE is written as FILE.txt, and after rotations as FILE.1.txt, FILE.2.txt, ..., as BMv2 does.
"""

import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path

from .options import Options

TRACE = logging.DEBUG - 5
"""BMv2's level below `debug`."""
_LEVELS = {
    "trace": TRACE,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}


class _Bmv2Formatter(logging.Formatter):
    """`[HH:MM:SS.mmm] [bmv2] [I] [thread N] text`."""

    def format(self, record: logging.LogRecord) -> str:
        at = self.formatTime(record, "%H:%M:%S")
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        level = "T" if record.levelno == TRACE else record.levelname[:1]
        return f"[{at}.{int(record.msecs):03}] [bmv2] [{level}] [thread {threading.get_native_id()}] {text}"


def set_up(options: Options) -> logging.Logger:
    """Returns the log for these options; raises `OSError` if its file cannot be written.

    Without a log, warnings and errors go to stderr.
    """
    log = logging.getLogger("eeon_engine")
    log.propagate = False
    handler: logging.Handler
    if options.log_file is not None:
        path, kept = f"{options.log_file}.txt", options.log_file_max_files
        # Without a rotated file, Python's handler would go on in the full one.
        handler = RotatingFileHandler(path, maxBytes=options.log_file_max_size, backupCount=max(1, kept))
        handler.namer = _rotated_name
        if kept == 0:
            handler.rotator = lambda full, _: Path(full).unlink()
    elif options.log_console:
        handler = logging.StreamHandler(sys.stdout)
    else:
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Bmv2Formatter())
    log.addHandler(handler)
    log.setLevel(_LEVELS[options.log_level] if options.has_log else logging.WARNING)
    return log


def _rotated_name(name: str) -> str:
    base, _, number = name.rpartition(".")
    return f"{base.removesuffix('.txt')}.{number}.txt"
