"""Post-processors of Fairlearn, error-parity and OxonFair behind one interface.

All of them get scores and labels of training rows, and later scores of a batch. None of
them adapts to the batch. A library that is not installed is left out.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from quantifiers import GivenScores, both_columns

CONSTRAINTS = {
    "demographic_parity": "demographic_parity",
    "equal_opportunity": "true_positive_rate_parity",
    "predictive_equality": "false_positive_rate_parity",
    "equalized_odds": "equalized_odds",
}
"""Our names of the criteria, and those of Fairlearn and error-parity."""

OXONFAIR_BOUND = 0.01
"""OxonFair searches a grid of thresholds, which has no point with a difference of 0."""


class FairlearnThresholds:
    """Fairlearn's ThresholdOptimizer, which mixes two thresholds of a group."""

    package = "fairlearn"

    def __init__(self, criterion):
        self.constraint = CONSTRAINTS[criterion]

    def fit(self, scores, y, groups):
        from fairlearn.postprocessing import ThresholdOptimizer

        self.fitted = ThresholdOptimizer(
            estimator=GivenScores(),
            constraints=self.constraint,
            prefit=True,
            predict_method="predict_proba",
        )
        self.fitted.fit(both_columns(scores), y, sensitive_features=groups)
        return self

    def predict(self, scores, groups):
        return self.fitted.predict(
            both_columns(scores), sensitive_features=groups, random_state=0
        )


class ErrorParity:
    """error-parity's RelaxedThresholdOptimizer, at tolerance 0.

    It asks for numpy below 2, which we do not support; it runs with a newer one.
    """

    package = "error_parity"

    def __init__(self, criterion):
        self.constraint = CONSTRAINTS[criterion]

    def fit(self, scores, y, groups):
        from error_parity import RelaxedThresholdOptimizer

        self.fitted = RelaxedThresholdOptimizer(
            predictor=np.ravel, constraint=self.constraint, seed=0
        )
        self.fitted.fit(scores[:, None], y, group=groups)
        return self

    def predict(self, scores, groups):
        return np.asarray(self.fitted.predict(scores[:, None], group=groups))


class OxonFair:
    """OxonFair's FairPredictor on scores."""

    package = "oxonfair"

    def __init__(self, criterion):
        self.criterion = criterion

    def fit(self, scores, y, groups):
        from oxonfair import FairPredictor, group_metrics

        # OxonFair calls the difference of false negative rates "predictive equality".
        constraints = {
            "demographic_parity": group_metrics.demographic_parity,
            "equal_opportunity": group_metrics.equal_opportunity,
            "predictive_equality": group_metrics.false_pos_rate.diff,
            "equalized_odds": group_metrics.equalized_odds_max,
        }
        self.fitted = FairPredictor(None, oxonfair_data(scores, y, groups))
        self.fitted.fit(
            group_metrics.accuracy, constraints[self.criterion], OXONFAIR_BOUND
        )
        return self

    def predict(self, scores, groups):
        # It asks for labels of rows to predict, and does not use them.
        no_labels = np.zeros(len(scores), dtype=int)
        data = oxonfair_data(scores, no_labels, groups)
        return np.asarray(self.fitted.predict(data))


def oxonfair_data(scores, y, groups):
    """Put rows into the dict that OxonFair reads."""
    return {"data": both_columns(scores), "target": y, "groups": groups}


ALL_PEERS = {
    "Fairlearn": FairlearnThresholds,
    "error-parity": ErrorParity,
    "OxonFair": OxonFair,
}


def installed_peers():
    """Return the peers that are installed, and name those that are not."""
    peers = {}
    for name, peer in ALL_PEERS.items():
        if find_spec(peer.package) is None:
            print(f"{name} is left out: {peer.package} is not installed.")
        else:
            peers[name] = peer
    return peers
