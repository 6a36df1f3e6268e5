"""Dask: evidence is reduced over partitions, the adaptation is sent out, and rows are predicted where they are.

The answers are those of `CapeClassifier` in memory, however the rows are cut into partitions and whichever worker does
them, since evidence adds up exactly. A worker lost in the middle changes nothing: its partitions are done again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cape._learners import in_order
from cape._prediction import refuse_row_keepers
from cape._validation import check_is_fitted
from cape.adaptation import Adaptation
from cape.classifier import CapeClassifier
from cape.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["adapt", "evidence", "fit", "on_workers", "predict", "training_on"]

_FAN_IN = 8


def fit(
    clf: CapeClassifier, X: Any, y: Any, *, client: Any = None, **fit_params: Any
) -> CapeClassifier:
    """Fit with the trainings - folds, refits and members of all groups - done by the workers of a cluster.

    The training rows must fit into memory here and on each worker.

    Parameters
    ----------
    clf : CapeClassifier
    X, y
        As in ``clf.fit``.
    client : distributed.Client, default=None
        None is the current one.
    **fit_params
        ``sensitive_features`` and ``sample_weight``, as in ``clf.fit``.

    Returns
    -------
    clf
        Fitted, and the same as without a cluster, seed for seed.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> fit(CapeClassifier(random_state=0), X, y, sensitive_features=z, client=Client(address))  # doctest: +SKIP
    """
    import distributed

    with training_on(client or distributed.get_client()):
        return clf.fit(X, y, **fit_params)


@contextmanager
def training_on(client: Any) -> Iterator[None]:
    """Have all trainings inside done by the workers of a cluster, through joblib's backend for Dask.

    Parameters
    ----------
    client : distributed.Client

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
    clf: CapeClassifier, ddf: Any, *, sensitive_features: Any = None
) -> Evidence:
    """Evidence of all rows of a Dask DataFrame, the same as in memory.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted, with a quantifier that does not keep rows.
    ddf : dask.dataframe.DataFrame
    sensitive_features : column, list of columns, Dask Series or DataFrame, default=None
        Columns of ``ddf`` by name, which are then no features; or a collection with the same partitions; or None if
        the model has ``group_columns``, or no groups.

    Returns
    -------
    Evidence

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> ddf = dd.from_pandas(d.frame[["U", "V", "z"]], npartitions=3)
    >>> evidence(clf, ddf, sensitive_features="z")
    Evidence(0: 500 rows, 1: 500 rows)
    """
    from dask import delayed

    check_is_fitted(clf)
    refuse_row_keepers(clf, "cape.scale")
    features, groups = _split(ddf, sensitive_features)
    model = delayed(clf, traverse=False)
    parts = features.to_delayed()
    labels = [None] * len(parts) if groups is None else groups.to_delayed()
    found = [
        delayed(_evidence)(model, part, of_rows)
        for part, of_rows in zip(parts, labels, strict=True)
    ]
    while (
        len(found) > 1
    ):  # a tree, so that no worker holds the evidence of all partitions at once
        found = [
            delayed(_total)(found[i : i + _FAN_IN])
            for i in range(0, len(found), _FAN_IN)
        ]
    return found[0].compute()


def adapt(
    clf: CapeClassifier,
    ddf: Any,
    *,
    sensitive_features: Any = None,
    level: float = 0.95,
) -> Adaptation:
    """Adapt to all rows of a Dask DataFrame: one reduction over its partitions.

    Parameters
    ----------
    clf : CapeClassifier
    ddf : dask.dataframe.DataFrame
    sensitive_features : column, list of columns, Dask Series or DataFrame, default=None
        As in `evidence`.
    level : float in (0, 1), default=0.95
        Confidence level of the intervals and of the bound on PD.

    Returns
    -------
    Adaptation

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> ddf = dd.from_pandas(d.frame[["U", "V", "z"]], npartitions=3)
    >>> adapt(clf, ddf, sensitive_features="z") == clf.adapt(d.data, sensitive_features=d.sensitive_features)
    True
    """
    return clf.adapt(
        evidence=evidence(clf, ddf, sensitive_features=sensitive_features), level=level
    )


