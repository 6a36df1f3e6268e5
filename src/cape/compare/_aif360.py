"""The bridge to AIF360, and the only module that imports it.

AIF360 knows two groups and ranks them: one is "privileged", and one label is "favourable". Neither word is ours. Where
a method asks for them, the positive label is called favourable unless told otherwise, and the group with the greatest
share of it in training privileged; with more than two groups the others are taken together.
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
from cape.compare._max_acc import with_group_columns
from cape.compare._singular import ProjectedNormal

__all__ = ["SIDES", "Bridge", "algorithm", "old_normal_density", "undisturbed"]

SIDES: dict[str, Any] = {
    "unprivileged_groups": [{"privileged": 0.0}],
    "privileged_groups": [{"privileged": 1.0}],
}


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Keep AIF360's prints, logs, warnings and seeding of numpy's global generator to itself."""
    root, reject, handler = logging.getLogger(), _reject, logging.NullHandler()
    state = np.random.get_state()
    root.addFilter(reject)
    root.addHandler(
        handler
    )  # without one, logging.warning would install a handler for good
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        root.removeHandler(handler)
        root.removeFilter(reject)
        np.random.set_state(state)


def _reject(record: logging.LogRecord) -> bool:
    return False


def algorithm(module: str, name: str) -> Any:
    """A class of ``aif360.algorithms``; call it within `undisturbed`."""
    return getattr(importlib.import_module(f"aif360.algorithms.{module}"), name)


@contextlib.contextmanager
def old_normal_density() -> Iterator[None]:
    """Give MetaFair the density it was written for, and take it away again, whatever happens."""
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
    """

    groups: list[Group]
    privileged: Group

    @classmethod
    def of(cls, favourable: np.ndarray, groups: Groups) -> Bridge:
        """Call privileged the group with the greatest share of favourable labels."""
        shares = np.bincount(groups.codes, weights=favourable) / np.bincount(
            groups.codes
        )
        return cls(groups.keys, groups.keys[int(np.argmax(shares))])

    def features(self, X: Any, groups: Groups) -> np.ndarray:
        """X, an indicator of the privileged group last, and indicators of the others when there are more than two."""
        own = np.array([key == self.privileged for key in groups.keys], dtype=float)[
            groups.codes
        ]
        if len(self.groups) > 2:
            names = np.array(groups.keys, dtype=object)[groups.codes]
            X = with_group_columns(np.asarray(X, dtype=float), names, self.groups)
        return np.column_stack([np.asarray(X, dtype=float), own])

    def dataset(
        self,
        features: np.ndarray,
        favourable: np.ndarray | None = None,
        scores: Any = None,
    ) -> Any:
        """A BinaryLabelDataset; without labels all are 0, a dummy, since AIF360 wants some."""
        import pandas as pd
        from aif360.datasets import BinaryLabelDataset

        names = [f"x{i}" for i in range(features.shape[1] - 1)] + ["privileged"]
        labels = (
            np.zeros(len(features))
            if favourable is None
            else np.asarray(favourable, dtype=float)
        )
        dataset = BinaryLabelDataset(
            df=pd.DataFrame(features, columns=names).assign(label=labels),
            label_names=["label"],
            protected_attribute_names=["privileged"],
            favorable_label=1.0,
            unfavorable_label=0.0,
            privileged_protected_attributes=[[1.0]],
            unprivileged_protected_attributes=[[0.0]],
        )
        if scores is not None:
            dataset.scores = np.asarray(scores, dtype=float).reshape(-1, 1)
        return dataset
