"""What a backtest says: a few lines, which every face of it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cape.base._numbers import counted, listed, points, share_text

Facts = Mapping[str, Any]

PICTURE = "Share of positives: truth, estimate with interval, and last share"

KEY = """diamond: truth
dot: estimate and its interval
line: last share, of the period before"""

_VERDICTS = {
    "better": "On your past, CAPE was nearer to the truth than the last share.",
    "as_good": "On your past, the last share was as good.",
    "worse": "On your past, the last share was nearer to the truth.",
    "unclear": "Too few periods to tell which is nearer, CAPE or the last share.",
}
"""The first line."""

LEFT_OUT = {
    "no_labels": "{period}: no labels, so it is what is to be predicted",
    "few_rows": "{period}: too few labelled rows ({rows})",
    "one_class": "{period}: labels of one class only",
    "missing": "{period}: {rows} rows without a label",
    "new_groups": "{period}: {rows} rows of groups that were new ({groups})",
}
"""What is left out, and why."""

_MOST = 6

TOLD = {
    "use": "use",
    "shares": "shares",
    "label": "label",
    "hold_off": "hold off",
    "do_not_use": "do not use",
}
"""What to do, in a cell that counts how often it was said."""

COLUMNS = ("held", "off by", "last share off by", "told you", '"use" right')
"""Headings of the table of groups."""


def score_row(score: Facts) -> dict[str, Any]:
    """Return the row of a group in an examination beside the truth."""
    return {
        "truth": score["truth"],
        "estimate": score["estimate"],
        "off by": score["off"],
        "last share": score["last_off"],
        "PD": score["pd"],
        "expected": score["pd_expected"],
        "held": "yes" if score["held"] else "no",
        '"use" right': {True: "yes", False: "no", None: ""}[score["right"]],
    }


def group_row(group: Facts) -> dict[str, str]:
    """Return the row of a group in a backtest, in words, by its headings."""
    told = []
    for code, action in TOLD.items():
        if code in group["told"]:
            told.append(f"{action} {group['told'][code]}")
    cells = [
        f"{group['held']} of {group['cells']}",
        share_text(group["off"]),
        share_text(group["last_off"]),
        ", ".join(told),
        f"{group['right']} of {group['use']}" if group["use"] else "",
    ]
    return dict(zip(COLUMNS, cells, strict=True))


def held_text(totals: Facts) -> str:
    """Say how many intervals held the truth."""
    return f"Intervals held the truth in {totals['held']} of {totals['cells']}."


def actions_text(totals: Facts) -> str:
    """Say how often the estimate was near enough, by what was to be done.

    Examples
    --------
    >>> told = {"told": {"label": 3, "use": 5}, "within": {"label": 1, "use": 5}}
    >>> actions_text({**told, "tolerance": 0.05})
    'Estimates within 5 points of the truth, by action: use 5 of 5, label 1 of 3.'
    """
    counts = []
    for code, action in TOLD.items():
        if code in totals["told"]:
            told = totals["told"][code]
            counts.append(f"{action} {totals['within'][code]} of {told}")
    within = points(totals["tolerance"])
    near = f"Estimates within {within} points of the truth"
    return f"{near}, by action: {', '.join(counts)}."


def against_baselines(totals: Facts) -> list[str]:
    """Say how far off CAPE was, beside whatever else could have been said."""
    last, mean_score = share_text(totals["last_off"]), totals["mean_score_off"]
    lines = [
        f"Off by, on average: CAPE {share_text(totals['off'])} · last share {last} · "
        f"mean score {share_text(mean_score)}"
    ]
    ours, learner = share_text(totals["pd"]), share_text(totals["learner_pd"])
    what = "PD"
    if totals["pe"] is not None:
        what = "mean PD and median PE"
        ours += f" and {totals['pe']:.2f}"
        learner += f" and {totals['learner_pe']:.2f}"
    lines.append(
        f"Unfairness of the predictions, {what}: CAPE {ours} · the learner as it is, "
        f"cut at 1/2, {learner}"
    )
    expected = f"PD in {totals['pd_held']} of {totals['cells']}"
    if totals["pairs"]:
        expected += f", PE in {totals['pe_held']} of {counted(totals['pairs'], 'pair')}"
    return [*lines, f"Unfairness as expected: {expected}."]


def record_text(record: Facts) -> str:
    """Say in a line how a model did on its own past."""
    return (
        f"on your past: held {record['held']} of {record['cells']}, off by "
        f"{share_text(record['off'])} (last share {share_text(record['last_off'])})"
    )


def past_text(record: Facts) -> str:
    """Say what a model has learned from its own past, and how it did there."""
    learned = counted(record["transitions"], "transition")
    return (
        f"learned from {learned}, {record['first']} to {record['last']}; "
        f"{record_text(record)}"
    )


def headline(facts: Facts) -> str:
    """Say whether the estimate was nearer than the last share, and how sure that is."""
    low, high = facts["difference"]["low"], facts["difference"]["high"]
    text = _VERDICTS[facts["verdict"]]
    if low is None:
        return f"{text} There is only one."
    return (
        f"{text} Error of CAPE minus that of the last share: {points(low)} to "
        f"{points(high)} points."
    )


def details(facts: Facts) -> list[str]:
    """Return the lines below the headline."""
    n_groups = len(facts["groups"])
    transitions = counted(facts["transitions"], "transition")
    lines = [
        f"{transitions} of {counted(n_groups, 'group')}, {facts['first']} to "
        f"{facts['last']}: intervals held the truth in {facts['held']} of "
        f"{facts['cells']}."
    ]
    lines += against_baselines(facts)
    used = actions_text(facts)
    if facts["labels"]:
        used += (
            f" With {facts['labels']} labels a group: off by "
            f"{share_text(facts['labels_off'])}, held {facts['labels_held']} of "
            f"{facts['cells']}."
        )
    lines.append(used)
    n_nearer = sum(group["off"] < group["last_off"] for group in facts["groups"])
    lines.append(
        f"Your shares move by {share_text(facts['last_off'])} between periods; the "
        f"scores say more than the past in {n_nearer} of {counted(n_groups, 'group')}."
    )
    if facts["skipped"]:
        lines.append(left_out_text(facts["skipped"]))
    return lines


def worst_text(facts: Facts) -> str:
    """Say which transition was farthest off, and what was known then."""
    worst = facts["worst"]
    return (
        f"Farthest off: {worst['group']}, {worst['period']}, trained on "
        f"{worst['trained_on']}. The share was {share_text(worst['truth'])}; CAPE said "
        f"{share_text(worst['estimate'])} ({share_text(worst['low'])} to "
        f"{share_text(worst['high'])}), and: {worst['told']}. The last share was "
        f"{share_text(worst['last'])}."
    )


def left_out_text(left_out: Sequence[Facts]) -> str:
    """Say what was left out, and why."""
    reasons = []
    for entry in left_out:
        groups = listed(entry.get("groups", []), _MOST)
        reasons.append(LEFT_OUT[entry["why"]].format(**{**entry, "groups": groups}))
    return f"Left out: {listed(reasons, _MOST)}." if reasons else ""
