"""The bridge to AIF360; no other module of the library imports it.

AIF360 knows two groups and ranks them: one is "privileged", and one label is
"favourable". Neither word is ours. Where a method asks for them, the positive label is
favourable unless the user says otherwise, and the privileged group is the one with the
greatest share of favourable labels in training. All remaining groups form the second.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from cape._groups import Group, Groups
from cape_paper._base import add_group_columns
from cape_paper._singular import ProjectedNormal

__all__ = ["SIDES", "Bridge", "algorithm", "old_normal_density", "undisturbed"]

SIDES: dict[str, Any] = {
    "unprivileged_groups": [{"privileged": 0.0}],
    "privileged_groups": [{"privileged": 1.0}],
}
"""How AIF360's algorithms are told which rows belong to the privileged group."""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Silence AIF360's prints, logs and warnings, and restore numpy's global generator.

    AIF360 writes to the standard output, logs what is not installed, and seeds the
    generator of the whole process.

    Examples
    --------
    >>> with undisturbed():
    ...     print("not shown")
    """
    root = logging.getLogger()
    handler = logging.NullHandler()
    # AIF360 calls `np.random.seed`: a user's own draws must not depend on it.
    state = np.random.get_state()
    root.addFilter(_reject)
    # Without a handler, the first `logging.warning` would install one for good.
    root.addHandler(handler)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        root.removeHandler(handler)
        root.removeFilter(_reject)
        np.random.set_state(state)


def _reject(record: logging.LogRecord) -> bool:
    """Filter that lets no record pass."""
    return False


def algorithm(module: str, name: str) -> Any:
    """Import a class of ``aif360.algorithms``; call it within `undisturbed`.

    Parameters
    ----------
    module : {"preprocessing", "inprocessing", "postprocessing"}
        The subpackage.
    name : str
        The class.

    Returns
    -------
    type
    """
    # Imported here and not above, since AIF360 is an optional dependency.
    subpackage = importlib.import_module(f"aif360.algorithms.{module}")
    return getattr(subpackage, name)


@contextlib.contextmanager
def old_normal_density() -> Iterator[None]:
    """Replace the normal density in AIF360's MetaFair by `ProjectedNormal` for a while.

    See `cape_paper._singular` for the reason. scipy itself is not changed.
    """
    # TODO: remove with `_singular` when AIF360 closes its issue 454.
    module = importlib.import_module("aif360.algorithms.inprocessing.celisMeta.General")
    with mock.patch.object(module, "multivariate_normal", ProjectedNormal):
        yield


@dataclass(frozen=True)
class Bridge:
    """Turns our rows into AIF360's datasets, in which label 1 is the favourable one.

    Parameters
    ----------
    groups : list
        Groups seen in training.
    privileged : group
        The group that AIF360 is told is privileged.
    """

    groups: list[Group]
    privileged: Group

    @classmethod
    def of(cls, favourable: np.ndarray, groups: Groups) -> Bridge:
        """Call the group with the greatest share of favourable labels privileged.

        Parameters
        ----------
        favourable : ndarray of shape (n_samples,)
            1 where the label is the favourable one, otherwise 0.
        groups : Groups
            The group of each row.

        Returns
        -------
        Bridge
        """
        # Of equal shares the first group in sorted order wins: `argmax` is stable.
        rows = np.bincount(groups.codes)
        favourable_rows = np.bincount(groups.codes, weights=favourable)
        greatest = int(np.argmax(favourable_rows / rows))
        return cls(groups.keys, groups.keys[greatest])

    def features(self, X: Any, groups: Groups) -> np.ndarray:
        """Put the indicator of the privileged group behind the features.

        With more than two groups, indicators of all groups stand before it, so that a
        learner can tell them apart as it can in Max_Acc.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers.
        groups : Groups
            The group of each row.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        # AIF360 holds a dataset as one array of floats.
        numbers = np.asarray(X, dtype=float)
        if len(self.groups) > 2:
            numbers = add_group_columns(numbers, groups, self.groups)
        is_privileged = [key == self.privileged for key in groups.keys]
        privileged = np.array(is_privileged, dtype=float)
        return np.column_stack([numbers, privileged[groups.codes]])

    def dataset(
        self,
        features: np.ndarray,
        favourable: np.ndarray | None = None,
        scores: Any = None,
    ) -> Any:
        """Make a BinaryLabelDataset.

        Parameters
        ----------
        features : ndarray of shape (n_samples, n_features_out)
            From `features`.
        favourable : ndarray of shape (n_samples,), default=None
            1 where the label is the favourable one. AIF360 wants labels even of rows to
            predict: with None all are 0.
        scores : array-like of shape (n_samples,), default=None
            Probabilities of the favourable label.

        Returns
        -------
        aif360.datasets.BinaryLabelDataset
        """
        from aif360.datasets import BinaryLabelDataset

        dataset = BinaryLabelDataset(
            df=_table(features, favourable),
            label_names=["label"],
            protected_attribute_names=["privileged"],
            favorable_label=1.0,
            unfavorable_label=0.0,
            privileged_protected_attributes=[[1.0]],
            unprivileged_protected_attributes=[[0.0]],
        )
        # The constructor takes no scores, and AIF360 wants them as a column.
        if scores is not None:
            column = np.asarray(scores, dtype=float)
            dataset.scores = column.reshape(-1, 1)
        return dataset


def _table(features: np.ndarray, favourable: np.ndarray | None) -> Any:
    """Name the columns as `SIDES` and `Bridge.dataset` do, and add the labels."""
    import pandas as pd

    n_columns = features.shape[1]
    names = [f"x{place}" for place in range(n_columns - 1)]
    table = pd.DataFrame(features, columns=[*names, "privileged"])
    labels = np.zeros(len(features))
    if favourable is not None:
        labels = np.asarray(favourable, dtype=float)
    return table.assign(label=labels)
