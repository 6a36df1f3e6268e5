"""The demo: the paper's synthetic data, one batch in which both groups have moved.

It is the shortest way to see what CAPE does: Max_Acc, which does not adapt, predicts
too many positives in one group and too few in the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sklearn.linear_model import LogisticRegression

from cape.classifier import CapeClassifier
from cape.compare import MaxAcc
from cape.datasets import make_synthetic
from cape.metrics import fairness_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["run_demo"]


def run_demo(
    *,
    prevalences: Sequence[float] = (0.2, 0.8),
    n_train: int = 50_000,
    n_test: int = 10_000,
    random_state: int = 0,
    on_step: Callable[[str], None] = lambda name: None,
) -> pd.DataFrame:
    """Compare Max_Acc and CAPE on a batch whose prevalences have moved.

    In training both groups have a prevalence of 0.5.

    Parameters
    ----------
    prevalences : sequence of float, default=(0.2, 0.8)
        Prevalence of each group in the test batch.
    n_train, n_test : int, default=50_000 and 10_000
        Number of training rows and of test rows.
    random_state : int, default=0
        Seed of the data and of CAPE.
    on_step : callable, optional
        Called with the name of each classifier before it is trained.

    Returns
    -------
    DataFrame
        One row of `fairness_table` for each classifier.

    Examples
    --------
    >>> table = run_demo(n_train=2000, n_test=2000)
    >>> bool(table.loc["CAPE", ("pd", 0)] < table.loc["Max_Acc", ("pd", 0)])
    True
    """
    import pandas as pd

    train = make_synthetic(n_train, random_state=random_state)
    # Another seed, or the test rows would be rows of the training data.
    test = make_synthetic(
        n_test, prevalences=prevalences, random_state=random_state + 1
    )
    rows = {}
    for name, classifier in _classifiers(random_state).items():
        on_step(name)
        # Labels of the test rows are for the table alone.
        groups = train.sensitive_features
        classifier.fit(train.data, train.target, sensitive_features=groups)
        groups = test.sensitive_features
        y_pred = classifier.predict(test.data, sensitive_features=groups)
        rows[name] = fairness_table(test.target, y_pred, sensitive_features=groups)
    return pd.DataFrame(rows).T


def _classifiers(random_state: int) -> dict[str, Any]:
    """Make the classifiers of the demo."""
    # The paper's learner for this data.
    learner = LogisticRegression()
    return {
        "Max_Acc": MaxAcc(learner),
        "CAPE, paper": CapeClassifier.paper(
            estimator=learner, random_state=random_state
        ),
        "CAPE": CapeClassifier(random_state=random_state),
    }
