"""Dask: tables and files on a cluster.

Evidence is computed partition by partition and added up, the adaptation is sent to the
workers, and rows are predicted where they are. Evidence adds up exactly, so the answers
are those of `CapeClassifier` in memory, however the rows are cut into partitions and
whichever worker does them. If a worker is lost, its partitions are done again by
another, which changes nothing.
"""

from __future__ import annotations

import operator
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cape._adaptation import Adaptation
from cape._evidence import Evidence
from cape._groups import Group
from cape._learners._threads import in_order
from cape._packages import require_extra
from cape._prediction import (
    Reading,
    batch_of,
    decide,
    read_batch,
    refuse_row_keepers,
)
from cape._validation import check_fitted_cape
from cape.classifier import CapeClassifier

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "adapt",
    "evidence",
    "fit",
    "on_workers",
    "predict",
    "predict_proba",
    "training_on",
]

_FAN_IN = 8
"""How many pieces of evidence one task adds up."""


def fit(
    clf: CapeClassifier, X: Any, y: Any, *, client: Any = None, **fit_params: Any
) -> CapeClassifier:
    """Fit a model, with the learners trained by the workers of a cluster.

    The folds, refits and members of all groups are trained side by side. The training
    rows must fit into memory here and on each worker.

    Parameters
    ----------
    clf : CapeClassifier
        The model to fit.
    X : table of shape (n_samples, n_columns)
        Training rows, as in ``clf.fit``.
    y : array-like of shape (n_samples,)
        Labels, as in ``clf.fit``.
    client : distributed.Client, default=None
        The cluster. None means the current client.
    **fit_params
        ``sensitive_features`` and ``sample_weight``, as in ``clf.fit``.

    Returns
    -------
    CapeClassifier
        ``clf``, fitted; with the same seed it is the same as without a cluster.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> with Client(address) as client:  # doctest: +SKIP
    ...     clf = fit(CapeClassifier(), X, y, sensitive_features=z, client=client)
    """
    # An extra: who does not use a cluster need not have it.
    require_extra("dask", "distributed", what="cape.scale")
    import distributed

    if client is None:
        client = distributed.get_client()
    with training_on(client):
        return clf.fit(X, y, **fit_params)


@contextmanager
def training_on(client: Any) -> Iterator[None]:
    """Let the workers of a cluster train all learners of a block.

    Parameters
    ----------
    client : distributed.Client
        The cluster. Learners reach it through joblib's backend for Dask.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> with training_on(Client(address)):  # doctest: +SKIP
    ...     train_file("train.parquet", "model.cape", label="y", group=["z"])
    """
    import joblib

    with client.as_current(), joblib.parallel_config(backend="dask"):
        yield


def evidence(
    clf: CapeClassifier,
    ddf: Any,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    inclusion_probability: Any = None,
) -> Evidence:
    """Compute the evidence of all rows of a Dask DataFrame.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model. Its quantifier must not be one that keeps rows.
    ddf : dask.dataframe.DataFrame
        The rows.
    y : str or Dask Series, default=None
        Labels of some rows, as in ``clf.adapt``: a column of ``ddf`` by name, which is
        then not a feature, or a collection with the partitions and index of ``ddf``.
    sensitive_features : str, list of str, Dask Series or DataFrame, default=None
        Columns of ``ddf`` by name, which are then not features; or a collection with
        the partitions and the index of ``ddf``. None if the model has
        ``group_columns``, or was fitted without groups.
    inclusion_probability : str or Dask Series, default=None
        Probability with which each labelled row was drawn, given as ``y`` is.

    Returns
    -------
    Evidence
        The same as ``clf.evidence`` gives for all rows in memory.

    Raises
    ------
    TypeError
        If ``ddf`` is not a Dask DataFrame, or if the quantifier keeps rows.
    ValueError
        If ``sensitive_features``, ``y`` or ``inclusion_probability`` name unknown
        columns, or have other partitions or another index.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from cape import scale
    >>> ddf = dd.from_pandas(new.frame[["U", "V", "z"]], npartitions=3)
    >>> scale.evidence(clf, ddf, sensitive_features="z")
    Evidence(0: 500 rows, 1: 500 rows)
    """
    from dask import delayed

    check_fitted_cape(clf)
    refuse_row_keepers(clf, "cape.scale")
    collections = _split(ddf, sensitive_features, y, inclusion_probability)
    # With traverse, Dask would search the whole model for collections.
    model = delayed(clf, traverse=False)
    pieces = [delayed(_evidence)(model, *rows) for rows in _partitions(*collections)]
    return _sum_as_a_tree(pieces).compute()


