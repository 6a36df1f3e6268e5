"""Training a learner and reading its scores: the only place that calls ``fit`` and ``predict_proba``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn import get_config
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from cape._learners._linear import LinearStack
from cape._validation import among, has_fit_parameter, number_of_rows, take_rows
from cape.histogram import HALF, ONE, round_scores

__all__ = [
    "GroupRows",
    "RowsOf",
    "Scorer",
    "Scratch",
    "Start",
    "as_array",
    "fit_learner",
    "fresh",
    "is_steady",
    "read_rows",
    "score_rows",
    "takes_repetitions",
    "weight_keyword",
]

_HALF_DECISION = 2.0**-31
"""Log-odds above which a score, rounded to a multiple of 2^-32, is above 1/2: those of 1/2 + 2^-33."""

_ROWS_PER_COEFFICIENT = 20


def weight_keyword(estimator: Any) -> str:
    """Name under which the learner's ``fit`` takes weights; a pipeline hands them to its last step."""
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if get_config()["enable_metadata_routing"] and _takes_any_keyword(estimator.fit):
        return "sample_weight"
    if isinstance(estimator, Pipeline) and has_fit_parameter(
        estimator.steps[-1][1], "sample_weight"
    ):
        return f"{estimator.steps[-1][0]}__sample_weight"
    raise ValueError(
        f"sample_weight must be None for a learner whose fit takes no weights, got weights for {estimator!r}."
    )


def _takes_any_keyword(function: Any) -> bool:
    return any(
        parameter.kind is parameter.VAR_KEYWORD
        for parameter in signature(function).parameters.values()
    )


def fresh(estimator: Any, seed: int) -> Any:
    """A clone to be fitted. Every ``random_state`` that the user left at None is drawn from ``seed``."""
    model = clone(estimator, safe=False)
    random = np.random.RandomState(seed)
    params: dict[str, Any] = getattr(model, "get_params", dict)()
    unset = [
        k
        for k in sorted(params)
        if k.split("__")[-1] == "random_state" and params[k] is None
    ]
    if unset:
        model.set_params(
            **{name: random.randint(np.iinfo(np.int32).max) for name in unset}
        )
    return model


def fit_learner(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    *,
    weights: np.ndarray | None = None,
    seed: int = 0,
    start: Any = None,
) -> Any:
    """Fit a clone, from a `Start` if there is one."""
    model = fresh(estimator, seed)
    given = {} if weights is None else {weight_keyword(model): weights}
    if start is None:
        return model.fit(X, y, **given)
    model.coef_, model.intercept_ = start
    model.warm_start = True
    model.fit(X, y, **given)
    model.warm_start = estimator.warm_start
    return model


@dataclass(frozen=True)
class GroupRows:
    """The rows of a group, for learners to train on and to read.

    Parameters
    ----------
    X : table
        Of all groups.
    rows : ndarray or None, default=None
        Which rows are the group's; None is all of them.
    """

    X: Any
    rows: np.ndarray | None = None

    @classmethod
    def of(cls, X: Any) -> GroupRows:
        """All rows of a table are one group; a group stays as it is."""
        return X if isinstance(X, cls) else cls(X)

    def take_repetitions(self, estimator: Any) -> bool:
        """Whether a learner had better have each distinct row once, with a weight, than repeated rows."""
        return takes_repetitions(estimator)

    def fit(
        self,
        estimator: Any,
        y: np.ndarray,
        some: np.ndarray | None = None,
        *,
        weights: np.ndarray | None = None,
        seed: int = 0,
        start: Start | None = None,
        n_rows: int | None = None,
    ) -> Any:
        """Train a learner on some of the rows, whose labels are ``y``; None is all of them.

        ``n_rows`` is how many rows they stand for, if weights are their repetitions.
        """
        rows = self.rows if some is None else among(self.rows, some)
        return fit_learner(
            estimator,
            take_rows(self.X, rows),
            y,
            weights=weights,
            seed=seed,
            start=start,
        )

    def to_read(self, some: np.ndarray | None = None) -> RowsOf:
        """Some of the rows; None is all of them."""
        return RowsOf(self.X, self.rows if some is None else among(self.rows, some))


