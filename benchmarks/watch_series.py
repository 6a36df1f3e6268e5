"""What a watch said of public series, year by year, judged by the truth.

A model is trained on half of the rows of the first three periods; the other half is the
reference of the watch. Every later period is a look without labels. An alarm is judged
by the labels of the rows since the change, and acknowledged.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
from past import read
from sklearn.ensemble import HistGradientBoostingClassifier
from study import Study, markdown_table

from cape import CapeClassifier, Scores, Watch
from cape_paper import stamp

FIRST = 3
QUESTIONS = ("moved>0.05", "broken", "parity>0.1")
MOST_ROWS = 3000
"""Rows of a period that are used."""

MOVED = ("share moved by more than 0.05", "by 0.02 to 0.05", "did not move so")
"""What the truth says of an alarm of "moved", in its direction."""

NAMES = (*MOVED, "broken", "parity")
LABELS = 100
SERIES = (
    "flights_month",
    "mpls_month",
    "gss_abort_any_race",
    "gss_abort_any_sex",
    "gss_abort_poor_race",
    "gss_abort_poor_sex",
    "gss_bachelor_race",
    "gss_college",
    "gss_degree",
    "gss_grass_race",
    "gss_happy_race_89",
    "gss_happy_sex",
    "gss_republican_sex",
    "gss_republican_sex_89",
    "gss_vocab",
    "gss_wage",
)


SECTION = """
## Real series

Models were trained on half of the rows of the first three periods of a series, and the
other half was the reference. The columns list the years (of flights and of stops, the
months) in which the defaults of the watch raised an alarm, and of which group. Labels
say what the alarms of `moved>0.05` were about: how far the true share of the rows since
had moved, in the direction of the alarm. Each alarm was acknowledged, so that later
ones compare with the rows since. Half of the lines had labels of 100 rows a look and
group.

{table}
"""


def logged(table, learner, cut):
    """Return the scores and decisions of the learner, as a service logs them."""
    score = learner.predict_proba(table.drop(columns=["label", "group", "period"]))
    return pd.DataFrame({"score": score[:, 1], "decided": score[:, 1] > cut})


def looks_of(path, labels):
    """Watch a series, with labels of so many rows of each group and look.

    Yields every alarm: its question, period, group, and what the truth says.
    """
    table = read(path).sample(frac=1, random_state=0)
    table = table.groupby("period").head(MOST_ROWS)
    periods = sorted(table["period"].unique())
    early = table[table["period"].isin(periods[:FIRST])]
    learner = HistGradientBoostingClassifier(max_depth=3, max_iter=40, random_state=0)
    columns = table.columns.difference(["label", "group", "period"], sort=False)
    taught, known = early[::2], early[1::2]
    learner.fit(taught[columns], taught["label"])
    cut = np.quantile(learner.predict_proba(taught[columns])[:, 1], 0.7)
    clf = CapeClassifier(Scores("score", "decided"))
    X = logged(known, learner, cut)
    clf.fit(X, known["label"].to_numpy(), sensitive_features=known["group"].to_numpy())
    watch = Watch(clf, QUESTIONS)
    before = known.groupby("group")["label"].mean().to_dict()
    for period in periods[FIRST:]:
        rows = table[table["period"] == period]
        groups = rows["group"].to_numpy()
        y = rows["label"].astype(float).to_numpy().copy()
        y[rows.groupby("group").cumcount().to_numpy() >= labels] = np.nan
        evidence = clf.evidence(
            logged(rows, learner, cut), y if labels else None, sensitive_features=groups
        )
        watch.look(evidence, str(period))
        for alarm in watch.alarms:
            name = alarm["question"].partition(">")[0]
            if name == "moved":
                (group,) = alarm["groups"]
                since = table["period"].between(int(alarm["since"]), period)
                now = float(table[since & (table["group"] == group)]["label"].mean())
                shown = alarm["now"][0] - alarm["before"][0]
                name = verdict_on((now - before[group]) * np.sign(shown))
                before[group] = now
            yield name, period, " and ".join(map(str, alarm["groups"]))
            watch.acknowledge(alarm["question"], alarm["groups"])


def verdict_on(move):
    """Say how far the true share moved in the direction of an alarm."""
    if move > 0.05:
        return MOVED[0]
    return MOVED[1] if move > 0.02 else MOVED[2]


def one_draw(_, setting):
    """Watch a series; yield its alarms."""
    path = Path(os.environ["CAPE_DATA"], "series", f"{setting['series']}.parquet")
    alarms = list(looks_of(path, setting["labels"]))
    yield ("",), (json.dumps(alarms, default=int),)


def listed(_, outcomes):
    """Return the alarms of a series."""
    return {"alarms": json.loads(outcomes[0][0])}


STUDY = Study(
    "watch_series",
    one_draw,
    [
        ({"series": series, "labels": labels}, 1)
        for series in SERIES
        for labels in (0, LABELS)
    ],
    ("cell",),
    (),
    listed,
)


def section(about, records):
    """Return the section on real series."""
    return SECTION.format(table=table_of(about, records)) if records else ""


def table_of(about, records):
    """Return the alarms of every series, by the years in which they came."""
    lines = []
    counts = {}
    for record in records:
        found = {name: [] for name in NAMES}
        for name, period, group in record["alarms"]:
            found[name].append(f"{period} {group}")
        labels = record["labels"]
        for name, alarms in found.items():
            counts[labels, name] = counts.get((labels, name), 0) + len(alarms)
        lines.append([record["series"], labels, *map(", ".join, found.values())])
    for labels in (0, LABELS):
        total = [f"**{counts.get((labels, name), 0)}**" for name in NAMES]
        lines.append(["**all**", labels, *total])
    heads = ["series", "labels a look and group", *NAMES]
    made = stamp(about["defaults"], about["date"])
    return f"{markdown_table(heads, lines)}\n\n*`python benchmarks/trust.py`. {made}*"
