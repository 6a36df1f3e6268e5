"""What page and terminal say of a backtest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cape.base._numbers import MOST_GROUPS
from cape.shown._backtest import COLUMNS, details, group_row, headline, worst_text
from cape_app.words._terminal import FIRST_GROUPS, Blocks, Styled, TextTable

METRICS = ("held", "off", "pd", "pe")
"""What ``--fail-if`` takes."""

MARKS = {"better": "good", "as_good": "warn", "worse": "bad", "unclear": "warn"}
"""The color of each verdict."""


def backtested(summary: Mapping[str, Any], *, verbose: bool = False) -> Blocks:
    """Show a backtest on a terminal.

    Parameters
    ----------
    summary : mapping
        From `cape_app.pages._over_time.backtest_summary`.
    verbose : bool, default=False
        Whether to show all groups, however many there are.

    Yields
    ------
    str, Styled or TextTable
    """
    yield Styled(headline(summary), MARKS[summary["verdict"]])
    yield from details(summary)
    groups = summary["groups"]
    n_shown = len(groups)
    if len(groups) > MOST_GROUPS and not verbose:
        n_shown = FIRST_GROUPS
    rows = []
    for group in groups[:n_shown]:
        rows.append([group["group"], *group_row(group).values()])
    yield TextTable("", ["group", *COLUMNS], rows)
    if n_shown < len(groups):
        yield f"{len(groups) - n_shown} more groups (see --verbose)."
    yield worst_text(summary)
