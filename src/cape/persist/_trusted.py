"""The types that a model file may hold beyond those that skops trusts, and a check of trees that skops asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["TRUSTED", "check_trees", "parts_of"]

_OURS = """
    classifier.CapeClassifier _group_model.GroupModel histogram.ScoreHistogram 
    pool._rates.MemberRates pool._resampled.ResampledPool pool._threshold.ThresholdPool
    quantify._counting.ACC quantify._counting.CC quantify._counting.PCC quantify._counting.SPA
    quantify._likelihood.EMQ quantify._likelihood.HistogramPosterior
    quantify._matching.DyS quantify._matching.HDy
"""

# Splitters, and trees, whose node tables `check_trees` looks at.
_SKLEARN = """
    model_selection._split.GroupKFold model_selection._split.KFold model_selection._split.RepeatedKFold
    model_selection._split.RepeatedStratifiedKFold model_selection._split.ShuffleSplit
    model_selection._split.StratifiedKFold model_selection._split.StratifiedShuffleSplit
    calibration._CalibratedClassifier calibration._SigmoidCalibration
    ensemble._hist_gradient_boosting.predictor.TreePredictor tree._tree.Tree utils.validation.check_array
"""

# What skrub's tabular_pipeline is made of; its functions look at a column and say what kind it is.
_SKRUB = """
    _apply_to_cols.ApplyToCols _apply_to_each_col.ApplyToEachCol _apply_to_frame.ApplyToFrame
    _apply_to_sub_frame.ApplyToSubFrame _check_input.CheckInputDataFrame
    _clean_categories.CleanCategories _clean_null_strings.CleanNullStrings _datetime_encoder.DatetimeEncoder
    _datetime_encoder._SplineEncoder _datetime_encoder._CircularEncoder _drop_uninformative.DropUninformative
    _duration_to_float.DurationToFloat _gap_encoder.GapEncoder _minhash_encoder.MinHashEncoder
    _scaling_factor.scaling_factor _squashing_scaler.SquashingScaler _squashing_scaler._MinMaxScaler
    _string_encoder.StringEncoder _table_vectorizer.Cleaner _table_vectorizer.PassThrough
    _table_vectorizer.ShortReprDict _table_vectorizer.TableVectorizer _table_vectorizer._created_by_predicate
    _to_categorical.ToCategorical _to_datetime.ToDatetime _to_float.ToFloat _to_float32.ToFloat32 _to_str.ToStr
    _dataframe._common.is_any_date _dataframe._common.is_bool _dataframe._common.is_categorical
    _dataframe._common.is_duration _dataframe._common.is_float _dataframe._common.is_integer
    _dataframe._common.is_numeric _dataframe._common.is_object _dataframe._common.is_string
    selectors._base.All selectors._base.And selectors._base.Cols selectors._base.Filter selectors._base.Inv
    selectors._base.NameFilter selectors._base.Or selectors._base.Sub selectors._base.XOr
    selectors._selectors._cardinality_below selectors._selectors._has_nulls
"""

# functools.partial only binds arguments to a function that is itself on the list; nothing here calls it on loading.
_OTHERS = {
    "functools.partial",
    "numpy.dtype",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
}
_OTHERS |= {"scipy.interpolate._bsplines.BSpline"}

TRUSTED: frozenset[str] = frozenset(
    {f"cape.{name}" for name in _OURS.split()}
    | {f"sklearn.{name}" for name in _SKLEARN.split()}
    | {f"skrub.{name}" for name in _SKRUB.split()}
    | _OTHERS
)
"""Full names of the types that `load` accepts, beside those that skops trusts by itself."""


def check_trees(thing: Any) -> None:
    """Raise if a tree in a loaded model points outside its own table.

    scikit-learn follows a tree's nodes without looking, so that a crafted file could make it read foreign memory; skops
    can vouch for the type only, not for the numbers in it.
    """
    for part in parts_of(thing):
        kind = type(part).__name__
        if kind == "TreePredictor":
            _check_predictor(part)
        elif kind == "Tree" and type(part).__module__ == "sklearn.tree._tree":
            _check_tree(part)
        elif hasattr(part, "n_features_in_"):
            _check_width(part)


def parts_of(thing: Any) -> Iterator[Any]:
    """The objects that a model is made of, each once."""
    seen: set[int] = set()
    waiting = [thing]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(
            one, (str, bytes, int, float, type(None), type)
        ):
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, (list, tuple, set)) or (
            isinstance(one, np.ndarray) and one.dtype == object
        ):
            waiting += list(np.ravel(one)) if isinstance(one, np.ndarray) else one
        elif hasattr(one, "__dict__"):
            waiting += vars(one).values()


def _check_predictor(tree: Any) -> None:
    nodes = tree.nodes
    inner = nodes[nodes["is_leaf"] == 0]
    categorical = inner[inner["is_categorical"] != 0]
    n_sets = min(len(tree.binned_left_cat_bitsets), len(tree.raw_left_cat_bitsets))
    sound = (
        len(nodes) > 0
        and _follows(inner["left"], nodes, tree.nodes["is_leaf"] == 0)
        and _follows(inner["right"], nodes, tree.nodes["is_leaf"] == 0)
        and bool((inner["feature_idx"] >= 0).all())
        and (len(categorical) == 0 or int(categorical["bitset_idx"].max()) < n_sets)
    )
    if not sound:
        raise ValueError(
            "path must be a sound model file, got a boosted tree whose nodes point outside the tree."
        )


def _check_tree(tree: Any) -> None:
    inner = tree.children_left != -1
    sound = all(
        _follows(children[inner], tree.children_left, inner)
        for children in (tree.children_left, tree.children_right)
    )
    feature = tree.feature[inner]
    if not sound or not ((feature >= 0) & (feature < tree.n_features)).all():
        raise ValueError(
            "path must be a sound model file, got a tree whose nodes point outside the tree."
        )


def _check_width(estimator: Any) -> None:
    """scikit-learn compares the columns of a table with ``n_features_in_``, so no tree may look beyond it."""
    trees = [tree for step in getattr(estimator, "_predictors", []) for tree in step]
    farthest = [int(tree.nodes["feature_idx"].max(initial=0)) + 1 for tree in trees]
    if hasattr(estimator, "tree_"):
        farthest.append(estimator.tree_.n_features)
    if max(farthest, default=0) > estimator.n_features_in_:
        raise ValueError(
            "path must be a sound model file, got a tree that points outside the columns of a table."
        )


def _follows(children: np.ndarray, table: Any, inner: np.ndarray) -> bool:
    """Whether every child stands in the table and after its parent, so that no walk goes astray or round."""
    parents = np.flatnonzero(inner)
    children = np.asarray(children, dtype=np.int64)
    return bool(((children > parents) & (children < len(table))).all())
