"""Pools of classifiers: two ways to make members for every prevalence."""

from cape.pool._base import Pool
from cape.pool._rates import MemberRates
from cape.pool._resampled import ResampledPool, TrainedMember, fit_member
from cape.pool._threshold import ThresholdPool

__all__ = [
    "MemberRates",
    "Pool",
    "ResampledPool",
    "ThresholdPool",
    "TrainedMember",
    "fit_member",
]
