"""Results as plain numbers and codes, under words that no renaming of ours touches.

There is one function for each kind of result. Where a field or a call gets another
name, its line changes here; the words and numbers of ``answers.json`` stay. Sentences
are not kept.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pandas as pd


def same(*names) -> dict:
    """Return words that are the names of the fields themselves."""
    return {name: name for name in names}


def with_interval(word, name) -> dict:
    """Return the words of an estimate with the ends of its interval."""
    ends = {f"{word}, {end}": f"{name}_{end}" for end in ("low", "high")}
    return {word: name, **ends}


ADAPTED = {
    **same("rows", "labelled"),
    "in training": "training_prevalence",
    **same("estimate", "low", "high"),
    **with_interval("without labels", "without_labels"),
    **with_interval("if prior shift", "quantifier_estimate"),
    "mean score": "mean_score",
    "by labels": "label_estimate",
    **same("drift"),
    "held back": "held_back",
    **same("verdict"),
    "label verdict": "label_verdict",
    "label p": "label_p_value",
    "sample p": "label_sample_p_value",
    "member": "classifier",
    "made for": "made_for",
    "called positive": "predicted_prevalence",
    "PD at most": "pd_bound",
}
TESTED = {
    **same("rows"),
    "p": "p_value",
    "p adjusted": "p_adjusted",
    **same("effect", "rejected", "tested", "sound"),
}
MOVED = {
    **same("estimate"),
    "p": "p_value",
    "p adjusted": "p_adjusted",
    **same("moved"),
}
COLUMN = {
    "p": "p_value",
    "p adjusted": "p_adjusted",
    **same("effect"),
    "speaks for": "prevalence",
    "error": "prevalence_error",
    **same("moved", "fault"),
}
EXPECTED = {
    **with_interval("FPR", "fpr"),
    **with_interval("FNR", "fnr"),
    **with_interval("accuracy", "accuracy"),
    **with_interval("PD", "pd"),
    **same("known"),
}
PAIR = with_interval("PE", "pe")
CRITERION = same("value", "low", "high", "bound", "probability")
LABELS = {
    **same("rows", "labelled"),
    **with_interval("without labels", "without_labels"),
    "by labels": "label_estimate",
    **same("low", "high"),
    "label verdict": "label_verdict",
    "label p": "label_p_value",
    "sample p": "label_sample_p_value",
}
FOUND = same("value", "low", "high", "rows", "enough")
MONITORED = {
    **same("rows"),
    "in training": "training_prevalence",
    **same("estimate", "low", "high"),
    "made for": "made_for",
    "called positive": "predicted_prevalence",
    "PD at most": "pd_bound",
    **same("moved"),
    "p": "p_moved",
    "p adjusted": "p_moved_adjusted",
    **same("verdict", "clear"),
    "columns moved": "columns_moved",
    **same("unexplained"),
    "FPR": "fpr",
    "FNR": "fnr",
    **same("accuracy"),
}
"""Our words, and where each result has them."""


# Plain values --------------------------------------------------------------------


def plain(value):
    """Return a value as JSON holds it; what is not known is None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def field(result, name):
    """Read a field of an object, or a value of a mapping."""
    if isinstance(result, dict):
        return result[name]
    return getattr(result, name)


def said(prefix, result, words) -> dict:
    """Return the fields of one result under our words."""
    start = f"{prefix}: " if prefix else ""
    return {start + word: plain(field(result, name)) for word, name in words.items()}


def under(prefix, answers) -> dict:
    """Put a prefix before all words."""
    return {f"{prefix} | {word}": value for word, value in answers.items()}


def short_hash(values) -> str:
    """Hash rows of anything that has an exact text."""
    text = "\n".join(repr(plain(value)) for value in np.asarray(values).ravel())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_decisions(y_pred) -> dict:
    y_pred = np.asarray(y_pred)
    return {"positives": int((y_pred == 1).sum()), "# decisions": short_hash(y_pred)}


def of_probabilities(probabilities) -> dict:
    positive = np.asarray(probabilities)[:, 1]
    return {
        "mean probability": float(positive.mean()),
        "# probabilities": short_hash(positive),
    }


def of_table(table, prefix="") -> dict:
    """Return a small data frame of numbers, cell by cell."""
    answers = {}
    for index, row in zip(table.index, table.to_dict("records"), strict=True):
        name = ", ".join(map(str, index)) if isinstance(index, tuple) else str(index)
        for column, value in row.items():
            answers[f"{prefix}{name}: {column}"] = plain(value)
    return answers


# Adaptations ---------------------------------------------------------------------


def of_adaptation(adaptation) -> dict:
    answers = {}
    for group, adapted in adaptation.groups.items():
        answers |= said(group, adapted.flat(), ADAPTED)
    return answers


def of_batch(clf, X, **keyword) -> dict:
    """Adapt, predict, and give probabilities."""
    adaptation = clf.adapt(X, **keyword)
    groups = {}
    if "sensitive_features" in keyword:
        groups = {"sensitive_features": keyword["sensitive_features"]}
    chosen = {**groups, "adaptation": adaptation}
    return {
        **of_adaptation(adaptation),
        **of_decisions(clf.predict(X, **chosen)),
        **of_probabilities(clf.predict_proba(X, **chosen)),
    }


