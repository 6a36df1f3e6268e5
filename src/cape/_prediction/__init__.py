"""The one road from rows to decisions.

::

    X, groups --batch_of--> Batch --read_batch--> readings, evidence
                                                     |         |
                                                     |       adapt --> Adaptation
                                                     |         |
                                                     +--decide-+--> decisions

`CapeClassifier`, files, Dask and streams all take it. Each row is scored once, and the
rule that picks members is called in one place, `choose_members`.
"""

from cape._prediction._deciding import (
    adapt,
    check_same_model,
    choose_members,
    decide,
    decide_individually,
    estimate_groups,
    find_evidence,
    mean_estimate,
    predict_batch,
    refuse_row_keepers,
    rule_of,
)
from cape._prediction._reading import (
    Batch,
    KnownLabels,
    Reading,
    batch_of,
    known_labels,
    read_batch,
    read_rows,
    readings_of,
    zero_evidence,
)
