"""What a report says, as a dict that JSON can hold; the page is made of it and of nothing else."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import cape
from cape._group_model import GroupModel
from cape._groups import Group, group_name
from cape.adaptation import GroupAdaptation
from cape.diagnostics import expected_performance, prevalence_moved, prior_shift_test
from cape.evidence import GroupEvidence
from cape.files import MonitoredBatch, Prediction, TableModel
from cape.histogram import ONE, ScoreHistogram
from cape.metrics import Audit, Confusion, audit_counts
from cape.report._explorer import explorer_data, members_of, outcomes, worst_pe_of

__all__ = [
    "audit_summary",
    "batch_summary",
    "explorer_summary",
    "how_made",
    "monitor_summary",
]

_CELLS = 20
_PACKAGES = ("scikit-learn", "numpy", "scipy", "pandas", "skrub")


def batch_summary(
    model: TableModel, found: Prediction, file: str | Path, file_sha256: str
) -> dict[str, Any]:
    """Everything there is to say of a predicted batch.

    Parameters
    ----------
    model : TableModel
    found : Prediction
        From `cape.files.predict_file`.
    file : str or Path
        The batch.
    file_sha256 : str

    Returns
    -------
    dict
    """
    clf, adaptation = model.clf, found.adaptation
    assumption = prior_shift_test(clf, evidence=found.evidence).to_dict()
    moved = {
        entry["group"]: entry
        for entry in prevalence_moved(clf, evidence=found.evidence).to_dict()["groups"]
    }
    groups = [
        {
            "group": group_name(group),
            **asdict(chosen),
            "moved": moved[group_name(group)]["moved"],
        }
        | {
            "p_moved": moved[group_name(group)]["p_adjusted"],
            "sentence": _sentence(group, chosen),
        }
        for group, chosen in adaptation.groups.items()
    ]
    expected = expected_performance(clf, found.evidence, adaptation).to_dict()
    models = {group: clf.model_of(group) for group in adaptation.groups}
    return {
        "kind": "batch",
        "title": Path(file).name,
        "rows": found.rows,
        "level": adaptation.level,
        "groups": groups,
        "assumption": assumption | {"verdict": _verdict(assumption)},
        "expected": expected | {"unadapted": _unadapted(models, adaptation.groups)},
        "histograms": [
            {
                "group": group_name(group),
                **_histogram(models[group], part, adaptation.groups[group].estimate),
            }
            for group, part in found.evidence.groups.items()
        ],
        "observed": _observed(found.cape, found.unadapted, adaptation.level),
        "explorer": explorer_data(
            clf, {group: chosen.estimate for group, chosen in adaptation.groups.items()}
        ),
        "made": how_made(model, [(Path(file).name, found.rows, file_sha256)]),
    }


def audit_summary(
    counts: Mapping[Group, Confusion],
    *,
    level: float,
    file: str | Path,
    file_sha256: str,
    columns: dict[str, Any],
) -> dict[str, Any]:
    """The fairness table of predictions that somebody made, with intervals."""
    return {
        "kind": "audit",
        "title": Path(file).name,
        "rows": sum(c.rows for c in counts.values()),
        "level": level,
        "observed": {"cape": _audit(audit_counts(counts, level=level))},
        "made": {
            "files": [{"file": Path(file).name, "sha256": file_sha256}],
            "columns": columns,
            **_versions(),
        },
    }


def monitor_summary(
    model: TableModel,
    batches: Sequence[MonitoredBatch],
    files: list[tuple[str, int, str]],
    *,
    level: float,
) -> dict[str, Any]:
    """Prevalences over time: a line a group, with what speaks against the assumption in each batch."""
    groups: dict[str, dict[str, Any]] = {}
    for place, batch in enumerate(batches, 1):
        for found in batch.groups:
            entry = groups.setdefault(
                found["group"], {"group": found["group"], "batches": []}
            )
            entry["training"] = found["training"]
            entry["batches"].append({"batch": batch.name, "place": place, **found})
    failed = [
        batch.name
        for batch in batches
        if any(found["assumption"] == "fails" for found in batch.groups)
    ]
    return {
        "kind": "monitor",
        "title": _count_of(batches),
        "rows": sum(batch.rows for batch in batches),
        "level": level,
        "verdict": _monitor_verdict(batches, failed),
        "groups": list(groups.values()),
        "batches": [
            {"batch": batch.name, "rows": batch.rows, "expected_pe": batch.pe}
            for batch in batches
        ],
        "failed": failed,
        "made": how_made(model, files),
    }


def _count_of(batches: Sequence[MonitoredBatch]) -> str:
    first, last = batches[0].name, batches[-1].name
    return first if len(batches) == 1 else f"{first} to {last}"


def _monitor_verdict(
    batches: Sequence[MonitoredBatch], failed: list[str]
) -> dict[str, str]:
    moved = {
        found["group"] for batch in batches for found in batch.groups if found["moved"]
    }
    where = (
        f"{_and(sorted(moved))} moved in at least one batch."
        if moved
        else "No group has clearly moved."
    )
    words = {found["assumption"] for batch in batches for found in batch.groups}
    if words == {"too few rows"}:
        return {
            "word": "unknown",
            "head": where,
            "text": "There are too few rows to tell if the assumption holds.",
        }
    if not words & {"holds", "fails"}:
        return {
            "word": "unknown",
            "head": where,
            "text": "Whether the assumption holds cannot be told for this model.",
        }
    many = f"{len(batches)} batch{'es' * (len(batches) > 1)}"
    if failed:
        text = f"The assumption fails in {len(failed)} of {many}: {_and(failed, 'batches')}."
        return {"word": "fails", "head": where, "text": text}
    return {
        "word": "holds",
        "head": where,
        "text": f"Nothing speaks against the assumption in {many}.",
    }


def explorer_summary(model: TableModel) -> dict[str, Any]:
    """The explorer on its own page, its sliders at the training prevalences."""
    return {
        "kind": "explorer",
        "title": model.details["data"]["file"],
        "explorer": explorer_data(model.clf),
        "made": how_made(model, []),
    }


def how_made(model: TableModel, files: list[tuple[str, int, str]]) -> dict[str, Any]:
    """Data, model, parameters, versions and date."""
    return {
        "files": [
            {"file": name, "rows": rows, "sha256": sha256}
            for name, rows, sha256 in files
        ],
        "training": model.details["data"],
        "learner": model.details["learner"],
        "settings": model.details["settings"],
        "columns": model.columns.to_dict(),
        "fingerprint": model.clf.fingerprint_,
        **_versions(),
    }


def _versions() -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "versions": {"cape": cape.__version__, "python": platform.python_version()}
        | {package: version(package) for package in _PACKAGES},
    }


def _sentence(group: Group, found: GroupAdaptation) -> str:
    return (
        f"{group_name(group)}: prevalence was {found.training_prevalence:.2f} in training, is now {found.estimate:.2f} "
        f"({found.low:.2f} to {found.high:.2f})"
    )


def _verdict(test: dict[str, Any]) -> dict[str, str]:
    """Whether the assumption holds, in a word and in a sentence."""
    rejected = [entry["group"] for entry in test["groups"] if entry["rejected"]]
    untested = [entry["group"] for entry in test["groups"] if not entry["tested"]]
    if not test["sound"]:
        return {
            "word": "unknown",
            "text": f"The test cannot be relied on for this model. {test['advice']}".strip(),
        }
    if rejected:
        return {
            "word": "fails",
            "text": "Something other than the share of positives has changed in "
            f"{_and(rejected)}: the scores there are no mixture of the two classes as they were in training. "
            "Prevalences and expected rates of these groups cannot be relied on.",
        }
    if untested and len(untested) == len(test["groups"]):
        return {"word": "unknown", "text": "There are too few rows to tell."}
    few = f" There were too few rows to tell in {_and(untested)}." if untested else ""
    return {
        "word": "holds",
        "text": "Nothing speaks against it: in each group the scores look like a mixture of the two classes as they "
        f"were in training.{few}",
    }


def _and(names: list[str], of: str = "groups") -> str:
    shown = names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more {of}"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _unadapted(
    models: Mapping[Group, GroupModel], chosen: Mapping[Group, GroupAdaptation]
) -> dict[str, Any]:
    """What the model as trained would do at the estimated prevalences."""
    each = {
        g: outcomes(members_of(model)[1], chosen[g].estimate)
        for g, model in models.items()
    }
    groups = [
        {"group": group_name(g), **{k: float(v) for k, v in found.items()}}
        for g, found in each.items()
    ]
    pe = worst_pe_of(
        [chosen[g].estimate for g in each],
        [found["predicted"] for found in each.values()],
    )
    return {"groups": groups, "pe": pe}


def _histogram(
    model: GroupModel, part: GroupEvidence, estimate: float
) -> dict[str, Any]:
    """Shares of scores in 20 cells: of the batch, and of the mixture of the training classes that fits it best."""
    edges = np.rint(np.arange(1, _CELLS) / _CELLS * ONE).astype(np.int64)
    batch, positives, negatives = (
        _shares(h, edges) for h in (part.scores, model.positives, model.negatives)
    )
    mixture = estimate * positives + (1 - estimate) * negatives
    return {"batch": batch.round(5).tolist(), "mixture": mixture.round(5).tolist()}


def _shares(histogram: ScoreHistogram, edges: np.ndarray) -> np.ndarray:
    counts = histogram.merged(edges)
    return counts / counts.sum()


def _observed(
    adapted: Mapping[Group, Confusion],
    unadapted: Mapping[Group, Confusion],
    level: float,
) -> dict[str, Any] | None:
    if not adapted:
        return None
    return {
        "cape": _audit(audit_counts(adapted, level=level)),
        "unadapted": _audit(audit_counts(unadapted, level=level)),
    }


def _audit(found: Audit) -> dict[str, Any]:
    """An audit as a dict, with the worst pair of each kind picked out."""
    content = found.to_dict()
    worst: dict[str, Any] = {}
    for pair in content["pairs"]:
        value = pair["value"]
        if value is not None and (
            pair["metric"] not in worst or value > worst[pair["metric"]]["value"]
        ):
            worst[pair["metric"]] = pair
    return content | {"worst": worst}
