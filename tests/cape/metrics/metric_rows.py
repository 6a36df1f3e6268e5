"""Rows with given counts, and random rows, for the tests of metrics."""

import numpy as np
from hypothesis import strategies as st


def rows_of(**groups):
    """Return labels, predictions and groups with the counts TP, FP, FN, TN of each."""
    y, y_hat, z = [], [], []
    for group, (tp, fp, fn, tn) in groups.items():
        y += [1] * tp + [0] * fp + [1] * fn + [0] * tn
        y_hat += [1] * (tp + fp) + [0] * (fn + tn)
        z += [group] * (tp + fp + fn + tn)
    return np.array(y), np.array(y_hat), np.array(z)


@st.composite
def weighted_rows(draw, *, defined=True):
    """Labels, predictions, groups and weights of up to five groups.

    If ``defined``, every group has each pair of label and prediction; else one group
    has both labels, and any rate may be undefined.
    """
    n = draw(st.integers(2, 40))
    n_groups = draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells = np.arange(4 * n_groups if defined else 4)
    y = np.r_[cells % 2, random.integers(0, 2, n)]
    y_hat = np.r_[cells // 2 % 2, random.integers(0, 2, n)]
    z = np.r_[cells // 4, random.integers(0, n_groups, n)]
    return y, y_hat, z, random.uniform(0.1, 5, len(y))
