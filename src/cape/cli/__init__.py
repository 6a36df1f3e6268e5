"""The command line: each command parses, calls one public function and prints."""

import signal
import sys
from typing import Any

# Each module registers its command; help lists them in this order.
# isort: off
from cape.cli import (
    _train,
    _predict,
    _monitor,
    _audit,
    _explore,
    _info,
    _demo,
    _reproduce,
    _compare,
)  # noqa: F401

# isort: on
from cape.cli._app import app, run

__all__ = ["app", "main"]


def main(argv: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    signal.signal(signal.SIGTERM, _leave)
    sys.exit(run(argv))


def _leave(signum: int, frame: Any) -> None:
    """Leave as after an error, so that no half-written file stays."""
    raise SystemExit(128 + signum)
