"""``cape backtest``: how far off CAPE would have been on your own past."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cape_app import files
from cape_app.cli import _app
from cape_app.cli import _options as options
from cape_app.cli._options import command
from cape_app.cli._output import Finding, Output, parse_conditions
from cape_app.cli._train import Labelled, Settings
from cape_app.files._notes import Notes

METRICS = ("held", "off", "pd", "pe")
"""What ``--fail-if`` takes."""


@command(
    help_values={"metrics": ", ".join(METRICS)},
    epilog="Example: cape backtest history.csv --label y --group race --time year "
    '--report backtest.html --out model.cape --fail-if "held<0.9"',
)
def backtest(
    paths: list[Path],
    *,
    time: str | None = None,
    freq: str | None = None,
    train: str = "last",
    horizon: int = 1,
    labels: int | None = None,
    start: str | None = None,
    out: Path | None = None,
    fail_if: list[str] | None = None,
    labelled: Labelled,
    own: Settings,
    costs: options.Costs,
    csv: options.Csv,
    key_file: Path | None = None,
    output: Output,
) -> None:
    """Show how far off CAPE would have been on your own past.

    For every period with labels, a model is trained on the period before, adapted to
    this one without its labels, and compared with them, beside what you could have
    said without it: the share of the last period, the mean score, and the predictions
    of the learner cut at 1/2. --fail-if takes {metrics}; held is a share of intervals.

    Choose settings by other periods than those whose record you show: a record that
    you have tuned is too good.

    Parameters
    ----------
    paths : FILE
        A table of several periods, with --time: {sources} Or several tables, each a
        period, in order.
    time : COLUMN
        Column with the period of each row: a year, a date (see --freq), or a text that
        sorts, such as 2024-03. It is not learned from.
    freq : NAME
        Length of the periods, if --time holds dates: year, quarter, month, week or day.
    train : NAME
        Periods to train on: last, all, or a number of the last ones.
    horizon : NUMBER
        Periods ahead to predict: 2 if labels arrive a period late.
    labels : NUMBER
        Draw so many rows of each group to label, as cape sample does, and show what
        they would have changed.
    start : PERIOD
        The first period to use.
    out : FILE
        Write a model that is trained on the newest period and knows this past.
    """
    conditions = parse_conditions(fail_if, METRICS)
    output.check(out)
    from cape_app.pages._over_time import backtest_summary

    reading = labelled.reading(csv, own, costs)
    # Bars of fits would hide that of the transitions.
    reading["settings"]["verbose"] = 0
    notes = Notes()
    with _app.progress() as advance:

        def on_transition(done: int, total: int) -> None:
            if done == 1:
                advance("length", total)
            advance("transitions", 1)

        result, model = files.backtest_file(
            paths,
            out,
            time=time,
            freq=freq,
            train=int(train) if train.isdigit() else train,
            horizon=horizon,
            labels=labels,
            start=start,
            jobs=own.jobs,
            overwrite=output.force,
            key=key_file,
            on_transition=on_transition,
            notes=notes,
            on_rows=advance,
            **reading,
        )
    summary = backtest_summary(result, model)
    output.give(
        "backtest",
        summary | {"out": None if out is None else str(out)},
        notes,
        conditions=conditions,
        findings=_findings(summary),
        written={"model": out},
    )


def _findings(summary: dict[str, Any]) -> list[Finding]:
    """Return what conditions are checked against."""
    values = {name: summary[name] for name in METRICS}
    values["held"] = summary["held"] / summary["cells"]
    return [Finding(name, "all periods", value) for name, value in values.items()]
