"""CapeClassifier: Algorithm 1 of the paper as a scikit-learn estimator."""

from __future__ import annotations

import hashlib
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from cape.base._groups import (
    Group,
    Groups,
    combined_columns,
    named_columns,
    split_groups,
)
from cape.base._validation import (
    HasMethods,
    Interval,
    StrOptions,
    check_binary_labels,
    check_drift,
    check_is_fitted,
    check_labels,
    check_prevalence,
    check_same_kind,
    check_same_length,
    check_same_model,
    fit_context,
    pickable,
    refuse_odd_cells,
    short_errors,
    take_rows,
    unequal_weights,
    validate_data,
)
from cape.drift import Past
from cape.evidence._columns import TableCells
from cape.evidence._histogram import LEAST_WEIGHT
from cape.quantify import QUANTIFIERS, make_quantifier
from cape.rules import RULES, Prevalence, Rule
from cape.rules._adaptation import Adaptation, warn_if_doubtful
from cape.rules._deciding import (
    adapt,
    decide_individually,
    find_evidence,
    predict_batch,
)
from cape.rules._rules import rule_of
from cape.training._choice import note_on_text
from cape.training._data import TrainingData
from cape.training._group_model import GroupModel
from cape.training._reading import batch_of
from cape.training._scores import Scores
from cape.training._train import train_groups

__all__ = ["CapeClassifier", "FrozenCape"]


class CapeClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Classifier that stays fair when the prevalences of groups change.

    For each group, CAPE [1]_ trains a quantifier, which estimates the prevalence of an
    unlabelled batch, and a pool of classifiers for different prevalences. Given a
    batch, it uses for each group the classifier whose predicted prevalence is nearest
    the estimate. A prediction therefore depends on the batch, unless you pass an
    `Adaptation` made earlier.

    Parameters
    ----------
    estimator : estimator with ``predict_proba`` or None, default=None
        The learner, C-ALG in the paper. None averages the probabilities of a logistic
        regression and two small boosted models; from 20,000 rows on, it is the better
        of this average and a single boosted model, by cross-validation. Above 1,000
        columns, the boosted models read 300 of them. With None, a data
        frame with text, categories, dates or missing values goes through skrub's
        encoders first. `cape.Scores` is a model you already have, whose scores are
        columns of X.
    quantifier : str or quantifier, default="onestep"
        The quantifier, Q-ALG in the paper: a name of `cape.quantify.QUANTIFIERS` or an
        instance of a subclass of `cape.Quantifier`. "spa" is the paper's.
    pool : {"threshold", "resampled"}, default="threshold"
        "threshold" is one model with a movable threshold. "resampled" trains one
        classifier for each prevalence, as the paper does.
    rule : str, Rule or None, default=None
        What to aim at in every batch: a name of `cape.rules.RULES` or an instance of a
        subclass of `cape.Rule`. "prevalence" is the paper's: the predicted
        prevalence of each group is nearest the estimate. None is "prevalence", and
        "unchanged" if the estimator is `cape.Scores`. It can be set after `fit`.
    drift : {"cautious", "ignore"}, default="cautious"
        What to do if more than the prevalence changed, or if scores say little.
        "cautious" counts the columns of training rows and batches, and weighs the
        evidence of the scores against what was known before: the estimate is the
        median of a posterior. "ignore" trusts the assumption of a prior shift, as the
        paper does, and counts no columns.
    past : Past or None, default=None
        What your own labelled periods tell of how far shares move and scores drift. It
        narrows intervals where your past was calm, and follows the scores where it was
        restless. None knows public series alone. It can be set after `fit`, and does
        nothing with ``drift="ignore"``.
    share_estimator : bool or "auto", default="auto"
        Whether one learner is trained for all groups, with the group among its
        features. False trains a learner for each group, as the paper does. "auto"
        shares one, except that a group of at least 500 rows gets its own learner if
        that has the lower out-of-fold log loss. With ``pool="resampled"`` and
        ``cv="prefit"``, "auto" is False. Each group always has its own histograms,
        quantifier and members.
    prevalences : int or array-like of float in (0, 1), default=10
        The grid Theta of the resampled pool: the number of bins of equal width, whose
        centers are used, or the values themselves. It does not limit the cuts of the
        threshold pool.
    cv : int, splitter, iterable of splits, "auto" or "prefit", default="auto"
        Folds for the out-of-fold scores, at most as many as the smaller class has rows.
        "auto": five folds below 1,000 rows, then three; from 20,000 rows on one split,
        whose model scores and decides. "prefit": the estimator is already fitted, and X
        holds labelled rows it has not seen; needs ``pool="threshold"``. If the
        estimator reads the group column, leave it in X and pass the groups as
        ``sensitive_features``, not by ``group_columns``.
    scores : {"auto", "refit", "folds"}, default="auto"
        Which models score a batch for the quantifier: one model refitted on all rows,
        or all fold models, whose histograms are pooled. The latter follows the
        distribution of the out-of-fold scores exactly, and with
        ``pool="threshold"`` the mean of the fold models decides. "auto" is "refit" if
        that is sound: for linear learners with at least 100 rows per column, and for
        resampled pools.
    preprocessing : {"auto", "each", "once"}, default="auto"
        Whether the transformers of a pipeline are fitted in each training, or once on
        the rows of a group. With "once", a batch goes through them once, too. This
        saves most of the time if transformers cost more than the learner. Use it only
        for transformers that ignore labels; others would see the labels of the rows
        that they score. "auto" is "once" for the encoders in front of the default
        learner, and "each" for your own pipeline.
    group_columns : column, list of columns or None, default=None
        Columns of X (names; integers for arrays) that hold the groups, instead of
        ``sensitive_features``. They are dropped before the estimator sees X.
    min_group_size : int, default=30
        Groups with fewer rows do not get a model of their own.
    min_class_size : int, default=25
        `fit` warns about groups with fewer rows in a class: their intervals may not
        hold. This does not apply to groups that borrow.
    small_groups : {"borrow", "error", "pooled"}, default="borrow"
        What to do with groups that are small or have only one class. "borrow" lets them
        borrow from the other groups, to the extent that groups are alike. Borrowing
        fades between 300 and 1,000 rows; with ``drift="ignore"`` only groups below
        ``min_group_size`` borrow. One row is enough. "error" raises an error, "pooled"
        uses the quantifier and pool of all groups together.
    unknown_groups : {"error", "pooled"}, default="error"
        What to do with groups that were not seen in training: raise an error, or use
        the quantifier and pool of all groups together.
    missing_groups : {"error", "group"}, default="error"
        What to do with rows without a group value: raise an error that names the first
        of them, or make them a group, ``"(missing)"``.
    random_state : int, RandomState or None, default=None
        The same seed gives the same predictions, whatever ``n_jobs`` is.
    n_jobs : int or None, default=None
        Number of models to train at the same time.
    verbose : int or bool, default=0
        Whether to show a progress bar while training.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.
    estimator_ : estimator
        The learner that was given or chosen, unfitted.
    candidates_ : DataFrame
        The learners that were tried, their log losses, and which was chosen.
    groups_ : list
        Groups seen in training; tuples if there were several sensitive columns.
    models_ : dict from group to GroupModel
        Histograms, learners, quantifier and pool of each group.
    pooled_ : GroupModel or None
        The model of all groups together, for small and unknown groups.
    prevalences_ : ndarray
        The grid Theta.
    fingerprint_ : str
        Hash of the fitted model. Evidence and adaptations carry it, and other models
        reject them.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X; only if all of them are text.

    See Also
    --------
    cape.quantify : The quantifiers.
    cape.rules : What to aim at: parity of shares or rates, best accuracy, bounds.
    cape.metrics : Prevalence difference, proportional equality, the fairness table.
    cape.examine : Everything about a batch.

    Notes
    -----
    ``docs/algorithm_1.py`` has Algorithm 1 as a plain loop.

    References
    ----------
    .. [1] A. Biswas and S. Mukherjee, "Ensuring fairness under prior probability
       shifts", AIES 2021.

    Examples
    --------
    >>> from cape.metrics import proportional_equality
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(
    ...     train.data, train.target, sensitive_features=train.sensitive_features
    ... )
    >>> y_pred = clf.predict(new.data, sensitive_features=new.sensitive_features)
    >>> pe = proportional_equality(
    ...     new.target, y_pred, sensitive_features=new.sensitive_features
    ... )
    >>> pe < 0.5
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
        "rule": [StrOptions(set(RULES)), Rule, None],
        "prevalences": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "drift": [StrOptions({"cautious", "ignore"})],
        "past": [Past, None],
        "share_estimator": ["boolean", StrOptions({"auto"})],
        "cv": ["cv_object", StrOptions({"auto", "prefit"})],
        "scores": [StrOptions({"auto", "refit", "folds"})],
        "preprocessing": [StrOptions({"auto", "each", "once"})],
        "group_columns": [str, Integral, "array-like", None],
        "min_group_size": [Interval(Integral, 2, None, closed="left")],
        "min_class_size": [Interval(Integral, 0, None, closed="left")],
        "small_groups": [StrOptions({"borrow", "error", "pooled"})],
        "unknown_groups": [StrOptions({"error", "pooled"})],
        "missing_groups": [StrOptions({"error", "group"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator=None,
        *,
        quantifier="onestep",
        pool="threshold",
        rule=None,
        drift="cautious",
        past=None,
        share_estimator="auto",
        prevalences=10,
        cv="auto",
        scores="auto",
        preprocessing="auto",
        group_columns=None,
        min_group_size=30,
        min_class_size=25,
        small_groups="borrow",
        unknown_groups="error",
        missing_groups="error",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.quantifier = quantifier
        self.pool = pool
        self.rule = rule
        self.drift = drift
        self.past = past
        self.share_estimator = share_estimator
        self.prevalences = prevalences
        self.cv = cv
        self.scores = scores
        self.preprocessing = preprocessing
        self.group_columns = group_columns
        self.min_group_size = min_group_size
        self.min_class_size = min_class_size
        self.small_groups = small_groups
        self.unknown_groups = unknown_groups
        self.missing_groups = missing_groups
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def paper(cls, **changes):
        """Return the classifier of the paper, unfitted.

        It uses histogram boosting, resampled members, SPA, ten folds and a refit,
        shares nothing between groups, and ignores drift.

        Parameters
        ----------
        **changes
            Parameters to change.

        Returns
        -------
        CapeClassifier

        Examples
        --------
        >>> CapeClassifier.paper(random_state=0).quantifier
        'spa'
        """
        settings = {
            "estimator": HistGradientBoostingClassifier(),
            "quantifier": "spa",
            "pool": "resampled",
            "rule": "prevalence",
            "drift": "ignore",
            "share_estimator": False,
            "prevalences": 10,
            "cv": 10,
            "scores": "refit",
            "preprocessing": "each",
            "small_groups": "error",
        }
        return cls(**{**settings, **changes})

    @short_errors()
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, *, sensitive_features=None, sample_weight=None):
        """Train a quantifier and a pool for each group.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            From numpy, scipy sparse, pandas, polars or pyarrow. It goes to the
            estimator without ``group_columns``, and as a data frame of pandas if it
            came from polars or pyarrow.
        y : array-like of shape (n_samples,)
            Labels of two classes; the greater label is the positive one. In an ordered
            ``pandas.Categorical`` it is the greater in its own order.
        sensitive_features : array-like or table of n_samples rows, default=None
            The group of each row. In a table of several columns, each combination of
            values is a group; later batches are matched by the names of its columns.
            None means one group.
        sample_weight : array-like of shape (n_samples,), default=None
            Draw probabilities within a class for PP-SAMPLING, weights for the learner,
            and weights in every rate. Equal weights are as none; of others only ratios
            matter, but to learners with a penalty. The default learner is then a single
            boosted model.

        Returns
        -------
        self
        """
        self._check_settings()
        X = pickable(X)
        features, groups = split_groups(
            X, sensitive_features, self.group_columns, self.missing_groups
        )
        check_same_length(
            X=X,
            y=y,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
        )
        classes, is_positive = check_binary_labels(y)
        weights = unequal_weights(sample_weight, X)
        labels = classes[is_positive.astype(int)]
        refuse_odd_cells(features)
        if weights is not None and not weights.all():
            # Nobody is drawn with probability 0, nor counted in any rate.
            kept = np.flatnonzero(weights)
            left = groups.weighed(kept)
            # Pairs of row numbers count all rows.
            if isinstance(self.cv, str | Integral) or hasattr(self.cv, "split"):
                groups = left
                features, labels = take_rows(features, kept), labels[kept]
                weights = unequal_weights(weights[kept], labels)
        if weights is not None and weights.mean() < LEAST_WEIGHT:
            # A penalty of the learner would outweigh rows that count next to nothing.
            raise ValueError(
                f"sample_weight must be at least {LEAST_WEIGHT:.3f} on average, "
                f"got {weights.mean():.3g}: learners take small weights for few rows. "
                "Multiply all weights by the same number, such as one that makes "
                "their mean 1."
            )
        data = TrainingData(features, labels, classes, weights)
        if data.n_columns == 0:
            # The last words are those that scikit-learn's estimator checks look for.
            raise ValueError(
                "X must have a column besides those of the groups, got 0 feature(s) "
                f"(shape=({len(labels)}, 0)) while a minimum of 1 is required."
            )
        try:
            models, pooled, recipe, tried = train_groups(self, data, groups)
        except (TypeError, ValueError) as error:
            note_on_text(error, features)
            raise

        # Attributes are set last: a fit that fails leaves no half-fitted model behind.
        validate_data(self, X, skip_check_array=True)
        self.classes_ = classes
        self.groups_ = groups.keys
        self.estimator_ = recipe.estimator
        self._tried = tried
        self.prevalences_ = recipe.thetas
        self.pooled_ = pooled
        self.models_ = models
        self.sensitive_names_ = named_columns(sensitive_features)
        # Without counts of columns, their types are still compared.
        self.types_ = TableCells.of(features) if self.drift == "ignore" else None
        self.grouped_ = sensitive_features is not None or self.group_columns is not None
        self.fingerprint_ = self._compute_fingerprint()
        return self

    @property
    def candidates_(self):
        """The learners that were tried, as a DataFrame that marks the chosen one."""
        import pandas as pd

        check_is_fitted(self)
        # A list is stored, since model files hold no data frames.
        return pd.DataFrame(self._tried).set_index("learner")

    def predict(
        self, X, *, sensitive_features=None, sample_weight=None, adaptation=None
    ):
        """Predict labels.

        Without an adaptation, this adapts to the batch first (CAPE-D of the paper): it
        equals ``predict(X, adaptation=adapt(X))``. A warning
        (`cape.AdaptationWarning`) names columns that are clearly not what they were in
        training, unless drift is ignored.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None
            As in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `adapt`. With an adaptation, weights change nothing.
        adaptation : Adaptation, default=None
            From `adapt`; each row is then predicted on its own.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        batch = batch_of(self, X, sensitive_features, sample_weight)
        positive = predict_batch(self, batch, adaptation, probabilities=False)
        return self.classes_.take(positive)

    def predict_proba(
        self, X, *, sensitive_features=None, sample_weight=None, adaptation=None
    ):
        """Predict probabilities of the two classes, with the members `predict` uses.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None
        sample_weight : array-like of shape (n_samples,), default=None
        adaptation : Adaptation, default=None

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The second column is above 1/2 exactly where `predict` returns
            ``classes_[1]``.
        """
        batch = batch_of(self, X, sensitive_features, sample_weight)
        positive = predict_batch(self, batch, adaptation, probabilities=True)
        return np.column_stack([1 - positive, positive])

    def predict_individually(self, X, *, sensitive_features=None):
        """Predict each row as a separate batch (CAPE-1 of the paper).

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = decide_individually(batch_of(self, X, sensitive_features))
        return self.classes_.take(positive)

    def score(
        self, X, y, *, sensitive_features=None, sample_weight=None, adaptation=None
    ):
        """Compute the accuracy of `predict` on this batch.

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
        labels, _ = check_labels(y)
        check_same_length(
            X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
        )
        check_same_kind(y=labels, classes_=self.classes_)
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y must hold the labels {self.classes_.tolist()} of the model, got "
                f"{unknown[0]!s:.40}."
            )
        y_pred = self.predict(
            X,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            adaptation=adaptation,
        )
        weights = unequal_weights(sample_weight, X)
        return float(np.average(labels == y_pred, weights=weights))

    def evidence(
        self,
        X,
        y=None,
        *,
        sensitive_features=None,
        inclusion_probability=None,
        sample_weight=None,
    ):
        """Count what CAPE needs to know about rows; the evidence of parts adds up.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            May be empty, which gives the zero.
        y : array-like of shape (n_samples,), default=None
            Labels of some rows, as in `adapt`.
        sensitive_features : array-like or table of n_samples rows, default=None
        inclusion_probability, sample_weight : array-like of shape (n_samples,), \
default=None
            As in `adapt`. Of parts, either all have weights or none.

        Returns
        -------
        Evidence
        """
        return find_evidence(
            self,
            X,
            sensitive_features,
            None,
            y=y,
            inclusion_probability=inclusion_probability,
            sample_weight=sample_weight,
            whole=False,
        )

    def adapt(
        self,
        X=None,
        y=None,
        *,
        sensitive_features=None,
        inclusion_probability=None,
        sample_weight=None,
        evidence=None,
        level=0.95,
        rule=None,
        drift=None,
        labels="with_scores",
    ):
        """Estimate the prevalence of each group and pick its member.

        A warning (`cape.AdaptationWarning`) says if more than the prevalence changed in
        some group, at the 1% level over all groups and columns, and which columns to
        look at. It also says if the interval of a prevalence is wider than 0.5, and
        repeats the notes of the rule. Prediction without an adaptation warns only about
        columns at fault.

        Labels of a few rows, drawn at random, are weighed together with the scores.
        They are used from ten labels a group on.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), default=None
            The batch. Exactly one of ``X`` and ``evidence`` is given.
        y : array-like of shape (n_samples,), default=None
            Labels of some rows, and missing values (None, NaN, NA, null) elsewhere. The
            labelled rows must be a random sample of each group. Early outcomes are not.
            If scores or columns show that rows are no random sample, their labels are
            not used, and a warning says so.
        sensitive_features : array-like or table of n_samples rows, default=None
        inclusion_probability : array-like of shape (n_samples,), default=None
            Probability with which each labelled row was drawn, from
            `cape.rows_to_label`. None means that all rows of a group had
            the same probability.
        sample_weight : array-like of shape (n_samples,), default=None
            How many members of a population each row stands for, such as the weights of
            a survey. Shares are then those of the population, and intervals and tests
            count the rows of equal weight that the rows are worth. Only ratios of
            weights matter: equal weights are as none.
        evidence : Evidence, default=None
            Evidence of the batch, from this model.
        level : float in (0, 1), default=0.95
            Confidence level of the intervals and of the bound on PD.
        rule : str or Rule, default=None
            What to aim at in this batch. None is that of the classifier.
        drift : {"cautious", "ignore"}, default=None
            None is that of the classifier.
        labels : {"with_scores", "alone"}, default="with_scores"
            "alone" judges the share of a group with labels by these alone. They then
            need more rows, and the interval holds whatever has changed; scores only
            tell which rows are alike.

        Returns
        -------
        Adaptation
        """
        check_is_fitted(self)
        check_prevalence("level", level, closed=False)
        rule = rule_of(self, rule)
        drift = check_drift(self.drift if drift is None else drift)
        columns = drift == "cautious"
        evidence = find_evidence(
            self,
            X,
            sensitive_features,
            evidence,
            y=y,
            inclusion_probability=inclusion_probability,
            sample_weight=sample_weight,
            columns=columns,
        )
        models = {group: self.model_of(group) for group in evidence.groups}
        adaptation = adapt(
            models,
            evidence,
            level=level,
            rule=rule,
            drift=drift,
            past=self.past,
            group_columns=combined_columns(self.group_columns),
            # The paper's rule has no use for rates.
            correct_rates=not isinstance(rule, Prevalence),
            labels=labels,
        )
        warn_if_doubtful(adaptation)
        return adaptation

    def freeze(self, adaptation):
        """Return an estimator with one fixed adaptation.

        Use it for inspection (partial dependence, SHAP), for serving row by row, and in
        pipelines.

        Parameters
        ----------
        adaptation : Adaptation
            From `adapt`.

        Returns
        -------
        FrozenCape
        """
        check_is_fitted(self)
        check_same_model(self, "adaptation", adaptation, Adaptation)
        return FrozenCape(self, adaptation)

    def model_of(self, group: Group, groups: Groups | None = None) -> GroupModel:
        """Return the model that serves a group: its own, or the pooled one.

        Parameters
        ----------
        group : value, or tuple of values
        groups : Groups, default=None
            The groups of a batch, so that an error can say how many rows it concerns.

        Returns
        -------
        GroupModel
        """
        if group in self.models_:
            return self.models_[group]
        if self.pooled_ is not None and self.unknown_groups == "pooled":
            return self.pooled_
        # As in Python: 1 and "1" are two groups, and look alike otherwise.
        known = ", ".join(map(repr, self.groups_[:10]))
        where = ""
        if groups is not None:
            code = groups.keys.index(group)
            where = f" in {np.count_nonzero(groups.codes == code)} rows"
        source = "sensitive_features"
        if self.group_columns is not None:
            source = "group_columns"
        raise ValueError(
            f"{source} must hold groups seen in training ({known}), got "
            f"{group!r}{where}. Fit with unknown_groups='pooled' to use "
            "the model of all groups together."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        learner = self.estimator
        if learner is None:
            learner = HistGradientBoostingClassifier()
        if hasattr(learner, "__sklearn_tags__"):
            # X goes to the learner as it came.
            tags.input_tags = get_tags(learner).input_tags
        return tags

    def _check_settings(self) -> None:
        """Raise if parameters do not go together, before anything is trained."""
        make_quantifier(self.quantifier)
        if isinstance(self.estimator, type):
            raise TypeError(f"estimator must be an instance, got {self.estimator!r}.")
        prefit = isinstance(self.cv, str) and self.cv == "prefit"
        prefit |= isinstance(self.estimator, Scores)
        if self.share_estimator is True and (prefit or self.pool == "resampled"):
            raise ValueError(
                "share_estimator must be False or 'auto' with cv='prefit', Scores or "
                "pool='resampled', which have learners of their own, got True."
            )
        if not prefit:
            learner = self.estimator
            while isinstance(learner, Pipeline):
                learner = learner.steps[-1][1]
            if isinstance(learner, (FrozenEstimator, FrozenCape)):
                raise ValueError(
                    f"estimator must be one that can be trained, got {learner!r:.200}, "
                    "which is fitted. Pass rows that it has not seen and cv='prefit', "
                    "or its scores as a column of X and cape.Scores as estimator."
                )
            return
        if self.pool != "threshold":
            raise ValueError(
                "pool must be 'threshold' with cv='prefit' and with Scores, got "
                f"{self.pool!r}."
            )
        if self.scores == "folds":
            raise ValueError(
                "scores must be 'refit' with cv='prefit' and with Scores, got "
                f"{self.scores!r}."
            )
        if self.estimator is None:
            raise ValueError(
                "estimator must be a fitted classifier with cv='prefit', got "
                f"{self.estimator!r}."
            )

    def _compute_fingerprint(self) -> str:
        """Hash what evidence and adaptations of this model depend on."""
        about = (self.classes_.tolist(), self.groups_)
        digest = hashlib.sha256(repr(about).encode())
        models = [self.models_[group] for group in self.groups_]
        if self.pooled_ is not None:
            models.append(self.pooled_)
        for model in models:
            for part in model.fingerprint_parts():
                digest.update(part)
        return digest.hexdigest()


class FrozenCape(ClassifierMixin, BaseEstimator):
    """A fitted `CapeClassifier` that no longer adapts.

    `CapeClassifier.predict` adapts to the rows it is given. It would adapt anew in
    every call of a service that predicts one row at a time, or of a tool that changes
    rows to see what happens (partial dependence, permutation importance, SHAP). This
    estimator always uses the same adaptation.

    Make one with `CapeClassifier.freeze`. Like scikit-learn's ``FrozenEstimator``, its
    `fit` does nothing, and a clone is the estimator itself.

    Parameters
    ----------
    estimator : CapeClassifier
        Fitted.
    adaptation : Adaptation
        Made by the estimator.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive one.

    Examples
    --------
    >>> adaptation = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> frozen = clf.freeze(adaptation)
    >>> first = frozen.predict(
    ...     new.data[:1], sensitive_features=new.sensitive_features[:1]
    ... )
    >>> all_rows = frozen.predict(
    ...     new.data, sensitive_features=new.sensitive_features
    ... )
    >>> bool(first[0] == all_rows[0])
    True
    """

    def __init__(self, estimator, adaptation):
        self.estimator = estimator
        self.adaptation = adaptation

    def fit(self, X=None, y=None, **ignored):
        """Do nothing: the model is already fitted.

        Parameters
        ----------
        X, y : object
            Ignored.
        **ignored : object
            Ignored.

        Returns
        -------
        self
        """
        return self

    def predict(self, X, *, sensitive_features=None):
        """Predict labels, row by row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None
            Groups of the rows. Tools that pass only X need a model with
            ``group_columns``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.estimator.predict(
            X, sensitive_features=sensitive_features, adaptation=self.adaptation
        )

    def predict_proba(self, X, *, sensitive_features=None):
        """Predict probabilities of the two classes, row by row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return self.estimator.predict_proba(
            X, sensitive_features=sensitive_features, adaptation=self.adaptation
        )

    def score(self, X, y, *, sensitive_features=None, sample_weight=None):
        """Compute the accuracy of `predict`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sensitive_features : array-like or table of n_samples rows, default=None
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        return self.estimator.score(
            X,
            y,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            adaptation=self.adaptation,
        )

    @property
    def classes_(self):
        """The labels; the second is the positive one."""
        return self.estimator.classes_

    @property
    def n_features_in_(self):
        """Columns of X."""
        return self.estimator.n_features_in_

    @property
    def feature_names_in_(self):
        """Names of the columns of X."""
        return self.estimator.feature_names_in_

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_clone__(self):
        return self

    def __sklearn_tags__(self):
        return get_tags(self.estimator)
