"""Suspicious columns of a training file: warn of them, or drop them."""

from __future__ import annotations

from cape.examination import SuspiciousColumns, suspicious_columns
from cape.files._notes import Notes
from cape.files._training_table import TrainingTable

__all__ = ["find_suspicious", "note_suspicious"]

# A note for each kind: several columns of a file have the same fault.
_IN_WORDS = {
    "row number": "row numbers, which mean nothing in another file",
    "tells the answer": "columns that tell the answer, perhaps because they were "
    "filled in after it was known",
    "date": "dates, which in later files come after all of training",
    "identifier": "identifiers, whose values are new in every file",
}


def find_suspicious(table: TrainingTable) -> SuspiciousColumns:
    """Find the suspicious columns among the features of a training table.

    Parameters
    ----------
    table : TrainingTable

    Returns
    -------
    SuspiciousColumns
    """
    # The groups are named by the user, who needs them.
    features = table.X[list(table.columns.features)]
    return suspicious_columns(features, table.y)


def note_suspicious(found: SuspiciousColumns, notes: Notes, *, dropped: bool) -> None:
    """Note the suspicious columns, a note for each kind.

    Parameters
    ----------
    found : SuspiciousColumns
    notes : Notes
    dropped : bool
        Whether the columns were dropped. If not, the notes name the options that do.
    """
    for kind, words in _IN_WORDS.items():
        of_kind = found.of_kind(kind)
        if not of_kind:
            continue
        listed = ", ".join(f"{one.column!r} ({one.why})" for one in of_kind)
        if dropped:
            notes.say(f"dropped {words}: {listed}.")
        else:
            notes.say(
                f"{words}: {listed}. Leave a column out with --drop, all suspicious "
                "columns with --drop-suspicious."
            )
