"""The command line: each command parses, calls one public function and prints."""

import sys

from cape.cli import _compare, _demo, _info, _predict, _reproduce, _train  # noqa: F401  (each registers its command)
from cape.cli._app import app, run

__all__ = ["app", "main"]


def main(argv: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(argv))
