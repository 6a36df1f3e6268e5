"""The types that a model file may hold besides those that skops trusts by itself.

Each entry is a promise that building an object of that type runs no code that a file
could choose. The names of cape's own types are taken from the classes: a new quantifier
in `cape.quantify.QUANTIFIERS` is trusted without an edit here, and so is a class whose
module has moved. So is a new rule in `cape.rules.RULES`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sklearn.metrics import get_scorer, get_scorer_names

from cape._group_model import GroupModel, TrainedColumns
from cape._learners import GroupAwareLinear
from cape.classifier import CapeClassifier
from cape.columns import TableCells
from cape.histogram import ScoreHistogram
from cape.pool import MemberRates, ResampledPool, ThresholdPool
from cape.quantify import QUANTIFIERS
from cape.rules import RULES, Constrained

__all__ = ["TRUSTED"]

_OURS = (
    CapeClassifier,
    Constrained,
    GroupAwareLinear,
    GroupModel,
    MemberRates,
    ResampledPool,
    ScoreHistogram,
    TableCells,
    ThresholdPool,
    TrainedColumns,
)

# Why each of them is harmless. None has a __setstate__ or __reduce__ that does more
# than to set attributes, so that building it runs no code that the file chooses; and:
# - splitters only draw indices of rows, and only in fit;
# - calibrators multiply and add;
# - trees are tables of numbers, which `check_sound` looks at;
# - a Bunch is a dict, and its __setstate__ does nothing;
# - metadata requests are dicts of names, which say what is passed on to whom;
# - optimizers of neural networks hold arrays that only fit reads;
# - scorers call the function that they hold, which must be on the list itself, and only
#   when they score. A prediction never calls them.
_SKLEARN = """
    calibration._CalibratedClassifier
    calibration._SigmoidCalibration
    ensemble._hist_gradient_boosting.predictor.TreePredictor
    metrics._scorer._CurveScorer
    metrics._scorer._MultimetricScorer
    metrics._scorer._PassthroughScorer
    metrics._scorer._Scorer
    model_selection._split.GroupKFold
    model_selection._split.KFold
    model_selection._split.RepeatedKFold
    model_selection._split.RepeatedStratifiedKFold
    model_selection._split.ShuffleSplit
    model_selection._split.StratifiedKFold
    model_selection._split.StratifiedShuffleSplit
    neural_network._stochastic_optimizers.AdamOptimizer
    neural_network._stochastic_optimizers.SGDOptimizer
    tree._tree.Tree
    utils._bunch.Bunch
    utils._metadata_requests.MetadataRequest
    utils._metadata_requests.MethodMetadataRequest
    utils.validation.check_array
"""

# What scorers of classifiers compute from labels and predictions. Scores of clusters
# and of regression are left out: no classifier is chosen by them.
_SCORED_IN = ("sklearn.metrics._classification", "sklearn.metrics._ranking")

# The parts of skrub's tabular_pipeline. They are text, since skrub need not be
# installed. The functions look at a column and tell its kind.
_SKRUB = """
    _apply_to_cols.ApplyToCols
    _apply_to_each_col.ApplyToEachCol
    _apply_to_frame.ApplyToFrame
    _apply_to_sub_frame.ApplyToSubFrame
    _check_input.CheckInputDataFrame
    _clean_categories.CleanCategories
    _clean_null_strings.CleanNullStrings
    _dataframe._common.is_any_date
    _dataframe._common.is_bool
    _dataframe._common.is_categorical
    _dataframe._common.is_duration
    _dataframe._common.is_float
    _dataframe._common.is_integer
    _dataframe._common.is_numeric
    _dataframe._common.is_object
    _dataframe._common.is_string
    _datetime_encoder.DatetimeEncoder
    _datetime_encoder._CircularEncoder
    _datetime_encoder._SplineEncoder
    _drop_uninformative.DropUninformative
    _duration_to_float.DurationToFloat
    _gap_encoder.GapEncoder
    _minhash_encoder.MinHashEncoder
    _scaling_factor.scaling_factor
    _squashing_scaler.SquashingScaler
    _squashing_scaler._MinMaxScaler
    _string_encoder.StringEncoder
    _table_vectorizer.Cleaner
    _table_vectorizer.PassThrough
    _table_vectorizer.ShortReprDict
    _table_vectorizer.TableVectorizer
    _table_vectorizer._created_by_predicate
    _to_categorical.ToCategorical
    _to_datetime.ToDatetime
    _to_float.ToFloat
    _to_float32.ToFloat32
    _to_str.ToStr
    selectors._base.All
    selectors._base.And
    selectors._base.Cols
    selectors._base.Filter
    selectors._base.Inv
    selectors._base.NameFilter
    selectors._base.Or
    selectors._base.Sub
    selectors._base.XOr
    selectors._selectors._cardinality_below
    selectors._selectors._has_nulls
"""

# functools.partial only binds arguments to a function that must itself be on the list,
# and nothing calls it while a file is loaded. An OrderedDict is a dict (LightGBM's).
# Splines hold knots and coefficients, which `check_sound` looks at; scipy 1.18 has them
# in an inner part.
_OTHERS = """
    collections.OrderedDict
    functools.partial
    numpy.dtype
    scipy._lib.array_api_compat.numpy._aliases.asarray
    scipy.interpolate._bsplines.BSpline
    scipy.interpolate._bsplines._BSpline
"""


def _full_names(classes: Iterable[type]) -> set[str]:
    """Names of classes as skops writes them: the module, then the class."""
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in classes}


def _names_below(package: str, names: str) -> set[str]:
    """Full names from a text that lists names within a package."""
    return {f"{package}.{name}" for name in names.split()}


def _score_functions() -> set[str]:
    """Full names of the functions behind scikit-learn's scorers of classifiers."""
    names = set()
    for scorer_name in get_scorer_names():
        function = get_scorer(scorer_name)._score_func
        if function.__module__ in _SCORED_IN:
            names.add(f"{function.__module__}.{function.__name__}")
    return names


TRUSTED: frozenset[str] = frozenset(
    _full_names(_OURS)
    | _full_names(QUANTIFIERS.values())
    | _full_names(RULES.values())
    | _names_below("sklearn", _SKLEARN)
    | _score_functions()
    | _names_below("skrub", _SKRUB)
    | set(_OTHERS.split())
)
"""Full names of the types that `load` accepts besides those that skops trusts."""
