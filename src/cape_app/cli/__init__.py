"""The command line.

A command parses its arguments, has the work done by one function of `cape_app.files`,
and prints what it returns. Pages are written by `cape_app.pages`.
"""

import atexit
import os
import signal
import sys
import threading
import time
from typing import Any

from cape.base._io import remove_unfinished
from cape.base._packages import require_extra

require_extra("app", "typer", "rich", what="the command line")

# OpenMP reads this when scikit-learn loads it, so it has to be set before the imports
# below. Threads that wait then sleep instead of spinning: beside other busy processes
# that is the difference between a second and a minute.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Importing a module registers its command; help lists them in this order.
# isort: off
from cape_app.cli import _check
from cape_app.cli import _train
from cape_app.cli import _backtest
from cape_app.cli import _batch
from cape_app.cli import _watch
from cape_app.cli import _audit
from cape_app.cli import _model
from cape_app.cli import _demo

# isort: on
from cape_app.cli._app import PIPE_CLOSED, app, aside, explain, run

__all__ = ["app", "main"]


_GRACE = 1.0
"""Seconds that a signal leaves a command to end by itself."""

_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")


def main(argv: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit code.

    Parameters
    ----------
    argv : list of str, optional
        The arguments; by default those that the process was started with. A caller in
        Python that names them gets a SystemExit, as of any command line.
    """
    if argv is not None:
        sys.exit(run(argv))
    _obey_signals()
    try:
        code: Any = run()
    except SystemExit as error:
        code = error.code
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except BaseException:
        # With --debug.
        sys.excepthook(*sys.exc_info())
        code = 1
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = PIPE_CLOSED
    except OSError as error:
        code = explain(error)["exit_code"]
    sys.stderr.flush()
    # Arrow reads ahead in threads of its own, which call Python for the bytes of a CSV.
    # If an error stops the reading, a thread may be at it still: to tear Python down
    # below it ends in an abort, or never. So Python is not torn down.
    os._exit(code)


def _obey_signals() -> None:
    """End within a second or so when asked to, and leave no file half written.

    Python hears of a signal between two steps of its own, and a step may be the minutes
    of a library. The system writes to a pipe at once, and a thread reads it.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for name in _STOPPING:
        # Windows has no SIGHUP, and nohup ignores it.
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
    threading.Thread(target=_end_in_time, args=(reader,), daemon=True).start()


def _stop(signum: int, frame: Any) -> None:
    """Exit through the clean-up of open files, so that none stays half written."""
    # A second signal would interrupt the clean-up.
    for name in _STOPPING:
        if hasattr(signal, name):
            # Not SIG_IGN, about which Python may complain.
            signal.signal(getattr(signal, name), lambda *_: None)
    if signum == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + signum)


def _end_in_time(reader: int) -> None:
    """End the process if it is still there some time after a signal."""
    (signum,) = os.read(reader, 1)
    time.sleep(_GRACE)
    remove_unfinished()
    # Bars hide it.
    aside.show_cursor()
    os._exit(128 + signum)
