"""What pages say of the model: how it was made, and what it would do elsewhere.

A page about files gets its *provenance* from whoever read the files. Without files
there is still something to say: what the classifier knows about itself.

The explorer shows what each group would see at any prevalence, in closed form from the
members' rates. Under prior shift the true and false positive rate of a member do not
move with the prevalence rho, so that it predicts rho tpr + (1 - rho) fpr. CAPE takes
the member whose prediction is nearest rho. The page computes the same in the browser
from the same numbers (``page/explorer.js``); this module is the reference that it is
tested against.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cape._group_model import GroupModel
from cape._groups import combined_columns
from cape._packages import package_versions
from cape._wording._numbers import unique_names
from cape._wording._page import Summary
from cape.classifier import CapeClassifier

if TYPE_CHECKING:
    from cape.files import TableModel

_PACKAGES = ("scikit-learn", "numpy", "scipy", "pandas", "skrub")
# They change how long training takes, and no prediction.
_NO_EFFECT = ("n_jobs", "verbose")
# Thinned to so many, a pool has a PD at most one step of a slider (0.01) greater.
_MOST_MEMBERS = 200
# More digits would make the page longer and move no curve.
_DIGITS = 6


def file_provenance(
    model: TableModel, files: Sequence[tuple[str, int, str]] = ()
) -> Summary:
    """Say which files a page is about, and where its model comes from.

    Parameters
    ----------
    model : TableModel
        The model as ``cape train`` saved it.
    files : sequence of (name, rows, sha256)
        The files that the page is about.

    Returns
    -------
    dict
        The ``provenance`` of an examination or of a summary.
    """
    entries = []
    for name, rows, sha256 in files:
        entries.append({"file": name, "rows": rows, "sha256": sha256})
    return {
        "files": entries,
        "training": model.details["data"],
        "learner": model.details["learner"],
        "settings": model.details["settings"],
        "columns": model.details["columns"],
        "fingerprint": model.clf.fingerprint_,
    }


def facts_of_classifier(clf: CapeClassifier) -> Summary:
    """Say what a fitted classifier knows about itself, without any file.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.

    Returns
    -------
    dict
        ``classifier``, ``learner``, ``settings`` and ``fingerprint``.

    Examples
    --------
    >>> facts = facts_of_classifier(clf)
    >>> facts["classifier"], facts["learner"], facts["settings"]["pool"]
    ('CapeClassifier', 'LogisticRegression()', 'threshold')
    """
    settings = {}
    for name, value in clf.get_params(deep=False).items():
        # The learner has a line of its own, and some parameters change no prediction.
        if name != "estimator" and name not in _NO_EFFECT:
            is_json = value is None or isinstance(value, (str, int, float))
            settings[name] = value if is_json else " ".join(repr(value).split())
    # None stands for a default that may change with the version.
    learner = "the default learner"
    if clf.estimator is not None:
        learner = " ".join(repr(clf.estimator).split())
    return {
        "classifier": type(clf).__name__,
        "learner": learner,
        "settings": settings,
        "fingerprint": clf.fingerprint_,
    }


def stamped(made: Mapping[str, Any]) -> Summary:
    """Add the date and the versions of the software.

    Parameters
    ----------
    made : mapping
        What is known about the model and the data.

    Returns
    -------
    dict
        The section ``made`` of a summary. A date or versions that are given are kept.

    Examples
    --------
    >>> sorted(stamped({"files": []}))
    ['date', 'files', 'versions']
    """
    # UTC, because a page may be read anywhere.
    now = datetime.now(UTC).isoformat(timespec="minutes")
    return {"date": now, "versions": package_versions(_PACKAGES), **made}


class Members(NamedTuple):
    """Rates of the members of one group.

    Parameters
    ----------
    thetas : ndarray of shape (n_members,)
        The prevalences for which the members were made.
    tpr, fpr : ndarray of shape (n_members,)
        Their true and false positive rates on rows they were not trained on.
    """

    thetas: np.ndarray
    tpr: np.ndarray
    fpr: np.ndarray

    def to_dict(self) -> dict[str, list[float]]:
        """Return the members as the page's script reads them."""
        names = ("theta", "tpr", "fpr")
        return {name: rates.tolist() for name, rates in zip(names, self, strict=True)}


def members_of(model: GroupModel) -> Members:
    """Return the rates of a group's members.

    Members whose rates are unknown are left out. A pool with more than 200 members is
    thinned, so that the page stays small.

    Parameters
    ----------
    model : GroupModel
        What training left of the group.

    Returns
    -------
    Members
        With numbers rounded to six digits.
    """
    # Decisions that were made are those of the time of training.
    thetas = np.nan_to_num(model.pool.thetas, nan=model.prevalence)
    members = Members(thetas, model.pool.rates.tpr, model.pool.rates.fpr)
    # A rate is NaN, unknown, if it rests on fewer than ten unseen rows.
    places = np.flatnonzero(~np.isnan(members.tpr + members.fpr))
    if len(places) > _MOST_MEMBERS:
        places = _thinned(members, places)
    return Members(*(values[places].round(_DIGITS) for values in members))


def unadapted(model: GroupModel) -> Members:
    """Return the model as trained as the only member.

    It is cut where as many are called positive as in training.
    """
    rates = model.unadapted_rates(model.training_cut)
    return Members(*np.array([model.prevalence, *rates]).round(_DIGITS)[:, None])


def _thinned(members: Members, places: np.ndarray) -> np.ndarray:
    """Keep 200 members that are spread evenly over what they predict.

    Even in theta would not do: many thetas may share nearly the same cut.
    """
    order = places[np.argsort(members.thetas[places], kind="stable")]
    # What a member predicts in a batch with as many positives as negatives.
    predicted = (members.tpr + members.fpr)[order] / 2
    increasing = np.maximum.accumulate(predicted)
    steps = np.searchsorted(increasing, np.linspace(0, 1, _MOST_MEMBERS))
    steps = steps.clip(0, len(order) - 1)
    return order[np.unique(steps)]


def explorer_data(clf: CapeClassifier) -> Summary:
    """Return the numbers that the page's script computes from.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.

    Returns
    -------
    dict
        ``groups`` is a list with one entry for each group: its name, training
        prevalence, starting prevalence, members and the unadapted model.

    Examples
    --------
    >>> [group["name"] for group in explorer_data(clf)["groups"]]
    ['0', '1']
    """
    entries = []
    names = unique_names(clf.groups_, combined_columns(clf.group_columns))
    for group in clf.groups_:
        model = clf.model_of(group)
        share = model.shown_prevalence
        entries.append(
            {
                "name": names[group],
                "training": None if np.isnan(share) else round(share, _DIGITS),
                "now": round(model.prevalence, _DIGITS),
                "cape": members_of(model).to_dict(),
                "unadapted": unadapted(model).to_dict(),
            }
        )
    return {"groups": entries}


def explorer_summary(
    clf: CapeClassifier,
    *,
    title: str = "Model",
    provenance: Mapping[str, Any] | None = None,
) -> Summary:
    """Summarise a model for a page with the explorer alone.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.
    title : str, default="Model"
        What the page calls the model.
    provenance : mapping, default=None
        Where the model comes from, from `file_provenance`. None says what the
        classifier knows about itself.

    Returns
    -------
    dict
        All numbers of the explorer page, as JSON can hold them.

    Examples
    --------
    >>> explorer_summary(clf)["title"]
    'Model'
    """
    if provenance is None:
        provenance = facts_of_classifier(clf)
    return {
        "kind": "explorer",
        "title": title,
        "explorer": explorer_data(clf),
        "made": stamped(provenance),
    }
