"""Training a learner and reading its scores; all that exists for speed lives here.

`_choice` says which learners there are, `_fitting` trains one, `_scoring` reads scores,
all logistic regressions of a model at once; `_shared` makes one learner serve all
groups, and `_threads` shares work out.
"""
