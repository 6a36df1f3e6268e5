"""What every pool of classifiers can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from cape.evidence import GroupEvidence
from cape.pool._rates import MemberRates

__all__ = ["Pool"]


class Pool(ABC):
    """The classifiers of one group, one member for each prevalence theta.

    A pool does not score rows. It is handed the rounded scores of the model behind a
    member (see `cape.histogram.round_scores`) and says what that member makes of them.
    To write your own, subclass this class and define everything below.

    Attributes
    ----------
    thetas : ndarray of shape (n_members,)
        Prevalence that each member was made for.
    rates : MemberRates
        True and false positive rates of the members on rows they were not trained on.
    models : list of fitted learners
        The learners behind the members, each once.

    Examples
    --------
    >>> from cape.pool import Pool
    >>> issubclass(type(clf.models_[0].pool), Pool)
    True
    """

    thetas: np.ndarray
    rates: MemberRates
    models: list[Any]

    decides_by_scoring_models = False
    """Whether ``models`` are those that score a batch for the quantifier."""

    @property
    def has_a_model_each(self) -> bool:
        """Whether every member has a model of its own.

        Such a member calls a row positive if its score is above 1/2. Whoever needs no
        probabilities can then keep one bit a row and member instead of the score.
        """
        # Cuts of few distinct scores may happen to be as many as the fold models.
        n_members = len(self.thetas)
        return len(self.models) == n_members and not self.decides_by_scoring_models

    def combine(self, scores: np.ndarray) -> np.ndarray:
        """Turn scores by ``models`` into the scores that members decide by.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_models, n_rows)

        Returns
        -------
        ndarray of int64 of shape (n_deciding, n_rows)
        """
        return scores

    @abstractmethod
    def deciding_row(self, member: int) -> int:
        """Return which row of the deciding scores belongs to a member."""

    @abstractmethod
    def models_of(self, member: int) -> list[Any]:
        """Return the models that have to be asked for a member to decide."""

    @abstractmethod
    def calls(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Tell which rows a member calls positive.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_rows,)
            Rounded scores by the model behind the member.
        member : int

        Returns
        -------
        ndarray of bool of shape (n_rows,)
        """

    @abstractmethod
    def probability(self, scores: np.ndarray, member: int) -> np.ndarray:
        """Compute a member's probability that rows are positive.

        Parameters
        ----------
        scores : ndarray of int64 of shape (n_rows,)
            Rounded scores by the model behind the member.
        member : int

        Returns
        -------
        ndarray of float of shape (n_rows,)
            Above 1/2 exactly where the member calls the row positive.
        """

    @abstractmethod
    def tally(self, deciding: np.ndarray, edges: np.ndarray) -> Any:
        """Count what evidence has to keep so that `called` can be computed from it.

        Parameters
        ----------
        deciding : ndarray of shape (n_models, n_rows)
            Rounded scores by ``models``; or, for a pool with a model for each member,
            whether they are above 1/2.
        edges : ndarray of int64
            Edges of the group's histograms.

        Returns
        -------
        ndarray of int64, ScoreHistogram or None
            Something that adds up over the rows; None if the evidence holds it anyway.
        """

    @abstractmethod
    def called(self, evidence: GroupEvidence) -> np.ndarray:
        """Count the rows of the evidence that each member calls positive.

        Parameters
        ----------
        evidence : GroupEvidence

        Returns
        -------
        ndarray of shape (n_members,)
        """
