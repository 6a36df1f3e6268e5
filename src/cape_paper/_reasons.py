"""Why our numbers differ from the printed ones.

The paper does not list its features, AIF360's settings or the size of its test sets,
and some of its printed numbers contradict each other. Each reason is a sentence for the
page of results; where numbers of the run show it, they are in the sentence.
"""

from __future__ import annotations

from cape_paper._rows import Results

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
_COMPAS_OTHER_FEATURES = (
    "SPA's estimates and the predicted prevalences of Max_Acc rest on no test label, "
    "so they tell something about the paper's features. A second, wider set of "
    "features was found by them: `python -m cape_paper reproduce compas --features "
    "wide`."
)
_WIDE_FEATURES = (
    "How these features were found: the paper does not list its own, but it prints "
    "two things that rest on features and training labels and on no test label: "
    "SPA's estimates and the predicted prevalences of Max_Acc. Columns of ProPublica's "
    "file were added to the narrow set, first the two columns of days, then the 40 "
    "commonest charges, and these two were compared with print. They are a guess: "
    "other features may come as near, and the learner and the way in which missing "
    "days are filled in move the same numbers."
)
_NO_CLAIM = (
    "Features that were chosen to come near print cannot show that print is right, nor "
    "that we reproduce it, nor that any method is better than another: this run has "
    "no verdicts and makes no claim against print. The claims are those of the narrow "
    "set, which was fixed before."
)
_DAYS_ARE_LATE = (
    "The days have to be read with care. An arrest after the screening has positive "
    "days_b_screening_arrest: 233 of the 4319 people of 2013, of whom 70 % re-offend "
    "(of all 42 %). A missing value tells something too: 13 % of those 180 people "
    "re-offend; plain learners do not take missing values, and the training median, "
    "which is filled in, hides it."
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
    if results.get("chosen_by_print"):
        sentences += _wide_features(results)
    else:
        sentences += _estimates_differ(results)
    sentences += _members_are_coarse(results)
    # The choice of the grid has to be disclosed: test results had been looked at.
    if results["experiment"] == "compas":
        if not results.get("chosen_by_print"):
            sentences.append(_COMPAS_OTHER_FEATURES)
        sentences.append(_COMPAS_GRID)
    if any(row["about"].startswith("AIF360") for row in printed):
        sentences.append(_AIF360_IS_OPEN)
        is_meps = results["experiment"] == "meps"
        sentences.append(_MEPS_SLIPS if is_meps else _COMPAS_ROC_SPD)
    return sentences


def _wide_features(results: Results) -> list[str]:
    """Say how the features were found, what they change, and what they cannot show."""
    numbers = []
    estimates = _printed_estimates(results)
    if estimates:
        numbers.append(f"SPA estimates {estimates}")
    predicted = _max_acc_prevalences(results)
    if predicted:
        numbers.append(f"Max_Acc predicts {predicted}")
    sentences = [_WIDE_FEATURES]
    if numbers:
        sentences.append(f"With them {'; '.join(numbers)}.")
    return [*sentences, _NO_CLAIM, _DAYS_ARE_LATE]


def _max_acc_prevalences(results: Results) -> str:
    """List the predicted prevalences of Max_Acc beside print, if it ran."""
    for row in results["rows"]:
        if row["method"] == "Max_Acc" and row["status"] == "ok" and row["printed"]:
            columns = ("predicted_prevalence_0", "predicted_prevalence_1")
            ours = [row["mean"][column] for column in columns]
            printed = [row["printed"][column] for column in columns]
            return _beside_print(ours, printed)
    return ""


def _printed_estimates(results: Results) -> str:
    """List SPA's estimates beside print; the paper prints those of SPA alone."""
    for row in results["quantifiers"]:
        if row["printed"]:
            return _beside_print(row["mean"], row["printed"])
    return ""


def _beside_print(ours: list[float], printed: list[float]) -> str:
    """List our numbers, each with the printed one."""
    pairs = []
    for our_number, printed_number in zip(ours, printed, strict=True):
        pairs.append(f"{our_number:.3f} (print {printed_number:.3f})")
    return ", ".join(pairs)


def _estimates_differ(results: Results) -> list[str]:
    """Say how far SPA's estimates are from print, if they belong to the same data.

    Everything that CAPE-D predicts follows from these estimates.
    """
    # Estimates of other rows would be no reason for anything.
    if not results["same_data"]:
        return []
    estimates = _printed_estimates(results)
    if not estimates:
        return []
    return [
        f"SPA estimates {estimates}. The paper does not list its features, and "
        "the estimate depends on them; CAPE-D aims at the estimate, so its predicted "
        "prevalences and error rates move with it."
    ]


def _members_are_coarse(results: Results) -> list[str]:
    """Compare how far CAPE-D and CAPE default vary with the seed.

    The default's thresholds have no distance between members, so that the difference
    shows what the grid does.
    """
    rows = {}
    for row in results["rows"]:
        if row["status"] == "ok":
            rows[row["method"]] = row
    if "CAPE-D" not in rows or "CAPE default" not in rows:
        return []
    # Theorem 3: a grid of k members leaves up to 1/(2k) between estimate and member.
    cape_sd = rows["CAPE-D"]["sd"]["predicted_prevalence_0"]
    default_sd = rows["CAPE default"]["sd"]["predicted_prevalence_0"]
    # Where the default varies as much, the estimate does, not the grid.
    if cape_sd <= default_sd:
        return []
    return [
        "CAPE-D varies with the seed: its predicted prevalence of Z=0 has a standard "
        f"deviation of {cape_sd:.3f}, that of CAPE default, which can cut "
        f"anywhere, {default_sd:.3f}. Ten members are far apart, and where the "
        "estimate lies between two of them the seed decides which is nearer. A single "
        "run, as the paper prints, shows one of them."
    ]
