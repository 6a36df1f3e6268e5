"""Claims of the paper that ours bear out or do not, and reasons for differences.

Both are rows of ``claims.toml``. A verdict is a claim, whether it holds in our run, and
the numbers behind it; a claim that does not hold is shown as such.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from cape_paper._cells import Results
from cape_paper._methods import METHODS
from cape_paper._records import over_cases

_TABLE = tomllib.loads(files("cape_paper").joinpath("claims.toml").read_text("utf-8"))

_HIGHER_IS_BETTER = ("accuracy_0", "accuracy_1")
_LAST_YEAR = "last year's share"
_FIVE = ("pd_0", "pd_1", "pe_01", *_HIGHER_IS_BETTER)

Verdict = dict[str, Any]
"""``claim``, ``holds`` and ``detail``, the numbers behind it."""


def verdicts(results: Results) -> list[Verdict]:
    """Judge a run by the claims that are made of it.

    Parameters
    ----------
    results : dict
        From any run.

    Returns
    -------
    list of dict
        ``claim``, ``holds`` and ``detail``. Of a comparison, nearness to print is
        judged only if the data is the paper's; methods that failed are not judged.
        Nothing is judged if the features were chosen by looking at print, which cannot
        confirm it.
    """
    judges = {
        "synthetic": _synthetic_verdicts,
        "shifts": _shift_verdicts,
        "logged": _logged_verdicts,
    }
    if results["experiment"] in judges:
        return judges[results["experiment"]](results)
    rows = {}
    for row in results.get("rows", []):
        if row["status"] == "ok":
            rows[row["method"]] = row
    judged: list[Verdict] = []
    if results.get("chosen_by_print"):
        return judged
    for claim in _TABLE["claim"]:
        first, *others = claim["needs"]
        missing = [name for name in claim["needs"] if name not in rows]
        if missing or not rows[first]["printed"]:
            continue
        if claim.get("same_data") and not results["same_data"]:
            continue
        judge = _JUDGES[claim["kind"]]
        judged += judge(claim, rows[first], *[rows[name] for name in others])
    return judged


def _verdict(claim: str, holds: Any, detail: str) -> Verdict:
    return {"claim": claim, "holds": bool(holds), "detail": detail}


def _near(claim: Results, row: Results) -> Iterator[Verdict]:
    """Judge the distance to print; one column too far is enough for a no."""
    mean = row["mean"]
    printed = row["printed"]
    gaps = {}
    for column in claim["columns"]:
        gaps[column] = abs(mean[column] - printed[column])
    worst = max(gaps, key=gaps.__getitem__)
    detail = f"farthest {worst}: {mean[worst]:.3f}, print {printed[worst]:.3f}"
    yield _verdict(claim["text"], gaps[worst] <= claim["limit"], detail)


def _order(claim: Results, row: Results, other: Results) -> Iterator[Verdict]:
    """Judge whether a method is on the same side of another as in print.

    A column that is undefined, here or in print, has no verdict.
    """
    for column in claim["columns"]:
        ours = (row["mean"][column], other["mean"][column])
        printed = (row["printed"][column], other["printed"][column])
        if None in printed or None in ours:
            continue
        below = printed[0] < printed[1]
        side = "below" if below else "above"
        text = claim["text"].format(side=side, column=column)
        detail = "{:.3f} and {:.3f}, print {:.3f} and {:.3f}".format(*ours, *printed)
        yield _verdict(text, (ours[0] < ours[1]) == below, detail)


def _at_most(claim: Results, row: Results, _: Results) -> Iterator[Verdict]:
    """Judge whether all columns are within a limit."""
    values = [row["mean"][column] for column in claim["columns"]]
    printed = [row["printed"][column] for column in claim["columns"]]
    detail = "FPR-diff {:.3f}, FNR-diff {:.3f}, print {:.3f} and {:.3f}"
    holds = max(values) <= claim["limit"]
    yield _verdict(claim["text"], holds, detail.format(*values, *printed))


def _beats_print(claim: Results, row: Results, ours: Results) -> Iterator[Verdict]:
    """Judge whether a method is better than the printed numbers of another."""
    mean = ours["mean"]
    printed = row["printed"]
    holds = not _worse_columns(mean, printed)
    numbers = []
    for column in claim["columns"]:
        if mean[column] is None:
            # An undefined PE is not better than any.
            holds = False
        else:
            numbers.append(f"{column} {mean[column]:.3f} ({printed[column]:.3f})")
    text = claim["text"].format(seeds=ours["seeds"])
    yield _verdict(text, holds, f"ours (print): {', '.join(numbers)}")


_JUDGES: dict[str, Callable[..., Iterator[Verdict]]] = {
    "near": _near,
    "order": _order,
    "at_most": _at_most,
    "beats_print": _beats_print,
}


def _worse_columns(ours: Results, other: Results) -> list[str]:
    """List the columns in which we are not better; undefined values do not count.

    Equal values are not better. PD and PE are better if lower, accuracy if higher.
    """
    worse = []
    for column in _FIVE:
        if None in (ours[column], other[column]):
            continue
        gain = other[column] - ours[column]
        if column in _HIGHER_IS_BETTER:
            gain = -gain
        if gain <= 0:
            worse.append(column)
    return worse


def _synthetic_verdicts(results: Results) -> list[Verdict]:
    """Judge the synthetic experiment by the claims of the paper.

    CAPE is better than Max_Acc at the three settings of Table 1 and in the mean over
    all pairs of prevalences, and the spread over repetitions is small.
    """
    methods_of = {}
    for pair in results["pairs"]:
        methods_of[pair["rho_0"], pair["rho_1"]] = pair["methods"]
    judged = []
    for printed in results["printed"]:
        pair = (printed["rho_0"], printed["rho_1"])
        if pair in methods_of:
            judged.append(_table_1(methods_of[pair], pair))
    for name in ("CAPE-D", "CAPE default"):
        judged.append(_over_pairs(list(methods_of.values()), name))
    # The paper's figure moves group 1 while group 0 stays at 0.5.
    figure = [methods for (rho_0, _), methods in methods_of.items() if rho_0 == 0.5]
    # One repetition has no spread.
    if figure and results["repetitions"] > 1:
        judged.append(_spread(figure))
    return judged


def _table_1(methods: Results, pair: tuple[float, float]) -> Verdict:
    """Judge a setting of Table 1; print has CAPE better than Max_Acc in all columns."""
    cape = methods["CAPE-D"]["mean"]
    max_acc = methods["Max_Acc"]["mean"]
    numbers = []
    for column in _worse_columns(cape, max_acc):
        numbers.append(f"{column} {cape[column]:.3f} against {max_acc[column]:.3f}")
    claim = f"Table 1, {pair[0]} and {pair[1]}: CAPE-D better than Max_Acc on all five"
    detail = f"worse on {'; '.join(numbers)}" if numbers else "better on all"
    return _verdict(claim, not numbers, detail)


def _over_pairs(pairs: Sequence[Results], name: str) -> Verdict:
    """Judge a method against Max_Acc by the means over all pairs of prevalences.

    At pairs near training Max_Acc is as good; the means say what CAPE gains in all.
    PE is undefined where a method calls no row of a group positive.
    """
    columns = {
        "PD": ("pd_0", "pd_1"),
        "PE": ("pe_01",),
        "accuracy": _HIGHER_IS_BETTER,
    }
    holds = True
    numbers = []
    for what, names in columns.items():
        means = {}
        for method in (name, "Max_Acc"):
            values = [pair[method]["mean"][key] for pair in pairs for key in names]
            known = [value for value in values if value is not None]
            means[method] = sum(known) / len(known)
        ours, max_acc = means.values()
        better = ours > max_acc if what == "accuracy" else ours < max_acc
        holds = holds and better
        numbers.append(f"{what} {ours:.4f} against {max_acc:.4f}")
    claim = f"{name} better than Max_Acc in the mean over all {len(pairs)} pairs, on "
    return _verdict(f"{claim}PD, PE and accuracy", holds, ", ".join(numbers))


def _spread(figure: list[Results]) -> Verdict:
    """Judge the standard deviations of the figure, of order 10^-3 in the paper."""
    numbers = []
    holds = True
    for column in ("accuracy_1", "pd_1", "pe_01"):
        greatest = 0.0
        for methods in figure:
            for summary in methods.values():
                # An undefined PE has an undefined spread: it counts as none.
                greatest = max(greatest, summary["sd"][column] or 0.0)
        # "Of the order 10^-3" is taken as below 10^-2.
        holds = holds and greatest < 0.01
        numbers.append(f"greatest of {column}: {greatest:.4f}")
    claim = "standard deviations of the figure's points are of the order 10^-3 "
    return _verdict(f"{claim}(below 0.01)", holds, ", ".join(numbers))


def _shift_verdicts(results: Results) -> list[Verdict]:
    """Judge CAPE on real shifts by its errors beside those of other methods."""
    if not results["records"]:
        return []
    errors = over_cases(results["records"], ["size", "method"], "error")["mean"]
    sizes = sorted(set(errors.index.get_level_values("size")), key=_as_number)
    judged = []
    for other, name in _LONG_NAMES.items():
        numbers = []
        holds = True
        for size in sizes:
            ours = errors[size, "CAPE"]
            theirs = errors[size, other]
            holds = holds and ours < theirs
            numbers.append(f"{size} rows: {ours:.3f} against {theirs:.3f}")
        claim = f"CAPE errs less than {name} at every size"
        judged.append(_verdict(claim, holds, "; ".join(numbers)))
    held = over_cases(results["records"], ["size", "method"], "holds")["mean"]
    shares = [held[size, "CAPE"] for size in sizes]
    numbers = [f"{size} rows: {held[size, 'CAPE']:.1%}" for size in sizes]
    claim = "95 % intervals of CAPE hold in 92 % or more, at every size"
    judged.append(_verdict(claim, min(shares) >= 0.92, "; ".join(numbers)))
    ours = errors["all", "CAPE, labels"]
    alone = errors["all", "labels alone"]
    claim = "with 100 labels of each group, CAPE errs less than these labels alone"
    without = f"without labels {errors['all', 'CAPE']:.3f}"
    detail = f"{ours:.3f} against {alone:.3f}; {without}"
    return [*judged, _verdict(claim, ours < alone, detail)]


def _as_number(size: str) -> float:
    """Order sizes of batches; all rows come last."""
    return float("inf") if size == "all" else int(size)


_LONG_NAMES = {
    _LAST_YEAR: _LAST_YEAR,
    "mean score": "the mean score",
    "paper": "the paper's configuration",
    "KDEyML": "QuaPy's KDEy",
    "EMQ": "QuaPy's EMQ",
    "PACC": "QuaPy's PACC",
}


def _logged_verdicts(results: Results) -> list[Verdict]:
    """Say whether errors are at most NannyML's, and whether intervals hold."""
    found = {}
    for row in results["summary"]:
        if row["learner"] == "both":
            found[row["rate"], row["method"]] = row
    judged = []
    for rate, name in _RATES.items():
        ours = found.get((rate, "CAPE"))
        theirs = found.get((rate, "NannyML"))
        if ours is None:
            continue
        detail = f"{ours['holds']:.1%}"
        if theirs is not None:
            detail += f"; NannyML's bands {theirs['holds']:.1%}"
            claim = f"the mean error of {name} is not above NannyML's"
            errors = f"{ours['error']:.4f} against {theirs['error']:.4f}"
            holds = ours["error"] <= theirs["error"]
            judged.append(_verdict(claim, holds, errors))
        claim = f"95 % intervals of {name} hold 92 to 99 %"
        judged.append(_verdict(claim, 0.92 <= ours["holds"] <= 0.99, detail))
    return judged


