"""What the paper says of its results, and whether ours say it too."""

from __future__ import annotations

from typing import Any

__all__ = ["synthetic_verdicts", "verdicts"]

_NEAR_RATES, _NEAR_ACCURACY = 0.15, 0.05
_FAIRER = ("pd_0", "pd_1", "pe_01", "fpr_diff", "fnr_diff", "accuracy_diff")


def verdicts(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Claims about one comparison, whether each holds, and the numbers behind it.

    Nearness to print is judged only where the data is the paper's.
    """
    rows = {
        row["method"]: row
        for row in results["rows"]
        if row["status"] == "ok" and row["printed"]
    }
    found: list[dict[str, Any]] = []
    if results["same_data"]:
        found += [
            verdict
            for name in ("CAPE-D", "CAPE-1")
            if name in rows
            for verdict in _near_print(name, rows[name])
        ]
    if "CAPE-D" in rows and "Max_Acc" in rows:
        found += _same_order(rows["CAPE-D"], rows["Max_Acc"])
        found.append(_equalised_odds(rows["CAPE-D"]))
    threshold = next(
        (
            r
            for r in results["rows"]
            if r["method"] == "CAPE threshold" and r["status"] == "ok"
        ),
        None,
    )
    if threshold and "CAPE-D" in rows and results["same_data"]:
        found.append(_beats_print(threshold, rows["CAPE-D"]["printed"]))
    return found


def _near_print(name: str, row: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for what, rates, limit in (
        ("FPR and FNR", ("fpr", "fnr"), _NEAR_RATES),
        ("accuracy", ("accuracy",), _NEAR_ACCURACY),
    ):
        gaps = {
            f"{rate}_{z}": abs(
                row["mean"][f"{rate}_{z}"] - row["printed"][f"{rate}_{z}"]
            )
            for rate in rates
            for z in (0, 1)
        }
        worst = max(gaps, key=lambda column: gaps[column])
        found.append(
            {
                "claim": f"{name}: {what} of each group within {limit} of print",
                "holds": gaps[worst] <= limit,
                "detail": f"farthest {worst}: {row['mean'][worst]:.3f}, print {row['printed'][worst]:.3f}",
            }
        )
    return found


def _same_order(cape: dict[str, Any], max_acc: dict[str, Any]) -> list[dict[str, Any]]:
    """Where print has CAPE-D fairer than Max_Acc (or less fair), so should we."""
    found = []
    for column in _FAIRER:
        printed = (cape["printed"][column], max_acc["printed"][column])
        ours = (cape["mean"][column], max_acc["mean"][column])
        if None in printed or None in ours:
            continue
        word = "below" if printed[0] < printed[1] else "above"
        found.append(
            {
                "claim": f"CAPE-D {word} Max_Acc on {column}, as in print",
                "holds": (ours[0] < ours[1]) == (printed[0] < printed[1]),
                "detail": f"{ours[0]:.3f} and {ours[1]:.3f}, print {printed[0]:.3f} and {printed[1]:.3f}",
            }
        )
    return found


def _equalised_odds(row: dict[str, Any]) -> dict[str, Any]:
    """The paper reads its FPR-diff and FNR-diff of CAPE-D on COMPAS as equalised odds."""
    ours, printed = (
        [part[c] for c in ("fpr_diff", "fnr_diff")]
        for part in (row["mean"], row["printed"])
    )
    return {
        "claim": "CAPE-D is near equalised odds: both differences at most 0.1",
        "holds": max(ours) <= 0.1,
        "detail": f"FPR-diff {ours[0]:.3f}, FNR-diff {ours[1]:.3f}, print {printed[0]:.3f} and {printed[1]:.3f}",
    }


def _beats_print(row: dict[str, Any], printed: dict[str, Any]) -> dict[str, Any]:
    lower, higher = ("pd_0", "pd_1", "pe_01"), ("accuracy_0", "accuracy_1")
    mean = row["mean"]
    holds = all(mean[c] is not None and mean[c] < printed[c] for c in lower) and all(
        mean[c] > printed[c] for c in higher
    )
    numbers = ", ".join(
        f"{c} {mean[c]:.3f} ({printed[c]:.3f})"
        for c in (*lower, *higher)
        if mean[c] is not None
    )
    return {
        "claim": f"CAPE threshold (mean of {row['seeds']} seeds) beats the printed CAPE-D on PD, PE and accuracy",
        "holds": holds,
        "detail": f"ours (print): {numbers}",
    }


def synthetic_verdicts(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the paper says of the synthetic data: CAPE is fairer, at no cost in accuracy, and spreads are small."""
    pairs = {
        (pair["rho_0"], pair["rho_1"]): pair["methods"] for pair in results["pairs"]
    }
    found = [
        _table_1(pairs[printed["rho_0"], printed["rho_1"]], printed)
        for printed in results["printed"]
        if (printed["rho_0"], printed["rho_1"]) in pairs
    ]
    found += [
        _over_pairs(list(pairs.values()), name) for name in ("CAPE-D", "CAPE threshold")
    ]
    figure = [methods for (rho_0, _), methods in pairs.items() if rho_0 == 0.5]
    return found + ([_spread(figure)] if figure else [])


def _table_1(methods: dict[str, Any], printed: dict[str, Any]) -> dict[str, Any]:
    """In print CAPE is better than Max_Acc on every count in all three settings."""
    cape, max_acc = methods["CAPE-D"]["mean"], methods["Max_Acc"]["mean"]
    defined = [
        c for c in ("pd_0", "pd_1", "pe_01") if None not in (cape[c], max_acc[c])
    ]
    worse = [c for c in defined if not cape[c] < max_acc[c]]
    worse += [c for c in ("accuracy_0", "accuracy_1") if not cape[c] > max_acc[c]]
    numbers = "; ".join(f"{c} {cape[c]:.3f} against {max_acc[c]:.3f}" for c in worse)
    return {
        "claim": f"Table 1, {printed['rho_0']} and {printed['rho_1']}: CAPE-D better than Max_Acc on all five",
        "holds": not worse,
        "detail": f"worse on {numbers}" if worse else "better on all",
    }


def _over_pairs(pairs: list[dict[str, Any]], name: str) -> dict[str, Any]:
    def mean(method: str, *columns: str) -> float:
        values = [pair[method]["mean"][column] for pair in pairs for column in columns]
        known = [value for value in values if value is not None]
        return sum(known) / len(known)

    columns = {
        "PD": ("pd_0", "pd_1"),
        "PE": ("pe_01",),
        "accuracy": ("accuracy_0", "accuracy_1"),
    }
    ours, theirs = (
        {what: mean(m, *c) for what, c in columns.items()} for m in (name, "Max_Acc")
    )
    return {
        "claim": f"{name} better than Max_Acc in the mean over all {len(pairs)} pairs, on PD, PE and accuracy",
        "holds": ours["PD"] < theirs["PD"]
        and ours["PE"] < theirs["PE"]
        and ours["accuracy"] > theirs["accuracy"],
        "detail": ", ".join(
            f"{what} {ours[what]:.4f} against {theirs[what]:.4f}" for what in columns
        ),
    }


def _spread(figure: list[dict[str, Any]]) -> dict[str, Any]:
    """The paper: the standard deviation of the figure's points is of the order 10^-3."""
    columns = ("accuracy_1", "pd_1", "pe_01")
    greatest = {
        c: max(
            found["sd"][c] or 0.0 for methods in figure for found in methods.values()
        )
        for c in columns
    }
    return {
        "claim": "standard deviations of the figure's points are of the order 10^-3 (below 0.01)",
        "holds": max(greatest.values()) < 0.01,
        "detail": ", ".join(f"greatest of {c}: {sd:.4f}" for c, sd in greatest.items()),
    }
