"""``python -m cape_app`` and the script ``cape``: the command line."""

import sys

from cape.base._packages import MissingExtra

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say in one line what it needs to run."""
    try:
        from cape_app.cli import main as run_command_line
    except MissingExtra as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    run_command_line()


if __name__ == "__main__":
    main()
