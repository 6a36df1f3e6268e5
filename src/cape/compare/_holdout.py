"""Rows that a post-processor is fitted on, and its base learner was not."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

__all__ = ["HELD_OUT", "split_holdout"]

HELD_OUT = 0.3
"""Share of the training rows that is held out for a post-processor."""


def split_holdout(
    y: np.ndarray, codes: np.ndarray, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Rows for the base learner and rows held out, with the same mix of groups and labels where there are enough.

    Examples
    --------
    >>> learn, held_out = split_holdout(np.tile([0, 1], 50), np.repeat([0, 1], 50), random_state=0)
    >>> len(learn), len(held_out)
    (70, 30)
    """
    strata = 2 * np.asarray(codes, dtype=np.int64) + np.asarray(y)
    sizes = np.unique(strata, return_counts=True)[1]
    enough = sizes.min() >= 2 and len(sizes) <= min(HELD_OUT, 1 - HELD_OUT) * len(
        strata
    )
    learn, held_out = train_test_split(
        np.arange(len(strata)),
        test_size=HELD_OUT,
        random_state=random_state,
        stratify=strata if enough else None,
    )
    return np.sort(learn), np.sort(held_out)