class Start(NamedTuple):
    """Where the training of a logistic regression may begin."""

    coefficients: np.ndarray
    intercept: np.ndarray

    @classmethod
    def near(cls, model: Any, prevalence: float, theta: float) -> Start:
        """The optimum for another prevalence if nothing else moves: a model's own, with its intercept shifted.

        Under prior shift the odds of every row change by the factor theta (1 - pi) / ((1 - theta) pi).
        """
        return cls(
            model.coef_.copy(), model.intercept_ + (logit(theta) - logit(prevalence))
        )


def takes_repetitions(estimator: Any) -> bool:
    """Whether a row of weight 3 teaches the learner just what three equal rows do, and faster.

    A sample with replacement has about .6 of the rows. Learners that count rows, draw them or stop early do not
    qualify.

    Examples
    --------
    >>> takes_repetitions(LogisticRegression()), takes_repetitions(LogisticRegression(solver="saga"))
    (True, False)
    """
    return (
        type(estimator) is LogisticRegression
        and estimator.solver in ("lbfgs", "newton-cg", "newton-cholesky")
        and estimator.class_weight is None
    )


class Scratch:
    """Memory for copies of rows, used again and again: to get it anew costs more than to copy.

    Examples
    --------
    >>> Scratch().take(np.arange(6.0).reshape(3, 2), np.array([0, 2])).tolist()
    [[0.0, 1.0], [4.0, 5.0]]
    """

    def __init__(self) -> None:
        self.memory = np.empty((0, 0))

    def take(self, array: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """A copy of the rows, valid until the next."""
        n_columns = array.shape[1]
        if (
            self.memory.dtype != array.dtype
            or self.memory.shape[1] != n_columns
            or len(self.memory) < len(rows)
        ):
            self.memory = np.empty((len(rows), n_columns), array.dtype)
        return array.take(rows, axis=0, out=self.memory[: len(rows)], mode="clip")


class RowsOf:
    """Some rows of a table, copied out only if a learner needs them whole.

    Parameters
    ----------
    X : table
    rows : ndarray of int, slice or None, default=None
        Which rows, in ascending order; None is all of them. A slice has a start and a stop.
    array : ndarray, optional
        The numbers of ``X``, if somebody has them already; see `as_array`.
    scratch : Scratch, optional
        Where copies of rows of an array may be made; other work must not use it at the same time.
    known : dict from the identity of a linear model to ndarray, optional
        Products of its weights and these rows, if somebody has them already; good for one reading.

    Examples
    --------
    >>> some = RowsOf(np.arange(6.0).reshape(3, 2), np.array([0, 2]))
    >>> len(some), some.table().tolist()
    (2, [[0.0, 1.0], [4.0, 5.0]])
    """

    def __init__(
        self,
        X: Any,
        rows: np.ndarray | slice | None = None,
        *,
        array: np.ndarray | None = None,
        scratch: Scratch | None = None,
        known: dict[int, np.ndarray] | None = None,
    ):
        self.X, self.rows, self.scratch, self.known = X, rows, scratch, known or {}
        self.array: np.ndarray | None = as_array(X) if array is None else array

    @classmethod
    def of(cls, X: Any) -> RowsOf:
        """All rows of a table; rows already chosen stay as they are."""
        return X if isinstance(X, cls) else cls(X)

    def __len__(self) -> int:
        if isinstance(self.rows, slice):
            return self.rows.stop - self.rows.start
        return number_of_rows(self.X) if self.rows is None else len(self.rows)

    def table(self) -> Any:
        """The rows, as a table of the kind they came in."""
        is_array = self.array is not None and self.array is self.X
        if is_array and self.scratch is not None and isinstance(self.rows, np.ndarray):
            return self.scratch.take(self.X, self.rows)
        return take_rows(self.X, self.rows)


def as_array(X: Any) -> np.ndarray | None:
    """The numbers of a numpy or pandas table as a linear learner reads them; None for tables of any other content."""
    if hasattr(X, "dtypes") and hasattr(X, "to_numpy"):
        if not all(
            isinstance(dtype, np.dtype) and dtype.kind in "fi"
            for dtype in np.ravel(X.dtypes)
        ):
            return None
        X = X.to_numpy()
    return (
        X
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float32, np.float64)
        else None
    )


