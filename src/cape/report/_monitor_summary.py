"""The summary of many batches over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from cape._wording._numbers import counted, joined
from cape.report._made import stamped
from cape.report._types import Summary
from cape.report._verdict import VERDICTS, mark_of, worst_word

__all__ = ["BatchRecord", "monitor_summary"]

_SENTENCES = {
    "fault": "Columns are not what they were in training",
    "drifted": "More moved than the prevalences, and estimates were held back,",
    "ignored": "More moved than the prevalences, and it was ignored,",
    "cannot_tell": "The prevalence of a group cannot be told",
    "some_drift": "Some drift made intervals wider",
    "not_tested": "Nothing could be tested",
    "consistent": "Consistent with a prior shift",
}
_DRIFTED = ("fault", "drifted", "ignored")


class BatchRecord(Protocol):
    """What the monitor page needs to know about one batch.

    `cape.files.MonitoredBatch` is such a record.

    Attributes
    ----------
    name : str
        What the batch is called, such as the name of its file.
    rows : int
        Number of rows.
    groups : list of dict
        For each group its name (``group``), ``rows``, ``training`` prevalence,
        ``estimate`` with ``low`` and ``high``, ``pd_bound``, whether it ``moved``, the
        ``verdict`` on a prior shift, whether it is ``clear``, and the worst
        ``columns`` that moved, of ``columns_moved`` in all.
    pe : float or None
        Expected PE of the worst pair.
    """

    @property
    def name(self) -> str: ...

    @property
    def rows(self) -> int: ...

    @property
    def groups(self) -> list[Summary]: ...

    @property
    def pe(self) -> float | None: ...


def monitor_summary(
    batches: Sequence[BatchRecord],
    *,
    level: float,
    provenance: Mapping[str, Any],
) -> Summary:
    """Summarise the prevalences of all groups over time.

    Parameters
    ----------
    batches : sequence of BatchRecord
        What was found in each batch, in order of time.
    level : float in (0, 1)
        Confidence level of the intervals.
    provenance : mapping
        The files and the model, from `file_provenance`.

    Returns
    -------
    dict
        All numbers and sentences of the monitor page, as JSON can hold them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> group = {"group": "a", "training": 0.5, "moved": True, "columns": []}
    >>> group |= {"verdict": "consistent", "clear": True}
    >>> march = SimpleNamespace(name="march.csv", rows=90, groups=[group], pe=None)
    >>> monitor_summary([march], level=0.95, provenance={})["verdict"]["head"]
    'a moved in at least one batch.'
    """
    drifted = []
    entries = []
    for batch in batches:
        entries.append(
            {
                "batch": batch.name,
                "rows": batch.rows,
                "expected_pe": batch.pe,
            }
        )
        if _word_of(batch) in _DRIFTED:
            drifted.append(batch.name)
    return {
        "kind": "monitor",
        "title": _title(batches),
        "rows": sum(batch.rows for batch in batches),
        "level": level,
        "verdict": _verdict(batches),
        "groups": _over_time(batches),
        "batches": entries,
        "drifted": drifted,
        "made": stamped(provenance),
    }


def _title(batches: Sequence[BatchRecord]) -> str:
    """Name the first and the last batch."""
    first = batches[0].name
    if len(batches) == 1:
        return first
    return f"{first} to {batches[-1].name}"


def _over_time(batches: Sequence[BatchRecord]) -> list[Summary]:
    """Turn groups of batches into batches of groups.

    A group may be absent from some batches, so that each entry has its place in time.
    """
    groups: dict[str, Summary] = {}
    for place, batch in enumerate(batches, 1):
        for record in batch.groups:
            name = record["group"]
            entry = groups.setdefault(
                name,
                {
                    "group": name,
                    "batches": [],
                },
            )
            # The same in every batch, because all are compared with one training.
            entry["training"] = record["training"]
            entry["batches"].append(
                {
                    "batch": batch.name,
                    "place": place,
                    **record,
                    "worst_column": _worst_column(record),
                }
            )
    return list(groups.values())


def _worst_column(record: Summary) -> str:
    """Say what happened to the column of a group that moved most, if any did."""
    if not record["columns"]:
        return ""
    text = record["columns"][0]["what_happened"]
    more = record["columns_moved"] - 1
    return f"{text} (and {more} more)" if more else text


def _word_of(batch: BatchRecord) -> str:
    """Return the gravest verdict of the groups of a batch."""
    return worst_word([record["verdict"] for record in batch.groups])


def _verdict(batches: Sequence[BatchRecord]) -> Summary:
    """Say what has moved, and what else the tests found."""
    # Sets, because a group counts once however often it moved.
    moved = set()
    clear = True
    for batch in batches:
        for record in batch.groups:
            clear = clear and record["clear"]
            if record["moved"]:
                moved.add(record["group"])
    head = "No group has clearly moved."
    if moved:
        head = f"{joined(sorted(moved))} moved in at least one batch."
    words = [_word_of(batch) for batch in batches]
    return {
        "word": worst_word(words),
        "mark": mark_of(words, clear=clear),
        "head": head,
        "text": _text(batches, words),
        "faults": _faults(batches),
    }


def _text(batches: Sequence[BatchRecord], words: list[str]) -> str:
    """Return a sentence for each kind of verdict, the gravest first."""
    number = counted(len(batches), "batch", "batches")
    sentences = []
    for word in VERDICTS:
        names = []
        for batch, found in zip(batches, words, strict=True):
            if found == word:
                names.append(batch.name)
        if not names:
            continue
        where = f"{len(names)} of {number}"
        if word != "consistent":
            # Batches without remark are counted only.
            where += f": {joined(names, 'batches')}"
        sentences.append(f"{_SENTENCES[word]} in {where}.")
    return " ".join(sentences)


def _faults(batches: Sequence[BatchRecord]) -> list[Summary]:
    """List the columns at fault, with the batches in which they are."""
    faults: dict[str, Summary] = {}
    for batch in batches:
        for record in batch.groups:
            for column in record["columns"]:
                if not column["fault"]:
                    continue
                entry = {
                    "column": column["column"],
                    "what_happened": column["what_happened"],
                    "batches": [],
                }
                known = faults.setdefault(column["column"], entry)
                if batch.name not in known["batches"]:
                    known["batches"].append(batch.name)
    return list(faults.values())
