"""Reading the table that a model is trained on, or a random sample of it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from cape._tables import TableError, check_columns_exist
from cape._wording._numbers import listed
from cape.files._columns import Columns, check_named_once, order_labels, plain_text
from cape.files._notes import Notes
from cape.files._scan import Scan

# A column with more values than this is no label column, and the error that says so
# needs no further rows.
_MAX_LABELS = 20

# A small data frame takes far more memory than its rows: after this many pieces, the
# pieces of a class are put together.
_MAX_PIECES = 20

_DATE = r"(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})|\d{4}[./-]\d{1,2}[./-]\d{1,2})\b.*"
_WITH_SIGN = r"[+-]?\d+[.,]\d+"
_WITH_THOUSANDS = r"[+-]?\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d+)?"
_NUMBER = rf"[+-]?\d+|{_WITH_SIGN}|{_WITH_THOUSANDS}"

_Key = tuple[Hashable, ...]


@dataclass(frozen=True)
class ColumnChoice:
    """The columns that the user named.

    Parameters
    ----------
    label : str
        The column with the label.
    group : tuple of str
        The columns that make the groups.
    drop : tuple of str
        Columns that must not be used.
    positive : str or None
        The positive label; None takes the greater of the two.
    """

    label: str
    group: tuple[str, ...]
    drop: tuple[str, ...]
    positive: str | None

    def features(self, kinds: dict[str, str], path: str | Path) -> dict[str, str]:
        """Return the columns to learn from, with their kinds.

        Parameters
        ----------
        kinds : dict from str to str
            The columns of the file, and what they hold.
        path : str or Path
            The file, for messages.

        Returns
        -------
        dict from str to {"number", "text", "date", "flag"}

        Raises
        ------
        TableError
            If a column that was named is not there or has two roles, if no feature is
            left, or if a feature holds lists or bytes.
        """
        named = (self.label, *self.group)
        check_columns_exist((*named, *self.drop), kinds, path)
        check_named_once(self.group)
        if self.label in self.group:
            raise TableError(f"{self.label!r} cannot be both the label and a group.")
        for name in self.drop:
            if name in named:
                raise TableError(
                    f"{name!r} is the label or a group: it is no feature anyway, and "
                    "cannot be dropped."
                )
        # In the order of the file, which is the order that learners see.
        features = {}
        for name, kind in kinds.items():
            if name in named or name in self.drop:
                continue
            if kind == "other":
                raise TableError(
                    f"{path}, column {name!r} holds lists or bytes, which no learner "
                    "takes: leave it out (--drop)."
                )
            features[name] = kind
        # Without features every learner would fail, with a message about arrays.
        if not features:
            raise TableError(
                f"{path} has no column left to learn from beside the label and the "
                "groups."
            )
        return features


@dataclass(frozen=True)
class TrainingTable:
    """The rows to train on.

    Parameters
    ----------
    columns : Columns
        The columns, and what they hold.
    X : DataFrame of shape (n_samples, n_columns)
        Features and groups, as the classifier takes them.
    y : ndarray of int8 of shape (n_samples,)
        The labels: 1 is positive.
    """

    columns: Columns
    X: pd.DataFrame
    y: np.ndarray

    def without(self, names: Collection[str], path: str | Path) -> TrainingTable:
        """Return the table without some of its features.

        Parameters
        ----------
        names : collection of str
            The features to leave out.
        path : str or Path
            The file, for messages.

        Returns
        -------
        TrainingTable

        Raises
        ------
        TableError
            If there is nothing left to learn from.
        """
        of_all = self.columns.features
        features = {name: of_all[name] for name in of_all if name not in names}
        if not features:
            raise TableError(
                f"{path} has no column left to learn from: all are suspicious "
                f"({', '.join(map(repr, names))})."
            )
        columns = replace(self.columns, features=features)
        X = self.X[[*features, *columns.groups]]
        _check_values(X, columns, path)
        return replace(self, columns=columns, X=X)


def read_training_table(
    scan: Scan, choice: ColumnChoice, *, most: int, notes: Notes
) -> TrainingTable:
    """Read a labelled table, or a sample of it if it is long, and check it.

    Parameters
    ----------
    scan : Scan
        Of the file.
    choice : ColumnChoice
        The columns that the user named.
    most : int
        How many rows of each group and label are kept.
    notes : Notes
        Collects notes: that a sample was taken, and that a column was converted.

    Returns
    -------
    TrainingTable

    Raises
    ------
    TableError
        If columns, labels or groups are missing, if there are not two labels, or if
        there is nothing to learn from.
    """
    kinds = scan.table.kinds()
    features = choice.features(kinds, scan.path)
    # Groups and labels are read as text, so that 007 does not become 7.
    types = {**features, **dict.fromkeys((*choice.group, choice.label), "text")}
    reservoir = Reservoir(choice.group, choice.label, most=most)
    for part in scan.parts(types):
        reservoir.add(part)
        scan.on_rows("reading", len(part))
        if len(reservoir.labels()) > _MAX_LABELS:
            break
    frame = reservoir.sample()
    labels = _two_labels(frame[choice.label], choice, scan.path)
    # Predictions are written in the kind of the label; dates were read as text, and so
    # were numbers, which may have a decimal comma.
    label_kind = kinds[choice.label]
    if label_kind not in ("number", "flag") or "," in "".join(labels):
        label_kind = "text"
    columns = Columns(choice.label, labels, label_kind, choice.group, features)
    if len(frame) < scan.rows:
        notes.say("sampled", n=len(frame), rows=scan.rows, most=most)
    if scan.table.is_csv:
        note_look_alikes(frame, features, notes)
    X = columns.table(frame, scan.path, notes)
    y = columns.positive(frame, scan.path)
    _check_values(X, columns, scan.path)
    return TrainingTable(columns, X, y)


def _two_labels(
    values: pd.Series, choice: ColumnChoice, path: str | Path
) -> tuple[str, str]:
    """Return the negative and the positive label, or raise if there are not two."""
    text, _ = plain_text(values)
    # In training every row needs a label; in a batch it may be missing.
    missing = int(text.isna().sum())
    if missing:
        raise TableError(
            f"{path}, label column {choice.label!r}: {missing} of {len(text)} rows "
            "have no label."
        )
    counts = text.value_counts()
    if len(counts) != 2:
        shown = [f"{label!r} ({n} rows)" for label, n in counts.items()]
        raise TableError(
            f"{path}, label column {choice.label!r} must hold two values, got "
            f"{len(counts)}: {listed(shown, 4)}."
        )
    return order_labels(counts.index, choice.positive)


def _check_values(X: pd.DataFrame, columns: Columns, path: str | Path) -> None:
    """Raise if a row has no group, or if no feature has a value."""
    for name in columns.groups:
        missing = int(X[name].isna().sum())
        if missing:
            raise TableError(
                f"{path}, group column {name!r}: {missing} of {len(X)} rows have no "
                "value."
            )
    has_value = X[list(columns.features)].notna()
    if not has_value.any().any():
        raise TableError(
            f"{path}: all values of all columns to learn from are missing."
        )


def note_look_alikes(frame: pd.DataFrame, kinds: dict[str, str], notes: Notes) -> None:
    """Note the columns of text that look like numbers or dates, written another way.

    They are learnt from as categories: nothing fails, and the model is worse than it
    could be.

    Parameters
    ----------
    frame : DataFrame
        Rows of a CSV.
    kinds : dict from str to {"number", "text", "date", "flag"}
        The columns to look at, and what they were read as.
    notes : Notes

    Examples
    --------
    >>> notes = Notes()
    >>> frame = pd.DataFrame({"income": ["900,50", "1200"], "name": ["a", "b"]})
    >>> note_look_alikes(frame, {"income": "text", "name": "text"}, notes)
    >>> list(notes)[0].values
    {'look': 'comma', 'example': '900,50', 'columns': ['income']}
    """
    alike: dict[str, list[str]] = {}
    examples: dict[str, str] = {}
    for name, kind in kinds.items():
        if kind != "text":
            continue
        look, example = _look_of(frame[name].dropna().str.strip())
        if look:
            alike.setdefault(look, []).append(name)
            examples.setdefault(look, example)
    for look, names in alike.items():
        notes.say("looks_like", look=look, example=examples[look], columns=names)


def _look_of(texts: pd.Series) -> tuple[str, str]:
    """Say what texts look like, with an example; empty if they are just text."""
    if texts.empty:
        return "", ""
    if texts.str.fullmatch(_DATE).all():
        return "date", texts.iloc[0]
    if not texts.str.fullmatch(_NUMBER).all():
        return "", ""
    # A single sign may be either; two in a number, or a blank, leave no doubt.
    in_doubt = texts.str.fullmatch(rf"[+-]?\d+|{_WITH_SIGN}")
    if not in_doubt.all():
        return "thousands", texts[~in_doubt].iloc[0]
    for look, sign in (("comma", ","), ("point", ".")):
        with_sign = texts[texts.str.contains(sign, regex=False)]
        if len(with_sign):
            return look, with_sign.iloc[0]
    return "", ""


class Reservoir:
    """A uniform sample of the rows of each class: each combination of group and label.

    PP-SAMPLING draws from the classes one by one, so that a sample of each is all it
    needs. Every row draws a random number, and a class keeps the rows with the ``most``
    smallest numbers. Numbers are drawn in the order of rows; the sample therefore does
    not depend on how the file is cut into parts, and a table that is small enough comes
    out whole, in its order.

    Parameters
    ----------
    groups : sequence of str
        Group columns.
    label : str
        Label column.
    most : int
        How many rows of a class are kept.
    seed : int, default=0
        Seed of the random numbers.

    Attributes
    ----------
    n_rows : int
        Rows that were added.

    Examples
    --------
    >>> reservoir = Reservoir(["z"], "y", most=100)
    >>> part = pd.DataFrame({"x": range(1000), "z": "a", "y": [0, 1, 1, 1] * 250})
    >>> for _ in range(10):
    ...     reservoir.add(part)
    >>> reservoir.n_rows, reservoir.sample()["y"].value_counts().to_dict()
    (10000, {1: 100, 0: 33})
    """

    def __init__(self, groups: Sequence[str], label: str, *, most: int, seed: int = 0):
        if most < 1:
            raise ValueError(f"most must be at least 1, got {most!r}.")
        self.n_rows = 0
        self._columns = [*groups, label]
        self._most = most
        self._random = np.random.default_rng(seed)
        self._classes: dict[_Key, _ClassSample] = {}

    def add(self, part: pd.DataFrame) -> None:
        """Add the rows of a part.

        Parameters
        ----------
        part : DataFrame
            With the group columns and the label column.
        """
        stop = self.n_rows + len(part)
        # The index tells where a row was in the file, so that the sample can be sorted.
        part = part.set_axis(pd.RangeIndex(self.n_rows, stop))
        self.n_rows = stop
        draws = self._random.random(len(part))
        # Rows without a group or label are a class, too: the caller must find and count
        # them. Categories that do not occur are none.
        by_class = part.groupby(self._columns, dropna=False, observed=True, sort=False)
        codes = by_class.ngroup().to_numpy()
        for code, first_row in zip(*np.unique(codes, return_index=True), strict=True):
            key = self._key(part, first_row)
            if key not in self._classes:
                self._classes[key] = _ClassSample(self._most)
            rows = np.flatnonzero(codes == code)
            self._classes[key].add(part, rows, draws[rows])

    def _key(self, part: pd.DataFrame, row: int) -> _Key:
        """Return the group and label of a row; a missing value is None.

        NaN differs from itself, and would be a new class in each part.
        """
        values = part[self._columns].iloc[row].astype(object)
        return tuple(values.where(values.notna(), None))

    def labels(self) -> set[Hashable]:
        """Return the labels of all rows that were added."""
        return {key[-1] for key in self._classes}

    def sample(self) -> pd.DataFrame:
        """Return the sample.

        The classes of a group are cut to the same share, so that the prevalence of the
        group is that of the file.

        Returns
        -------
        DataFrame
            Its rows are in the order of the file, and its index tells where they were.
        """
        if not self._classes:
            return pd.DataFrame(columns=self._columns)
        # The class that had to be cut most decides for its group; otherwise the
        # prevalence would move from that of the file.
        shares: dict[_Key, float] = {}
        for key, rows in self._classes.items():
            group = key[:-1]
            shares[group] = min(shares.get(group, 1.0), rows.max_share)
        samples = []
        for key, rows in self._classes.items():
            samples.append(rows.take(shares[key[:-1]]))
        return pd.concat(samples).sort_index()


class _ClassSample:
    """The rows of one class that drew the smallest numbers.

    Parameters
    ----------
    most : int
        How many rows are kept.
    """

    def __init__(self, most: int):
        self.most = most
        self.n_rows = 0
        self._limit = 1.0  # rows that drew more can no longer be among the smallest
        self._pieces: list[pd.DataFrame] = []
        self._draws: list[np.ndarray] = []

    @property
    def max_share(self) -> float:
        """The largest share of all rows that can be taken."""
        return min(self.most / self.n_rows, 1.0)

    def add(self, part: pd.DataFrame, rows: np.ndarray, draws: np.ndarray) -> None:
        """Add rows of a part, by their places, with the numbers that they drew."""
        self.n_rows += len(rows)
        candidates = draws < self._limit
        if candidates.any():
            self._pieces.append(part.iloc[rows[candidates]])
            self._draws.append(draws[candidates])
        n_kept = sum(map(len, self._draws))
        # Sorting out at twice the number makes the cost of a row constant on average.
        if n_kept > 2 * self.most or len(self._pieces) > _MAX_PIECES:
            self._keep_smallest(self.most)

    def take(self, share: float) -> pd.DataFrame:
        """Return a share of all rows that were added, but at least one row."""
        # A rare label must not vanish from its group.
        self._keep_smallest(max(round(share * self.n_rows), 1))
        return self._pieces[0]

    def _keep_smallest(self, most: int) -> None:
        """Put the pieces together and keep the rows that drew the smallest numbers."""
        rows = pd.concat(self._pieces)
        draws = np.concatenate(self._draws)
        if len(draws) > most:
            smallest = np.argpartition(draws, most - 1)[:most]
            rows = rows.iloc[smallest]
            draws = draws[smallest]
            self._limit = float(draws.max())
        self._pieces = [rows]
        self._draws = [draws]
