"""Training a learner and reading its scores; all that exists for speed lives here."""

from cape._learners._by_name import LEARNERS, make_learner
from cape._learners._default import default_candidates
from cape._learners._fitting import (
    ROWS_PER_COEFFICIENT,
    STEADY_LEARNERS,
    TrainingRows,
    WarmStart,
    fit_learner,
    follows_its_folds,
    seeded_clone,
    takes_repetitions,
    weight_keyword,
)
from cape._learners._linear import LinearStack, SharedProducts, stack_of_groups
from cape._learners._pieces import map_pieces
from cape._learners._rows import Rows, as_array
from cape._learners._scoring import score_rows, score_with_models, vote_on_rows
from cape._learners._shared import (
    GroupAwareLinear,
    add_group_code,
    for_one_group,
    group_aware,
)
from cape._learners._tabular import columns_to_encode, note_on_text, tabular
from cape._learners._threads import (
    available_threads,
    blas_in_one_thread,
    in_order,
    in_threads,
)
from cape._learners._vote import has_member, member_of

__all__ = [
    "LEARNERS",
    "ROWS_PER_COEFFICIENT",
    "STEADY_LEARNERS",
    "GroupAwareLinear",
    "LinearStack",
    "Rows",
    "SharedProducts",
    "TrainingRows",
    "WarmStart",
    "add_group_code",
    "as_array",
    "available_threads",
    "blas_in_one_thread",
    "columns_to_encode",
    "default_candidates",
    "fit_learner",
    "follows_its_folds",
    "for_one_group",
    "group_aware",
    "has_member",
    "in_order",
    "in_threads",
    "make_learner",
    "map_pieces",
    "member_of",
    "note_on_text",
    "score_rows",
    "score_with_models",
    "seeded_clone",
    "stack_of_groups",
    "tabular",
    "takes_repetitions",
    "vote_on_rows",
    "weight_keyword",
]
