"""Pools of classifiers: two ways to make members for every prevalence.

`_pools` has the pools, which turn scores into decisions; `_members` trains the members
of a resampled pool.
"""

from cape._pool._members import fit_member
from cape._pool._pools import MemberRates, Pool, ResampledPool, ThresholdPool

__all__ = ["MemberRates", "Pool", "ResampledPool", "ThresholdPool", "fit_member"]
