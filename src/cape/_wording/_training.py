"""What `fit` warns of."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from cape._wording._numbers import group_name


def few_rows_of_a_class(sizes: Mapping[Hashable, float], least: int) -> str:
    """Name groups, and how many rows the smaller class of each has."""
    groups = []
    for group, size in sizes.items():
        noun = "row" if size == 1 else "rows"
        groups.append(f"{group_name(group)!r} ({size:g} {noun})")
    return (
        f"fewer than min_class_size={least} rows of a class in {', '.join(groups)}: "
        "intervals of these groups may not hold."
    )


def scores_without_signal(aucs: Mapping[Hashable, float]) -> str:
    """Name groups whose AUC may be 1/2."""
    groups = [f"{group_name(group)!r} (AUC {auc:.2f})" for group, auc in aucs.items()]
    return (
        f"the scores do not tell the classes apart in {', '.join(groups)}: the 95 % "
        "interval of the AUC is not above 0.5. The prevalences of these groups cannot "
        "be estimated from such scores."
    )


def scores_are_alike(positives: float, negatives: float) -> str:
    """Compare the mean scores of two classes that no quantifier can tell apart."""
    return (
        "the scores cannot tell the classes apart (mean score of positives "
        f"{positives:.4f}, of negatives {negatives:.4f}): every estimate will be the "
        "training prevalence, with interval [0, 1]."
    )


def of_group(message: str, group: Hashable) -> str:
    """Say which group a warning is about."""
    return f"group {group_name(group)!r}: {message}"


def rows_are_repeated(n_repeated: int, n_rows: int) -> str:
    """Say how many rows are copies, and what to do about it."""
    return (
        f"{n_repeated:,} of {n_rows:,} rows occur more than once, with the same label: "
        "intervals count every copy as one more row and will be too narrow. Leave the "
        "copies out, or give each row once with its number as sample_weight."
    )
