"""A first look: the paper's synthetic data, one batch in which both groups have moved."""

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
    """Train Max_Acc and CAPE where both groups have prevalence 0.5, and judge them where they have ``prevalences``.

    Parameters
    ----------
    prevalences : sequence of float, default=(0.2, 0.8)
        Of the test batch.
    n_train, n_test : int
    random_state : int, default=0
    on_step : callable, optional
        Told the name of each classifier when its turn comes.

    Returns
    -------
    DataFrame
        A `fairness_table` row for each classifier.

    Examples
    --------
    >>> table = run_demo(n_train=2000, n_test=2000)
    >>> bool(table.loc["CAPE", ("pd", 0)] < table.loc["Max_Acc", ("pd", 0)])
    True
    """
    import pandas as pd

    train = make_synthetic(n_train, random_state=random_state)
    test = make_synthetic(
        n_test, prevalences=prevalences, random_state=random_state + 1
    )
    learner = LogisticRegression()
    classifiers: dict[str, Any] = {
        "Max_Acc": MaxAcc(learner),
        "CAPE": CapeClassifier(learner, random_state=random_state),
        "CAPE threshold": CapeClassifier(
            learner, pool="threshold", quantifier="histogram", random_state=random_state
        ),
    }
    rows = {}
    for name, classifier in classifiers.items():
        on_step(name)
        classifier.fit(
            train.data, train.target, sensitive_features=train.sensitive_features
        )
        y_pred = classifier.predict(
            test.data, sensitive_features=test.sensitive_features
        )
        rows[name] = fairness_table(
            test.target, y_pred, sensitive_features=test.sensitive_features
        )
    return pd.DataFrame(rows).T
