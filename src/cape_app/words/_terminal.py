"""What the command line says: its tables and lines, and messages in its options.

Every function that says something yields blocks: a line of text, a `Styled` line or a
`TextTable`; ``cape_app.cli`` only prints them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cape.base._limits import USEFUL_WIDTH
from cape.base._numbers import (
    MOST_GROUPS,
    counted,
    level_text,
    listed,
    pairs_text,
    rows_text,
    short_names,
    shortened,
)
from cape.shown._action import (
    ACTIONS,
    MARKS,
    VERDICTS,
    action_head,
    action_words,
    chance_head,
    chance_text,
    more_rows,
    reason_in_row,
)
from cape.shown._backtest import past_text, record_text
from cape.shown._results import column_line, few_labels
from cape_app.words._audit import (
    COMPARED,
    ON_TERMINAL,
    why_no_pe,
)
from cape_app.words._page import (
    COLUMNS_NOT_CHECKED,
    difference_text,
    label_fact,
)

# ---------------------------------------------------------------- numbers and tables


class Styled(NamedTuple):
    """A line that stands out: "bad", "warn" or "good"."""

    text: str
    style: str


class TextTable(NamedTuple):
    """A table; its first column is text, the others are short."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


Blocks = Iterator[str | Styled | TextTable]


def number(value: float | None) -> str:
    """Write a number with three decimals, and an unknown or undefined one as a dash.

    Examples
    --------
    >>> number(0.25), number(None), number(float("nan"))
    ('0.250', '-', '-')
    """
    # NaN is the only number that differs from itself.
    if value is None or value != value:
        return "-"
    return f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """Write an interval.

    Examples
    --------
    >>> interval(0.25, 0.5)
    '0.250-0.500'
    """
    return f"{number(low)}-{number(high)}"


def value_or_few(finding: Mapping[str, Any]) -> str:
    """Write the value of an audit's finding, or "few" if it rests on too few rows.

    Examples
    --------
    >>> value_or_few({"value": 0.25, "why": None})
    '0.250'
    >>> value_or_few({"value": None, "why": "too few rows"})
    'few'
    """
    if finding["why"] == "too few rows":
        return "few"
    return number(finding["value"])


def rule_text(rule: Mapping[str, Any]) -> str:
    """Write the name of a rule and the parameters that it has.

    Examples
    --------
    >>> rule_text({"name": "accuracy", "cost_fp": 1.0, "cost_fn": 5.0})
    'accuracy, cost_fp 1, cost_fn 5'
    """
    parameters = [rule["name"]]
    for name, value in rule.items():
        if name != "name" and value is not None:
            parameters.append(f"{name} {value:g}")
    return ", ".join(parameters)


