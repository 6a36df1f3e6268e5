"""What page and terminal say of a watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cape.base._numbers import MOST_GROUPS
from cape.shown._watch import (
    NOT_TESTED,
    alarm_texts,
    answers,
    head,
    is_untested,
    sight,
    sight_text,
)
from cape_app.words._terminal import FIRST_GROUPS, Blocks, Styled, TextTable


def watched(
    summary: Mapping[str, Any], command: str = "", *, verbose: bool = False
) -> Blocks:
    """Show a look on a terminal.

    Parameters
    ----------
    summary : mapping
        From `cape.Watch.to_dict`.
    command : str, default=""
        What draws rows to label.
    verbose : bool, default=False
        Whether to show all groups, however many there are.

    Yields
    ------
    str, Styled or TextTable
    """
    yield head(summary)
    columns, rows = answers(summary)
    n_shown = len(rows)
    if len(rows) > MOST_GROUPS and not verbose:
        n_shown = FIRST_GROUPS
    yield TextTable("", columns, rows[:n_shown])
    if is_untested(rows):
        yield NOT_TESTED
    if n_shown < len(rows):
        yield f"{len(rows) - n_shown} more groups (see --verbose)."
    for text in alarm_texts(summary["alarms"]):
        yield Styled(f"ALARM: {text}.", "bad")
    if summary["number"] == 1 and len(summary["groups"]) <= MOST_GROUPS:
        yield sight_text(summary)
    if verbose:
        yield TextTable("Looks until a change is seen", *sight(summary))
    if summary["alarms"]:
        if command:
            yield "Label 100 rows:"
            yield Styled(f"  {command}", "command")
        yield "Once you know the cause, acknowledge the alarm:"
        yield Styled(f"  {summary['acknowledge']}", "command")
