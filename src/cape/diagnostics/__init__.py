"""Reasons to trust an answer, or not to.

`examine` computes everything there is to say about a batch: what has moved, whether the
assumption of a prior shift is contradicted, and what to expect of the predictions. Its
parts are functions of their own. `rows_needed`, `recommend` and
`suspicious_columns` help before there is a batch; `labels_needed` and `rows_to_label`
say how many rows of a batch to label, and which.
"""

from cape.diagnostics._column_shift import ColumnFinding, ColumnShift, column_shift
from cape.diagnostics._criteria import ExpectedCriteria, expected_criteria
from cape.diagnostics._examine import Examination, Observed, examine
from cape.diagnostics._expected import (
    ExpectedPerformance,
    compare_expected,
    expected_performance,
)
from cape.diagnostics._frontier import Frontier, frontier, frontiers
from cape.diagnostics._label_checks import LabelChecks
from cape.diagnostics._labels_needed import labels_needed
from cape.diagnostics._moved import PrevalenceMoved, prevalence_moved
from cape.diagnostics._prior_shift import PriorShiftTest, prior_shift_test
from cape.diagnostics._recommend import Recommendation, recommend
from cape.diagnostics._rows_needed import rows_needed
from cape.diagnostics._rows_to_label import LabelPlan, RowsToLabel, rows_to_label
from cape.diagnostics._suspicious import (
    SuspiciousColumn,
    SuspiciousColumns,
    suspicious_columns,
)
from cape.diagnostics._verdicts import GroupVerdict

__all__ = [
    "ColumnFinding",
    "ColumnShift",
    "Examination",
    "ExpectedCriteria",
    "ExpectedPerformance",
    "Frontier",
    "GroupVerdict",
    "LabelChecks",
    "LabelPlan",
    "Observed",
    "PrevalenceMoved",
    "PriorShiftTest",
    "Recommendation",
    "RowsToLabel",
    "SuspiciousColumn",
    "SuspiciousColumns",
    "column_shift",
    "compare_expected",
    "examine",
    "expected_criteria",
    "expected_performance",
    "frontier",
    "frontiers",
    "labels_needed",
    "prevalence_moved",
    "prior_shift_test",
    "recommend",
    "rows_needed",
    "rows_to_label",
    "suspicious_columns",
]