def _by_group(findings: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Arrange the findings of an audit by group and metric."""
    groups: dict[str, dict[str, Any]] = {}
    for finding in findings:
        groups.setdefault(finding["group"], {})[finding["metric"]] = finding
    return groups


# ------------------------------------------------------------------- train and info


def groups_table(title: str, groups: Iterable[Mapping[str, Any]]) -> TextTable:
    """Make the table of the groups that a model was trained on."""
    rows = []
    for group in groups:
        prevalence = number(group["prevalence"])
        rows.append([group["group"], group["rows"], prevalence, number(group["auc"])])
    return TextTable(title, ["group", "rows", "prevalence", "AUC"], rows)


def trained(content: Mapping[str, Any], *, by_default: bool) -> Blocks:
    """Say what was trained.

    Parameters
    ----------
    content : mapping
        The details of a model.
    by_default : bool
        Whether nobody chose the positive label.
    """
    columns = content["columns"]
    negative, positive = columns["labels"]
    yield groups_table(
        f"{content['data']['rows']} rows, {len(columns['features'])} features, "
        f"positive: {positive}",
        content["groups"],
    )
    if by_default and negative[:1].isalpha():
        # Of yes and no it is the right one, of ja and nein the wrong one.
        yield (
            f"{positive!r} counts as positive because it comes after {negative!r} "
            "alphabetically; --positive changes that."
        )
    if not columns["groups"]:
        yield "All rows form one group; to split them, name a column with --group."
    if content["learner"] == "scores":
        yield "Nothing was trained: the scores and decisions come from the file."
    else:
        yield f"learner: {content['learner']}"
    yield "AUC: how well the scores tell the classes apart, from 0.5 (not at all) to 1."
    if any(group["auc"] is None for group in content["groups"]):
        yield (
            "A dash means fewer than 10 rows in a class: the group borrows from the "
            "others."
        )


_SHOWN_SETTINGS = """
pool quantifier scores cv rule drift small_groups unknown_groups missing_groups
random_state
"""


def model_facts(content: Mapping[str, Any]) -> dict[str, str]:
    """Say what a model was trained on, and how: a sentence for each name.

    Parameters
    ----------
    content : mapping
        From `cape_app.files._model.describe_file`.
    """
    columns = content["columns"]
    data = content["data"]
    sha256 = f", sha256 {data['sha256'][:16]}" if data["sha256"] else ""
    settings = content["settings"]
    # Settings that say how the model was made; the others are in the JSON.
    names = _SHOWN_SETTINGS.split()
    shown = {name: settings[name] for name in names if name in settings}
    if isinstance(shown.get("rule"), dict):
        shown["rule"] = f"({rule_text(shown['rule'])})"
    features = [f"{name} ({kind})" for name, kind in columns["features"].items()]
    return {
        "trained on": f"{data['file']}, {data['rows']} rows{sha256}",
        "label": label_fact(columns),
        "groups": ", ".join(columns["groups"]) or "none",
        "features": ", ".join(features),
        "learner": f"{content['learner']}; {pairs_text(shown)}",
        **({"past": past_text(content["past"])} if content.get("past") else {}),
        "saved": f"{content['saved']} by {pairs_text(content['versions'])}",
        "fingerprint": content["fingerprint"][:16],
    }


# ---------------------------------------------------------- what to do with groups

FIRST_GROUPS = 8
"""Groups that are shown of more than `MOST_GROUPS`."""

_MOST_LINES = 5
"""Lines besides the action, the groups, and what was written."""

_MOST_NAMES = 3
_LONGEST_NAMES = 40
_MOST_COLUMNS = 3


def _what_to_do(
    actions: Sequence[Mapping[str, Any]], sample: str, where: str = ""
) -> Blocks:
    """Say what to do with the predictions, and how to draw the rows to label."""
    codes = [action["code"] for action in actions]
    text = action_head(actions)
    if where:
        text = f"{where}: {text[0].lower()}{text[1:]}"
    yield Styled(f"{text}.", MARKS[min(codes, key=list(MARKS).index)])
    asked = [action["labels"] or action["reason"] == "given" for action in actions]
    # Of counts alone no rows can be drawn.
    if sample and any(asked):
        yield Styled(f"  {sample}", "command")


def _faults(verdict: Mapping[str, Any], where: str) -> list[Styled]:
    """Name the columns at fault, before any number."""
    lines = [fault_line(fault, where) for fault in verdict["faults"]]
    few = shortened(lines, _MOST_COLUMNS, "columns", end="and ")
    return [Styled(f"  {line}", "red") for line in few]


def fault_line(fault: Mapping[str, Any], where: str) -> str:
    """Name a column at fault, and the groups or batches in which it is."""
    places = listed(fault[where], _MOST_NAMES)
    return f"`{fault['column']}` in {places}: {fault['what_happened']}"


def _groups_to_act_on(
    entries: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    room: int,
    verbose: bool,
) -> Blocks:
    """Give each group a line with its numbers and its action; below, say why.

    Parameters
    ----------
    entries : sequence of mappings
        Of each group: ``group``, ``action``, and its ``cells`` by their heads.
    columns : sequence of str
        Columns whose values the groups combine.
    room : int
        Lines that there are for reasons.
    verbose : bool
        Whether to show all groups. Else, of many groups, those to act on come first,
        and the others are counted.
    """
    gravity = list(MARKS)
    by_gravity = sorted(entries, key=lambda e: gravity.index(e["action"]["code"]))
    head, names = short_names([entry["group"] for entry in entries], columns)
    shown = entries
    if len(entries) > MOST_GROUPS and not verbose:
        shown = by_gravity[:FIRST_GROUPS]
    rows = []
    for entry in shown:
        action = entry["action"]
        # What "hold off" asks for stands in the first line, and what is labelled, too.
        cell = action_words(action["code"], action["labels"]).partition(":")[0]
        cell = cell.removesuffix(" rows")
        rows.append([names[entry["group"]], *entry["cells"].values(), cell])
    yield TextTable("", [head, *entries[0]["cells"], "action"], rows)
    folded = [entry["action"] for entry in by_gravity[len(shown) :]]
    if folded:
        yield f"{more_rows(folded, 'group')} (see --verbose)."
    alike: dict[tuple[str, str], list[str]] = {}
    for entry in by_gravity:
        action = entry["action"]
        why = reason_in_row(action)
        if why:
            alike.setdefault((action["code"], why), []).append(names[entry["group"]])
    lines = []
    for (code, why), whose in alike.items():
        text = listed(whose, _MOST_NAMES)
        if len(text) > _LONGEST_NAMES:
            text = f"{counted(len(whose), 'group')} {ACTIONS[code].counted}"
        lines.append(f"{text}: {why}.")
    if len(lines) > room and not verbose:
        more = counted(len(lines) - room + 1, "more reason")
        lines[room - 1 :] = [f"{more} (see --verbose)."]
    yield from lines


# ------------------------------------------------------------------------- predict

_PAPER_RULE = "prevalence"

# Beside the estimate stands what it is to be compared with.
_LABEL_COLUMNS = {True: "no labels", False: "labels"}


def predicted(
    summary: Mapping[str, Any],
    checked: Sequence[Mapping[str, Any]] | None,
    *,
    sample: str,
    verbose: bool,
) -> Blocks:
    """Say what to do, what was estimated, and what the labels say if there are any.

    Parameters
    ----------
    summary : mapping
        From `batch_summary`.
    checked : sequence of mappings or None
        What came back of a sheet of checked rows.
    sample : str
        The command that draws rows to label.
    verbose : bool
        Whether to say all there is to say.
    """
    yield from _what_to_do(summary["action"]["groups"], sample)
    faults = _faults(summary["verdict"], "groups")
    yield from faults
    labels = summary["labels"]
    if labels is not None:
        yield Styled(f"{labels['verdict']['head']}.", labels["verdict"]["mark"])
    below = []
    if summary["rule"]["name"] != _PAPER_RULE:
        below.append(f"Rule: {rule_text(summary['rule'])}.")
    codes = {action["code"] for action in summary["action"]["groups"]}
    # Nothing is expected where too little is known of a group.
    if codes <= {"use", "shares", "label"}:
        below += summary["aims"]
    below += _record(summary)
    if checked is not None:
        returned = sum(entry["returned"] for entry in checked)
        drawn = sum(entry["drawn"] for entry in checked)
        below.append(f"Labels came back for {returned:,} of {rows_text(drawn)}.")
    if summary["observed"]:
        below.append(_observed(summary["observed"]))
    columns = summary["made"]["columns"]["groups"]
    room = max(1, _MOST_LINES - len(faults) - len(below))
    entries = _entries(summary, verbose)
    yield from _groups_to_act_on(entries, columns, room, verbose)
    yield from below
    if verbose:
        yield from _verdicts(summary)
        if labels is not None:
            yield from (f"{one['group']}: {one['text']}." for one in labels["groups"])


def _record(summary: Mapping[str, Any]) -> list[str]:
    """Say how the model did on its own past, if it knows one."""
    record = summary["made"].get("past")
    return [f"{record_text(record)}."] if record else []


def _entries(summary: Mapping[str, Any], verbose: bool) -> list[dict[str, Any]]:
    """Return what the table says of each group, and what to do with it."""
    entries = []
    labels = summary["labels"]
    for group in summary["groups"]:
        cells = _shares(group, summary["level"])
        chance = chance_text(group["action"]["chance"]) if group["told"] else "-"
        cells[chance_head(summary["action"]["tolerance"])] = chance
        if labels is not None:
            # What labels say; or, where they decide, what was estimated without them.
            key = "without_labels" if labels["decide"] else "label_estimate"
            value = group[key] if group["label_verdict"] else None
            cells[_LABEL_COLUMNS[labels["decide"]]] = number(value)
        if verbose:
            cells["rows"] = group["rows"]
        entry = {"group": group["group"], "action": group["action"], "cells": cells}
        entries.append(entry)
    return entries


def _shares(group: Mapping[str, Any], level: float) -> dict[str, Any]:
    """Write the shares of positives of a group, by the heads of their columns."""
    now = number(group["estimate"]) if group["told"] else "can't tell"
    range_of = interval(group["low"], group["high"])
    if group["verdict"] == "fault" and not group["told"]:
        range_of = "-"
    return {
        "training": number(group["training_prevalence"]),
        "now": now,
        level_text(level): range_of,
        "predicted": number(group["predicted_prevalence"]),
    }


def _verdicts(summary: Mapping[str, Any]) -> Blocks:
    """Say what speaks against a prior shift in each group, and which columns moved.

    Groups of which the same is said are named together: there may be hundreds of them.
    """
    columns: dict[str, list[str]] = {}
    for entry in summary["columns"]["moved"]:
        # Columns at fault have been named above, before all numbers.
        if not entry["fault"]:
            line = column_line(entry["column"], entry["what_happened"])
            columns.setdefault(entry["group"], []).append(line)
    alike: dict[str, list[str]] = {}
    for group in summary["groups"]:
        lines = [group["verdict_text"]]
        moved = columns.get(group["group"], [])
        few = shortened(moved, _MOST_COLUMNS, "columns", end="and ")
        lines += [f"  {sentence}" for sentence in few]
        alike.setdefault("\n".join(lines), []).append(group["group"])
    yield ""
    for text, names in alike.items():
        yield f"{', '.join(names)}: {text}"
    if not summary["columns"]["counted"]:
        yield COLUMNS_NOT_CHECKED


def _observed(observed: Mapping[str, Any]) -> str:
    """Say in a line how CAPE and the model as trained compare with the labels."""
    rates = []
    worst = []
    for who in COMPARED:
        right = rows = 0.0
        for finding in observed[who]["groups"]:
            if finding["metric"] == "accuracy" and finding["value"] is not None:
                right += finding["value"] * finding["rows"]
                rows += finding["rows"]
        rates.append(number(right / rows if rows else None))
        worst.append(number(observed[who]["worst"].get("pe", {}).get("value")))
    text = f"Judged by the labels: accuracy {rates[0]} ({rates[1]} as trained)"
    no_pe = why_no_pe(observed["cape"])
    if no_pe:
        return f"{text}. {no_pe}"
    return f"{text}, PE {worst[0]} ({worst[1]})."


# ------------------------------------------------------------------------- sample


def sampled(
    groups: Sequence[Mapping[str, Any]], label: str, enough: int, then: str
) -> Blocks:
    """Say how many rows were drawn, whether they do, and what to do next.

    Parameters
    ----------
    groups : sequence of mappings
        Of each group its name, its rows, and how many were drawn.
    label : str
        The column to fill in.
    enough : int
        How many rows would do.
    then : str
        The command that takes the labels.
    """
    lines = [[entry["group"], entry["rows"], entry["drawn"]] for entry in groups]
    yield TextTable("", ["group", "rows", "drawn"], lines)
    n_drawn = sum(entry["drawn"] for entry in groups)
    if enough > n_drawn:
        n_groups = sum(entry["drawn"] > 0 for entry in groups)
        few = few_labels(n_drawn, n_groups, enough)
        yield f"{few} (--rows {enough}, or --width {USEFUL_WIDTH})."
    yield (
        f"Fill in {label!r} for as many of these rows as you can, starting at the "
        "top, and leave the rest blank. Then run:"
    )
    yield Styled(f"  {then}", "command")


# ----------------------------------------------------- several batches, and audits


def predicted_all(summary: Mapping[str, Any], *, sample: str, verbose: bool) -> Blocks:
    """Say what to do with the last batch, and which groups have moved.

    Parameters
    ----------
    summary : mapping
        From `batches_summary`.
    sample : str
        The command that draws rows of the last batch to label.
    verbose : bool
        Whether to show all groups.
    """
    last = summary["batches"][-1]["batch"]
    n_batches = len(summary["batches"])
    entries = []
    absent = []
    for group in summary["groups"]:
        batch = group["batches"][-1]
        if batch["place"] < n_batches:
            absent.append(group["group"])
            continue
        cells = _shares(batch, summary["level"])
        cells["moved in"] = (
            f"{sum(b['moved'] for b in group['batches'])} of {n_batches}"
        )
        entry = {"group": group["group"], "action": batch["action"], "cells": cells}
        entries.append(entry)
    actions = [entry["action"] for entry in entries]
    yield from _what_to_do(actions, sample, last)
    faults = _faults(summary["verdict"], "batches")
    yield from faults
    columns = summary["made"]["columns"]["groups"]
    room = max(1, _MOST_LINES - len(faults))
    yield from _groups_to_act_on(entries, columns, room, verbose)
    yield from _record(summary)
    if absent:
        yield f"Not in {last}: {listed(absent, _MOST_NAMES)}."
    if verbose:
        yield from _batches(summary)


def _batches(summary: Mapping[str, Any]) -> Blocks:
    """Show a table for each group, with a row for each batch, and the verdict."""
    level = level_text(summary["level"])
    columns = ["batch", "rows", "estimate", level, "moved", "PD <=", "verdict"]
    for group in summary["groups"]:
        rows = []
        for batch in group["batches"]:
            rows.append(
                [
                    batch["batch"],
                    batch["rows"],
                    number(batch["estimate"]),
                    interval(batch["low"], batch["high"]),
                    "?" if batch["change"] is None else f"{batch['change']:+.3f}",
                    number(batch["pd_bound"]),
                    VERDICTS[batch["verdict"]].words,
                ]
            )
        title = f"{group['group']}: {number(group['training_prevalence'])} in training"
        yield ""
        yield TextTable(title, columns, rows)
        for batch in group["batches"]:
            if batch["reason"]:
                yield f"{batch['batch']}: {batch['reason']}"


def audited(summary: Mapping[str, Any], *, verbose: bool) -> Blocks:
    """Say what differs by more than chance, and show the rates of each group.

    Parameters
    ----------
    summary : mapping
        From `audit_summary`.
    verbose : bool
        Whether to show all groups, with the intervals of PD.
    """
    if summary["kind"] == "ll144":
        yield from _impact(summary)
        return
    content = summary["observed"]["cape"]
    by_group = _by_group(content["groups"])
    columns = summary["made"]["columns"]
    head, names = short_names(list(by_group), columns["groups"].split(", "))
    said = set()
    for finding in content["differences"]:
        # The largest of each kind.
        if finding["metric"] not in said:
            said.add(finding["metric"])
            yield Styled(f"{difference_text(finding, content['groups'])}.", "warn")
    if not said:
        yield Styled("No difference beyond chance.", "good")
    shown = list(by_group)
    if len(shown) > MOST_GROUPS and not verbose:
        shown.sort(key=lambda name: -by_group[name]["pd"]["low"])
        shown = shown[:FIRST_GROUPS]
    rows = []
    for name in shown:
        found = by_group[name]
        cells = [value_or_few(found[metric]) for metric in ON_TERMINAL]
        if verbose:
            cells.append(interval(found["pd"]["low"], found["pd"]["high"]))
        rows.append([names[name], found["accuracy"]["rows"], *cells])
    level = [f"{level_text(summary['level'])} of PD"] if verbose else []
    yield TextTable("", [head, "rows", *ON_TERMINAL.values(), *level], rows)
    if len(shown) < len(by_group):
        left_out = counted(len(by_group) - len(shown), "more group")
        yield f"{left_out} with a smaller PD (see --verbose)."
    yield (
        f"{columns['positive']!r} is positive and {columns['negative']!r} is negative; "
        "--positive changes that."
    )
    if any("few" in row[2:] for row in rows):
        yield "'few' means fewer than 10 rows."
    yield from _proportional_equality(content, by_group, names)


def _proportional_equality(
    content: Mapping[str, Any],
    by_group: Mapping[str, Mapping[str, Any]],
    names: Mapping[str, str],
) -> Blocks:
    """Give the PE that is largest for sure, or say why there is none."""
    no_pe = why_no_pe(content)
    if no_pe:
        yield no_pe
    else:
        pair = content["worst"]["pe"]
        ends = interval(pair["low"], pair["high"])
        yield (
            f"Largest PE: {number(pair['value'])} ({ends}), "
            f"{names[pair['group']]} / {names[pair['other']]}."
        )
    without = []
    for name, found in by_group.items():
        shares = (found["prevalence"]["value"], found["predicted_prevalence"]["value"])
        if 0 in shares:
            without.append(names[name])
    if without and content["pairs"]:
        yield (
            f"PE relative to {listed(without, _MOST_NAMES)} is undefined for lack of "
            "positives or predicted positives."
        )


_IMPACT_HEADS = ["category", "applicants", "selected", "selection rate", "impact ratio"]


def _impact(summary: Mapping[str, Any]) -> Blocks:
    """Show selection rates and impact ratios, and what they are."""
    for name, table in summary["tables"].items():
        rows = []
        for entry in table["categories"]:
            category, *counts, rate, ratio = entry.values()
            rows.append([category, *counts, number(rate), number(ratio)])
        title = f"{name} (unknown: {rows_text(table['unknown'])})"
        yield TextTable(title, _IMPACT_HEADS, rows)
    yield f"Selected means {summary['made']['columns']['positive']}."
    yield "The law sets no threshold; this is not legal advice."


# ------------------------------------------------------------------------ fail-if

_MOST_PLACES = 6


def breach_text(breach: Mapping[str, Any]) -> str:
    """Say that a condition of ``--fail-if`` was met.

    Examples
    --------
    >>> breach_text({"condition": "pd>0.1", "where": "a", "value": 0.3, "by": 0.2})
    'fail-if pd>0.1 is met: a: 0.300, 0.200 beyond the limit'
    >>> breach_text({"condition": "fault", "where": "a", "value": 1.0, "by": 1.0})
    'fail-if fault is met: a'
    """
    text = f"fail-if {breach['condition']} is met: {breach['where']}"
    if breach["condition"].isidentifier():
        return text
    return f"{text}: {breach['value']:.3f}, {breach['by']:.3f} beyond the limit"


def left_out_texts(left_out: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say, in a line for each condition and reason, what could not be checked.

    Examples
    --------
    >>> why = {"condition": "pd>0.1", "why": "too few rows"}
    >>> left_out_texts([{**why, "where": "a"}, {**why, "where": "b"}])
    ['fail-if pd>0.1 skipped, too few rows: a; b']
    """
    places: dict[tuple[str, str], list[str]] = {}
    for one in left_out:
        places.setdefault((one["condition"], one["why"]), []).append(one["where"])
    lines = []
    for (condition, why), names in places.items():
        # Three small groups among ten are in fifty pairs.
        shown = "; ".join(shortened(names, _MOST_PLACES))
        lines.append(f"fail-if {condition} skipped, {why}: {shown}")
    return lines


# ----------------------------------------------------------- parameters to options

_SAME_NAMES = """
acknowledge ask author bins blank_means checked cost_fn cost_fp counts cv debug decimal
decision dialect drift drop drop_suspicious encoding fail_if force group jobs label
learner level min_group_size missing_groups missing_labels most name note out
paper pool positive positive_decision prediction prevalence quantifier reference report
rows rule score scores seed separator small_groups spread sql state table threshold
title tolerance unknown_groups verbose version width within
"""

OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _SAME_NAMES.split()} | {
    "as_json": "--json",
    "freq": "--freq",
    "horizon": "--horizon",
    "labels": "--labels",
    "period": "--time",
    "start": "--from",
    "time": "--time",
    "train": "--train",
    "clf": "MODEL",
    "estimator": "--learner",
    "group_columns": "--group",
    "key_file": "--key-file",
    "mapping": "--map",
    "n": "--rows",
    "n_jobs": "--jobs",
    "overwrite": "--force",
    "path": "MODEL",
    "pos_label": "--positive",
    "random_state": "--seed",
    "sensitive_features": "--group",
}
"""The option of each parameter, of Python and of the commands."""

