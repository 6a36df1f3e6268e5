"""Reasons to trust an answer, or not to.

`examine` returns an `Examination`: everything there is to say about a batch. What to
do with the predictions (``action``), what has moved (``moved``, ``prior_shift``,
``columns``, ``verdict``), what to expect of the predictions (``expected``,
``criteria``), what labels say (``labels``), and how many rows or labels
are needed (`rows_needed`, ``labels_needed``).

`backtest` shows how far off all of this would have been on your own past, and
``Examination.score`` compares one examination with the truth.

`check` helps before there is a model, `rows_needed` before there is a batch, and
`rows_to_label` draws the rows of a batch that somebody should label.
"""

from cape.examination._backtest import Backtest, backtest
from cape.examination._check import Check, check
from cape.examination._examination import Examination, examine
from cape.examination._expected import ExpectedCriteria, ExpectedPerformance
from cape.examination._needed import LabelChecks, rows_needed, rows_to_label
from cape.examination._score import ScoredExamination
from cape.examination._shift import ColumnShift, PrevalenceMoved, PriorShiftTest

__all__ = [
    "Backtest",
    "Check",
    "ColumnShift",
    "Examination",
    "ExpectedCriteria",
    "ExpectedPerformance",
    "LabelChecks",
    "PrevalenceMoved",
    "PriorShiftTest",
    "ScoredExamination",
    "backtest",
    "check",
    "examine",
    "rows_needed",
    "rows_to_label",
]
