"""The summary of many batches over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from cape.report._made import stamped
from cape.report._types import Summary
from cape.report._words import counted, joined

__all__ = ["BatchRecord", "monitor_summary"]


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
        ``estimate`` with ``low`` and ``high``, ``pd_bound``, whether it ``moved``, and
        whether the ``assumption`` "holds", "fails", has "too few rows" or is "unknown".
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
    >>> group = {"group": "a", "training": 0.5, "moved": True, "assumption": "holds"}
    >>> march = SimpleNamespace(name="march.csv", rows=90, groups=[group], pe=None)
    >>> monitor_summary([march], level=0.95, provenance={})["verdict"]["head"]
    'a moved in at least one batch.'
    """
    failed = []
    entries = []
    for batch in batches:
        entries.append(
            {
                "batch": batch.name,
                "rows": batch.rows,
                "expected_pe": batch.pe,
            }
        )
        if any(group["assumption"] == "fails" for group in batch.groups):
            failed.append(batch.name)
    return {
        "kind": "monitor",
        "title": _title(batches),
        "rows": sum(batch.rows for batch in batches),
        "level": level,
        "verdict": _verdict(batches, failed),
        "groups": _over_time(batches),
        "batches": entries,
        "failed": failed,
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
                }
            )
    return list(groups.values())


def _verdict(batches: Sequence[BatchRecord], failed: list[str]) -> dict[str, str]:
    """Say what has moved, and whether anything speaks against the assumption."""
    # Sets, because a group counts once however often it moved.
    moved = set()
    assumptions = set()
    for batch in batches:
        for record in batch.groups:
            assumptions.add(record["assumption"])
            if record["moved"]:
                moved.add(record["group"])
    head = "No group has clearly moved."
    if moved:
        head = f"{joined(sorted(moved))} moved in at least one batch."
    return {
        "head": head,
        **_assumption_over_time(assumptions, failed, len(batches)),
    }


def _assumption_over_time(
    assumptions: set[str], failed: list[str], n_batches: int
) -> dict[str, str]:
    """Say in a word and in a sentence how the assumption fared in all batches."""
    if assumptions == {"too few rows"}:
        text = "There are too few rows to tell if the assumption holds."
        return {
            "word": "unknown",
            "text": text,
        }
    # Neither word: the test is not sound for this model, in any batch.
    if not assumptions & {"holds", "fails"}:
        text = "Whether the assumption holds cannot be told for this model."
        return {
            "word": "unknown",
            "text": text,
        }
    number = counted(n_batches, "batch", "batches")
    if failed:
        names = joined(failed, "batches")
        text = f"The assumption fails in {len(failed)} of {number}: {names}."
        return {
            "word": "fails",
            "text": text,
        }
    text = f"Nothing speaks against the assumption in {number}."
    return {
        "word": "holds",
        "text": text,
    }
