"""What pages say of the model: how it was made.

A page about files gets its *provenance* from whoever read the files. Without files
there is still something to say: what the classifier knows about itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cape.base._packages import package_versions
from cape_app.words._page import Summary

if TYPE_CHECKING:
    from cape import CapeClassifier
    from cape_app.files import TableModel

_PACKAGES = ("scikit-learn", "numpy", "scipy", "pandas", "skrub")
# They change how long training takes, and no prediction.
_NO_EFFECT = ("n_jobs", "verbose")


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
        "past": model.details.get("past"),
    }


def model_summary(content: Mapping[str, Any], *, by_default: bool = False) -> Summary:
    """Summarise a model: what it was trained on, and how.

    Parameters
    ----------
    content : mapping
        From `cape_app.files._model.describe_file`, or the details of a model.
    by_default : bool, default=False
        Whether nobody chose the positive label.
    """
    made = {name: content[name] for name in ("learner", "settings", "columns")}
    made |= {"training": content["data"], "fingerprint": content["fingerprint"]}
    made |= {"past": content.get("past"), "versions": content.get("versions", {})}
    made["date"] = content.get("saved", "")
    return {"kind": "model", "by_default": by_default, "made": made, **content}


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
