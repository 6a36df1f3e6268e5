"""The command line: each command parses, calls one public function and prints."""

from cape.cli import _compare, _demo, _reproduce  # noqa: F401  (each registers its command)
from cape.cli._app import app

__all__ = ["app", "main"]


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    app(argv)