def score_rows(model: Any, X: Any, positive: Any) -> np.ndarray:
    """Rounded score of each row (of a table or `RowsOf`): the model's probability of the label ``positive``."""
    return read_rows(X, positive, scoring=[model])[0][0]


def read_rows(
    X: Any, positive: Any, *, scoring: Sequence[Any] = (), voting: Sequence[Any] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """What models say of the rows of a table, or of `RowsOf`.

    Returns
    -------
    scores : ndarray of int64 of shape (n_scoring, n_rows)
        Rounded scores by the models ``scoring``.
    votes : ndarray of bool of shape (n_voting, n_rows)
        Whether the score by each of the models ``voting`` is above 1/2.
    """
    rows = RowsOf.of(X)
    scores = np.empty((len(scoring), len(rows)), dtype=np.int64)
    votes = np.empty((len(voting), len(rows)), dtype=bool)
    if not _read_linear(rows, positive, scoring, voting, scores, votes):
        table = rows.table()
        for i, model in enumerate(scoring):
            scores[i] = _score(model, table, positive)
        for i, model in enumerate(voting):
            votes[i] = _score(model, table, positive) > HALF
    return scores, votes


def _read_linear(
    rows: RowsOf, positive: Any, scoring: Any, voting: Any, scores: Any, votes: Any
) -> bool:
    """Fill ``scores`` and ``votes`` if all models are linear; False, and nothing of use in them, if not."""
    X, stack, k = (
        rows.array,
        LinearStack.of([*scoring, *voting], positive),
        len(scoring),
    )
    if X is None or stack is None or X.shape[1] != stack.weights.shape[1]:
        return False
    total = 0.0
    where = slice(0, len(rows)) if rows.rows is None else rows.rows
    if not voting and len(scoring) == 1 and id(scoring[0]) in rows.known:
        odds = rows.known.pop(id(scoring[0]))[
            None
        ]  # logarithms of odds; taken out, since they are overwritten below
    elif not voting:
        odds = stack.multiply(X, where)
    else:
        odds = np.empty(scores.shape)
        above_half = _HALF_DECISION - stack.intercepts[k:, None]
        for place, products in stack.products(X, where):
            total += products[0].sum()
            odds[:, place] = products[:k]
            np.greater(products[k:], above_half, out=votes[:, place])
    if not np.isfinite(total + odds.sum()):
        return False  # predict_proba will say what is wrong with X
    odds += stack.intercepts[:k, None]
    np.rint(
        np.multiply(expit(odds, out=odds), ONE, out=odds), out=scores, casting="unsafe"
    )
    return True


def _score(model: Any, X: Any, positive: Any) -> np.ndarray:
    if number_of_rows(X) == 0:
        return np.empty(0, dtype=np.int64)
    probabilities = np.asarray(model.predict_proba(X))
    classes = list(getattr(model, "classes_", [None, positive]))
    if probabilities.ndim != 2 or probabilities.shape[1] != len(classes):
        raise ValueError(
            f"estimator must give probabilities of {len(classes)} classes, got an array of shape {probabilities.shape} "
            f"from {model!r}."
        )
    if positive not in classes:  # trained without a single positive
        return np.zeros(len(probabilities), dtype=np.int64)
    return round_scores(probabilities[:, classes.index(positive)])


def is_steady(model: Any, rows: int) -> bool:
    """Whether a fitted learner is linear with few coefficients for so many rows.

    Scores of such a model, refitted on all rows, follow those of its fold models on rows they have not seen; those of a
    flexible learner do not.
    """
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    coefficients = getattr(last, "coef_", None)
    return coefficients is not None and rows >= _ROWS_PER_COEFFICIENT * np.size(
        coefficients
    )


@dataclass(frozen=True)
class Scorer:
    """Scores a batch with one model, or with all fold models whose histograms are then pooled."""

    models: list[Any]
    positive: Any

    def __call__(self, X: Any) -> np.ndarray:
        """Rounded scores of shape (n_models, n_rows)."""
        return read_rows(X, self.positive, scoring=self.models)[0]


def as_probability(scores: np.ndarray) -> np.ndarray:
    """Rounded scores as numbers in [0, 1]."""
    return scores / ONE
