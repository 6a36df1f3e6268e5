"""The normal density that AIF360's MetaFair was written for.

MetaFair evaluates a normal density with a singular covariance, since the group is among its features and stands beside
them once more. Since version 1.9.3 scipy gives 0 off the support of such a normal, and MetaFair fails (AIF360's issue
454). Before, it gave the density of the projection on the support; so does this one, in MetaFair's hands alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.stats import multivariate_normal

__all__ = ["ProjectedNormal"]


class ProjectedNormal:
    """A normal distribution whose density, off the support of a singular covariance, is that of the projection.

    Examples
    --------
    >>> flat = ProjectedNormal([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]], allow_singular=True)
    >>> bool(np.isclose(flat.pdf([1.0, 1.0]), flat.pdf([1.5, 0.5])))
    True
    """

    def __init__(
        self, mean: Any, cov: Any, *, allow_singular: bool = True, seed: Any = None
    ):
        self._normal = multivariate_normal(
            mean, cov, allow_singular=allow_singular, seed=seed
        )
        self._mean = np.asarray(mean, dtype=float)
        values, vectors = eigh(np.asarray(cov, dtype=float))
        kept = (
            values > 1e6 * np.finfo(float).eps * np.abs(values).max()
        )  # scipy's rule for what counts as 0
        self._whiten = vectors[:, kept] / np.sqrt(values[kept])
        self._log_scale = kept.sum() * np.log(2 * np.pi) + np.log(values[kept]).sum()

    def pdf(self, x: Any) -> Any:
        """Density at the points in the rows of ``x``."""
        distance = (
            ((np.asarray(x, dtype=float) - self._mean) @ self._whiten) ** 2
        ).sum(axis=-1)
        return np.exp(-0.5 * (self._log_scale + distance))

    def rvs(self, size: int = 1) -> np.ndarray:
        """Draw points, as scipy does."""
        return self._normal.rvs(size=size)
