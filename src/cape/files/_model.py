"""A model file of ``cape train``: a classifier, and the columns it was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cape import persist
from cape._tables import Dialect, TableError
from cape.files._columns import Columns

if TYPE_CHECKING:
    from cape.classifier import CapeClassifier

_DETAILS = ("columns", "learner", "data", "settings", "groups")
"""What `cape train` saves with a model, and pages and commands read."""

_OF_A_GROUP: dict[str, Any] = {
    "group": str,
    "rows": int,
    "prevalence": (float, type(None)),
    "auc": (float, type(None)),
}


@dataclass(frozen=True)
class TableModel:
    """A classifier and the columns that it was trained on.

    Parameters
    ----------
    clf : CapeClassifier
        Fitted. Its labels are 0 and 1, whatever they are called in the file.
    columns : Columns
        The columns of the training table.
    details : dict
        What `train_file` saved with the model: ``columns``, ``learner``, ``data`` (the
        name of the training file, its rows and its hash), ``settings``, and ``groups``
        (the name of each, its training ``rows``, their ``prevalence`` and the ``auc``
        of their out-of-fold scores; None if they are too few to tell).
    """

    clf: CapeClassifier
    columns: Columns
    details: dict[str, Any]

    @property
    def dialect(self) -> Dialect:
        """How the training file was written, if it was a CSV: later files may be, too.

        A comma, UTF-8 and decimal points if the model does not tell.
        """
        return Dialect(**self.details.get("data", {}).get("dialect", {}))


def load_model(
    path: str | Path,
    *,
    key: bytes | str | Path | None = None,
    missing_groups: str | None = None,
) -> TableModel:
    """Load a model that ``cape train`` or `train_file` wrote.

    Parameters
    ----------
    path : str or Path
    key : bytes, str or Path, default=None
        The secret that the file must be signed with, as for `cape.persist.load`.
    missing_groups : {"error", "group", "drop"}, default=None
        What to do with rows without a group value, as in `CapeClassifier`. None is as
        the model was trained.

    Returns
    -------
    TableModel

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TableError
        If the model was saved in Python with `cape.persist.save`: it has no columns.
    ValueError
        If the file is damaged or altered, or not signed with the key.

    Examples
    --------
    >>> load_model("nowhere.cape")
    Traceback (most recent call last):
    FileNotFoundError: there is no file nowhere.cape.
    """
    header, columns = _read_header(path, key)
    clf = persist.load(path, key=key)
    if clf.fingerprint_ != header["fingerprint"]:
        raise TableError(f"{path} was replaced while it was read: try again.")
    if missing_groups is not None:
        # Imported here, since it takes scikit-learn along.
        from cape._validation import check_choice

        check_choice("missing_groups", missing_groups, ("error", "group", "drop"))
        clf.set_params(missing_groups=missing_groups)
    return TableModel(clf, columns, header["details"])


def describe_file(
    path: str | Path, *, key: bytes | str | Path | None = None
) -> dict[str, Any]:
    """Describe the model in a file that ``cape train`` wrote.

    What the header of the file says is taken for true, and the model is not loaded: a
    large one takes seconds.

    Parameters
    ----------
    path : str or Path
    key : bytes, str or Path, default=None
        As for `load_model`.

    Returns
    -------
    dict
        The ``details`` of the model, its ``fingerprint``, the time at which the file
        was ``saved``, and the ``versions`` of the packages that wrote it.

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
    header, _ = _read_header(path, key)
    facts = {name: header[name] for name in ("fingerprint", "saved", "versions")}
    return header["details"] | facts


def _read_header(
    path: str | Path, key: bytes | str | Path | None
) -> tuple[dict[str, Any], Columns]:
    """Read the header of a model file, and check what `cape train` saved in it."""
    # The error of cape.persist speaks of its parameter; a user of the command line
    # knows files.
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no file {path}.")
    if not Path(path).is_file() and not Path(path).is_dir():
        # Opening a pipe would wait for somebody to write to it.
        raise TableError(f"{path} is a pipe or a device: it must be a model file.")
    header = persist.read_header(path, key=key)
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
            for name, type_ in _OF_A_GROUP.items():
                if not isinstance(group[name], type_):
                    raise TypeError(f"{name} of a group must be of {type_}.")
        return Columns.from_dict(details["columns"])
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        raise TableError(f"{path} is damaged: {error}") from error
