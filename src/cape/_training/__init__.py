"""The training phase of Algorithm 1."""

from cape._training._columns import with_columns
from cape._training._data import TrainingData, find_small_groups
from cape._training._duplicates import warn_of_duplicates
from cape._training._folds import check_cv
from cape._training._recipe import Recipe, check_prefit
from cape._training._train import TrainingResult, train_groups
from cape._training._weak_groups import warn_of_weak_groups

__all__ = [
    "Recipe",
    "TrainingData",
    "TrainingResult",
    "check_cv",
    "check_prefit",
    "find_small_groups",
    "train_groups",
    "warn_of_duplicates",
    "warn_of_weak_groups",
    "with_columns",
]
