"""Reasons to trust an answer: does the assumption hold, has anything moved, what to expect, what would do."""

from cape.diagnostics._expected import (
    ExpectedPerformance,
    compare_expected,
    expected_performance,
)
from cape.diagnostics._moved import PrevalenceMoved, prevalence_moved
from cape.diagnostics._prior_shift import PriorShiftTest, prior_shift_test
from cape.diagnostics._recommend import Recommendation, recommend
from cape.diagnostics._rows_needed import rows_needed

__all__ = [
    "ExpectedPerformance",
    "PrevalenceMoved",
    "PriorShiftTest",
    "Recommendation",
    "compare_expected",
    "expected_performance",
    "prevalence_moved",
    "prior_shift_test",
    "recommend",
    "rows_needed",
]