def adapt(
    clf: CapeClassifier,
    ddf: Any,
    y: Any = None,
    *,
    sensitive_features: Any = None,
    inclusion_probability: Any = None,
    level: float = 0.95,
    rule: Any = None,
) -> Adaptation:
    """Adapt a model to all rows of a Dask DataFrame, in one pass.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model. Its quantifier must not be one that keeps rows.
    ddf : dask.dataframe.DataFrame
        The rows.
    y : str or Dask Series, default=None
        Labels of some rows, as in `evidence`.
    sensitive_features : str, list of str, Dask Series or DataFrame, default=None
        As in `evidence`.
    inclusion_probability : str or Dask Series, default=None
        As in `evidence`.
    level : float in (0, 1), default=0.95
        Confidence level of the intervals and of the bound on PD.
    rule : str or Rule, default=None
        What to aim at, as in ``clf.adapt``.

    Returns
    -------
    Adaptation
        The same as ``clf.adapt`` gives for all rows in memory.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from cape import scale
    >>> ddf = dd.from_pandas(new.frame[["U", "V", "z"]], npartitions=3)
    >>> in_memory = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> scale.adapt(clf, ddf, sensitive_features="z") == in_memory
    True
    """
    batch = evidence(
        clf,
        ddf,
        y,
        sensitive_features=sensitive_features,
        inclusion_probability=inclusion_probability,
    )
    return clf.adapt(evidence=batch, level=level, rule=rule)


def predict(
    clf: CapeClassifier,
    ddf: Any,
    *,
    sensitive_features: Any = None,
    adaptation: Adaptation | None = None,
) -> Any:
    """Predict the rows of a Dask DataFrame with one adaptation for all partitions.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model.
    ddf : dask.dataframe.DataFrame
        The rows. Without an adaptation they are read immediately, and the scores stay
        on the workers until the predictions are computed.
    sensitive_features : str, list of str, Dask Series or DataFrame, default=None
        As in `evidence`.
    adaptation : Adaptation, default=None
        The adaptation to use. None adapts to ``ddf``.

    Returns
    -------
    dask.dataframe.Series
        The predictions, not computed yet, under the name "prediction" and with the
        index and the partitions of ``ddf``.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from cape import scale
    >>> ddf = dd.from_pandas(new.frame[["U", "V", "z"]], npartitions=3)
    >>> y_pred = scale.predict(clf, ddf, sensitive_features="z").compute()
    >>> in_memory = clf.predict(new.data, sensitive_features=new.sensitive_features)
    >>> bool((y_pred == in_memory).all())
    True
    """
    return _predict_rows(clf, ddf, sensitive_features, adaptation, probabilities=False)


def predict_proba(
    clf: CapeClassifier,
    ddf: Any,
    *,
    sensitive_features: Any = None,
    adaptation: Adaptation | None = None,
) -> Any:
    """Predict probabilities of the rows of a Dask DataFrame, like `predict`.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model.
    ddf : dask.dataframe.DataFrame
        The rows.
    sensitive_features : str, list of str, Dask Series or DataFrame, default=None
        As in `evidence`.
    adaptation : Adaptation, default=None
        The adaptation to use. None adapts to ``ddf``.

    Returns
    -------
    dask.dataframe.DataFrame
        A column for each of ``clf.classes_``, not computed yet, with the index and the
        partitions of ``ddf``.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from cape import scale
    >>> ddf = dd.from_pandas(new.frame[["U", "V", "z"]], npartitions=3)
    >>> scale.predict_proba(clf, ddf, sensitive_features="z").columns.tolist()
    [0, 1]
    """
    return _predict_rows(clf, ddf, sensitive_features, adaptation, probabilities=True)


