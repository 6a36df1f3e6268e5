"""What ``cape train`` saves beside a model, read without the model itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cape import persist
from cape._tables import Dialect, TableError
from cape.files._columns import Columns

__all__ = ["read_model_header"]

_DETAILS = ("columns", "learner", "data", "settings", "groups")
"""What `cape train` saves with a model, and pages and commands read."""

_OF_A_GROUP = {"group": str, "rows": int, "prevalence": float, "auc": float}


def read_model_header(path: str | Path) -> tuple[dict[str, Any], Columns]:
    """Read the header of a model file, and check what `cape train` saved in it.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    header : dict
        What `cape.persist.read_header` returns.
    columns : Columns
        The columns of the training table.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or if it is no model of ``cape train``.

    Examples
    --------
    >>> read_model_header("nowhere.cape")
    Traceback (most recent call last):
    FileNotFoundError: there is no file nowhere.cape.
    """
    # The error of cape.persist speaks of its parameter; a user of the command line
    # knows files.
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if not Path(path).is_file() and not Path(path).is_dir():
        # Opening a pipe would wait for somebody to write to it.
        raise TableError(f"{path} is a pipe or a device: it must be a model file.")
    header = persist.read_header(path)
    # Without the columns a file could not be brought to the types of training.
    if "columns" not in header["details"]:
        raise TableError(
            f"{path} was not written by cape train: load it in Python with "
            "cape.persist.load."
        )
    return header, _check_details(header["details"], path)


def _check_details(details: dict[str, Any], path: str | Path) -> Columns:
    """Check the details of a header, which anybody may have edited."""
    missing = [name for name in _DETAILS if name not in details]
    if missing or not isinstance(details["data"], dict):
        lacks = ", ".join(missing or ["data"])
        raise TableError(f"{path} is damaged: its header lacks {lacks}.")
    try:
        Dialect(**details["data"].get("dialect", {}))
        for group in details["groups"]:
            _check_group(group)
        return Columns.from_dict(details["columns"])
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        raise TableError(f"{path} is damaged: {error}") from error


def _check_group(group: dict[str, Any]) -> None:
    """Raise if an entry on a group lacks a field, or if a field is of another type."""
    for name, type_ in _OF_A_GROUP.items():
        if not isinstance(group[name], type_):
            raise TypeError(f"{name} of a group must be a {type_.__name__}.")
