"""Reasons to trust an answer: does the assumption hold, has anything moved, what to expect."""

from cape.diagnostics._expected import ExpectedPerformance, compare_expected, expected_performance
from cape.diagnostics._moved import PrevalenceMoved, prevalence_moved
from cape.diagnostics._prior_shift import PriorShiftTest, prior_shift_test

__all__ = [
    "ExpectedPerformance",
    "PrevalenceMoved",
    "PriorShiftTest",
    "compare_expected",
    "expected_performance",
    "prevalence_moved",
    "prior_shift_test",
]
