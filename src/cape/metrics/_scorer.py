"""Fairness metrics as scorers, for grid searches and cross-validation."""

from __future__ import annotations

from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED, get_routing_for_object

from cape.base._groups import split_columns
from cape.base._validation import check_choice, check_labels, check_same_order
from cape.metrics import _between
from cape.metrics._rates import confusion_by_group


def _worst_prevalence_difference(y_true: Any, y_pred: Any, **settings: Any) -> float:
    """PD of the group that has the greatest."""
    groups = confusion_by_group(y_true, y_pred, **settings)
    return max(confusion.prevalence_difference for confusion in groups.values())


_METRICS = {
    "pe": _between.proportional_equality,
    "pd": _worst_prevalence_difference,
    **_between.PARITY,
}


def make_fairness_scorer(
    metric: str, *, group_columns: Any = None, pos_label: Any = None
) -> FairnessScorer:
    """Make a scorer of a fairness metric, for ``GridSearchCV`` and ``cross_validate``.

    Greater is better, as scikit-learn requires: the sign of a metric whose best value
    is 0 is flipped. Any classifier can be scored. Score accuracy or cost as well: a
    classifier that predicts no positives treats all groups alike.

    Parameters
    ----------
    metric : str
        "pe", the proportional equality of the worst pair of groups; "pd", the
        prevalence difference of the worst group; or a name in `cape.metrics.PARITY`,
        such as "demographic_parity_ratio".
    group_columns : column or list of columns, default=None
        Columns of X that hold the group of each row: names if X is a data frame, else
        positions. None takes the groups from ``sensitive_features``, which
        scikit-learn's metadata routing passes to the scorer.
    pos_label : label, default=None
        The positive label; None takes the second of the classifier's ``classes_``, or
        the greater label if it has none. Labels of an ordered ``pandas.Categorical``
        have an order of their own.

    Returns
    -------
    callable
        With the signature ``scorer(estimator, X, y, *, sensitive_features=None,
        sample_weight=None)``. If the classifier's ``predict`` takes
        ``sensitive_features``, it is given them.

    Raises
    ------
    ValueError
        If the metric is unknown.

    See Also
    --------
    audit : All metrics of all groups, with intervals.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from cape.metrics import make_fairness_scorer
    >>> scorer = make_fairness_scorer("pe", group_columns="z")
    >>> X = train.data.assign(z=train.sensitive_features)
    >>> search = GridSearchCV(
    ...     LogisticRegression(), {"C": [0.001, 1]}, scoring=scorer, cv=2
    ... ).fit(X, train.target)
    >>> bool(search.best_score_ < 0)
    True
    """
    check_choice("metric", metric, tuple(_METRICS))
    return FairnessScorer(metric, group_columns, pos_label)


class FairnessScorer(BaseEstimator):
    """A metric of the predictions of any classifier; `make_fairness_scorer` makes it.

    It is an estimator for the sake of its parameters alone: scikit-learn can clone it,
    and knows what metadata it asks for.

    Parameters
    ----------
    metric, group_columns, pos_label
        As in `make_fairness_scorer`.
    """

    # What scikit-learn's metadata routing passes to a scorer is what its `score` takes,
    # unless `set_score_request` says otherwise. Weights have to be asked for, as in all
    # of scikit-learn.
    __metadata_request__score = {"sensitive_features": True, "estimator": UNUSED}

    def __init__(
        self, metric: str, group_columns: Any = None, pos_label: Any = None
    ) -> None:
        self.metric = metric
        self.group_columns = group_columns
        self.pos_label = pos_label

    def __call__(self, estimator: Any, X: Any, y: Any, **metadata: Any) -> float:
        """Score a classifier, as scikit-learn calls a scorer."""
        return self.score(estimator, X, y, **metadata)

    def score(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Predict, and measure the predictions; greater is better."""
        check_choice("metric", self.metric, tuple(_METRICS))
        check_same_order(
            X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        groups = sensitive_features
        if self.group_columns is not None:
            groups = split_columns(X, self.group_columns)[1]
        elif groups is None:
            raise ValueError(
                "group_columns must name columns of X, or sensitive_features must be "
                "passed, which needs sklearn.set_config(enable_metadata_routing=True); "
                "got neither."
            )
        y_pred = _predict(estimator, X, sensitive_features)
        pos_label = self.pos_label
        classes = getattr(estimator, "classes_", [])
        _, order = check_labels(y)
        if pos_label is None and len(classes) == 2 and not order:
            # A fold may hold one label only, which does not tell which is positive.
            pos_label = classes[1]
        value = _METRICS[self.metric](
            y,
            y_pred,
            sensitive_features=groups,
            sample_weight=sample_weight,
            pos_label=pos_label,
        )
        # Of a ratio 1 is best, of all other metrics 0.
        if self.metric.endswith("_ratio"):
            return value
        return -value

    def _accept_sample_weight(self) -> bool:
        """Tell scikit-learn without metadata routing that weights are welcome."""
        return True


def _predict(estimator: Any, X: Any, sensitive_features: Any) -> Any:
    """Predict, with groups if ``predict`` or a step that it leads to takes them."""
    name = "sensitive_features"
    if sensitive_features is not None:
        takes_groups = name in signature(estimator.predict).parameters
        if not takes_groups:
            routing = get_routing_for_object(estimator)
            takes_groups = bool(routing.consumes("predict", [name]))
        if takes_groups:
            return estimator.predict(X, sensitive_features=sensitive_features)
    return estimator.predict(X)