def predict(
    clf: CapeClassifier,
    ddf: Any,
    *,
    sensitive_features: Any = None,
    adaptation: Adaptation | None = None,
) -> Any:
    """Predict the rows of a Dask DataFrame, partition by partition, with one adaptation for all of them.

    Parameters
    ----------
    clf : CapeClassifier
    ddf : dask.dataframe.DataFrame
        Read twice when there is no adaptation yet: once for the evidence, once for the predictions.
    sensitive_features : column, list of columns, Dask Series or DataFrame, default=None
        As in `evidence`.
    adaptation : Adaptation, default=None
        None adapts to ``ddf``, at once; the predictions themselves are lazy.

    Returns
    -------
    dask.dataframe.Series
        Named "prediction", with the index and the partitions of ``ddf``.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> ddf = dd.from_pandas(d.frame[["U", "V", "z"]], npartitions=3)
    >>> y_pred = predict(clf, ddf, sensitive_features="z").compute()
    >>> bool((y_pred == clf.predict(d.data, sensitive_features=d.sensitive_features)).all())
    True
    """
    import pandas as pd
    from dask import delayed

    if adaptation is None:
        adaptation = adapt(clf, ddf, sensitive_features=sensitive_features)
    features, groups = _split(ddf, sensitive_features)
    return features.map_partitions(
        _predict,
        groups,
        delayed(clf, traverse=False),
        adaptation,
        meta=pd.Series(clf.classes_[:0], name="prediction", index=ddf._meta.index[:0]),
        align_dataframes=False,
    )


def on_workers(
    client: Any, *, ahead: int = 2
) -> Callable[..., Iterator[tuple[Any, Any]]]:
    """Have the parts of a file done by the workers of a cluster, in order, a few at a time.

    The file is read here, so that memory stays bounded and any format will do; only parts that are being worked on are
    with the workers. What is common to all parts is sent once to each.

    Parameters
    ----------
    client : distributed.Client
    ahead : int, default=2
        Parts for each thread of the cluster that may be under way.

    Returns
    -------
    callable
        ``each(work, shared, parts)`` as `cape.files.predict_file` takes it: gives each part with
        ``work(*shared, part)``.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> predict_file(model, "new.parquet", "out.parquet", each=on_workers(Client(address)))  # doctest: +SKIP
    """

    def each(
        work: Callable[..., Any], shared: tuple, parts: Iterable[Any]
    ) -> Iterator[tuple[Any, Any]]:
        common = [client.scatter(thing, broadcast=True, hash=False) for thing in shared]
        most = max(sum(client.nthreads().values()), 1) * ahead
        held: deque[Any] = deque()

        def submit(part: Any) -> Any:
            held.append(part)
            return client.submit(work, *common, part, pure=False)

        return ((held.popleft(), result) for result in in_order(submit, parts, most))

    return each


def _split(ddf: Any, sensitive_features: Any) -> tuple[Any, Any]:
    """Features and groups of each row, as Dask collections with the same partitions."""
    if not hasattr(ddf, "npartitions") or not hasattr(ddf, "columns"):
        raise TypeError(f"ddf must be a Dask DataFrame, got {type(ddf).__name__}.")
    if sensitive_features is None:
        return ddf, None
    if hasattr(sensitive_features, "npartitions"):
        if sensitive_features.npartitions != ddf.npartitions:
            raise ValueError(
                f"sensitive_features must have the {ddf.npartitions} partitions of ddf, "
                f"got {sensitive_features.npartitions}."
            )
        return ddf, sensitive_features
    columns = (
        [sensitive_features]
        if isinstance(sensitive_features, str)
        else list(sensitive_features)
    )
    unknown = [column for column in columns if column not in ddf.columns]
    if unknown:
        raise ValueError(
            f"sensitive_features must be columns of ddf, among {list(ddf.columns)[:20]}, got {unknown}."
        )
    return ddf.drop(columns=columns), ddf[columns[0] if len(columns) == 1 else columns]


def _evidence(clf: CapeClassifier, features: pd.DataFrame, groups: Any) -> Evidence:
    return clf.evidence(features, sensitive_features=groups)


def _total(found: list[Evidence]) -> Evidence:
    return sum(found[1:], found[0])


def _predict(
    features: pd.DataFrame, groups: Any, clf: CapeClassifier, adaptation: Adaptation
) -> pd.Series:
    import pandas as pd

    labels = clf.predict(features, sensitive_features=groups, adaptation=adaptation)
    return pd.Series(labels, index=features.index, name="prediction")
