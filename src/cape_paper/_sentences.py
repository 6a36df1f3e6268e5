"""The first sentence of each page of results, made from the numbers of the run."""

from __future__ import annotations

import numpy as np

from cape_paper._cells import Results
from cape_paper._records import over_cases

_LAST_YEAR = "last year's share"


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
    maker = makers.get(results["experiment"], _paper_headline)
    # A run of which every cell failed has no records.
    if results.get("records") == []:
        return ""
    return maker(results)


def _paper_headline(results: Results) -> str:
    """Name the mean PD of the main methods."""
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
    return f"{results['title']}: mean PD of {', '.join(shown)}." if shown else ""


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
