"""Tables and sentences of the pages, as text.

Each function takes a summary and returns what the template shows. Numbers are rounded
here and nowhere before, so that JSON has all their digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cape._wording._numbers import counted, joined, p_value_text, rows_text
from cape.report._label_summary import WIDTHS
from cape.report._types import Summary, Table, Terms

__all__ = [
    "check_columns",
    "check_rows",
    "chosen_rows",
    "column_rows",
    "columns_sentence",
    "compared_cells",
    "expected_pe_sentence",
    "lede",
    "made_rows",
    "monitor_rows",
    "needed_rows",
    "observed_tables",
    "rests_sentence",
    "verdict_rows",
    "verdict_word",
]

OBSERVED_COLUMNS = {
    "fpr": "FPR",
    "fnr": "FNR",
    "accuracy": "accuracy",
    "precision": "precision",
    "prevalence": "true",
    "predicted_prevalence": "predicted",
    "pd": "PD",
}
_BETWEEN_GROUPS = {
    "pe": "PE",
    "fpr_difference": "difference of FPR",
    "fnr_difference": "difference of FNR",
    "accuracy_difference": "difference of accuracy",
    "predicted_prevalence_difference": "difference of predicted share",
    "predicted_prevalence_ratio": "ratio of predicted shares (four-fifths rule)",
}
# As many as fit a screen; they are sorted by effect.
_MOST_COLUMNS = 12
# Verdicts for whose groups the interval already says what is known, or all is well.
_AS_EXPECTED = ("consistent", "some_drift")
# A year of months.
_MOST_FILES = 12


def lede(summary: Summary) -> str:
    """Return the sentence below the heading of a page.

    Parameters
    ----------
    summary : mapping
        A summary of any kind.

    Returns
    -------
    str
    """
    kind = summary["kind"]
    model = _model_words(summary["made"])
    if kind == "explorer":
        return f"What {model} would do if the shares of positives were different."
    rows = rows_text(summary["rows"])
    if kind == "audit":
        findings = summary["observed"]["cape"]["groups"]
        groups = counted(len({finding["group"] for finding in findings}), "group")
        return f"{rows} in {groups}, judged by their labels."
    groups = counted(len(summary["groups"]), "group")
    if kind == "monitor":
        batches = counted(len(summary["batches"]), "batch", "batches")
        return f"{batches}, {rows}, {groups}; {model}."
    return f"{rows} in {groups}, predicted by {model}."


def _model_words(made: Summary) -> str:
    """Return what is known about the model, in words."""
    if "training" in made:
        return f"a model trained on {made['training']['file']}"
    return f"a {made.get('classifier', 'model')}"


def verdict_word(word: str) -> str:
    """Write a verdict as a person would.

    Examples
    --------
    >>> verdict_word("some_drift")
    'some drift'
    """
    return word.replace("_", " ")


def verdict_rows(summary: Summary) -> Table:
    """Return the table of the verdicts.

    Parameters
    ----------
    summary : mapping
        From `batch_summary`.

    Returns
    -------
    list of list of str
        Group, verdict, p-value of the scores and the share of rows that no mixture
        explains.
    """
    tests = {test["group"]: test for test in summary["shift_test"]["groups"]}
    rows = []
    for group in summary["groups"]:
        test = tests[group["group"]]
        # A p-value of 1 would look like a test that was passed.
        p_value = "not tested"
        unexplained = ""
        if not test["tested"]:
            p_value = "too few rows"
        elif test["sound"]:
            p_value = p_value_text(test["p_adjusted"])
            unexplained = f"{test['effect']:.1%}"
        rows.append([group["group"], group["verdict_text"], p_value, unexplained])
    return rows


def column_rows(summary: Summary) -> Table:
    """Return the table of the columns that moved, at most twelve.

    Parameters
    ----------
    summary : mapping
        From `batch_summary`.

    Returns
    -------
    list of list of str
        Column, group, what happened, effect and adjusted p-value. What is plainly wrong
        has no p-value: it needs no test.
    """
    rows = []
    for entry in summary["columns"]["moved"][:_MOST_COLUMNS]:
        # The sentence begins with the name of the column, which has its own cell.
        _, _, what_happened = entry["what_happened"].partition("`: ")
        p_value = p_value_text(entry["p_adjusted"])
        effect = f"{entry['effect']:.0%}"
        if entry["fault"]:
            p_value = "at fault"
            effect = ""
        rows.append([entry["column"], entry["group"], what_happened, effect, p_value])
    return rows


def columns_sentence(summary: Summary) -> str:
    """Say what the table of columns leaves out, or why there is none.

    Parameters
    ----------
    summary : mapping
        From `batch_summary`.

    Returns
    -------
    str
        Empty if the table shows all.
    """
    columns = summary["columns"]
    if not columns["counted"]:
        return (
            "No column was looked at: the model was trained on a sparse matrix or with "
            "drift='ignore', and has no counts of columns to compare with."
        )
    if not columns["moved"]:
        return (
            "No sign that a column moved, in any group, at the 1 % level over all "
            "columns and groups."
        )
    sentences = []
    left_out = len(columns["moved"]) - _MOST_COLUMNS
    if left_out > 0:
        sentences.append(f"{left_out} more are in the JSON of this report.")
    if any(entry["fault"] for entry in columns["moved"]):
        sentences.append(
            "Beside a column at fault, every other column is tested at the share that "
            "it speaks for itself: the scores read the column at fault, too."
        )
    return " ".join(sentences)


def check_columns(summary: Summary) -> list[str]:
    """Return the heading of the table of what labels say.

    Parameters
    ----------
    summary : mapping
        From `batch_summary` of a batch with labels.

    Returns
    -------
    list of str
    """
    with_labels = "according to labels"
    if summary["labels"]["decide"]:
        with_labels = "with labels"
    return ["group", "rows checked", "without labels", with_labels, "verdict"]


def check_rows(summary: Summary) -> Table:
    """Return the table of what labels say of the label-free estimates.

    Parameters
    ----------
    summary : mapping
        From `batch_summary` of a batch with labels.

    Returns
    -------
    list of list of str
        Group, rows with a label, estimate without labels and with them, and the verdict
        in words.
    """
    rows = []
    for check, group in zip(
        summary["labels"]["groups"], summary["groups"], strict=True
    ):
        without = _with_interval(
            check["without_labels"],
            check["without_labels_low"],
            check["without_labels_high"],
        )
        estimate = check["label_estimate"]
        if summary["labels"]["decide"]:
            estimate = group["estimate"]
        with_labels = "unknown"
        if check["label_verdict"] is not None:
            with_labels = _with_interval(estimate, check["low"], check["high"])
        checked = f"{check['labelled']:,} of {check['rows']:,}"
        verdict = _label_verdict(check)
        rows.append([check["group"], checked, without, with_labels, verdict])
    return rows


def _label_verdict(check: Summary) -> str:
    """Write the verdict of labels in a few words."""
    verdict = check["label_verdict"]
    if verdict == "confirmed":
        return "confirmed to within 0.1"
    if verdict is not None:
        return f"{verdict_word(verdict)}, p\u00a0{_p_value(check['label_p_value'])}"
    if check["label_sample_p_value"] is not None:
        return f"no random sample, p\u00a0{_p_value(check['label_sample_p_value'])}"
    return "too few labels"


def _p_value(value: float) -> str:
    # A line must not end between "p" and its value.
    text = p_value_text(value)
    if not text.startswith("below"):
        text = f"= {text}"
    return text.replace(" ", "\u00a0")


def _with_interval(estimate: float, low: float, high: float) -> str:
    if low == high:
        return f"{estimate:.3f}"
    return f"{estimate:.3f} ({low:.3f}\u2013{high:.3f})"


def needed_rows(summary: Summary) -> Table:
    """Return the table of how many labels narrow the intervals to some widths.

    Parameters
    ----------
    summary : mapping
        From `batch_summary` of a batch with labels.

    Returns
    -------
    list of list of str
        Group, the width now with its number of labels, and how many labels each width
        needs.
    """
    rows = []
    for entry in summary["labels"]["needed"]:
        now = f"{entry['width']:.2f}, {entry['labelled']:,} labels"
        cells = []
        for width, labels in zip(WIDTHS, entry["needed"], strict=True):
            reached = entry["width"] <= width
            cells.append("reached" if reached else f"{labels:,}")
        rows.append([entry["group"], now, *cells])
    return rows


def compared_cells(summary: Summary) -> dict[str, dict[str, Summary]]:
    """Return the observed rates that stand below the expected ones.

    Parameters
    ----------
    summary : mapping
        From `batch_summary`.

    Returns
    -------
    dict from group to dict from rate to entry
        Empty if no group has labels of all its rows.
    """
    cells: dict[str, dict[str, Summary]] = {}
    if summary["compared"] is None:
        return cells
    for rate in summary["compared"]["rates"]:
        cells.setdefault(rate["group"], {})[rate["metric"]] = rate
    return cells


def rests_sentence(summary: Summary) -> str:
    """Say what the bound and the expected rates rest on, and where that is in doubt.

    Parameters
    ----------
    summary : mapping
        From `batch_summary`.

    Returns
    -------
    str
    """
    doubtful = []
    corrected = []
    for group in summary["groups"]:
        if group["label_verdict"] is not None:
            corrected.append(group["group"])
        elif group["verdict"] not in _AS_EXPECTED:
            doubtful.append(group["group"])
    of_labels = "rest on labels of a random sample, and hold whatever has moved."
    if len(corrected) == len(summary["groups"]):
        return f"These numbers {of_labels}"
    sentences = [
        "This rests on the assumption that positives and negatives each look as they "
        "did in training."
    ]
    if doubtful:
        sentences.append(
            f"In {joined(doubtful)} that is in doubt or could not be tested, and these "
            "numbers can be wrong by more than their intervals say."
        )
    if corrected:
        sentences.append(f"The numbers of {joined(corrected)} {of_labels}")
    return " ".join(sentences)


def chosen_rows(summary: Summary) -> Table:
    """Return the table of the members that CAPE chose.

    Parameters
    ----------
    summary : mapping
        From `batch_summary`.

    Returns
    -------
    list of list of str
        Group, theta, predicted prevalence and the bound on PD.
    """
    rows = []
    for group in summary["groups"]:
        numbers = (group["made_for"], group["predicted_prevalence"], group["pd_bound"])
        rows.append([group["group"], *(f"{number:.3f}" for number in numbers)])
    return rows


def expected_pe_sentence(summary: Summary) -> str:
    """Return the sentence about the PE to expect of the worst pair.

    Parameters
    ----------
    summary : mapping
        From `batch_summary`.

    Returns
    -------
    str
        Empty if there is one group only, or if no pair is defined.
    """
    pairs = summary["expected"]["pairs"]
    defined = [pair for pair in pairs if pair["pe"] is not None]
    if not defined:
        return ""
    worst = max(defined, key=lambda pair: pair["pe"])
    number = f"{worst['pe']:.3f}"
    # The interval of PE is wide, and one-sided for the reader: how bad can it be?
    highest = _highest_pe(summary)
    if highest is not None:
        number += f" (up to {highest:.3f})"
    unadapted = summary["expected"]["unadapted"]["pe"]
    if unadapted is not None:
        number += f"; the model as trained would have {unadapted:.3f}"
    return (
        f"Expected PE of the worst pair, {worst['group']} to {worst['other']}: "
        f"{number}. PE says how far the ratio of two groups' predicted shares is from "
        "the ratio of their true shares."
    )


def _highest_pe(summary: Summary) -> float | None:
    """Return the high end of PE, whichever pair turns out to be the worst.

    The table of criteria shows the same number. The interval of the pair that is
    expected to be the worst is narrower: another pair may turn out to be worse.
    """
    for entry in summary["criteria"]:
        if entry["criterion"] == "proportional_equality":
            return entry["high"]
    return None


def monitor_rows(summary: Summary) -> dict[str, Table]:
    """Return one table of batches for each group.

    Parameters
    ----------
    summary : mapping
        From `monitor_summary`.

    Returns
    -------
    dict
        From the name of a group to the rows of its table.
    """
    # One table a group: over time, a group is compared with itself.
    tables = {}
    for group in summary["groups"]:
        rows = [_monitor_row(batch) for batch in group["batches"]]
        tables[group["group"]] = rows
    return tables


def _monitor_row(batch: Summary) -> list[str]:
    """Return what the monitor page says about one group in one batch."""
    return [
        batch["batch"],
        f"{batch['rows']:,}",
        f"{batch['estimate']:.3f}",
        f"{batch['low']:.3f}\u2013{batch['high']:.3f}",
        f"{batch['estimate'] - batch['training']:+.3f}",
        "yes" if batch["moved"] else "no",
        f"{batch['pd_bound']:.3f}",
        verdict_word(batch["verdict"]),
    ]


def observed_tables(summary: Summary) -> Summary:
    """Return the fairness table and the table of worst pairs.

    Parameters
    ----------
    summary : mapping
        From `audit_summary`, or from `batch_summary` of a batch with labels.

    Returns
    -------
    dict
        What the template needs: ``both`` (whether two classifiers are compared),
        ``observed_caption``, ``observed_columns``, ``observed_rows``,
        ``between_columns`` and ``between_rows``.
    """
    observed = summary["observed"]
    caption = f"Each rate with its {100 * summary['level']:g} % interval"
    # The predictions of an audit may be anybody's, and are not called CAPE.
    names = {"cape": "the predictions"}
    if "unadapted" in observed:
        names = {
            "cape": "CAPE",
            "unadapted": "as trained",
        }
        caption += "; as trained: the same model cut at 1/2, without CAPE"
    columns = dict(OBSERVED_COLUMNS)
    if len(names) > 1:
        # Beside the names of two classifiers there is room for six rates.
        del columns["precision"]
    return {
        "both": len(names) > 1,
        "observed_caption": caption,
        "observed_columns": columns,
        "observed_rows": _observed_rows(observed, names),
        "between_columns": ["measure", *names.values()],
        "between_rows": _between_rows(observed, names),
    }


def _observed_rows(observed: Summary, names: Mapping[str, str]) -> list[Summary]:
    """Return the rates of each group, one classifier below the other."""
    groups: dict[str, Summary] = {}
    for who, name in names.items():
        for finding in observed[who]["groups"]:
            group = groups.setdefault(
                finding["group"],
                {
                    "group": finding["group"],
                    "rows": 0,
                    "classifiers": {},
                },
            )
            # A rate counts the rows of its denominator; the greatest number is all
            # rows.
            group["rows"] = max(group["rows"], finding["rows"])
            classifier = group["classifiers"].setdefault(
                who,
                {
                    "name": name,
                    "rates": {},
                },
            )
            classifier["rates"][finding["metric"]] = finding
    return list(groups.values())


def _between_rows(
    observed: Summary, names: Mapping[str, str]
) -> list[tuple[str, list[Any]]]:
    """Return the worst pair of each classifier for each metric.

    Where no pair says anything, the reason stands in its place.
    """
    # Both classifiers predict the same rows: either both have pairs or none has.
    if not observed["cape"]["pairs"]:
        return []
    rows = []
    for metric, label in _BETWEEN_GROUPS.items():
        pairs = []
        for who in names:
            worst = observed[who]["worst"].get(metric)
            pairs.append(worst or _why_none(observed[who]["pairs"], metric))
        rows.append((label, pairs))
    return rows


def _why_none(pairs: list[Summary], metric: str) -> str:
    """Say why no pair has a value."""
    reasons = {pair["why"] for pair in pairs if pair["metric"] == metric}
    # With more rows, a pair might be defined.
    if "too few rows" in reasons:
        return "too few rows"
    return "undefined"


def made_rows(made: Summary) -> Terms:
    """Return the section "How it was made" as terms and texts.

    Parameters
    ----------
    made : mapping
        The entry ``made`` of a summary. What it does not know is left out.

    Returns
    -------
    list of (str, str)
    """
    # Without files nothing is said about files.
    rows = _file_rows(made.get("files", []))
    if "training" in made:
        training = made["training"]
        size = rows_text(training["rows"])
        text = f"{training['file']}, {size}, SHA-256 {training['sha256']}"
        rows.append(("trained on", text))
    rows += _column_rows(made.get("columns", {}))
    for term in ("classifier", "learner"):
        if term in made:
            rows.append((term, made[term]))
    if "settings" in made:
        settings = [f"{name} {value}" for name, value in made["settings"].items()]
        rows.append(("parameters", "; ".join(settings)))
    if "fingerprint" in made:
        rows.append(("fingerprint", made["fingerprint"]))
    versions = [f"{name} {version}" for name, version in made["versions"].items()]
    rows.append(("versions", ", ".join(versions)))
    date = made["date"].replace("T", " ").replace("+00:00", "")
    rows.append(("date", f"{date} UTC"))
    return rows


def _file_rows(files: list[Summary]) -> Terms:
    """Return a line for each of the first twelve files, and count the others."""
    rows = []
    for file in files[:_MOST_FILES]:
        facts = [file["file"]]
        if "rows" in file:
            facts.append(rows_text(file["rows"]))
        facts.append(f"SHA-256 {file['sha256']}")
        rows.append(("data", ", ".join(facts)))
    if len(files) > _MOST_FILES:
        rows.append(("data", f"and {len(files) - _MOST_FILES} more files"))
    return rows


def _column_rows(columns: Summary) -> Terms:
    """Return which columns were used: those of a model, or those of an audit."""
    # An audit names its columns itself; a model also knows the two labels.
    if "labels" not in columns:
        return [(name, str(value)) for name, value in columns.items()]
    negative, positive = columns["labels"]
    label = f"{columns['label']}: {positive} is positive, {negative} negative"
    return [
        ("label", label),
        ("groups", ", ".join(columns["groups"]) or "none"),
        ("features", ", ".join(columns["features"])),
    ]
