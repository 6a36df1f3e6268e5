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


def invented_logged(**changes):
    """A finished run on logged decisions."""
    row = {"learner": "both", "rate": "fnr", "error": 0.21, "spread": 0.01}
    return {
        **MADE,
        "experiment": "logged",
        "title": "The model as it is",
        "notes": ["Decisions are kept."],
        "seeds": 2,
        "summary": [
            {**row, "method": "CAPE", "holds": 0.23, "width": 0.24},
            {**row, "method": "reference"},
        ],
        "cases": [{"case": "compas", "fnr CAPE": 0.31, "fnr reference": 0.32}],
        "skipped": [],
        "failed": [],
        **changes,
    }


def invented_records(case, place):
    """Records of a case with one group; errors grow with ``place`` and the method."""
    names = ["CAPE", "paper", "one-step", "mean score", "last year's share"]
    names += ["KDEyML", "EMQ", "PACC"]
    records = []
    for size in ("all", "30"):
        for step, method in enumerate(names):
            key = {"case": case, "group": "one", "size": size, "verdict": "some_drift"}
            error = 0.1 + place / 10 + step / 100
            row = {**key, "method": method, "estimate": 0.4, "error": error, "times": 2}
            if method in ("CAPE", "paper", "one-step"):
                row |= {"low": 0.3, "high": 0.5, "width": 0.2, "holds": 0.5}
            records.append(row)
    for method in ("CAPE, labels", "labels alone"):
        error = 0.05 if method == "CAPE, labels" else 0.06
        row = {**key, "size": "all", "method": method, "estimate": 0.4, "error": error}
        records.append({**row, "holds": 1.0, "width": 0.1, "times": 2})
    return records


def invented_shifts(**changes):
    """A finished run on real shifts, of which one case failed."""
    counts = {"group": "one", "rows_train": 100, "rows_test": 50}
    shares = {"prevalence_train": 0.301, "prevalence_test": 0.402}
    decisions = [{"case": "compas", "group": "one", "method": "CAPE", "pd": 0.25}]
    return {
        "experiment": "shifts",
        "title": "Real shifts over time",
        "seeds": 2,
        "draws": 1,
        "shifts": [
            {"case": case, **counts, **shares} for case in ("compas", "gss", "bank")
        ],
        "records": [*invented_records("compas", 0), *invented_records("gss", 1)],
        "decisions": decisions,
        "skipped": ["meps-12-13 was skipped: no address."],
        "failed": ["bank 0 failed: ValueError: x"],
        **MADE,
        **changes,
    }


def invented_quantifiers(**changes):
    """A finished comparison of quantifiers."""
    records = []
    for kind in ("pure", "real"):
        for size in ("20", "100", "1000"):
            for step, method in enumerate(("cape onestep", "cape spa", "quapy EMQ")):
                key = {"case": "compas", "kind": kind, "size": size, "method": method}
                records.append({**key, "error": 0.2 - step / 100, "times": 4})
    return {
        "experiment": "quantifiers",
        "title": "Quantifiers compared",
        "seeds": 1,
        "draws": 2,
        "records": records,
        "skipped": [],
        "failed": [],
        **MADE,
        **changes,
    }


def invented_small_groups(**changes):
    """A finished run on small groups."""
    records = []
    for seed in (0, 1):
        for kind in ("real", "alike", "apart"):
            for step, method in enumerate(("borrow", "separate", "pooled")):
                key = {"seed": seed, "rows": 20, "kind": kind, "size": "30"}
                row = {"method": method, "error": 0.1 + step / 10 + seed / 50}
                records.append({**key, **row, "holds": 1.0, "width": 0.3, "times": 40})
    return {
        "experiment": "small-groups",
        "title": "Small groups",
        "groups": 40,
        "seeds": 2,
        "draws": 1,
        "records": records,
        "failed": [],
        **MADE,
        **changes,
    }
