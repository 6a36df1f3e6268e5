"""What a backtest says: a few lines, which every face of it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cape.base._numbers import counted, listed, share_text

Facts = Mapping[str, Any]

PICTURE = "Share of positives: truth, estimate with interval, and last share"

KEY = "diamond: truth\ndot: estimate and its interval\nline: last share"

_VERDICTS = {
    "better": "On your past, CAPE was nearer to the truth than the last share.",
    "as_good": "On your past, the last share was as good.",
    "worse": "On your past, the last share was nearer to the truth.",
    "unclear": "Too few transitions to tell CAPE from the last share.",
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

COLUMNS = ("held", "off by", "last share", "told you", '"use" right')
"""Headings of the table of groups."""


def share(value: float | None) -> str:
    """Write an error or a share, as in the text of a paper.

    Examples
    --------
    >>> share(0.0284), share(1.0), share(None)
    ('.028', '1.000', 'unknown')
    """
    if value is None or value != value:
        return "unknown"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def score_row(score: Facts) -> dict[str, Any]:
    """Return the row of a group in an examination beside the truth."""
    return {
        "truth": score["truth"],
        "estimate": score["estimate"],
        "off by": score["off"],
        "last share": score["last_off"],
        "PD": score["pd"],
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
        share(group["off"]),
        share(group["last_off"]),
        ", ".join(told),
        f"{group['right']} of {group['use']}" if group["use"] else "",
    ]
    return dict(zip(COLUMNS, cells, strict=True))


def held_text(totals: Facts) -> str:
    """Say how many intervals held the truth."""
    return f"Intervals held the truth in {totals['held']} of {totals['cells']}."


def against_baselines(totals: Facts) -> list[str]:
    """Say how far off CAPE was, beside whatever else could have been said."""
    lines = [
        f"Off by, on average: CAPE {share(totals['off'])} · last share "
        f"{share(totals['last_off'])} · mean score {share(totals['mean_score_off'])}"
    ]
    ours, learner = share(totals["pd"]), share(totals["learner_pd"])
    what = "PD"
    if totals["pe"] is not None:
        what = "mean PD and median PE"
        ours += f" and {share(totals['pe'])}"
        learner += f" and {share(totals['learner_pe'])}"
    lines.append(
        f"Unfairness of the predictions, {what}: CAPE {ours} · the learner as it is, "
        f"cut at 1/2, {learner}"
    )
    return lines


def record_text(record: Facts) -> str:
    """Say in a line how a model did on its own past."""
    return (
        f"on your past: held {record['held']} of {record['cells']}, off by "
        f"{share(record['off'])} (last share {share(record['last_off'])})"
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
        f"{text} Error of CAPE minus that of the last share: {share(low)} to "
        f"{share(high)}."
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
    used = f'"Use", be it of shares alone, was said {counted(facts["use"], "time")}'
    if facts["use"]:
        within = f"{facts['tolerance']:g}".removeprefix("0")
        used += f" and right (within {within}) {facts['right']} times"
    used += "."
    if facts["labels"]:
        used += (
            f" With {facts['labels']} labels a group: off by "
            f"{share(facts['labels_off'])}, held {facts['labels_held']} of "
            f"{facts['cells']}."
        )
    lines.append(used)
    n_nearer = sum(group["off"] < group["last_off"] for group in facts["groups"])
    lines.append(
        f"Your shares move by {share(facts['last_off'])} between periods; the scores "
        f"say more than the past in {n_nearer} of {counted(n_groups, 'group')}."
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