def on_workers(
    client: Any, *, ahead: int = 2
) -> Callable[..., Iterator[tuple[Any, Any]]]:
    """Let the workers of a cluster process the parts of a file, in order.

    The file is read here, so it may have any format and be anywhere. Workers hold only
    the parts they are working on, so memory stays bounded. Shared data are sent once to
    each worker.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    ahead : int, default=2
        How many parts may be under way for each thread of the cluster.

    Returns
    -------
    callable
        ``each(work, shared, parts)``, as `cape.files.predict_file` takes it: an
        iterator over pairs of a part and ``work(*shared, part)``.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> each = on_workers(Client(address))  # doctest: +SKIP
    >>> predict_file(model, "new.parquet", "out.csv", each=each)  # doctest: +SKIP
    """

    def each(
        work: Callable[..., Any], shared: tuple, parts: Iterable[Any]
    ) -> Iterator[tuple[Any, Any]]:
        # As tasks and not by `client.scatter`: what was scattered is gone with the
        # workers that hold it, and a task is done again. Not pure: hashing a model
        # takes longer than sending it.
        with warnings.catch_warnings():
            # Dask advises to scatter what is large.
            warnings.filterwarnings("ignore", message="Sending large graph")
            common = [client.submit(_itself, item, pure=False) for item in shared]
        # A cluster whose workers are still starting has no threads yet.
        threads_of_workers = client.nthreads().values()
        n_threads = max(sum(threads_of_workers), 1)
        waiting_parts: deque[Any] = deque()

        def submit(part: Any) -> Any:
            waiting_parts.append(part)
            # A pure task is named by a hash of its arguments, which is slow for tables.
            return client.submit(work, *common, part, pure=False)

        # Results come in the order of the parts: the next belongs to the oldest part.
        for result in in_order(submit, parts, n_threads * ahead):
            yield waiting_parts.popleft(), result

    return each


def _itself(item: Any) -> Any:
    return item


def _partitions(*collections: Any) -> list[tuple[Any, ...]]:
    """List the partitions of collections, each as delayed rows; some may be None."""
    columns = []
    for collection in collections:
        delayed = [None] * collections[0].npartitions
        if collection is not None:
            delayed = collection.to_delayed()
        columns.append(delayed)
    return list(zip(*columns, strict=True))


def _split(
    ddf: Any, sensitive_features: Any, y: Any = None, inclusion_probability: Any = None
) -> list[Any]:
    """Separate features, groups, labels and their probabilities; some may be None."""
    if not hasattr(ddf, "npartitions") or not hasattr(ddf, "columns"):
        raise TypeError(f"ddf must be a Dask DataFrame, got {type(ddf).__name__}.")
    arguments = {
        "sensitive_features": sensitive_features,
        "y": y,
        "inclusion_probability": inclusion_probability,
    }
    taken: list[Any] = []
    collections = []
    for parameter, given in arguments.items():
        if given is None or hasattr(given, "npartitions"):
            if given is not None and given.npartitions != ddf.npartitions:
                raise ValueError(
                    f"{parameter} must have the {ddf.npartitions} partitions of ddf, "
                    f"got {given.npartitions}."
                )
            collections.append(given)
            continue
        columns = [given] if isinstance(given, str) else list(given)
        unknown = [column for column in columns if column not in ddf.columns]
        if unknown:
            raise ValueError(
                f"{parameter} must be columns of ddf, among "
                f"{list(ddf.columns)[:20]}, got {unknown}."
            )
        taken += columns
        # One column is a Series, several are a DataFrame.
        collections.append(ddf[columns[0] if len(columns) == 1 else columns])
    return [ddf.drop(columns=taken), *collections]


def _predict_rows(
    clf: CapeClassifier,
    ddf: Any,
    sensitive_features: Any,
    adaptation: Adaptation | None,
    *,
    probabilities: bool,
) -> Any:
    """Predict labels or probabilities."""
    import dask
    import dask.dataframe as dd

    features, groups, *_ = _split(ddf, sensitive_features)
    model = dask.delayed(clf, traverse=False)
    # Dask needs an empty result to know the type of the predictions.
    no_rows = _as_result(clf, np.empty(0), ddf._meta.index[:0], probabilities)
    if adaptation is not None:
        return features.map_partitions(
            _predict,
            groups,
            model,
            adaptation,
            probabilities,
            meta=no_rows,
            # Partitions belong together by position; the index may hold duplicates.
            align_dataframes=False,
        )
    check_fitted_cape(clf)
    refuse_row_keepers(clf, "cape.scale")
    # Each row is scored once: the scores that members decide by stay on the workers
    # that computed them.
    readings = []
    for rows in _partitions(features, groups):
        readings.append(dask.delayed(_read)(model, *rows, probabilities))
    readings = list(dask.persist(*readings))
    pieces = [reading.evidence for reading in readings]
    adaptation = clf.adapt(evidence=_sum_as_a_tree(pieces).compute())
    parts = []
    for reading in readings:
        parts.append(dask.delayed(_decide)(model, reading, adaptation, probabilities))
    return dd.from_delayed(parts, meta=no_rows, divisions=features.divisions)