_OF_SCIKIT_LEARN = re.compile(
    r"The '(?P<parameter>\w+)' parameter of \w+ must be (?P<problem>.*)\. "
    r"Got (?P<value>.*) instead\."
)
# A word in quotes is a value of the user, and so is a part of a path.
_SETTING = re.compile(r"""(?<![\w'"/.-])(\w+)=(?:'(\w+)'|"(\w+)"|True\b|([\d.]*\d))""")


def error_text(error: Exception) -> str:
    """Return the message of an error, with the option in place of its parameter.

    Examples
    --------
    >>> from cape.base._errors import ParameterError
    >>> error_text(ParameterError("small_groups", "must be 'borrow', got 'lend'."))
    "--small-groups must be 'borrow', got 'lend'."
    """
    message = str(error)
    parameter = getattr(error, "parameter", "")
    if parameter in OPTIONS:
        return in_options(OPTIONS[parameter] + message.removeprefix(parameter))
    found = _OF_SCIKIT_LEARN.fullmatch(message)
    if found is None or found["parameter"] not in OPTIONS:
        return in_options(message)
    # Of what Python admits, the part that can be typed.
    numbers = re.search(r"an int in the range [^)\]]*.", found["problem"])
    names = re.search(r"\{(.*)\}", found["problem"])
    wanted = found["problem"]
    if numbers:
        wanted = numbers[0]
    elif names:
        wanted = f"one of {', '.join(sorted(names[1].split(', ')))}"
    return f"{OPTIONS[found['parameter']]} must be {wanted}, got {found['value']}."


def in_options(text: str) -> str:
    """Write what the library says to set as it is typed in a command.

    Examples
    --------
    >>> in_options("Use small_groups='pooled'; n=3 rows of level='a'.")
    'Use --small-groups pooled; --rows 3 rows of --level a.'
    """

    def typed(found: re.Match[str]) -> str:
        option = OPTIONS.get(found[1])
        if option is None:
            return found[0]
        value = found[2] or found[3] or found[4]
        return f"{option} {value}" if value else option

    return _SETTING.sub(typed, text)
