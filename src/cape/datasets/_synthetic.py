"""The paper's synthetic population."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from cape.base._validation import check_prevalence, check_random_state

# Mean and standard deviation of the features U and V, by label. The second parameter of
# the paper's N(., .) must be a standard deviation: as a variance it would make the
# classes so easy to tell apart that Table 1 could not come out.
_MEANS = {0: (5.0, 40.0), 1: (15.0, 20.0)}
_DEVIATIONS = {0: (5.0, 10.0), 1: (10.0, 10.0)}

_DESCR = """The synthetic data of "Ensuring Fairness under Prior Probability Shifts"
(Biswas and Mukherjee).

Two features that depend on the label alone: U is N(15, 10) for positives and N(5, 5)
for negatives, V is N(20, 10) and N(40, 10), each given by mean and standard deviation.
Groups are of equal size and differ in prevalence only."""


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
        Number of rows, which the groups share equally.
    prevalences : sequence of float in [0, 1], default=(0.5, 0.5)
        Share of positives of the groups 0, 1, ... It is exact, except for rounding to
        whole rows.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    Bunch
        ``data`` (DataFrame with the columns U and V), ``target`` (Series of 0 and 1),
        ``sensitive_features`` (Series with the number of the group), ``frame`` (all of
        these) and ``DESCR``. Rows are in random order.

    Raises
    ------
    ValueError
        If a prevalence is not in [0, 1], or there are fewer rows than groups.

    Examples
    --------
    >>> batch = make_synthetic(1000, prevalences=(0.2, 0.8), random_state=0)
    >>> batch.target.groupby(batch.sensitive_features).mean().to_dict()
    {0: 0.2, 1: 0.8}
    """
    prevalences = [check_prevalence("prevalences", rho) for rho in prevalences]
    n_groups = len(prevalences)
    if n_groups == 0 or n_samples < n_groups:
        raise ValueError(
            "n_samples must be at least the number of groups in prevalences, "
            f"got {n_samples!r} for {n_groups}."
        )
    # Exact sizes and prevalences, so that a batch has the truth that was asked for and
    # not a binomial draw around it.
    random = check_random_state(random_state)
    group = random.permutation(np.arange(n_samples) % n_groups)
    label = np.zeros(n_samples, dtype=np.int64)
    for code, prevalence in enumerate(prevalences):
        rows = np.flatnonzero(group == code)
        n_positive = round(prevalence * len(rows))
        label[random.choice(rows, size=n_positive, replace=False)] = 1
    # U and V depend on the label and not on the group.
    is_positive = label[:, None] == 1
    mean = np.where(is_positive, _MEANS[1], _MEANS[0])
    deviation = np.where(is_positive, _DEVIATIONS[1], _DEVIATIONS[0])
    features = random.normal(mean, deviation)

    frame = pd.DataFrame(features, columns=["U", "V"])
    frame["z"] = group
    frame["y"] = label
    return Bunch(
        data=frame[["U", "V"]],
        target=frame["y"],
        sensitive_features=frame["z"],
        frame=frame,
        DESCR=_DESCR,
    )
