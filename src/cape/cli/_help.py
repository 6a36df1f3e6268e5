"""Help whose lists of names are looked up when it is printed.

The names of rules, quantifiers and learners are in the tables of the library, which
take scikit-learn to import. A command that only has to say that a file exists already
should not wait for them.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["CommandWithNames"]


class CommandWithNames(TyperCommand):
    """A command whose options may name ``{rules}``, ``{quantifiers}`` and others.

    See `_names` for all that can stand in braces.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help with the names in it."""
        names = _names()
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text:
                parameter.help = text.format_map(names)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def _names() -> dict[str, Any]:
    """Return what may stand in braces in the help of an option."""
    from cape.files import DEFAULT_SETTINGS, FILE_LEARNERS, PAPER_SETTINGS
    from cape.quantify import QUANTIFIERS
    from cape.rules import RULES

    return {
        "rules": ", ".join(RULES),
        "quantifiers": ", ".join(QUANTIFIERS),
        "learners": ", ".join(FILE_LEARNERS),
        "default": DEFAULT_SETTINGS,
        "paper": PAPER_SETTINGS,
    }
