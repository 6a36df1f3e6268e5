"""The picture of ``cape demo``: predicted and true prevalences by classifier."""

from __future__ import annotations

import altair as alt
import pandas as pd

__all__ = ["draw_prevalences", "frame_prevalences"]

_KINDS = {
    "true prevalence": "prevalence",
    "predicted prevalence": "predicted_prevalence",
}
# The colours of Okabe and Ito, which readers with any colour vision can tell apart.
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]


def frame_prevalences(table: pd.DataFrame) -> pd.DataFrame:
    """Return the true and predicted prevalence of each group by each classifier.

    Parameters
    ----------
    table : DataFrame
        Rows of `cape.metrics.fairness_table`, one for each classifier.

    Returns
    -------
    DataFrame
        With the columns classifier, group, kind and prevalence.

    Examples
    --------
    >>> from cape.metrics import fairness_table
    >>> groups = [0, 0, 1, 1]
    >>> row = fairness_table([0, 1, 1, 0], [0, 1, 1, 1], sensitive_features=groups)
    >>> frame_prevalences(pd.DataFrame({"one": row}).T)["prevalence"].tolist()
    [0.5, 0.5, 0.5, 1.0]
    """
    rows = []
    for name, row in table.iterrows():
        for group in table["predicted_prevalence"].columns:
            for kind, column in _KINDS.items():
                rows.append(
                    {
                        "classifier": name,
                        "group": f"group {group}",
                        "kind": kind,
                        "prevalence": float(row[column, group]),
                    }
                )
    return pd.DataFrame(rows)


def draw_prevalences(frame: pd.DataFrame) -> alt.LayerChart:
    """Draw predicted prevalences as dots and true ones as ticks; the gap between is PD.

    Parameters
    ----------
    frame : DataFrame
        From `frame_prevalences`.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> from cape.metrics import fairness_table
    >>> groups = [0, 0, 1, 1]
    >>> row = fairness_table([0, 1, 1, 0], [0, 1, 1, 1], sensitive_features=groups)
    >>> chart = draw_prevalences(frame_prevalences(pd.DataFrame({"one": row}).T))
    >>> len(chart.layer)
    3
    """
    # In the order of the table, not of the alphabet.
    order = list(dict.fromkeys(frame["classifier"]))
    y = alt.Y(
        "classifier:N",
        sort=order,
        title=None,
        axis=alt.Axis(labelLimit=220),
    )
    x = alt.X(
        "prevalence:Q", scale=alt.Scale(domain=[0, 1]), title="share of positives"
    )
    colour = alt.Color("group:N", title=None, scale=alt.Scale(range=_COLOURS))
    true = frame["kind"] == "true prevalence"
    gap = alt.Chart(_both_prevalences(frame)).mark_rule(strokeWidth=3, opacity=0.45)
    gap = gap.encode(
        y=y, color=colour, x="true prevalence:Q", x2="predicted prevalence:Q"
    )
    tick = alt.Chart(frame[true]).mark_tick(thickness=3, size=26)
    tick = tick.encode(
        x=x,
        y=y,
        color=colour,
    )
    dot = alt.Chart(frame[~true]).mark_circle(size=130, opacity=1)
    dot = dot.encode(
        x=x,
        y=y,
        color=colour,
    )
    title = alt.TitleParams(
        "Predicted (dot) and true (tick) share of positives",
        subtitle="Both groups had 0.5 in training. "
        "The line between dot and tick is the prevalence difference.",
        anchor="start",
    )
    layers = gap + tick + dot
    return layers.properties(
        width=520,
        height=60 * len(order),
        title=title,
    )


def _both_prevalences(frame: pd.DataFrame) -> pd.DataFrame:
    """Return both prevalences side by side, a row for each classifier and group."""
    wide = frame.pivot_table(
        index=["classifier", "group"], columns="kind", values="prevalence"
    )
    return wide.reset_index().rename_axis(columns=None)
