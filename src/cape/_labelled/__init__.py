"""Labels of a few rows: the estimate checked, corrected and confirmed.

::

    labelled rows --labelled_sample--> cells, weights
                                          |
              do they look drawn? <-------+-------> prediction-powered estimate
                                          |              |
                      checked calls <-----+          combined with the label-free
                           |                         estimate, and compared with it
                    corrected rates
"""

from cape._labelled._prevalence import compare_with_labels, proportion_interval
from cape._labelled._rates import CheckedCalls, check_calls, corrected_rates
from cape._labelled._sample import (
    LabelledSample,
    labelled_sample,
    predictions,
    score_cells,
)
from cape._labelled._use import (
    FEWEST_LABELS,
    SAMPLE_LEVEL,
    LabelFindings,
    LabelFree,
    label_estimate,
    use_labels,
)

__all__ = [
    "FEWEST_LABELS",
    "SAMPLE_LEVEL",
    "CheckedCalls",
    "LabelFindings",
    "LabelFree",
    "LabelledSample",
    "check_calls",
    "compare_with_labels",
    "corrected_rates",
    "label_estimate",
    "labelled_sample",
    "predictions",
    "proportion_interval",
    "score_cells",
    "use_labels",
]