class _ReadPartition(NamedTuple):
    """What was read of a partition: small enough to stay on a worker."""

    index: Any
    evidence: Evidence
    rows: list[tuple[Group, Any, np.ndarray]]


def _read(
    clf: CapeClassifier, features: pd.DataFrame, groups: Any, probabilities: bool
) -> _ReadPartition:
    """Score the rows of a partition, and keep what members decide by."""
    _check_same_index(features, sensitive_features=groups)
    batch = batch_of(clf, features, groups)
    readings, evidence = read_batch(batch, probabilities=probabilities)
    rows = [(reading.group, reading.index, reading.deciding) for reading in readings]
    return _ReadPartition(features.index, Evidence(clf.fingerprint_, evidence), rows)


def _check_same_index(features: pd.DataFrame, **columns: Any) -> None:
    """Raise if columns of a partition are those of other rows, or in other order."""
    for parameter, column in columns.items():
        if column is not None and not features.index.equals(column.index):
            raise ValueError(
                f"{parameter} must have the index of ddf in every partition, in the "
                "same order: align them, or make them columns of ddf."
            )


def _decide(
    clf: CapeClassifier,
    partition: _ReadPartition,
    adaptation: Adaptation,
    probabilities: bool,
) -> Any:
    """Decide on the rows of a partition that was read before."""
    readings = []
    for group, index, deciding in partition.rows:
        model = clf.model_of(group)
        readings.append(Reading(group, model, index, deciding, deciding))
    n_rows = len(partition.index)
    positive = decide(readings, adaptation, n_rows=n_rows, probabilities=probabilities)
    return _as_result(clf, positive, partition.index, probabilities)


def _as_result(
    clf: CapeClassifier, positive: np.ndarray, index: Any, probabilities: bool
) -> pd.Series | pd.DataFrame:
    """Return what was decided as labels, or as probabilities of both classes."""
    import pandas as pd

    if probabilities:
        both = np.column_stack([1 - positive, positive])
        return pd.DataFrame(both, index=index, columns=clf.classes_)
    labels = clf.classes_.take(positive.astype(np.intp))
    return pd.Series(labels, index=index, name="prediction")


def _sum_as_a_tree(pieces: list[Any]) -> Any:
    """Add up delayed evidence, a few pieces at a time.

    A single task for the sum would need the evidence of all partitions on one worker.
    """
    from dask import delayed

    while len(pieces) > 1:
        sums = []
        for start in range(0, len(pieces), _FAN_IN):
            branch = pieces[start : start + _FAN_IN]
            sums.append(delayed(reduce)(operator.add, branch))
        pieces = sums
    return pieces[0]


def _evidence(
    clf: CapeClassifier, features: pd.DataFrame, groups: Any, y: Any, probability: Any
) -> Evidence:
    """Compute the evidence of a partition."""
    _check_same_index(
        features, sensitive_features=groups, y=y, inclusion_probability=probability
    )
    return clf.evidence(
        features, y, sensitive_features=groups, inclusion_probability=probability
    )


def _predict(
    features: pd.DataFrame,
    groups: Any,
    clf: CapeClassifier,
    adaptation: Adaptation,
    probabilities: bool,
) -> pd.Series | pd.DataFrame:
    """Predict the rows of a partition."""
    _check_same_index(features, sensitive_features=groups)
    given = {"sensitive_features": groups, "adaptation": adaptation}
    if probabilities:
        positive = clf.predict_proba(features, **given)[:, 1]
    else:
        positive = clf.predict(features, **given) == clf.classes_[1]
    return _as_result(clf, positive, features.index, probabilities)