# Examinations --------------------------------------------------------------------


def of_columns(columns) -> dict:
    """Take the tests of all columns out of what JSON holds of them."""
    answers = {}
    for entry in columns["groups"]:
        for column in entry["columns"]:
            name = f"{entry['group']}, column {column['column']}"
            answers |= said(name, column, COLUMN)
    return answers


def of_groups(result, words) -> dict:
    answers = {}
    for entry in result["groups"]:
        answers |= said(entry["group"], entry, words)
    return answers


def of_expected(expected) -> dict:
    answers = of_groups(expected, EXPECTED)
    for pair in expected["pairs"]:
        answers |= said(f"{pair['group']} to {pair['other']}", pair, PAIR)
    return answers


def of_criteria(criteria) -> dict:
    answers = {}
    for entry in criteria:
        answers |= said(entry["criterion"], entry, CRITERION)
    return answers


def of_labels(labels) -> dict:
    if labels is None:
        return {"labels": None}
    refuted = ", ".join(map(str, labels["refuted"]))
    return {"decide": labels["decide"], "refuted": refuted, **of_groups(labels, LABELS)}


def of_examination(examination) -> dict:
    """Return all parts of an examination."""
    content = examination.to_dict()
    verdicts = {}
    for group in examination.adaptation.groups:
        verdict = examination.verdict(group)
        verdicts |= {f"{group}: word": verdict.word, f"{group}: clear": verdict.clear}
    return {
        "rows": examination.rows,
        **under("adaptation", of_adaptation(examination.adaptation)),
        **under("scores", of_groups(content["shift_test"], TESTED)),
        **under("columns", of_columns(content["columns"])),
        **under("moved", of_groups(content["moved"], MOVED)),
        **under("expected", of_expected(content["expected"])),
        **under("criteria", of_criteria(content["criteria"])),
        **under("labels", of_labels(content["labels"])),
        **under("verdict", verdicts),
    }


def of_rows_to_label(drawn) -> dict:
    probabilities = drawn.inclusion_probability
    return {
        "rows": len(drawn.rows),
        "# which": short_hash(drawn.rows),
        "# groups": short_hash([str(group) for group in drawn.groups]),
        "smallest probability": float(np.nanmin(probabilities)),
        "sum of probabilities": float(np.nansum(probabilities)),
        "# probabilities": short_hash(probabilities),
    }


def of_suspicious(found) -> dict:
    kinds = {finding.column: finding.kind for finding in found.findings}
    return {"rows": found.rows, **under("kind", kinds)}


# Audits --------------------------------------------------------------------------


def of_findings(findings) -> dict:
    answers = {}
    for finding in findings:
        if not isinstance(finding, dict):
            finding = {**vars(finding), **finding.estimate._asdict()}
        name = str(finding["group"])
        if finding.get("other") is not None:
            name += f" to {finding['other']}"
        answers |= said(f"{name}, {finding['metric']}", finding, FOUND)
    return answers


def of_audit(audit) -> dict:
    worst = {}
    for metric, finding in audit.worst_pairs().items():
        worst[metric] = f"{finding.group} to {finding.other}"
    return {
        **of_findings(audit.findings),
        **of_findings(audit.between),
        **under("worst", worst),
    }


def of_counts(counts) -> dict:
    words = {name: name for name in ("tp", "fp", "fn", "tn", "rows")}
    answers = {}
    for group, confusion in counts.items():
        answers |= said(group, confusion, words)
    return answers


# Files ---------------------------------------------------------------------------


def of_predictions(path) -> dict:
    """Return what was written beside the rows of a file."""
    out = pd.read_csv(path, float_precision="round_trip")
    return {
        **of_decisions(out["prediction"]),
        "mean probability": float(out["probability"].mean()),
        "# probabilities": short_hash(out["probability"]),
        "# estimates": short_hash(out["estimated_prevalence"]),
    }


def of_monitored(entries) -> dict:
    """Return what is kept of each group of a batch."""
    answers = {}
    for entry in entries:
        answers |= said(entry["group"], entry, MONITORED)
    return answers


def of_page(content) -> dict:
    """Return the numbers of ``cape predict --report page.json``."""
    answers = {
        "rows": content["rows"],
        "word": content["verdict"]["word"],
        **under("adaptation", of_groups(content, ADAPTED)),
        **under("scores", of_groups(content["shift_test"], TESTED)),
        **under("columns", of_columns(content["columns"])),
        **under("expected", of_expected(content["expected"])),
        **under("criteria", of_criteria(content["criteria"])),
        **under("labels", of_labels(content["labels"])),
    }
    for entry in content["histograms"]:
        answers[f"histogram of {entry['group']}: batch"] = entry["batch"]
        answers[f"histogram of {entry['group']}: mixture"] = entry["mixture"]
    if content["observed"] is not None:
        for name in ("cape", "unadapted"):
            counted = content["observed"][name]
            answers |= under(f"observed, {name}", of_findings(counted["groups"]))
            answers |= under(f"observed, {name}", of_findings(counted["pairs"]))
    return answers
