"""Groups whose estimates will be worth little."""

from __future__ import annotations

import warnings

from cape._group_model import GroupModel
from cape._groups import Group, group_name

__all__ = ["warn_of_weak_groups"]

_Z = 1.96
"""Standard errors of a 95 % interval."""


def warn_of_weak_groups(models: dict[Group, GroupModel], min_class_size: int) -> None:
    """Warn of groups whose estimates will be worth little, and say why."""
    few_rows = []
    no_signal = []
    for group, model in models.items():
        positives = model.positives.size
        smaller_class = min(positives, model.negatives.size)
        if smaller_class < min_class_size:
            few_rows.append(f"{group_name(group)!r} ({smaller_class:g} rows)")
        elif model.auc() - _Z * model.auc_error() <= 0.5:
            no_signal.append(f"{group_name(group)!r} (AUC {model.auc():.2f})")
    if few_rows:
        warnings.warn(
            f"fewer than min_class_size={min_class_size} rows of a class in "
            f"{', '.join(few_rows)}: intervals of these groups may not hold.",
            stacklevel=4,
        )
    if no_signal:
        warnings.warn(
            "the scores do not tell the classes apart in "
            f"{', '.join(no_signal)}: the 95 % interval of the AUC is not above 0.5. "
            "The prevalences of these groups cannot be estimated from such scores.",
            stacklevel=4,
        )
