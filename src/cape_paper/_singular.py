"""The normal density that AIF360's MetaFair was written for.

MetaFair evaluates a normal density whose covariance is singular: the group is among
its features, and stands beside them once more. Since version 1.9.3 scipy returns 0
off the support of a singular normal, and MetaFair fails (AIF360's issue 454). Before,
scipy returned the density of the projection on the support, as `ProjectedNormal` does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.stats import multivariate_normal

__all__ = ["ProjectedNormal"]


class ProjectedNormal:
    """A normal distribution that projects points on the support of its covariance.

    Parameters
    ----------
    mean : array-like of shape (n_dimensions,)
        The mean.
    cov : array-like of shape (n_dimensions, n_dimensions)
        The covariance; it may be singular.
    allow_singular : bool, default=True
        Whether `rvs` takes a singular covariance; MetaFair hands it over by name.
    seed : int or None, default=None
        Seed of `rvs`.

    Examples
    --------
    >>> flat = ProjectedNormal([0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]])
    >>> bool(np.isclose(flat.pdf([1.0, 1.0]), flat.pdf([1.5, 0.5])))
    True
    """

    def __init__(
        self,
        mean: Any,
        cov: Any,
        *,
        allow_singular: bool = True,
        seed: Any = None,
    ):
        # scipy draws the points: the density alone has changed.
        self._normal = multivariate_normal(
            mean, cov, allow_singular=allow_singular, seed=seed
        )
        self._mean = np.asarray(mean, dtype=float)
        values, vectors = eigh(np.asarray(cov, dtype=float))
        # scipy's rule for eigenvalues that count as 0.
        largest = np.abs(values).max()
        tolerance = 1e6 * np.finfo(float).eps * largest
        support = values > tolerance
        # In these coordinates the distribution is standard normal on its support; what
        # is orthogonal to the support has no coordinate, so points are projected.
        variances = values[support]
        self._whiten = vectors[:, support] / np.sqrt(variances)
        # log of (2 pi)^rank times the pseudo-determinant.
        rank = support.sum()
        log_determinant = np.log(variances).sum()
        self._log_scale = rank * np.log(2 * np.pi) + log_determinant

    def pdf(self, x: Any) -> Any:
        """Compute the density at the points in the rows of ``x``.

        Parameters
        ----------
        x : array-like of shape (n_dimensions,) or (n_points, n_dimensions)
            Points.

        Returns
        -------
        float or ndarray of shape (n_points,)
        """
        deviation = np.asarray(x, dtype=float) - self._mean
        whitened = deviation @ self._whiten
        squared_distance = (whitened**2).sum(axis=-1)
        return np.exp(-0.5 * (self._log_scale + squared_distance))

    def rvs(self, size: int = 1) -> np.ndarray:
        """Draw points, as scipy does.

        Parameters
        ----------
        size : int, default=1
            Number of points.

        Returns
        -------
        ndarray of shape (size, n_dimensions)
        """
        return self._normal.rvs(size=size)