_RATES = {
    "all three": "all three rates",
    "accuracy": "accuracy",
    "fnr": "the FNR",
    "fpr": "the FPR",
}


def headline(results: Results) -> str:
    """Say in one sentence what a run found.

    Parameters
    ----------
    results : dict
        From any run.

    Returns
    -------
    str
        The first sentence of its page; empty if nothing finished.
    """
    makers = {
        "shifts": _shifts_headline,
        "quantifiers": _quantifiers_headline,
        "small-groups": _small_groups_headline,
        "logged": _logged_headline,
    }
    maker = makers.get(results["experiment"], _print_headline)
    # A run of which every cell failed has no records.
    if results.get("records") == []:
        return ""
    return maker(results)


def _print_headline(results: Results) -> str:
    """Count the claims of the paper that hold, and name PD of the main methods."""
    judged = verdicts(results)
    if not judged:
        return ""
    holds = sum(verdict["holds"] for verdict in judged)
    text = f"{results['title']}: {holds} of {len(judged)} claims hold"
    means = {}
    if "pairs" in results:
        for name in results["pairs"][0]["methods"]:
            rows = [pair["methods"][name]["mean"] for pair in results["pairs"]]
            means[name] = [(row["pd_0"] + row["pd_1"]) / 2 for row in rows]
    else:
        for row in results["rows"]:
            if row["status"] == "ok":
                columns = [f"pd_{place}" for place in range(len(results["groups"]))]
                means[row["method"]] = [row["mean"][column] for column in columns]
    shown = []
    for name in ("CAPE-D", "CAPE-1", "CAPE default", "Max_Acc"):
        if name in means:
            shown.append(f"{name} {np.mean(means[name]):.3f}")
    return f"{text}; mean PD of {', '.join(shown)}."


