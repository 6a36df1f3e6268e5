"""The members of a vote, which are learners of their own."""

from __future__ import annotations

from copy import copy
from typing import Any

from sklearn.ensemble import VotingClassifier

__all__ = ["has_member", "member_of"]


def has_member(vote: Any, learner: Any) -> bool:
    """Tell whether a learner is a vote that another learner takes part in.

    Parameters
    ----------
    vote, learner : unfitted learners

    Returns
    -------
    bool

    Examples
    --------
    >>> vote = VotingClassifier([("small", LogisticRegression(C=0.1))])
    >>> has_member(vote, LogisticRegression(C=0.1))
    True
    >>> has_member(vote, LogisticRegression())
    False
    """
    return _position(vote, learner) is not None


def member_of(vote: VotingClassifier, learner: Any) -> Any:
    """Return the fitted member of a fitted vote that a learner describes.

    A vote trains its members on the numbers of the classes. The copy that is returned
    has the classes themselves.

    Parameters
    ----------
    vote : fitted VotingClassifier
    learner : unfitted learner
        `has_member` must be true of it.

    Returns
    -------
    fitted learner
    """
    position: Any = _position(vote, learner)
    member = copy(vote.estimators_[position])
    member.classes_ = vote.classes_
    return member


def _position(vote: Any, learner: Any) -> int | None:
    """Find a learner among the members of a vote by its kind and parameters."""
    if not isinstance(vote, VotingClassifier):
        return None
    for position, (_, member) in enumerate(vote.estimators):
        if type(member) is type(learner) and _parameters(member) == _parameters(
            learner
        ):
            return position
    return None


def _parameters(learner: Any) -> dict[str, str]:
    """Return the parameters of a learner as text, but for its seed."""
    parameters = {}
    for name, value in learner.get_params().items():
        if name != "random_state":
            parameters[name] = repr(value)
    return parameters
