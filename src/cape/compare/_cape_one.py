"""CAPE-1: each row is a batch of its own."""

from __future__ import annotations

from cape.classifier import CapeClassifier

__all__ = ["CapeOne"]


class CapeOne(CapeClassifier):
    """`CapeClassifier` that predicts each row as a batch of its own, as the paper's CAPE-1 does.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(1000, random_state=0)
    >>> clf = CapeOne(LogisticRegression(), random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> one_by_one = clf.predict_individually(d.data, sensitive_features=d.sensitive_features)
    >>> (clf.predict(d.data, sensitive_features=d.sensitive_features) == one_by_one).all()
    np.True_
    """

    def predict(self, X, *, sensitive_features=None):
        """Predict each row as a batch of its own.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        sensitive_features : array-like or table of n_samples rows, default=None

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.predict_individually(X, sensitive_features=sensitive_features)
