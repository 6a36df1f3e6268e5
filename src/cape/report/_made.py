"""How a page was made: the model, the data, the versions and the date.

A page about files gets its *provenance* from whoever read the files. Without files
there is still something to say: what the classifier knows about itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cape._packages import package_versions
from cape._wording._page import Summary
from cape.classifier import CapeClassifier

_PACKAGES = ("scikit-learn", "numpy", "scipy", "pandas", "skrub")
# They change how long training takes, and no prediction.
_NO_EFFECT = ("n_jobs", "verbose")


def file_provenance(
    details: Mapping[str, Any],
    files: Sequence[tuple[str, int, str]],
    *,
    fingerprint: str,
) -> Summary:
    """Say which files a page is about, and where its model comes from.

    Parameters
    ----------
    details : mapping
        What ``cape train`` noted about the model: data, learner, settings and columns.
    files : sequence of (name, rows, sha256)
        The files that the page is about.
    fingerprint : str
        Fingerprint of the model.

    Returns
    -------
    dict
        The ``provenance`` of an examination or of a summary.

    Examples
    --------
    >>> details = {"data": {"file": "train.csv"}, "learner": "logistic",
    ...            "settings": {}, "columns": {}}
    >>> made = file_provenance(details, [("new.csv", 3, "0a1b")], fingerprint="5e")
    >>> made["files"]
    [{'file': 'new.csv', 'rows': 3, 'sha256': '0a1b'}]
    """
    entries = []
    for name, rows, sha256 in files:
        entries.append({"file": name, "rows": rows, "sha256": sha256})
    return {
        "files": entries,
        "training": details["data"],
        "learner": details["learner"],
        "settings": details["settings"],
        "columns": details["columns"],
        "fingerprint": fingerprint,
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
            settings[name] = _json_value(value)
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


def _json_value(value: Any) -> Any:
    """Return a parameter as JSON can hold it; an object is written as its repr."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    return " ".join(repr(value).split())