def _shifts_headline(results: Results) -> str:
    means = over_cases(results["records"], ["size", "method"], "error")
    errors = means["mean"]
    quapy = min(("KDEyML", "EMQ", "PACC"), key=lambda name: errors["all", name])
    held = over_cases(results["records"], ["method"], "holds")["mean"]
    cases = len({row["case"] for row in results["records"]})
    spread = means["sem"]["all", "CAPE"]

    def both(name: str) -> str:
        return f"{errors['all', name]:.3f} and {errors['30', name]:.3f}"

    return (
        f"On {cases} real shifts CAPE's share of positives is off by "
        f"{errors['all', 'CAPE']:.3f} in the mean (± {spread:.3f} over cases) with all "
        f"later rows, and by {errors['30', 'CAPE']:.3f} with 30 rows of each group; "
        f"last year's share by {both(_LAST_YEAR)}, the mean score by "
        f"{both('mean score')}, the paper's configuration by {both('paper')}, and the "
        f"best of QuaPy's three with all rows ({quapy}) by {both(quapy)}. CAPE's 95 % "
        f"intervals hold in {held['CAPE']:.0%}."
    )


def _quantifiers_headline(results: Results) -> str:
    means = over_cases(results["records"], ["kind", "size", "method"], "error")
    parts = []
    for kind, name in (("pure", "a pure prior shift"), ("real", "real shifts")):
        sizes = []
        for size in ("20", "100", "1000"):
            errors = means["mean"][kind, size]
            ours = errors[errors.index.str.startswith("cape ")]
            peers = errors.drop(ours.index)
            text = (
                f"{size} rows {errors['cape onestep']:.3f} (best of ours "
                f"{ours.idxmin().removeprefix('cape ')} {ours.min():.3f}"
            )
            if len(peers):
                text += f", of the peers {peers.idxmin()} {peers.min():.3f}"
            sizes.append(f"{text})")
        parts.append(f"on {name}: {', '.join(sizes)}")
    return f"Mean error of onestep, the default, {'; '.join(parts)}."


