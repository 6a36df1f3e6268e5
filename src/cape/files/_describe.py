"""What a trained model is: its data, its settings and its groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cape.files._model_header import read_model_header

if TYPE_CHECKING:
    from cape.classifier import CapeClassifier
    from cape.files._model import TableModel

__all__ = ["describe_file", "describe_groups", "describe_model"]


def describe_model(model: TableModel) -> dict[str, Any]:
    """Describe a model as a dict that JSON can hold.

    Parameters
    ----------
    model : TableModel

    Returns
    -------
    dict
        The ``details`` of the model, its ``fingerprint``, and its ``groups``: the name
        of each, its training ``rows``, their ``prevalence`` and the ``auc`` of their
        out-of-fold scores.

    Examples
    --------
    >>> from cape.files import TableModel, describe_model
    >>> content = describe_model(TableModel(clf, None, {}))
    >>> [group["group"] for group in content["groups"]]
    ['0', '1']
    """
    # A copy: the caller may add to the description.
    content = dict(model.details)
    content["fingerprint"] = model.clf.fingerprint_
    content["groups"] = describe_groups(model.clf)
    return content


def describe_groups(clf: CapeClassifier) -> list[dict[str, Any]]:
    """Describe the groups of a classifier as JSON can hold them.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted.

    Returns
    -------
    list of dict
        See `describe_model`.
    """
    # Imported here: what a file says of its groups can be read without scikit-learn.
    from cape._groups import unique_names

    names = unique_names(clf.models_)
    content = []
    for group, model in clf.models_.items():
        content.append(
            {
                "group": names[group],
                "rows": int(model.size),
                "prevalence": float(model.prevalence),
                "auc": model.auc(),
            }
        )
    return content


def describe_file(path: str | Path) -> dict[str, Any]:
    """Describe the model in a file that ``cape train`` wrote.

    What the header of the file says is taken for true, and the model is not loaded: a
    large one takes seconds.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    dict
        What `describe_model` returns, the time at which the file was ``saved``, and
        the ``versions`` of the packages that wrote it.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or if it is no model of ``cape train``.

    Examples
    --------
    >>> describe_file("nowhere.cape")
    Traceback (most recent call last):
    FileNotFoundError: there is no file nowhere.cape.
    """
    header, _ = read_model_header(path)
    content = dict(header["details"])
    content["fingerprint"] = header["fingerprint"]
    content["saved"] = header["saved"]
    content["versions"] = header["versions"]
    return content
