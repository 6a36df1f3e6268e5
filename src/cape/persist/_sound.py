"""The check of a loaded model, before anybody predicts with it.

skops vouches for the types in a file, not for the numbers in them, and compiled code
follows numbers without looking at bounds. So every part of a model whose numbers
compiled code indexes with has a check here, or its type is refused. Whatever passes
raises an error at worst, and never ends the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cape.persist._damage import Unsound
from cape.persist._parts import parts_of
from cape.persist._pieces import PIECE_CHECKS
from cape.persist._trees import TREE_CHECKS
from cape.persist._vectors import VECTOR_CHECKS

__all__ = ["UNCHECKED", "check_sound", "unchecked_types"]

_CHECKS: dict[type, Callable[[Any], None]] = {
    **TREE_CHECKS,
    **VECTOR_CHECKS,
    **PIECE_CHECKS,
}

# Trusted by skops. Compiled code indexes with their numbers when they predict or
# transform, and none of them is a usual part of a classifier.
_UNCHECKED_NAMES = """
    cluster._bisect_k_means.BisectingKMeans
    decomposition._dict_learning.DictionaryLearning
    decomposition._dict_learning.MiniBatchDictionaryLearning
    decomposition._dict_learning.SparseCoder
    decomposition._lda.LatentDirichletAllocation
    decomposition._nmf.MiniBatchNMF
    decomposition._nmf.NMF
    decomposition._sparse_pca.MiniBatchSparsePCA
    decomposition._sparse_pca.SparsePCA
    ensemble._iforest.IsolationForest
    neighbors._kde.KernelDensity
    svm._classes.NuSVR
    svm._classes.OneClassSVM
    svm._classes.SVR
"""

UNCHECKED = frozenset(f"sklearn.{name}" for name in _UNCHECKED_NAMES.split())
"""Full names of types that are refused, since nothing checks their numbers."""


def check_sound(thing: Any) -> None:
    """Raise if a part of a model could make compiled code read foreign memory.

    Parameters
    ----------
    thing : object
        A model, or a list or dict of models.

    Raises
    ------
    Unsound
        If the numbers of a part do not fit the rest of the model.

    Examples
    --------
    >>> from cape.persist._sound import check_sound
    >>> check_sound(clf)
    """
    parts = list(parts_of(thing))
    # Trees before the ensembles that hold them, whose checks read the trees.
    for cls, check in _CHECKS.items():
        for part in parts:
            if isinstance(part, cls):
                check(part)
    for part in parts:
        _check_methods(part)


def unchecked_types(thing: Any, trusted: Iterable[str]) -> list[str]:
    """List the types in a model whose numbers nothing checks.

    Parameters
    ----------
    thing : object
        A model.
    trusted : iterable of str
        Full names of types that the user vouches for.

    Returns
    -------
    list of str
        Their full names, sorted.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> from cape.persist._sound import unchecked_types
    >>> unchecked_types([SVR()], trusted=())
    ['sklearn.svm._classes.SVR']
    """
    names = set()
    for part in parts_of(thing):
        cls = type(part)
        names.add(f"{cls.__module__}.{cls.__qualname__}")
    return sorted(names & UNCHECKED - set(trusted))


def _check_methods(part: Any) -> None:
    """Raise if an attribute of an object hides a method of its class.

    A file could otherwise put a harmless function in the place of the method that looks
    at the columns of a table.
    """
    # Arrays of numpy have attributes of their own, and no methods that check.
    if isinstance(part, np.ndarray):
        return
    for name in getattr(part, "__dict__", {}):
        if callable(getattr(type(part), name, None)):
            raise Unsound(
                f"its {type(part).__name__} hides the method {name} by an attribute."
            )
