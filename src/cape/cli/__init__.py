"""The command line: each command parses, calls one public function and prints."""

import sys

# Each module registers its command; help lists them in this order.
# isort: off
from cape.cli import _train, _predict, _monitor, _audit, _explore, _info, _demo, _reproduce, _compare  # noqa: F401

# isort: on
from cape.cli._app import app, run

__all__ = ["app", "main"]


def main(argv: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(argv))
