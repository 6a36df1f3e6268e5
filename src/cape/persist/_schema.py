"""What a model file may be made of.

The schema of skops is a tree of nodes: how each part is built (its loader) and of which
type. Both are compared with lists of exact names before anything is built. The lists
follow from what is saved, and hold types alone: no loader of theirs looks up a function
or calls what the file names. A function, a scorer or a type of another package is built
only if the user vouches for its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

import numpy as np
from sklearn._loss._loss import CyHalfBinomialLoss

from cape.quantify import QUANTIFIERS
from cape.rules import RULES

_MOST_NODES = 2_000_000
_MOST_NUMBER = 2**61 - 2
"""Numbers of parts, at most. Python gives all multiples of 2^61 - 1 the same hash, and
a dict of a million of them would take days."""

_MOST_DEPTH = 200
"""Levels of JSON; a pipeline in a search in a stack has 60."""

_OURS = """
    base._table.TrainedTable
    classifier.CapeClassifier
    drift._past.Past
    evidence._columns.TableCells
    evidence._histogram.ScoreHistogram
    rules._rules.Constrained
    training._group_model.DecidedPool
    training._group_model.GroupModel
    training._group_model.MemberRates
    training._group_model.OwnRows
    training._group_model.ResampledPool
    training._group_model.ThresholdPool
    training._group_model.TrainedColumns
    training._scores.Decisions
    training._scores.Scores
    training._shared.GroupAwareLinear
"""

# Parts of fitted estimators. Building one of them sets attributes and does no more.
_SKLEARN = """
    calibration._CalibratedClassifier
    calibration._SigmoidCalibration
    ensemble._hist_gradient_boosting.predictor.TreePredictor
    metrics._dist_metrics.BrayCurtisDistance64
    metrics._dist_metrics.CanberraDistance64
    metrics._dist_metrics.ChebyshevDistance64
    metrics._dist_metrics.EuclideanDistance64
    metrics._dist_metrics.HammingDistance64
    metrics._dist_metrics.MahalanobisDistance64
    metrics._dist_metrics.ManhattanDistance64
    metrics._dist_metrics.MinkowskiDistance64
    metrics._dist_metrics.SEuclideanDistance64
    model_selection._split.GroupKFold
    model_selection._split.KFold
    model_selection._split.RepeatedKFold
    model_selection._split.RepeatedStratifiedKFold
    model_selection._split.ShuffleSplit
    model_selection._split.StratifiedKFold
    model_selection._split.StratifiedShuffleSplit
    neighbors._ball_tree.BallTree
    neighbors._kd_tree.KDTree
    neural_network._stochastic_optimizers.AdamOptimizer
    neural_network._stochastic_optimizers.SGDOptimizer
    tree._tree.Tree
    utils._metadata_requests.MetadataRequest
    utils._metadata_requests.MethodMetadataRequest
"""

# The parts of skrub's tabular_pipeline, as text, since skrub need not be installed.
_SKRUB = """
    _apply_to_cols.ApplyToCols
    _apply_to_each_col.ApplyToEachCol
    _apply_to_frame.ApplyToFrame
    _apply_to_sub_frame.ApplyToSubFrame
    _check_input.CheckInputDataFrame
    _clean_categories.CleanCategories
    _clean_null_strings.CleanNullStrings
    _datetime_encoder.DatetimeEncoder
    _datetime_encoder._CircularEncoder
    _datetime_encoder._SplineEncoder
    _drop_uninformative.DropUninformative
    _duration_to_float.DurationToFloat
    _gap_encoder.GapEncoder
    _minhash_encoder.MinHashEncoder
    _squashing_scaler.SquashingScaler
    _squashing_scaler._MinMaxScaler
    _string_encoder.StringEncoder
    _table_vectorizer.Cleaner
    _table_vectorizer.PassThrough
    _table_vectorizer.ShortReprDict
    _table_vectorizer.TableVectorizer
    _to_categorical.ToCategorical
    _to_datetime.ToDatetime
    _to_float.ToFloat
    _to_float32.ToFloat32
    _to_str.ToStr
    selectors._base.All
    selectors._base.And
    selectors._base.Cols
    selectors._base.Inv
    selectors._base.Or
    selectors._base.Sub
    selectors._base.XOr
"""


def _full_names(classes: Iterable[type]) -> set[str]:
    """Names of classes as skops writes them: the module, then the class."""
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in classes}


def _names_below(package: str, names: str) -> set[str]:
    """Full names from a text that lists names within a package."""
    return {f"{package}.{name}" for name in names.split()}


TRUSTED: frozenset[str] = frozenset(
    _names_below("cape", _OURS)
    | _full_names(QUANTIFIERS.values())
    | _full_names(RULES.values())
    | _names_below("sklearn", _SKLEARN)
    | _names_below("skrub", _SKRUB)
)
"""Full names of the types that `load` accepts besides scikit-learn's estimators."""

_SCALARS = _full_names({np.dtype(code).type for code in "?bhilqBHILQefdFDUMm"})
_TYPES = {"builtins.bool", "builtins.float", "builtins.int", "builtins.str"}

