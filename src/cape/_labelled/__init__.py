"""Labels of a few rows: the estimate checked, corrected and confirmed.

::

    labelled rows --labelled_sample--> cells, weights
                                          |
              do they look drawn? <-------+-------> prediction-powered estimate
                                          |              |
                      checked calls <-----+          combined with the label-free
                           |                         estimate, and compared with it
                    corrected rates

`stratify` and `RowDraw` choose rows to label, and `labels_for_width` how many.
"""

from cape._labelled._draw import (
    LAST_DRAWS,
    NOTHING_DRAWN,
    DrawnRows,
    RowDraw,
    Strata,
    cells_of_rows,
    enough_labels,
    fewest_within,
    labels_for_width,
    share_out,
    stratify,
    was_drawn_unequally,
)
from cape._labelled._sample import (
    LabelledSample,
    compare_with_labels,
    labelled_sample,
    predictions,
    proportion_interval,
    returned_p_value,
    score_cells,
)
from cape._labelled._use import (
    SAMPLE_LEVEL,
    CheckedCalls,
    LabelFindings,
    check_calls,
    corrected_rates,
    label_estimate,
    one_class_p_value,
    use_labels,
)
