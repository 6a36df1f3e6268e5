"""Dask: tables that are larger than memory, on one machine or on a cluster.

Evidence is counted partition by partition and adds up exactly, so that adaptations and
predictions are those of `CapeClassifier` in memory, however rows are cut into
partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from cape.base._packages import require_extra

require_extra("dask", "dask", what="cape.elsewhere.dask")

import dask
import dask.dataframe as dd

from cape.base._validation import check_fitted_cape
from cape.classifier import CapeClassifier
from cape.evidence._evidence import Evidence
from cape.rules._adaptation import Adaptation
from cape.rules._deciding import decide
from cape.training._reading import batch_of, read_batch

__all__ = ["evidence", "predict"]

_FAN_IN = 8
"""How many pieces of evidence one task adds up: no worker has to hold all of them."""


def evidence(
    clf: CapeClassifier,
    ddf: Any,
    y: str | None = None,
    *,
    sensitive_features: str | list[str] | None = None,
    inclusion_probability: str | None = None,
    sample_weight: str | None = None,
) -> Evidence:
    """Compute the evidence of all rows of a Dask DataFrame.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model. Its quantifier must not be one that keeps rows.
    ddf : dask.dataframe.DataFrame
        The rows: the features, and the columns that are named below.
    y : str, default=None
        Column with the labels of some rows, as in ``clf.adapt``.
    sensitive_features : str or list of str, default=None
        Columns of the groups. None if the model has ``group_columns``, or was fitted
        without groups.
    inclusion_probability : str, default=None
        Column with the probability with which each labelled row was drawn.
    sample_weight : str, default=None
        Column with the weights of the rows.

    Returns
    -------
    Evidence
        The same as ``clf.evidence`` gives for all rows in memory.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from cape.elsewhere import dask as scale
    >>> ddf = dd.from_pandas(new.frame[["U", "V", "z"]], npartitions=3)
    >>> evidence = scale.evidence(clf, ddf, sensitive_features="z")
    >>> in_memory = clf.adapt(new.data, sensitive_features=new.sensitive_features)
    >>> clf.adapt(evidence=evidence) == in_memory
    True
    """
    columns = {
        "y": y,
        "sensitive_features": sensitive_features,
        "inclusion_probability": inclusion_probability,
        "sample_weight": sample_weight,
    }
    return _total(_parts(CapeClassifier.evidence, clf, ddf, columns))


def predict(
    clf: CapeClassifier,
    ddf: Any,
    *,
    sensitive_features: str | list[str] | None = None,
    sample_weight: str | None = None,
    adaptation: Adaptation | None = None,
) -> Any:
    """Predict the rows of a Dask DataFrame with one adaptation for all partitions.

    Parameters
    ----------
    clf : CapeClassifier
        The fitted model.
    ddf : dask.dataframe.DataFrame
        The rows. Without an adaptation they are scored immediately, once, and what
        members decide by stays on the workers until the predictions are computed.
    sensitive_features : str or list of str, default=None
        As in `evidence`.
    sample_weight : str, default=None
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
    >>> from cape.elsewhere import dask as scale
    >>> ddf = dd.from_pandas(new.frame[["U", "V", "z"]], npartitions=3)
    >>> y_pred = scale.predict(clf, ddf, sensitive_features="z").compute()
    >>> in_memory = clf.predict(new.data, sensitive_features=new.sensitive_features)
    >>> bool((y_pred == in_memory).all())
    True
    """
    columns = {
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
    }
    if adaptation is None:
        read = dask.persist(*_parts(_read, clf, ddf, columns))
        adaptation = clf.adapt(evidence=_total([part[0] for part in read]))
        model = dask.delayed(clf, traverse=False)
        parts = [dask.delayed(_decide)(model, part, adaptation) for part in read]
    else:
        parts = _parts(_predict, clf, ddf, columns, adaptation=adaptation)
    no_rows = _as_labels(clf.classes_[:0], ddf._meta.index[:0])
    return dd.from_delayed(parts, meta=no_rows, divisions=ddf.divisions)


def _parts(
    work: Callable, clf: CapeClassifier, ddf: Any, columns: dict, **keywords: Any
) -> list[Any]:
    """Return delayed ``work`` on every partition, after checking the arguments."""
    check_fitted_cape(clf)
    if not isinstance(ddf, dd.DataFrame):
        raise TypeError(f"ddf must be a Dask DataFrame, got {type(ddf).__name__}.")
    named = {name: given for name, given in columns.items() if given is not None}
    for parameter, given in named.items():
        names = [given] if isinstance(given, str) else given
        if not isinstance(names, list) or not {*names} <= {*ddf.columns}:
            raise ValueError(
                f"{parameter} must name columns of ddf, among {[*ddf.columns][:20]}, "
                f"got {given!r:.60}."
            )
    # With traverse, Dask would search the whole model for collections.
    model = dask.delayed(clf, traverse=False)
    do = dask.delayed(_on_part)
    return [do(work, model, part, named, keywords) for part in ddf.to_delayed()]


def _on_part(
    work: Callable, clf: CapeClassifier, part: pd.DataFrame, named: dict, keywords: dict
) -> Any:
    """Separate features, groups, labels and probabilities, and do the work on them."""
    given = {name: part[columns] for name, columns in named.items()}
    taken = np.hstack([[], *named.values()])
    return work(clf, part.drop(columns=taken), **given, **keywords)


def _total(parts: list[Any]) -> Any:
    """Add up delayed evidence, a few pieces at a time."""
    while len(parts) > 1:
        starts = range(0, len(parts), _FAN_IN)
        parts = [dask.delayed(sum)(parts[start : start + _FAN_IN]) for start in starts]
    return parts[0].compute()


def _read(
    clf: CapeClassifier,
    X: pd.DataFrame,
    sensitive_features: Any = None,
    sample_weight: Any = None,
) -> tuple[Evidence, Any, list[Any]]:
    """Score rows; return their evidence, their index, and what members decide by."""
    batch = batch_of(clf, X, sensitive_features, sample_weight, whole=False)
    readings, counted = read_batch(batch)
    # Models and scores would fill the workers.
    nothing: Any = None
    kept = [replace(one, model=nothing, scores=nothing) for one in readings]
    return Evidence(clf.fingerprint_, counted), X.index, kept


def _decide(clf: CapeClassifier, read: tuple, adaptation: Adaptation) -> pd.Series:
    _, index, kept = read
    readings = [replace(one, model=clf.model_of(one.group)) for one in kept]
    positive = decide(readings, adaptation, n_rows=len(index))
    return _as_labels(clf.classes_.take(positive.astype(np.intp)), index)


def _predict(
    clf: CapeClassifier, X: pd.DataFrame, sample_weight: Any = None, **keywords: Any
) -> pd.Series:
    # Given an adaptation, weights change nothing.
    return _as_labels(clf.predict(X, **keywords), X.index)


def _as_labels(labels: np.ndarray, index: Any) -> pd.Series:
    return pd.Series(labels, index=index, name="prediction")
