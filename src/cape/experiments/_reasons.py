"""Why our numbers differ from the printed ones.

The paper does not list its features, AIF360's settings or the size of its test sets,
and some of its printed numbers contradict each other. Each reason is a sentence for the
page of results; where numbers of the run show it, they are in the sentence.
"""

from __future__ import annotations

from cape.experiments._rows import Results

__all__ = ["SYNTHETIC", "reasons"]

SYNTHETIC = [
    "Where both groups have moved alike, Max_Acc is wrong by the same amount in both, "
    "so its ratio between the groups is right and its PE near 0 whatever its PD: a "
    "mean over repetitions shows it, a single draw may not.",
    "PE is a difference of ratios: with few positives in group 1 a small error of its "
    "predicted prevalence moves PE by much more, and so do repetitions. The paper does "
    "not say how large its test sets are.",
]
"""Reasons for differences in the synthetic experiment."""

_OTHER_ROWS = (
    "The printed numbers are of other rows and another grouping: they stand here for "
    "orientation only."
)
_AIF360_IS_OPEN = (
    "AIF360's rows: the paper names neither AIF360's version, nor the favourable "
    "label, nor the rows that post-processors were fitted on. Here they are fitted on "
    "a part of the training rows, held out from the learner; the privileged group is "
    "the one with the greater share of the favourable label in training. AIF360's own "
    "COMPAS data calls the negative label (does not re-offend) favourable, its MEPS "
    "data the positive one."
)
_MEPS_SLIPS = (
    "Two printed MEPS rows contradict themselves: ROC-aod (its predicted prevalence "
    "and its PD of Z=1 do not go together) and Meta-fair-fdr (FPR of Z=1 against "
    "FPR-diff and accuracy)."
)
_COMPAS_GRID = (
    "Depth and number of trees are chosen by cross-validation on 2013 alone. The grid "
    "they are chosen from, the ranges that R's caret tries for gbm, was fixed when "
    "results on 2014 had been seen for some settings: the defaults, depths 1 to 3, and "
    "leaves of at least 10 and 20 rows."
)
_COMPAS_ROC_SPD = (
    "The paper's table has no ROC-spd row for COMPAS; its text gives the PE as .056, "
    "and FPRs above .9."
)


def reasons(results: Results) -> list[str]:
    """Explain the differences between a comparison and the paper.

    Each reason is a sentence. Reasons that apply to some data or methods only are left
    out where they do not; for data of which the paper prints nothing there are none.
    """
    printed = [row for row in results["rows"] if row["printed"]]
    if not printed:
        return []
    sentences = []
    # What limits the comparison as a whole comes first.
    if not results["same_data"]:
        sentences.append(_OTHER_ROWS)
    sentences += _estimates_differ(results)
    sentences += _members_are_coarse(results)
    # The choice of the grid has to be disclosed: test results had been looked at.
    if results["experiment"] == "compas":
        sentences.append(_COMPAS_GRID)
    if any(row["about"].startswith("AIF360") for row in printed):
        sentences.append(_AIF360_IS_OPEN)
        is_meps = results["experiment"] == "meps"
        sentences.append(_MEPS_SLIPS if is_meps else _COMPAS_ROC_SPD)
    return sentences


def _estimates_differ(results: Results) -> list[str]:
    """Say how far SPA's estimates are from print, if they belong to the same data.

    Everything that CAPE-D predicts follows from these estimates.
    """
    # Estimates of other rows would be no reason for anything.
    if not results["same_data"]:
        return []
    pairs = []
    for row in results["quantifiers"]:
        # The paper prints SPA's alone.
        if row["printed"]:
            for ours, printed in zip(row["mean"], row["printed"], strict=True):
                pairs.append(f"{ours:.3f} (print {printed:.3f})")
    if not pairs:
        return []
    return [
        f"SPA estimates {', '.join(pairs)}. The paper does not list its features, and "
        "the estimate depends on them; CAPE-D aims at the estimate, so its predicted "
        "prevalences and error rates move with it."
    ]


def _members_are_coarse(results: Results) -> list[str]:
    """Compare how far CAPE-D and the threshold pool vary with the seed.

    The threshold pool has the same quantifier's noise but no distance between members,
    so the difference shows what the grid does.
    """
    rows = {}
    for row in results["rows"]:
        if row["status"] == "ok":
            rows[row["method"]] = row
    if "CAPE-D" not in rows or "CAPE threshold" not in rows:
        return []
    # Theorem 3: a grid of k members leaves up to 1/(2k) between estimate and member.
    cape_sd = rows["CAPE-D"]["sd"]["predicted_prevalence_0"]
    threshold_sd = rows["CAPE threshold"]["sd"]["predicted_prevalence_0"]
    return [
        "CAPE-D varies with the seed: its predicted prevalence of Z=0 has a standard "
        f"deviation of {cape_sd:.3f}, that of the threshold pool, which can cut "
        f"anywhere, {threshold_sd:.3f}. Ten members are far apart, and where the "
        "estimate lies between two of them the seed decides which is nearer. A single "
        "run, as the paper prints, shows one of them."
    ]