_NAMES_OF_LOADERS: dict[str, Set[str]] = {
    "BytearrayNode": {"builtins.bytearray"},
    "BytesNode": {"builtins.bytes"},
    "DTypeNode": {"numpy.dtype"},
    "DictNode": {
        "builtins.dict",
        "collections.OrderedDict",
        "sklearn.utils._bunch.Bunch",
    },
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    # Up to scikit-learn 1.8 the module calls itself "_loss".
    "LossNode": _names_below(
        CyHalfBinomialLoss.__module__,
        "CyExponentialLoss CyHalfBinomialLoss CyHalfSquaredError",
    ),
    "MaskedArrayNode": {"numpy.ma.MaskedArray"},
    "NdArrayNode": {"numpy.ndarray"} | _SCALARS,
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "SetNode": {"builtins.set"},
    "SliceNode": {"builtins.slice"},
    "SparseMatrixNode": _names_below(
        "scipy.sparse",
        "_csr.csr_array _csr.csr_matrix _csc.csc_array _csc.csc_matrix",
    ),
    "TreeNode": {"sklearn.tree._tree.Tree"},
    "TupleNode": {"builtins.tuple"},
    "TypeNode": _TYPES | _SCALARS,
}
"""The names that each loader may build, besides the types of ``ObjectNode``."""

_ENDINGS = {
    "BytearrayNode": ".bin",
    "BytesNode": ".bin",
    "NdArrayNode": ".npy",
    "SparseMatrixNode": ".npz",
}
"""What a loader may read: arrays have been checked by these endings."""


class SchemaCheck:
    """Compares every node of a schema with the lists before anything is built.

    Parameters
    ----------
    trusted : iterable of str
        Full names that the user vouches for, whatever loader builds them.

    Attributes
    ----------
    names : set of str
        The names that were found and may be built.
    unknown : set of str
        The names that were found and may not.

    Examples
    --------
    >>> from cape.persist._schema import SchemaCheck
    >>> node = {"__loader__": "FunctionNode", "__module__": "os", "__class__": "mkdir"}
    >>> check = SchemaCheck(trusted=())
    >>> check.read({**node, "__id__": 1})
    >>> check.unknown
    {'os.mkdir'}
    """

    def __init__(self, trusted: Iterable[str]) -> None:
        # skops is an extra, and its list takes a second to make.
        from skops.io._trusted_types import (
            SKLEARN_ESTIMATOR_TYPE_NAMES,
            SKLEARN_INTERNAL_TYPE_NAMES,
        )

        self._trusted = frozenset(trusted)
        self._objects = TRUSTED.union(
            SKLEARN_ESTIMATOR_TYPE_NAMES, SKLEARN_INTERNAL_TYPE_NAMES
        )
        self.names: set[str] = set()
        self.unknown: set[str] = set()
        self._n_nodes = 0
        self._contents: dict[int, int] = {}
        self._owners: dict[str, int] = {}

    def read(self, schema: Any) -> None:
        """Check a schema.

        Parameters
        ----------
        schema : dict
            As skops writes it.

        Raises
        ------
        ValueError
            If there are too many nodes or levels, or if building them could take more
            room than the file.
        """
        self._visit(schema, depth=0)

    def _visit(self, entry: Any, depth: int) -> int:
        """Check a value of JSON and all below it, and return a hash of it."""
        if depth > _MOST_DEPTH:
            raise ValueError(f"its parts are nested more than {_MOST_DEPTH} deep")
        depth += 1
        if isinstance(entry, (list, tuple)):
            return hash(tuple(self._visit(value, depth) for value in entry))
        if not isinstance(entry, dict):
            return hash(entry)
        left_out = set()
        if "__loader__" in entry:
            self._check_name(entry)
            self._check_room(entry)
            # The numbers of temporary objects differ if a part is written twice.
            left_out = {"__id__", "file"}
        content = hash(
            tuple(
                (name, self._visit(value, depth))
                for name, value in entry.items()
                if name not in left_out
            )
        )
        # skops builds one object for all nodes of a number. Were they not alike, it
        # would matter which is built, and thirty tuples could become a billion.
        if left_out and self._contents.setdefault(entry["__id__"], content) != content:
            raise ValueError("two parts have the same number")
        return content

    def _check_name(self, node: dict[str, Any]) -> None:
        """Sort the name of a node under those that may be built or may not."""
        loader = node["__loader__"]
        name = f"{node['__module__']}.{node['__class__']}"
        allowed = _NAMES_OF_LOADERS.get(loader, set())
        if loader == "ObjectNode":
            allowed = self._objects
        if name in allowed or name in self._trusted:
            self.names.add(name)
        else:
            self.unknown.add(name)

    def _check_room(self, node: dict[str, Any]) -> None:
        """Check that a node takes no more room than the file has for it."""
        self._n_nodes += 1
        if self._n_nodes > _MOST_NODES:
            raise ValueError(f"it has more than {_MOST_NODES:,} parts")
        number = node["__id__"]
        if type(number) is not int or not 0 < number <= _MOST_NUMBER:
            raise ValueError(f"a part has the number {number!r}")
        if "file" in node:
            name = node["file"]
            is_fit = name.endswith(_ENDINGS[node["__loader__"]])
            # Otherwise one array of a file could be built a thousand times.
            if not is_fit or self._owners.setdefault(name, number) != number:
                raise ValueError(f"two parts read {name!r}")
        # numpy would unfold objects within objects to an array of many axes.
        if node.get("type") == "json" and len(node["shape"]["content"]) != 1:
            raise ValueError("an array of objects has more axes than one")
