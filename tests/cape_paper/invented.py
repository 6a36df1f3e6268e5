"""Finished runs with invented numbers, all of them different."""

from cape_paper import published

PRINTED = published()["table_results"]["compas"]
PARITY = (
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equalized_odds_difference",
    "precision_difference",
)
RATES = ("fpr", "fnr", "accuracy", "predicted_prevalence", "pd")


def columns_of(n_groups):
    """List the columns that a row of the results table has."""
    columns = [f"{rate}_{z}" for rate in RATES for z in range(n_groups)]
    columns += ["fpr_diff", "fnr_diff", "accuracy_diff", "pe", *PARITY]
    if n_groups == 2:
        columns.append("pe_01")
    return columns


def invented_row(method, n_groups, printed=None, seeds=3):
    mean = {}
    sd = {}
    for place, column in enumerate(columns_of(n_groups)):
        mean[column] = 0.101 + place / 100
        sd[column] = 0.001 + place / 1000
    return {
        "method": method,
        "status": "ok",
        "seeds": seeds,
        "mean": mean,
        "sd": sd,
        "warnings": [],
        "printed": printed,
    }


def idle_row(method, reason, printed=None):
    return {"method": method, "status": reason, "seeds": 0, "printed": printed}


MADE = {
    "verdicts": [],
    "reasons": [],
    "versions": {"python": "3"},
    "cells": 5,
    "cell_seconds": 12.4,
    "cores": 2,
    "load": 0.5,
    "defaults": "3f2a1b0c9d8e",
    "date": "2026-01-01",
}
"""How a run was made, which all results say."""


def invented_comparison(groups=("one", "two"), **changes):
    """A comparison of a method with three seeds, one with one, and one that failed."""
    n_groups = len(groups)
    data = []
    for z in range(n_groups):
        counts = {"rows_train": 10 + z, "rows_test": 20 + z}
        data.append({**counts, "prevalence_train": 0.3, "prevalence_test": 0.4})
    spa = {"quantifier": "spa", "mean": [0.25] * n_groups, "sd": [0.125] * n_groups}
    # The paper has two groups: other numbers of groups have nothing printed.
    printed = PRINTED["CAPE-D"] if n_groups == 2 else None
    return {
        "experiment": "own",
        "title": "Own data",
        "groups": list(groups),
        "same_data": False,
        "data": data,
        "learner": {"kind": "logistic", "repr": "L()"},
        "favourable": "positive",
        "quantifiers": [{**spa, "printed": None, "seeds": 3}],
        "rows": [
            invented_row("CAPE-D", n_groups, printed),
            invented_row("Once", n_groups, seeds=1),
            idle_row("Gone", "not installed: x"),
        ],
        **MADE,
        **changes,
    }


def invented_summary(shift):
    """Means and spreads of one method of the synthetic experiment."""
    columns = ("accuracy_0", "accuracy_1", "pd_0", "pd_1", "pe_01")
    mean = {}
    sd = {}
    for place, column in enumerate(columns):
        mean[column] = shift + place / 100
        sd[column] = 0.0011 + place / 1000
    return {"mean": mean, "sd": sd}


def invented_synthetic(pairs=((0.1, 0.1), (0.5, 0.3)), **changes):
    """A finished synthetic experiment."""
    entries = []
    theorem = []
    for rho_0, rho_1 in pairs:
        methods = {
            "CAPE-D": invented_summary(0.2),
            "CAPE default": invented_summary(0.3),
            "Max_Acc": invented_summary(0.4),
        }
        entries.append({"rho_0": rho_0, "rho_1": rho_1, "methods": methods})
        names = ["pd", "delta_1", "delta_2", "theorem_3", "our_bound"]
        group = dict(zip(names, [0.01, 0.02, 0.03, 0.1, 0.07], strict=True))
        group["within_our_bound"] = 1.0
        other = {key: value / 2 for key, value in group.items()}
        theorem.append({"rho_0": rho_0, "rho_1": rho_1, "mean": [other, group]})
    return {
        "experiment": "synthetic",
        "title": "Synthetic data",
        "repetitions": 4,
        "n_train": 500,
        "n_test": 100,
        "learner": "L()",
        "pairs": entries,
        "theorem": theorem,
        "printed": published()["table_synthetic"],
        **MADE,
        **changes,
    }


def invented_shift(case, group, shift, failed=()):
    """An entry of a case and group; numbers of configurations differ by ``shift``."""
    entry = {
        "case": case,
        "group": group,
        "rows_train": 100,
        "rows_test": 50,
        "prevalence_train": 0.301,
        "prevalence_test": 0.402,
    }
    for place, name in enumerate(("CAPE", "paper")):
        start = shift + place / 5
        names = ["estimate", "low", "high", "error", "mean_score", "pd"]
        names += ["max_acc_pd", "max_acc_pe"]
        row = {key: 0.11 + start + i / 100 for i, key in enumerate(names)}
        rest = {"width": 0.01, "holds": 0.5, "pe": None, "verdict": "some_drift"}
        entry[name] = {**row, **rest}
        if name in failed:
            entry[name] = None
    return entry


def invented_logged(**changes):
    """A finished run on logged decisions."""
    row = {"learner": "both", "rate": "fnr", "error": 0.21, "spread": 0.01}
    return {
        **MADE,
        "experiment": "logged",
        "title": "The model as it is",
        "notes": ["Decisions are kept."],
        "seeds": 2,
        "verdicts": [{"claim": "all is well", "holds": False, "detail": "1 of 2"}],
        "verdict_title": "In short",
        "summary": [
            {**row, "method": "CAPE", "holds": 0.23, "width": 0.24},
            {**row, "method": "reference"},
        ],
        "cases": [{"case": "compas", "fnr CAPE": 0.31, "fnr reference": 0.32}],
        "skipped": [],
        "failed": [],
        **changes,
    }


def invented_shifts(**changes):
    """A finished run on real shifts, in which one configuration failed once."""
    numbers = {"error": 0.21, "error_90": 0.22, "holds": 0.23, "width": 0.24}
    methods = [
        {"method": "CAPE", "cells": 2, **numbers, "pd": 0.25, "pe": None, "worse": 1},
        {"method": "Max_Acc", "cells": 2, "pd": 0.26, "pe": 0.27},
    ]
    summary = []
    for cases in ("all cases", "without bank"):
        summary += [{"cases": cases, **row} for row in methods]
    return {
        "experiment": "shifts",
        "title": "Real shifts over time",
        "notes": ["They happened."],
        "seeds": 2,
        "configurations": ["CAPE", "paper"],
        "shifts": [
            invented_shift("compas", "one", 0.0),
            invented_shift("bank", "two", 0.3, failed=["paper"]),
        ],
        "summary": summary,
        "skipped": ["meps-12-13 was skipped: no address."],
        "failed": ["bank paper 0 failed: ValueError: x"],
        **MADE,
        **changes,
    }
