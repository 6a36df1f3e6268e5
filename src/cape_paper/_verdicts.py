"""Claims that the paper makes about its results, and whether ours bear them out.

A verdict is a claim, whether it holds in our run, and the numbers behind it. A claim
that does not hold is shown as such: verdicts are there to find differences, not to hide
them.

On real data the claims are:

- CAPE-D and CAPE-1 have about the printed error rates and accuracies;
- CAPE-D is fairer than Max_Acc where print says so, and less fair where print says so;
- CAPE-D is near equalised odds;
- CAPE with our defaults (not in the paper) is better than the printed CAPE-D.

On synthetic data: CAPE is better than Max_Acc at the three settings of Table 1 and in
the mean over all pairs of prevalences, and the spread over repetitions is small.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cape_paper._rows import Results

__all__ = ["synthetic_verdicts", "verdicts"]

Verdict = dict[str, Any]
"""``claim``, ``holds`` and ``detail``, the numbers behind it."""

Means = dict[str, Any]
"""Values of one method by the names of columns; None where a value is undefined."""

_LOWER_IS_BETTER = ("pd_0", "pd_1", "pe_01")
_HIGHER_IS_BETTER = ("accuracy_0", "accuracy_1")
_COMPARED_COLUMNS = (*_LOWER_IS_BETTER, "fpr_diff", "fnr_diff", "accuracy_diff")

# How near "near print" is. Error rates vary more: our features are not the paper's.
_NEAR = (
    ("FPR and FNR", ("fpr_0", "fpr_1", "fnr_0", "fnr_1"), 0.15),
    ("accuracy", ("accuracy_0", "accuracy_1"), 0.05),
)


def verdicts(results: Results) -> list[Verdict]:
    """Judge one comparison by the claims of the paper.

    Parameters
    ----------
    results : dict
        From `compare_methods`.

    Returns
    -------
    list of dict
        ``claim``, ``holds`` and ``detail``. Nearness to print is judged only if the
        data is the paper's; methods that failed are not judged. Nothing is judged if
        the features were chosen by looking at print.
    """
    # Features that were chosen for nearness to print cannot confirm it.
    if results.get("chosen_by_print"):
        return []
    finished = {}
    printed = {}
    for row in results["rows"]:
        if row["status"] == "ok":
            finished[row["method"]] = row
            if row["printed"]:
                printed[row["method"]] = row
    judged: list[Verdict] = []
    if results["same_data"]:
        for name in ("CAPE-D", "CAPE-1"):
            if name in printed:
                judged += _near_print(name, printed[name])
    if "CAPE-D" in printed and "Max_Acc" in printed:
        judged += _same_order(printed["CAPE-D"], printed["Max_Acc"])
        judged.append(_equalised_odds(printed["CAPE-D"]))
    # The default has no printed row of its own.
    default = finished.get("CAPE default")
    if default and "CAPE-D" in printed and results["same_data"]:
        judged.append(_beats_print(default, printed["CAPE-D"]["printed"]))
    return judged


def _near_print(name: str, row: Results) -> list[Verdict]:
    """Judge how far the error rates and the accuracy of a method are from print.

    The column with the greatest distance decides.
    """
    mean = row["mean"]
    printed = row["printed"]
    judged = []
    for what, columns, limit in _NEAR:
        gaps = {}
        for column in columns:
            gaps[column] = abs(mean[column] - printed[column])
        # One column too far is enough for a no.
        worst = max(gaps, key=gaps.__getitem__)
        judged.append(
            {
                "claim": f"{name}: {what} of each group within {limit} of print",
                "holds": gaps[worst] <= limit,
                "detail": f"farthest {worst}: {mean[worst]:.3f}, "
                f"print {printed[worst]:.3f}",
            }
        )
    return judged


def _same_order(cape: Results, max_acc: Results) -> list[Verdict]:
    """Judge whether CAPE-D is on the same side of Max_Acc as in print.

    There is one verdict for each column. A column that is undefined, here or in print,
    has none.
    """
    judged = []
    for column in _COMPARED_COLUMNS:
        ours = (cape["mean"][column], max_acc["mean"][column])
        printed = (cape["printed"][column], max_acc["printed"][column])
        if None in printed or None in ours:
            continue
        # The claim is the printed order, in whichever direction it goes.
        below_in_print = printed[0] < printed[1]
        word = "below" if below_in_print else "above"
        judged.append(
            {
                "claim": f"CAPE-D {word} Max_Acc on {column}, as in print",
                "holds": (ours[0] < ours[1]) == below_in_print,
                "detail": f"{ours[0]:.3f} and {ours[1]:.3f}, "
                f"print {printed[0]:.3f} and {printed[1]:.3f}",
            }
        )
    return judged


def _equalised_odds(row: Results) -> Verdict:
    """Judge whether both error rates of CAPE-D are about equal between the groups.

    The paper reads its FPR-diff and FNR-diff of CAPE-D on COMPAS as equalised odds.
    """
    mean = row["mean"]
    printed = row["printed"]
    return {
        "claim": "CAPE-D is near equalised odds: both differences at most 0.1",
        "holds": max(mean["fpr_diff"], mean["fnr_diff"]) <= 0.1,
        "detail": f"FPR-diff {mean['fpr_diff']:.3f}, FNR-diff {mean['fnr_diff']:.3f}, "
        f"print {printed['fpr_diff']:.3f} and {printed['fnr_diff']:.3f}",
    }


def _beats_print(row: Results, printed: Means) -> Verdict:
    """Judge whether the default is better than the printed CAPE-D everywhere.

    It has no row in the paper, so it is measured by the paper's best method.
    """
    mean = row["mean"]
    numbers = []
    for column in (*_LOWER_IS_BETTER, *_HIGHER_IS_BETTER):
        if mean[column] is not None:
            numbers.append(f"{column} {mean[column]:.3f} ({printed[column]:.3f})")
    # An undefined PE is not better than any.
    defined = None not in [mean[column] for column in _LOWER_IS_BETTER]
    return {
        "claim": f"CAPE default (mean of {row['seeds']} seeds) beats the printed "
        "CAPE-D on PD, PE and accuracy",
        "holds": defined and not _worse_columns(mean, printed),
        "detail": f"ours (print): {', '.join(numbers)}",
    }


def _worse_columns(ours: Means, other: Means) -> list[str]:
    """List the columns in which we are not better; undefined values do not count.

    Equal values are not better. PD and PE are better if lower, accuracy if higher.
    """
    worse = []
    for column in _LOWER_IS_BETTER:
        if None in (ours[column], other[column]):
            continue
        if ours[column] >= other[column]:
            worse.append(column)
    for column in _HIGHER_IS_BETTER:
        if ours[column] <= other[column]:
            worse.append(column)
    return worse


def synthetic_verdicts(results: Results) -> list[Verdict]:
    """Judge the synthetic experiment by the claims of the paper.

    CAPE is fairer than Max_Acc, at no cost in accuracy, and the spread over
    repetitions is small.

    Parameters
    ----------
    results : dict
        From `run_synthetic`.

    Returns
    -------
    list of dict
        ``claim``, ``holds`` and ``detail``.
    """
    # By both prevalences, since printed settings are looked up.
    methods_of_pair = {}
    for pair in results["pairs"]:
        methods_of_pair[pair["rho_0"], pair["rho_1"]] = pair["methods"]
    judged = []
    for printed in results["printed"]:
        pair = (printed["rho_0"], printed["rho_1"])
        if pair in methods_of_pair:
            judged.append(_table_1(methods_of_pair[pair], pair))
    for name in ("CAPE-D", "CAPE default"):
        judged.append(_over_pairs(list(methods_of_pair.values()), name))
    # The paper's figure moves group 1 while group 0 stays at 0.5.
    figure = []
    for (rho_0, _), methods in methods_of_pair.items():
        if rho_0 == 0.5:
            figure.append(methods)
    if figure:
        judged.append(_spread(figure))
    return judged


def _table_1(methods: Results, pair: tuple[float, float]) -> Verdict:
    """Judge a setting of Table 1; print has CAPE better than Max_Acc in all columns."""
    cape = methods["CAPE-D"]["mean"]
    max_acc = methods["Max_Acc"]["mean"]
    worse = _worse_columns(cape, max_acc)
    detail = "better on all"
    if worse:
        numbers = []
        for column in worse:
            ours = f"{column} {cape[column]:.3f}"
            numbers.append(f"{ours} against {max_acc[column]:.3f}")
        detail = f"worse on {'; '.join(numbers)}"
    return {
        "claim": f"Table 1, {pair[0]} and {pair[1]}: CAPE-D better than Max_Acc on all "
        "five",
        "holds": not worse,
        "detail": detail,
    }


def _over_pairs(pairs: list[Results], name: str) -> Verdict:
    """Judge a method against Max_Acc by the means over all pairs of prevalences.

    At pairs near training Max_Acc is as good; the means say what CAPE gains in all.
    """
    ours = _mean_over_pairs(pairs, name)
    max_acc = _mean_over_pairs(pairs, "Max_Acc")
    lower_pd = ours["PD"] < max_acc["PD"]
    lower_pe = ours["PE"] < max_acc["PE"]
    higher_accuracy = ours["accuracy"] > max_acc["accuracy"]
    numbers = []
    for what, value in ours.items():
        numbers.append(f"{what} {value:.4f} against {max_acc[what]:.4f}")
    return {
        "claim": f"{name} better than Max_Acc in the mean over all {len(pairs)} pairs, "
        "on PD, PE and accuracy",
        "holds": lower_pd and lower_pe and higher_accuracy,
        "detail": ", ".join(numbers),
    }


def _mean_over_pairs(pairs: list[Results], method: str) -> dict[str, float]:
    """Average PD, PE and accuracy of a method over pairs and groups.

    PE is the paper's, of groups 0 and 1 in this order.
    """
    columns = {
        "PD": ("pd_0", "pd_1"),
        "PE": ("pe_01",),
        "accuracy": ("accuracy_0", "accuracy_1"),
    }
    means = {}
    for what, names in columns.items():
        values = []
        for pair in pairs:
            mean = pair[method]["mean"]
            values += [mean[name] for name in names]
        means[what] = _mean_of_known(values)
    return means


def _mean_of_known(values: Iterable[float | None]) -> float:
    """Average the values that are defined.

    PE is undefined where a method calls no row of a group positive.
    """
    known = [value for value in values if value is not None]
    return sum(known) / len(known)


def _spread(figure: list[Results]) -> Verdict:
    """Judge the standard deviations of the figure, of order 10^-3 in the paper."""
    greatest = {}
    for column in ("accuracy_1", "pd_1", "pe_01"):
        greatest[column] = 0.0
        for methods in figure:
            for summary in methods.values():
                # An undefined PE has an undefined spread: it counts as none.
                sd = summary["sd"][column] or 0.0
                greatest[column] = max(greatest[column], sd)
    numbers = []
    for column, sd in greatest.items():
        numbers.append(f"greatest of {column}: {sd:.4f}")
    return {
        "claim": "standard deviations of the figure's points are of the order 10^-3 "
        "(below 0.01)",
        # "Of the order 10^-3" is taken as below 10^-2.
        "holds": max(greatest.values()) < 0.01,
        "detail": ", ".join(numbers),
    }
