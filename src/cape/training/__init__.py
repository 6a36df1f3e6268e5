"""Learners and what training leaves of them, and the scores that they give to rows.

``_choice`` says which learners there are, ``_fitting`` trains one, ``_scoring`` reads
scores, all logistic regressions of a model at once; ``_shared`` makes one learner serve
all groups, and ``_threads`` shares work out. ``_data`` has the labelled rows, and what
is wrong with them; ``_learner`` one learner: how its rows are split, trained on and
scored; ``_train`` decides which learners are trained, and makes the ``_group_model`` of
each group of what they leave. ``_reading`` scores and counts the rows of a batch.

All that exists for speed lives here.
"""

from cape.training._sampling import pp_sampling

__all__ = ["pp_sampling"]
