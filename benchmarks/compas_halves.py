"""COMPAS of 2013 in two halves, one to train on and one to draw batches from."""

from __future__ import annotations

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cape.datasets import fetch_compas

PREVALENCES = ((0.2, 0.7), (0.5, 0.5), (0.7, 0.3))
"""Prevalences of the two groups in batches."""


def halves_of_compas(seed):
    """Return rows to train on, and rows to draw batches from: X, y and z of each."""
    d = fetch_compas(subset="train")
    X, X_rest, y, y_rest, z, z_rest = train_test_split(
        d.data,
        d.target,
        d.sensitive_features,
        test_size=0.5,
        random_state=seed,
        stratify=d.target,
    )
    return (X, y, z), (X_rest, y_rest, z_rest)


def make_learner(name):
    """Return a learner for numbers and for the mixed columns of COMPAS."""
    if name == "default":
        return None
    categories = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    columns = make_column_transformer(
        (categories, make_column_selector(dtype_exclude="number")),
        remainder=StandardScaler(),
    )
    if name == "logistic":
        return make_pipeline(columns, LogisticRegression())
    boosting = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8)
    return make_pipeline(columns, boosting)
