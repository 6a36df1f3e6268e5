"""What a trained model is: its data, its settings and its groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cape._groups import unique_names
from cape.files._model import TableModel, load_with_header

__all__ = ["describe_file", "describe_model"]


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
    >>> content = describe_model(TableModel(clf, None, {}))
    >>> [group["group"] for group in content["groups"]]
    ['0', '1']
    """
    # A copy: the caller may add to the description.
    content = dict(model.details)
    content["fingerprint"] = model.clf.fingerprint_
    content["groups"] = []
    names = unique_names(model.clf.models_)
    for group, group_model in model.clf.models_.items():
        content["groups"].append(
            {
                "group": names[group],
                "rows": group_model.size,
                "prevalence": group_model.prevalence,
                "auc": group_model.auc(),
            }
        )
    return content


def describe_file(path: str | Path) -> dict[str, Any]:
    """Describe the model in a file that ``cape train`` wrote.

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
    model, header = load_with_header(path)
    content = describe_model(model)
    content["saved"] = header["saved"]
    content["versions"] = header["versions"]
    return content
