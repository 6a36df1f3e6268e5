"""Estimates of NannyML's CBPE, made by the Python of an environment that has it.

    NML_DISABLE_USAGE_LOGGING=1 python _nannyml.py reference.parquet batch.parquet

It imports nothing of this package: NannyML needs other versions of its packages. The
tables have the columns group, score, decision and, in the reference table, label. The
estimates are printed as JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import pandas as pd

METRICS = {"accuracy": "accuracy", "recall": "fnr", "specificity": "fpr"}
"""NannyML's metrics, and the rates that they tell."""


def main(reference_path: str, batch_path: str) -> None:
    """Estimate the rates of each group, and print them."""
    warnings.simplefilter("ignore")
    import nannyml

    reference = pd.read_parquet(reference_path)
    batch = pd.read_parquet(batch_path)
    groups = {}
    for group, rows in reference.groupby("group"):
        estimator = nannyml.CBPE(
            problem_type="classification_binary",
            y_pred_proba="score",
            y_pred="decision",
            y_true="label",
            metrics=list(METRICS),
            chunk_number=1,
        )
        estimator.fit(rows.reset_index(drop=True))
        new = batch[batch["group"] == group].reset_index(drop=True)
        estimates = estimator.estimate(new).filter(period="analysis").to_df()
        groups[group] = rates_of(estimates)
    answer = {"version": nannyml.__version__, "groups": groups}
    sys.stdout.write(json.dumps(answer) + "\n")


def rates_of(estimates: Any) -> dict[str, tuple[float, float, float]]:
    """Read value and band of each rate from NannyML's table of one chunk."""
    rates = {}
    for metric, rate in METRICS.items():
        row = estimates[metric].iloc[0]
        bounds = ["lower_confidence_boundary", "upper_confidence_boundary"]
        value, low, high = map(float, row[["value", *bounds]])
        if rate == "accuracy":
            rates[rate] = (value, low, high)
        else:
            rates[rate] = (1 - value, 1 - high, 1 - low)
    return rates


if __name__ == "__main__":
    main(*sys.argv[1:])
