"""The command line.

A command parses its arguments, has the work done by one function of `cape.files`,
and prints what it returns. Pages are written by `cape.report`.
"""

import os
import signal
import sys
from typing import Any

from cape._packages import require_extra

require_extra("app", "typer", "rich", what="the command line")

# OpenMP reads this when scikit-learn loads it, so it has to be set before the imports
# below. Threads that wait then sleep instead of spinning: beside other busy processes
# that is the difference between a second and a minute.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Importing a module registers its command; help lists them in this order.
# isort: off
from cape.cli import _train
from cape.cli import _batch
from cape.cli import _watch
from cape.cli import _audit
from cape.cli import _model
from cape.cli import _demo

# isort: on
from cape.cli._app import app, run

__all__ = ["app", "main"]


def main(argv: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit code.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those that the process was started with.
    """
    # Without it, SIGTERM would end the process at once and leave temporary files.
    signal.signal(signal.SIGTERM, _exit_on_signal)
    sys.exit(run(argv))


def _exit_on_signal(signum: int, frame: Any) -> None:
    """Exit through the clean-up of open files, so that none stays half written."""
    raise SystemExit(128 + signum)
