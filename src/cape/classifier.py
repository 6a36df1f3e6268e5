"""CapeClassifier: Algorithm 1 of the paper as a scikit-learn estimator."""

from __future__ import annotations

import hashlib
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import get_tags

from cape._group_model import GroupModel
from cape._groups import EVERYONE, Groups, group_name, split_groups
from cape._learners._scoring import weight_keyword
from cape._prediction import (
    batch_of,
    check_same_model,
    decide,
    decide_individually,
    each_part,
    look,
)
from cape._training import Training, check_prefit
from cape._validation import (
    UNUSED,
    HasMethods,
    Interval,
    StrOptions,
    all_if_none,
    check_binary_labels,
    check_is_fitted,
    check_labels,
    check_prevalence,
    check_same_length,
    check_weights,
    fit_context,
    pickable,
    validate_data,
)
from cape.adaptation import Adaptation, adapt_evidence, warn_of_doubts
from cape.evidence import Evidence
from cape.quantify import QUANTIFIERS
from cape.sampling import prevalence_grid

__all__ = ["CapeClassifier"]


class CapeClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier whose predictions stay fair when the share of positives in each group moves (CAPE [1]_).

    For each group it trains a quantifier, which estimates the prevalence of an unlabelled batch, and a pool of
    classifiers for different prevalences. Given a batch it uses, in each group, the classifier whose predicted
    prevalence is nearest the estimate. A prediction therefore depends on the batch it comes in; with an `Adaptation`
    made beforehand it does not.

    Parameters
    ----------
    estimator : estimator with ``fit`` and ``predict_proba``, default=None
        The learner (C-ALG); None is ``HistGradientBoostingClassifier()``.
    quantifier : {"cc", "pcc", "acc", "spa", "hdy", "dys", "emq", "histogram"} or quantifier, default="spa"
        The quantifier (Q-ALG), by name or an instance, also of QuaPy; "spa" is the paper's.
    pool : {"resampled", "threshold"}, default="resampled"
        "resampled" trains one classifier for each prevalence (the paper's); "threshold" is one model with a moved
        threshold.
    prevalences : int or array-like of float in (0, 1), default=10
        The grid Theta of the resampled pool: the centres of so many bins of equal width, or the values themselves.
        It does not limit the cuts of the threshold pool.
    cv : int, splitter, iterable of splits or "prefit", default=10
        Folds for the out-of-fold scores, at most the rows of the smaller class. "prefit": the estimator is fitted
        already, and X is a labelled hold-out; needs ``pool="threshold"``.
    scores : {"refit", "folds"}, default="refit"
        Who scores a batch for the quantifier: a model refitted on all rows, or all fold models pooled. The second costs
        more and follows the distribution of the out-of-fold scores exactly.
    preprocessing : {"each", "once"}, default="each"
        What to do with the transformers of a pipeline: fit them anew in each training, or once on the rows of a group;
        each batch then goes through them once, too. "once" saves most of the time where transformers cost more than
        the learner. It is for transformers that do not look at labels: else out-of-fold scores have seen theirs.
    group_columns : column, list of columns or None, default=None
        Columns of X (names; integers for arrays) that hold the groups, instead of ``sensitive_features``. They are
        dropped before the estimator sees X.
    min_group_size : int, default=30
        A group with fewer rows gets no pool of its own.
    small_groups : {"error", "pooled"}, default="error"
        What to do with groups too small, or of one class only: refuse, or use the quantifier and pool of all groups.
    unknown_groups : {"error", "pooled"}, default="error"
        The same for groups not seen in training.
    random_state : int, RandomState or None, default=None
        Same seed, same predictions, whatever ``n_jobs``.
    n_jobs : int or None, default=None
        Trainings at the same time.
    verbose : int or bool, default=0
        Show a progress bar while training.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.
    groups_ : list
        Groups seen in training; a tuple each when there were several sensitive columns.
    models_ : dict
        Of each group its `GroupModel`: histograms, scorer, quantifier and pool.
    pooled_ : GroupModel or None
        Trained on all groups, for small and unknown ones.
    prevalences_ : ndarray
        The grid Theta.
    fingerprint_ : str
        Tells whose evidence and adaptations are. Same data and seed, same print.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Of X as it came; only when it has names that are all text.

    See Also
    --------
    cape.quantify : The quantifiers.
    cape.metrics : Prevalence difference, proportional equality and the fairness table.

    References
    ----------
    .. [1] A. Biswas and S. Mukherjee, "Ensuring fairness under prior probability shifts", AIES 2021.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape import CapeClassifier
    >>> from cape.datasets import make_synthetic
    >>> from cape.metrics import proportional_equality
    >>> train = make_synthetic(4000, random_state=0)
    >>> test = make_synthetic(4000, prevalences=(0.2, 0.8), random_state=1)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    >>> y_pred = clf.predict(test.data, sensitive_features=test.sensitive_features)
    >>> proportional_equality(test.target, y_pred, sensitive_features=test.sensitive_features) < 0.5
    True
    """

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "quantifier": [
            StrOptions(set(QUANTIFIERS)),
            HasMethods(["fit", "estimate", "interval"]),
            HasMethods(["aggregation_fit", "aggregate"]),
        ],
        "pool": [StrOptions({"resampled", "threshold"})],
        "prevalences": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "cv": ["cv_object", StrOptions({"prefit"})],
        "scores": [StrOptions({"refit", "folds"})],
        "preprocessing": [StrOptions({"each", "once"})],
        "group_columns": [str, Integral, "array-like", None],
        "min_group_size": [Interval(Integral, 2, None, closed="left")],
        "small_groups": [StrOptions({"error", "pooled"})],
        "unknown_groups": [StrOptions({"error", "pooled"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    __metadata_request__predict = {"adaptation": UNUSED}
    __metadata_request__predict_proba = {"adaptation": UNUSED}
    __metadata_request__score = {"adaptation": UNUSED}

    def __init__(
        self,
        estimator=None,
        *,
        quantifier="spa",
        pool="resampled",
        prevalences=10,
        cv=10,
        scores="refit",
        preprocessing="each",
        group_columns=None,
        min_group_size=30,
        small_groups="error",
        unknown_groups="error",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.quantifier = quantifier
        self.pool = pool
        self.prevalences = prevalences
        self.cv = cv
        self.scores = scores
        self.preprocessing = preprocessing
        self.group_columns = group_columns
        self.min_group_size = min_group_size
        self.small_groups = small_groups
        self.unknown_groups = unknown_groups
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        """Train a quantifier and a pool for each group.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            numpy, scipy sparse, pandas or polars; handed to the estimator as it came, but for ``group_columns``.
        y : array-like of shape (n_samples,)
            Labels of two classes; the greater is the positive one.
        sensitive_features : array-like or table of n_samples rows, default=None
            The group of each row; a table of several columns makes a group of each combination. None is one group.
        sample_weight : array-like of shape (n_samples,), default=None
            Draw probabilities within a class for PP-SAMPLING, weights for the learner, and in every rate.

        Returns
        -------
        self
        """
        estimator, thetas = self._check_settings()
        X = pickable(X)
        features, groups = split_groups(X, sensitive_features, self.group_columns)
        check_same_length(
            X=X, y=y, sensitive_features=groups, sample_weight=sample_weight
        )
        classes, positive = check_binary_labels(y)
        weights = check_weights(sample_weight, X)
        if weights is not None and self.cv != "prefit":
            weight_keyword(estimator)
        if self.cv == "prefit":
            check_prefit(estimator, classes)

        training = Training(
            self,
            estimator,
            thetas,
            classes,
            features,
            classes[positive.astype(int)],
            weights,
        )
        small = training.small_groups(groups)
        own = [(group, rows) for group, rows in groups.rows() if group not in small]
        pooled = [(EVERYONE, None)] if small or self.unknown_groups == "pooled" else []
        models = training.run(own + pooled)
        pooled_model = models.pop() if pooled else None

        validate_data(self, X, skip_check_array=True)
        self.classes_ = classes
        self.groups_ = groups.keys
        self.prevalences_ = thetas
        self.pooled_ = pooled_model
        own_models = {
            group: model for (group, _), model in zip(own, models, strict=True)
        }
        self.models_ = {
            group: own_models.get(group, pooled_model) for group in groups.keys
        }
        self.grouped_ = sensitive_features is not None or self.group_columns is not None
        self.fingerprint_ = self._fingerprint()
        return self

    def predict(self, X, *, sensitive_features=None, adaptation=None):
        """Predict labels, adapting to this batch (CAPE-D of the paper) unless an adaptation is given.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None
            As in `fit`.
        adaptation : Adaptation, default=None
            From `adapt`; prediction is then row by row.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = self._decide(X, sensitive_features, adaptation, "decide")
        return self.classes_.take(positive)

    def predict_proba(self, X, *, sensitive_features=None, adaptation=None):
        """Probabilities of the two classes, by the members that `predict` uses.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None
        adaptation : Adaptation, default=None

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The second column is above 1/2 just where `predict` says ``classes_[1]``.
        """
        positive = self._decide(X, sensitive_features, adaptation, "probability")
        return np.column_stack([1 - positive, positive])

    def predict_individually(self, X, *, sensitive_features=None):
        """Predict each row as a batch of its own (CAPE-1 of the paper).

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        batch = batch_of(self, X, sensitive_features)
        positive = np.zeros(len(batch), dtype=bool)
        for part, decided in each_part(decide_individually, batch):
            positive[all_if_none(part.rows.rows)] = decided
        return self.classes_.take(positive)

    def score(
        self, X, y, *, sensitive_features=None, sample_weight=None, adaptation=None
    ):
        """Accuracy of `predict` on this batch.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sensitive_features : array-like or table of n_samples rows, default=None
        sample_weight : array-like of shape (n_samples,), default=None
        adaptation : Adaptation, default=None

        Returns
        -------
        float
        """
        check_is_fitted(self)
        y = check_labels(y)
        check_same_length(X=X, y=y)
        y_pred = self.predict(
            X, sensitive_features=sensitive_features, adaptation=adaptation
        )
        return accuracy_score(y, y_pred, sample_weight=sample_weight)

    def evidence(self, X, *, sensitive_features=None):
        """What these rows tell; it adds up over parts of a batch.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            May be empty, which gives the zero.
        sensitive_features : array-like or table of n_samples rows, default=None

        Returns
        -------
        Evidence
        """
        found, _ = look(batch_of(self, X, sensitive_features))
        return Evidence(self.fingerprint_, found)

    def adapt(self, X=None, *, sensitive_features=None, evidence=None, level=0.95):
        """Estimate each group's prevalence and choose its member.

        It warns (`cape.AdaptationWarning`) when more than the prevalence has moved in some group, at the 1 %
        level and where the test of that is sound (see `cape.diagnostics.prior_shift_test`), and when the interval of a
        group's prevalence is wider than 0.5. Prediction without an adaptation does not look for such doubts.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), default=None
            The batch; exactly one of ``X`` and ``evidence`` is given.
        sensitive_features : array-like or table of n_samples rows, default=None
        evidence : Evidence, default=None
            Of the batch, from this model.
        level : float in (0, 1), default=0.95
            Confidence level of the intervals and of the bound on PD.

        Returns
        -------
        Adaptation
        """
        check_is_fitted(self)
        check_prevalence("level", level, closed=False)
        if (X is None) == (evidence is None):
            raise ValueError(
                f"exactly one of X and evidence must be given, got {'neither' if X is None else 'both'}."
            )
        if evidence is None:
            evidence = self.evidence(X, sensitive_features=sensitive_features)
        elif sensitive_features is not None:
            raise ValueError(
                "sensitive_features must be None when evidence is given, which has its groups."
            )
        check_same_model(self, "evidence", evidence, Evidence)
        models = {group: self.model_of(group) for group in evidence.groups}
        adaptation = adapt_evidence(models, evidence, level)
        warn_of_doubts(models, evidence, adaptation)
        return adaptation

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        learner = self._learner()
        if hasattr(learner, "__sklearn_tags__"):  # X goes to it as it came
            tags.input_tags = get_tags(learner).input_tags
        return tags

    def _check_settings(self):
        """The learner and the grid, or an error for settings that do not go together."""
        if isinstance(self.prevalences, Integral):
            thetas = prevalence_grid(self.prevalences)
        else:
            given = np.ravel(np.asarray(self.prevalences, dtype=object))
            thetas = np.unique(
                [
                    check_prevalence("prevalences", theta, closed=False)
                    for theta in given
                ]
            )
            if len(thetas) == 0:
                raise ValueError(
                    f"prevalences must hold at least one value in (0, 1), got {self.prevalences!r}."
                )
        if self.cv == "prefit":
            if self.pool != "threshold":
                raise ValueError(
                    f"pool must be 'threshold' with cv='prefit', got {self.pool!r}."
                )
            if self.scores != "refit":
                raise ValueError(
                    f"scores must be 'refit' with cv='prefit', got {self.scores!r}."
                )
            if self.estimator is None:
                raise ValueError(
                    "estimator must be a fitted classifier with cv='prefit', got None."
                )
        return self._learner(), thetas

    def _learner(self):
        if self.estimator is not None:
            return self.estimator
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier()

    def _fingerprint(self) -> str:
        print_ = hashlib.sha256(repr((self.classes_.tolist(), self.groups_)).encode())
        models = [self.models_[group] for group in self.groups_] + (
            [self.pooled_] if self.pooled_ else []
        )
        for part in (part for model in models for part in model.parts()):
            print_.update(part)
        return print_.hexdigest()

    def model_of(self, group, groups: Groups | None = None) -> GroupModel:
        if group in self.models_:
            return self.models_[group]
        if self.pooled_ is not None and self.unknown_groups == "pooled":
            return self.pooled_
        rows = (
            ""
            if groups is None
            else f" in {np.count_nonzero(groups.codes == groups.keys.index(group))} rows"
        )
        known = ", ".join(repr(group_name(g)) for g in self.groups_[:10])
        raise ValueError(
            f"sensitive_features must be groups seen in training ({known}), got {group_name(group)!r}{rows}. "
            "Fit with unknown_groups='pooled' to use what all groups have in common."
        )

    def _decide(self, X, sensitive_features, adaptation, how: str) -> np.ndarray:
        """``decide`` or ``probability`` of the chosen member for each row."""
        check_is_fitted(self)
        check_same_model(self, "adaptation", adaptation, Adaptation)
        batch = batch_of(self, X, sensitive_features)
        result = np.zeros(len(batch), dtype=bool if how == "decide" else float)
        for part, decided in decide(batch, adaptation, how):
            result[all_if_none(part.rows.rows)] = decided
        return result
