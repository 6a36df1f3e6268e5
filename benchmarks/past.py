"""Learn from public series what shares and scores do between periods.

    python benchmarks/past.py            # learn; write the table and its page
    python benchmarks/past.py --quick    # three transitions of each series, no files

For every series, CAPE is trained on one period and adapted to the next, whose labels
then tell how likely each scenario was. Expectation and maximization find the weights of
scenarios with which all of this is most likely. Every source has the same weight, and
what is shown of a source was learned without it. The series are in $CAPE_DATA/series.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from study import DOCS, markdown_table, replace_block

from cape import CapeClassifier
from cape.drift import Past, _past
from cape.drift._posterior import find_posterior

TABLE = Path(_past.__file__).with_name("public_past.json")
PAGE = DOCS / "trust.md"

TRAINING_ROWS = 2500
BATCH_ROWS = 3000
FEWEST = 40
STEPS = 100
LEAST_WEIGHT = 5e-4
"""A scenario that never came up is not impossible for others."""

NATURAL = {"all rows": BATCH_ROWS, "1,000 rows": 1000, "300 rows": 300}
PURE_SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)
CHANCES = (0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class Batch(NamedTuple):
    """A batch whose truth is known, ready for any past."""

    source: str
    kind: str
    parts: tuple[Any, ...]
    """What `find_posterior` takes."""
    shares: dict[Any, float]
    """True shares of the groups."""
    others: pd.DataFrame
    """Of each group: rows, last share, mean score, answer of the quantifier."""
    evidence: np.ndarray
    """How likely the batch and its shares make each scenario, up to a factor."""


def read(path):
    """Read a series; text is a category for the learner."""
    table = pd.read_parquet(path)
    for name in table.columns.difference(["period", "label", "group"]):
        if not pd.api.types.is_numeric_dtype(table[name]):
            text = table[name].astype("object").where(table[name].notna(), None)
            table[name] = text.astype("category")
    return table


def pure_batches(rest, random):
    """Draw rows of one group at a time, with a random share of positives."""
    for _, part in rest.groupby("group"):
        positives, negatives = part[part.label == 1], part[part.label == 0]
        if min(len(positives), len(negatives)) < FEWEST:
            continue
        share = random.uniform(0.05, 0.95)
        size = int(min(len(positives) / share, len(negatives) / (1 - share), 600))
        count = int(size * share)
        drawn = [
            positives.sample(count, random_state=1),
            negatives.sample(size - count, random_state=1),
        ]
        if size > FEWEST:
            yield pd.concat(drawn)


FLAT = np.full(_past.SHAPE, 1 / np.prod(_past.SHAPE))


def make_batch(clf, table, dropped, source, kind):
    """Adapt to a batch once, and keep what a posterior is made of."""
    X = table.drop(columns=dropped)
    adaptation = clf.adapt(X)
    evidence = clf.evidence(X).groups
    models = {group: clf.model_of(group) for group in evidence}
    found = adaptation.groups
    answers = {group: one.quantifier_estimate for group, one in found.items()}
    parts = (models, evidence, answers, adaptation.drifts)
    truth = table.groupby("group").label.agg(["size", "mean"])
    shares = truth["mean"].to_dict()
    others = pd.DataFrame(
        {
            "rows": truth["size"],
            "last": {group: model.prevalence for group, model in models.items()},
            "mean": {group: one.mean_score for group, one in found.items()},
            "quantifier": {group: answer.value for group, answer in answers.items()},
        }
    )
    told = find_posterior(*parts, _past.only(FLAT)).learn(shares).told
    return Batch(source, kind, parts, shares, others, np.array(told))


def batches_of(path, most):
    """Train on each period of a series, and yield the batches to adapt to."""
    table = read(path)
    source = path.stem.split("_")[0]
    random = np.random.default_rng(0)
    periods = sorted(table.period.unique())
    pairs = list(pairwise(periods))
    for before, after in pairs[-most:]:
        old, new = table[table.period == before], table[table.period == after]
        shuffled = random.permutation(len(old))
        size = min(TRAINING_ROWS, int(len(old) * 0.7))
        training, rest = old.iloc[shuffled[:size]], old.iloc[shuffled[size:]]
        new = new[new.group.isin(training.group.unique())]
        new = new.sample(frac=1, random_state=0)[:BATCH_ROWS]
        empty = [x for x in table if training[x].isna().all() or new[x].isna().all()]
        dropped = ["period", "label", *empty]
        learner = HistGradientBoostingClassifier(
            max_depth=3, max_iter=40, random_state=0
        )
        clf = CapeClassifier(learner, group_columns="group", random_state=0)
        try:
            clf.fit(training.drop(columns=dropped), training.label)
        except ValueError:
            # A group has one class alone.
            continue
        for kind, rows in NATURAL.items():
            if rows == BATCH_ROWS or len(new) > 1.5 * rows:
                yield make_batch(clf, new[:rows], dropped, source, kind)
        for batch in pure_batches(rest, random):
            yield make_batch(clf, batch, dropped, source, "pure")


def learn(batches, without=None):
    """Find the weights of scenarios that make all transitions the most likely."""
    chosen = [b for b in batches if b.kind == "all rows" and b.source != without]
    sources = pd.Series([batch.source for batch in chosen])
    of_batches = (1 / sources.map(sources.value_counts())).to_numpy()
    evidence = np.array([batch.evidence for batch in chosen])
    weights = FLAT
    for _ in range(STEPS):
        scenarios = evidence * weights
        scenarios /= scenarios.sum(axis=(1, 2), keepdims=True)
        weights = np.average(scenarios, axis=0, weights=of_batches)
    weights = np.maximum(weights, LEAST_WEIGHT)
    return weights / weights.sum()


def judge(batches, natural, pure):
    """Return a row for each group: how far off, and whether intervals held."""
    rows = []
    for batch in batches:
        known = pure * _past.PURE + (1 - pure) * natural[batch.source]
        posterior = find_posterior(*batch.parts, _past.only(known))
        for group, found in posterior.groups.items():
            value, low, high = found.estimate(0.95)
            truth = batch.shares[group]
            other = batch.others.loc[group]
            half_a_row = 0.5 / other["rows"]
            beyond = max(low - half_a_row - truth, truth - high - half_a_row, 0.0)
            rows.append(
                {
                    "source": batch.source,
                    "kind": batch.kind,
                    "off": abs(value - truth),
                    "last": abs(other["last"] - truth),
                    "mean": abs(other["mean"] - truth),
                    "quantifier": abs(other["quantifier"] - truth),
                    "hold": beyond <= 1e-9,
                    "width": high - low,
                    "score": high - low + 40 * beyond,
                    "chance": found.near(0.05),
                    "near": abs(value - truth) <= 0.05,
                }
            )
    return pd.DataFrame(rows)


FIGURES = ["off", "last", "mean", "quantifier", "hold", "width", "score"]
HEADS = ["off by", "last share", "mean score", "quantifier", "held", "width", "score"]


def means(rows):
    """Average over groups and batches, every source with the same weight."""
    return rows.groupby("source")[FIGURES].mean().mean()


def figures(values):
    """Write the means of `FIGURES`."""
    texts = [f"{value:.3f}" for value in values]
    texts[FIGURES.index("hold")] = f"{100 * values['hold']:.0f}%"
    return texts


def by_source(rows):
    """Make the table with a line for each source."""
    natural = rows[rows.kind == "all rows"]
    lines = []
    for source, part in natural.groupby("source"):
        lines.append([source, len(part), *figures(part[FIGURES].mean())])
    for kind, part in rows.groupby("kind", sort=False):
        lines.append([f"**{kind}**", len(part), *figures(means(part))])
    return markdown_table(["source", "groups", *HEADS], lines)


def by_pure(batches, natural):
    """Make the table of the frontier between natural and pure shifts."""
    lines = []
    for pure in PURE_SHARES:
        rows = judge(batches, natural, pure)
        line = [f"{pure:.2f}"]
        for kind in ("all rows", "pure"):
            found = means(rows[rows.kind == kind])
            line += [f"{found.off:.3f}", f"{100 * found.hold:.0f}%"]
            line += [f"{found.width:.2f}"]
        lines.append(line)
    heads = ["chance of a pure shift", "natural: off by", "held", "width"]
    return markdown_table([*heads, "pure: off by", "held", "width"], lines)


def by_chance(rows):
    """Make the table of chances that were said, and what came true."""
    said = pd.cut(rows.chance, CHANCES, include_lowest=True)
    lines = []
    for chances, part in rows.groupby(said, observed=True):
        line = [f"{max(chances.left, 0):.1f} to {chances.right:.1f}"]
        for is_pure in (False, True):
            cells = part[(part.kind == "pure") == is_pure]
            line += [
                len(cells),
                f"{cells.chance.mean():.2f}",
                f"{cells.near.mean():.2f}",
            ]
        lines.append(line)
    heads = ["chance", "natural", "said", "true", "pure", "said", "true"]
    return markdown_table(heads, lines)


def provenance(batches, paths):
    """Return what the weights were learned from."""
    counts: dict[str, int] = {}
    for batch in batches:
        if batch.kind == "all rows":
            counts[batch.source] = counts.get(batch.source, 0) + 1
    content = b"".join(path.read_bytes() for path in paths)
    return {
        "made_by": "benchmarks/past.py",
        "date": str(datetime.date.today()),
        "series": [path.stem for path in paths],
        "sha256_of_series": hashlib.sha256(content).hexdigest(),
        "transitions": counts,
    }


def main():
    """Learn the weights, and write what they are and how they did."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    paths = sorted((Path(os.environ["CAPE_DATA"]) / "series").glob("*.parquet"))
    batches = []
    for path in paths:
        batches += batches_of(path, 3 if options.quick else 100)
        print(path.stem, len(batches), flush=True)
    weights = learn(batches)
    sources = {batch.source for batch in batches}
    without = {source: learn(batches, source) for source in sources}
    rows = judge(batches, without, Past().pure)
    about = provenance(batches, paths)
    made = (
        f"*`make past`, {about['date']}: {sum(about['transitions'].values())} "
        f"transitions of {len(paths)} series from {len(sources)} sources.*"
    )
    tables = {
        "past by source": by_source(rows),
        "past frontier": by_pure(batches, without),
        "past chances": by_chance(rows),
    }
    for name, table in tables.items():
        print(table, end="\n\n")
        if not options.quick:
            replace_block(PAGE, name, f"{table}\n\n{made}")
    print(weights.round(3))
    if not options.quick:
        content = {**about, "weights": weights.round(4).tolist()}
        TABLE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