def _small_groups_headline(results: Results) -> str:
    errors = over_cases(results["records"], ["rows", "method"], "error")["mean"]
    held = over_cases(results["records"], ["method"], "holds")["mean"]
    parts = []
    for rows in sorted(set(errors.index.get_level_values("rows"))):
        parts.append(
            f"{errors[rows, 'borrow']:.3f} with {rows} training rows of each group "
            f"(alone {errors[rows, 'separate']:.3f}, pooled "
            f"{errors[rows, 'pooled']:.3f})"
        )
    return (
        f"{results['groups']} small groups that borrow from each other, as they do by "
        f"default, have a mean error of {', '.join(parts)}; their 95 % intervals hold "
        f"in {held['borrow']:.0%} (alone {held['separate']:.0%}, pooled "
        f"{held['pooled']:.0%})."
    )


def _logged_headline(results: Results) -> str:
    found = {}
    for row in results["summary"]:
        if row["learner"] == "both" and row["rate"] == "all three":
            found[row["method"]] = row
    if "CAPE" not in found:
        return ""
    text = (
        "What to expect of the decisions of a model as it is, without labels: "
        f"accuracy, FNR and FPR of CAPE are off by {found['CAPE']['error']:.3f} in the "
        f"mean, and its 95 % intervals hold in {found['CAPE']['holds']:.0%}"
    )
    if "NannyML" in found:
        row = found["NannyML"]
        text += f"; NannyML's by {row['error']:.3f}, and in {row['holds']:.0%}"
    return f"{text}."


