"""The sheet of rows to check: keys of its rows, and reading it when it comes back.

A person fills the sheet in, in a spreadsheet program, which may sort it, write
semicolons for commas and 1.0 for 1, and save it in another encoding.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cape._tables import TableError, is_csv
from cape.examination import LabelPlan
from cape.files._columns import Columns, missing_column
from cape.files._plain_text import plain_value

__all__ = ["KEY", "PROBABILITY", "ROW", "CheckedLabel", "Draw", "read_sheet"]

KEY = "cape_key"
ROW = "cape_row"
PROBABILITY = "cape_probability"

_SEPARATORS = ",;\t|"
_KEY = re.compile(
    r"(?P<n>\d+)-(?P<spread>equal|proportional|width0\.\d+)-(?P<seed>\d+)"
    r"-(?P<row>\d+)-(?P<hash>[0-9a-f]{16})"
)


@dataclass(frozen=True)
class Draw:
    """How rows were drawn; the same draw of the same file gives the same rows.

    Parameters
    ----------
    plan : LabelPlan
        Its width has at most four decimals.
    seed : int
    """

    plan: LabelPlan
    seed: int

    @property
    def text(self) -> str:
        """The draw, as it stands in front of a key."""
        if self.plan.width is None:
            return f"{self.plan.n}-{self.plan.spread}-{self.seed}"
        return f"0-width{self.plan.width:.4f}-{self.seed}"

    def key(self, row: int, file_hash: str, fingerprint: str) -> str:
        """Return the key of a row.

        Parameters
        ----------
        row : int
            Its number in the file; the first is 1.
        file_hash : str
            Hash of the content of the file.
        fingerprint : str
            Hash of the model.

        Returns
        -------
        str
            The draw and the number of the row in clear, and a hash of everything.
        """
        # What stands in front keeps spreadsheet programs from taking 16 hexadecimal
        # digits for a number.
        clear = f"{self.text}-{row}"
        content = f"{clear} {file_hash} {fingerprint}"
        return f"{clear}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class CheckedLabel:
    """A row of a sheet that came back with a label.

    Parameters
    ----------
    key : str
    draw : Draw
        What the key says of the draw.
    row : int
        What the key says of the row; the first is 1.
    positive : bool
        Whether the label is the positive one.
    line : int
        The line of the sheet.
    """

    key: str
    draw: Draw
    row: int
    positive: bool
    line: int


def read_sheet(path: str | Path, columns: Columns) -> list[CheckedLabel]:
    """Read the labels of a sheet that was filled in.

    Only the key and the label of a row are read. Rows without a label are left out.

    Parameters
    ----------
    path : str or Path
        CSV with any usual separator.
    columns : Columns
        Of the model: its label column and labels.

    Returns
    -------
    list of CheckedLabel
        One for each key, in the order of the sheet.

    Raises
    ------
    TableError
        If a column is missing, a label is unknown, a key was changed, or a key has two
        different labels. The message names the line.
    """
    labels: dict[str, CheckedLabel] = {}
    for line, key, label in _fields(Path(path), columns.label):
        if not label:
            continue
        where = f"{path}, line {line}"
        positive = _is_positive(label, columns, where)
        checked = _checked_label(key, positive, line, where)
        earlier = labels.setdefault(key, checked)
        if earlier.positive != positive:
            raise TableError(
                f"{where}: the {KEY} {key!r} has another label in line {earlier.line}."
            )
    return list(labels.values())


def _checked_label(key: str, positive: bool, line: int, where: str) -> CheckedLabel:
    """Read what stands in clear in a key."""
    match = _KEY.fullmatch(key)
    if match is None:
        raise TableError(
            f"{where}: a row with a label must have the {KEY} that cape sample wrote, "
            f"got {key!r}."
        )
    spread = match["spread"]
    if spread.startswith("width"):
        plan = LabelPlan(width=float(spread.removeprefix("width")))
    else:
        plan = LabelPlan(int(match["n"]), spread)
    draw = Draw(plan, int(match["seed"]))
    return CheckedLabel(key, draw, int(match["row"]), positive, line)


def _is_positive(text: str, columns: Columns, where: str) -> bool:
    """Tell which of the two labels a person has written."""
    spellings = [_spelling(label) for label in columns.labels]
    # Capitals matter only where they tell the labels apart.
    if spellings[0] == spellings[1]:
        spellings = list(columns.labels)
        written = plain_value(text)
    else:
        written = _spelling(text)
    if written not in spellings:
        negative, positive = columns.labels
        raise TableError(
            f"{where}: the label must be {negative!r} or {positive!r}, or empty, got "
            f"{text!r}."
        )
    return spellings.index(written) == 1


def _spelling(label: str) -> str:
    """Write a label in one way: TRUE is true, and 1.0 as well as 1,0 is 1."""
    plain = plain_value(label.strip())
    if re.fullmatch(r"[+-]?\d+,\d+", plain):
        plain = plain_value(plain.replace(",", "."))
    return plain.casefold()


def _fields(path: Path, label: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, key and label of each row of a sheet."""
    text = _decoded(path)
    header = next((line for line in text.splitlines() if line.strip()), "")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(header))
    places = None
    for row in rows:
        fields = [field.strip() for field in row]
        if not any(fields):
            continue
        if places is None:
            places = _places(fields, label, path)
            continue
        # Programs may leave empty fields at the end of a line out.
        padded = fields + [""] * (max(places) + 1 - len(fields))
        yield rows.line_num, padded[places[0]], padded[places[1]]
    if places is None:
        raise TableError(f"{path} is empty.")


def _decoded(path: Path) -> str:
    """Read a text file in the encoding that a spreadsheet program has chosen."""
    if not is_csv(path):
        raise TableError(f"{path} must be a text file: save the sheet as CSV.")
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Every byte is a letter here, so that this cannot fail.
        return content.decode("latin-1")


def _separator(header: str) -> str:
    """Return the separator that makes the key a column of its own.

    Without a key, that of most columns: the error lists their names.
    """
    found = {}
    for separator in _SEPARATORS:
        names = next(csv.reader([header], delimiter=separator), [])
        if KEY in [name.strip() for name in names]:
            return separator
        found[separator] = len(names)
    return max(found, key=lambda separator: found[separator])


def _places(header: list[str], label: str, path: Path) -> tuple[int, int]:
    """Find the columns of the key and of the label."""
    places = []
    for name in (KEY, label):
        count = header.count(name)
        if count == 0:
            raise missing_column(name, header, path)
        if count > 1:
            raise TableError(f"{path} has {count} columns {name!r}.")
        places.append(header.index(name))
    return places[0], places[1]
