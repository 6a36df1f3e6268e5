"""The paper's synthetic population."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from cape._validation import check_prevalence, check_random_state

__all__ = ["make_synthetic"]

_MEAN = {1: (15.0, 20.0), 0: (5.0, 40.0)}
_SD = {
    1: (10.0, 10.0),
    0: (5.0, 10.0),
}  # the second parameter of N(.,.) in the paper is a standard deviation

_DESCR = """The synthetic data of "Ensuring Fairness under Prior Probability Shifts" (Biswas and Mukherjee).

Two features that depend on the label alone: U is N(15, 10) for positives and N(5, 5) for negatives, V is N(20, 10) and
N(40, 10), each given by mean and standard deviation. Groups are of equal size and differ in prevalence only."""


def make_synthetic(
    n_samples: int = 50_000,
    *,
    prevalences: Sequence[float] = (0.5, 0.5),
    random_state: Any = None,
) -> Bunch:
    """Draw from the paper's generative model.

    Parameters
    ----------
    n_samples : int, default=50_000
        Rows in all; groups share them equally.
    prevalences : sequence of float in [0, 1], default=(0.5, 0.5)
        Share of positives of group 0, 1, ...: exact, but for rounding to whole rows.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Bunch
        ``data`` (DataFrame with U and V), ``target`` (Series of 0 and 1), ``sensitive_features`` (Series with the
        number of the group), ``frame`` (all of them) and ``DESCR``. Rows are in random order.

    Examples
    --------
    >>> d = make_synthetic(1000, prevalences=(0.2, 0.8), random_state=0)
    >>> d.target.groupby(d.sensitive_features).mean().to_dict()
    {0: 0.2, 1: 0.8}
    """
    import pandas as pd

    prevalences = [check_prevalence("prevalences", rho) for rho in prevalences]
    if not prevalences or n_samples < len(prevalences):
        raise ValueError(
            f"n_samples must be at least the number of groups in prevalences, got {n_samples!r} for {len(prevalences)}."
        )
    random = check_random_state(random_state)
    z = random.permutation(np.arange(n_samples) % len(prevalences))
    y = np.zeros(n_samples, dtype=np.int64)
    for group, rho in enumerate(prevalences):
        rows = np.flatnonzero(z == group)
        y[random.choice(rows, size=round(rho * len(rows)), replace=False)] = 1
    mean, sd = (np.where(y[:, None] == 1, table[1], table[0]) for table in (_MEAN, _SD))
    frame = pd.DataFrame(random.normal(mean, sd), columns=["U", "V"])
    frame["z"], frame["y"] = z, y
    return Bunch(
        data=frame[["U", "V"]],
        target=frame["y"],
        sensitive_features=frame["z"],
        frame=frame,
        DESCR=_DESCR,
    )