def reasons(results: Results) -> list[str]:
    """Explain the differences between a run and the paper.

    Parameters
    ----------
    results : dict
        From `compare_methods` or `run_synthetic`.

    Returns
    -------
    list of str
        Sentences. Reasons that apply to some data or methods only are left out where
        they do not; for data of which the paper prints nothing there are none.
    """
    facts = {results["experiment"]: ""}
    if "rows" in results:
        facts |= _facts(results)
        if not any(row["printed"] for row in results["rows"]):
            return []
    sentences = []
    for reason in _TABLE["reason"]:
        if all(fact in facts for fact in reason["when"]):
            sentences.append(reason["text"].format(**facts))
    return sentences


def _facts(results: Results) -> dict[str, str]:
    """Collect what reasons depend on, with numbers beside print where there are any."""
    wide = results.get("chosen_by_print", False)
    facts = {"wide features" if wide else "narrow features": ""}
    if not results["same_data"]:
        facts["other rows"] = ""
    elif not wide:
        facts["features not listed"] = ""
    for row in results["quantifiers"]:
        # The paper prints the estimates of SPA alone.
        if row["printed"]:
            facts["spa"] = _beside_print(row["mean"], row["printed"])
    spreads = {}
    for row in results["rows"]:
        if row["printed"] and "aif360" in METHODS[row["method"]].needs:
            facts["aif360"] = ""
        if row["status"] != "ok":
            continue
        spreads[row["method"]] = row["sd"]["predicted_prevalence_0"]
        if row["method"] == "Max_Acc" and row["printed"]:
            columns = ("predicted_prevalence_0", "predicted_prevalence_1")
            ours = [row["mean"][column] for column in columns]
            printed = [row["printed"][column] for column in columns]
            facts["max_acc"] = _beside_print(ours, printed)
    cape_sd = spreads.get("CAPE-D", 0.0)
    # Where the default varies as much, the estimate does, not the grid.
    if cape_sd > spreads.get("CAPE default", np.inf):
        facts["cape_sd"] = f"{cape_sd:.3f}"
        facts["default_sd"] = f"{spreads['CAPE default']:.3f}"
    return facts


def _beside_print(ours: list[float], printed: list[float]) -> str:
    """List our numbers, each with the printed one."""
    pairs = zip(ours, printed, strict=True)
    return ", ".join(f"{our:.3f} (print {other:.3f})" for our, other in pairs)
