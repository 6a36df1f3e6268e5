"""Pools of classifiers: two ways to make members for every prevalence."""

from cape.pool._rates import MemberRates
from cape.pool._resampled import ResampledPool, fit_member
from cape.pool._threshold import ThresholdPool

__all__ = ["MemberRates", "ResampledPool", "ThresholdPool", "fit_member"]
