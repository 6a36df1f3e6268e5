"""What each group would see at any prevalence, in closed form from the members' rates.

Under prior shift a member's true and false positive rate do not move with the prevalence rho, so it predicts
rho tpr + (1 - rho) fpr; CAPE takes the member whose prediction is nearest rho. The page computes the same in the
browser from the same numbers; this is the reference that it is tested against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cape._group_model import GroupModel
from cape._groups import Group, group_name
from cape.classifier import CapeClassifier
from cape.rules import nearest_member

__all__ = ["Members", "explorer_data", "members_of", "outcomes", "worst_pe_of"]

_MOST = 200
_DIGITS = 6


@dataclass(frozen=True)
class Members:
    """Rates of the members of one group.

    Parameters
    ----------
    thetas, tpr, fpr : ndarray of shape (n_members,)

    Examples
    --------
    >>> pool = Members(np.array([0.2, 0.8]), np.array([0.5, 0.9]), np.array([0.1, 0.4]))
    >>> found = outcomes(pool, [0.3, 0.8])
    >>> found["theta"].tolist(), found["pd"].round(3).tolist()
    ([0.2, 0.8], [0.08, 0.0])
    """

    thetas: np.ndarray
    tpr: np.ndarray
    fpr: np.ndarray


def members_of(model: GroupModel) -> tuple[Members, Members]:
    """The pool's members, at most 200 of them, and the model as trained, cut at 1/2; rates rounded to six digits.

    Members whose rates are unknown are left out. Of a pool with more, those are kept that are spread evenly over
    what they predict.
    """
    rates = model.pool.rates
    known = ~(np.isnan(rates.tpr) | np.isnan(rates.fpr))
    thetas, tpr, fpr = model.pool.thetas[known], rates.tpr[known], rates.fpr[known]
    if len(thetas) > _MOST:
        order = np.argsort(thetas, kind="stable")
        spread = (tpr + fpr)[order] / 2
        kept = order[
            np.unique(
                np.searchsorted(
                    np.maximum.accumulate(spread), np.linspace(0, 1, _MOST)
                ).clip(0, len(order) - 1)
            )
        ]
        thetas, tpr, fpr = thetas[kept], tpr[kept], fpr[kept]
    plain = model.unadapted_rates()
    return (
        Members(*(np.round(values, _DIGITS) for values in (thetas, tpr, fpr))),
        Members(
            np.array([round(model.prevalence, _DIGITS)]),
            *(np.round([rate], _DIGITS) for rate in plain),
        ),
    )


def outcomes(members: Members, prevalence: Any) -> dict[str, np.ndarray]:
    """What comes of the member nearest each prevalence.

    Parameters
    ----------
    members : Members
    prevalence : float or array-like
        True prevalence rho of the group.

    Returns
    -------
    dict
        ``theta`` of the member chosen, its ``predicted`` prevalence, ``fpr``, ``fnr``, ``accuracy`` and ``pd``.
    """
    rho = np.asarray(prevalence, dtype=float)
    each = rho[..., None] * members.tpr + (1 - rho[..., None]) * members.fpr
    chosen = nearest_member(each, members.thetas, rho)
    tpr, fpr = members.tpr[chosen], members.fpr[chosen]
    predicted = rho * tpr + (1 - rho) * fpr
    return {
        "theta": members.thetas[chosen],
        "predicted": predicted,
        "fpr": fpr,
        "fnr": 1 - tpr,
        "accuracy": rho * tpr + (1 - rho) * (1 - fpr),
        "pd": np.abs(rho - predicted),
    }


def worst_pe_of(prevalences: Any, predicted: Any) -> float | None:
    """PE of the worst ordered pair of groups; None if no pair is defined.

    Examples
    --------
    >>> worst_pe_of([0.2, 0.4], [0.2, 0.5])
    0.5
    """
    rho, rho_hat = (
        np.asarray(prevalences, dtype=float),
        np.asarray(predicted, dtype=float),
    )
    worst = [
        abs(rho[i] / rho[j] - rho_hat[i] / rho_hat[j])
        for i in range(len(rho))
        for j in range(len(rho))
        if i != j and rho[j] > 0 and rho_hat[j] > 0
    ]
    return float(max(worst)) if worst else None


def explorer_data(
    clf: CapeClassifier, now: Mapping[Group, float] | None = None
) -> dict[str, Any]:
    """What the page's explorer needs.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    now : mapping from group to float, default=None
        Where the sliders stand at first; by default at the training prevalences. Only these groups are shown.

    Returns
    -------
    dict
        ``groups``: of each its name, training prevalence, starting prevalence, members and the unadapted model.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cape.datasets import make_synthetic
    >>> d = make_synthetic(400, random_state=0)
    >>> clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0)
    >>> clf = clf.fit(d.data, d.target, sensitive_features=d.sensitive_features)
    >>> [group["name"] for group in explorer_data(clf)["groups"]]
    ['0', '1']
    """
    groups = []
    for group in clf.groups_ if now is None else now:
        model = clf.model_of(group)
        pool, plain = members_of(model)
        groups.append(
            {
                "name": group_name(group),
                "training": round(model.prevalence, _DIGITS),
                "now": round(model.prevalence if now is None else now[group], 2),
                "cape": _listed(pool),
                "unadapted": _listed(plain),
            }
        )
    return {"groups": groups}


def _listed(members: Members) -> dict[str, list[float]]:
    return {
        "theta": members.thetas.tolist(),
        "tpr": members.tpr.tolist(),
        "fpr": members.fpr.tolist(),
    }
