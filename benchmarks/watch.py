"""How often a watch raises a false alarm, and how late a true one.

120 looks of 200 rows, and 2,000 looks of one row. Scores of two classes lie 1.2
standard deviations apart, 30% are positive. Many watches run at once, through the
functions that serve one. They are compared with a test at every look, at 5% and after
Bonferroni.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.stats import chi2, norm
from study import Study, caption, grouped, markdown_table, percent

from cape.watch._sequential import Reference, ever_above, life_of, start_weight

SHARE = 0.3
DISTANCE = 1.2
REFERENCES = (300, 2000, 20_000)
CHANGES = ((0.1, 0), (0.2, 0), (0.1, 40), (0.2, 40))
WATCHES = 50
"""Watches that run at once."""

QUESTIONS = ("moved>0", "moved>0.05", "changed", "broken")
ONCE = ("5 % at every look", "Bonferroni")

PAGE = """# The watch beside repeated tests

{verdict}

[`cape watch`](watching.md) asks its questions at every look. Here each question is
asked by itself, at 5%, of one group: scores of two classes lie 1.2 standard deviations
apart, and 30% of the rows are positive. It is compared with what most people do: test
the rows of each look by themselves, at 5% every time, or at 5% divided by the number
of looks (Bonferroni), which has to be known before the first look.

{caption}

## False alarms

Share of watches that ever raised an alarm although nothing had changed:

{false_alarms}

## How late a true alarm is

Median number of looks of 200 rows from a change of the share to its alarm, with
quartiles in brackets where they differ; "never" is after look 120. `moved>0.05` asks
for more than `changed`: that the share has moved by more than 0.05. A negative number
is a false alarm before the change.

{delays}
"""


def shares_of_cells(n_cells):
    """Return the shares of cells of equal size in both classes."""
    grid = np.linspace(-6, 6 + DISTANCE, 20_001)
    both = (norm.cdf(grid) + norm.cdf(grid - DISTANCE)) / 2
    cuts = np.interp(np.arange(1, n_cells) / n_cells, both, grid)
    ends = [-np.inf, *cuts, np.inf]
    classes = []
    for mean in (DISTANCE, 0.0):
        classes.append([np.diff(norm.cdf(two, mean))[0] for two in pairwise(ends)])
    return np.array(classes)


class Stream:
    """Many streams at once, each with its own reference."""

    def __init__(self, random, reference, rows, looks):
        positives = random.binomial(reference, SHARE, WATCHES)
        smallest = reference * SHARE
        n_cells = 4 + 4 * (smallest >= 64) + 8 * (smallest >= 128)
        self.random = random
        self.rows = rows
        self.looks = looks
        self.shares = shares_of_cells(n_cells)
        drawn = []
        sizes = (positives, reference - positives)
        for size, shares in zip(sizes, self.shares, strict=True):
            drawn.append(random.multinomial(size, shares)[:, None])
        self.reference = Reference(*drawn)
        self.least = max(50, 8 * n_cells)

    def watch(self, shift, from_look):
        """Return the first look with an alarm, by question; infinity without one."""
        first = {}
        starts = []
        total = np.zeros((WATCHES, self.shares.shape[1]))
        for look in range(self.looks):
            share = SHARE + shift * (look >= from_look)
            mixed = share * self.shares[0] + (1 - share) * self.shares[1]
            new = self.random.multinomial(self.rows, mixed, WATCHES)
            if not starts or starts[-1]["first"]:
                number = starts[-1]["number"] + 1 if starts else 0
                starts.append({"number": number, "cells": 0 * total, "first": 0})
            total = total + new
            for start in starts:
                start["cells"] = start["cells"] + new
                rows = start["cells"][0].sum()
                start["first"] = start["first"] or rows * (rows >= self.least)
            starts = [s for s in starts if not _ended(s)]
            tested = [start for start in starts if start["first"]]
            if tested:
                for question, chance in self.chances(tested, total, new).items():
                    earlier = first.get(question, np.inf)
                    now = np.where(chance <= 0.05, look + 1.0, np.inf)
                    first[question] = np.minimum(earlier, now)
        return first

    def chances(self, starts, total, new):
        """Return the p-values of all questions, of all watches."""
        cells = np.stack([start["cells"] for start in starts], 1)
        firsts = np.array([float(start["first"]) for start in starts])
        lives = np.array([life_of(start["number"]) for start in starts])
        weights = np.array([start_weight(start["number"]) for start in starts])

        def ever(square, d, size):
            spread = (1 / firsts + 1 / size) / (1 / (firsts * lives) + 1 / size)
            return (ever_above(square, d, np.log(spread)) / weights).min(1)

        chances = {}
        own = np.broadcast_to(self.reference.share, cells.shape[:2])
        for tolerance in (0, 0.05):
            squares = []
            for sign in (1, -1):
                z, size = self.reference.share_z(
                    cells, own + sign * tolerance, is_estimated=True
                )
                squares.append(np.maximum(sign * z, 0) ** 2)
            chances[f"moved>{tolerance}"] = ever(np.maximum(*squares), 1, size)
        z, size = self.reference.change_z(cells, total[:, None] - cells)
        chances["changed"] = ever(z**2, 1, size)
        size = np.add(*self.reference.sizes)
        d = cells.shape[-1] - 2
        enough = cells.sum(-1) >= 16 * cells.shape[-1]
        misfit = np.where(enough, self.reference.misfit(cells), 0.0)
        chances["broken"] = ever(misfit, d, size)
        if self.rows >= self.least:
            # The rows of each look by themselves, as if nobody had looked before.
            z, _ = self.reference.change_z(new[:, None], 0 * new[:, None])
            chances[ONCE[0]] = chi2.sf(z[:, 0] ** 2, 1)
            chances[ONCE[1]] = chances[ONCE[0]] * self.looks
        return chances


def _ended(start):
    return start["first"] and start["cells"][0].sum() > (
        life_of(start["number"]) * start["first"]
    )


def one_draw(seed, setting):
    """Run some watches; yield questions and first alarms."""
    reference, rows, from_look = (
        setting[name] for name in ("reference", "rows", "from_look")
    )
    random = np.random.default_rng([seed, reference, rows, from_look])
    stream = Stream(random, reference, rows, setting["looks"])
    for question, looks in stream.watch(setting["shift"], from_look).items():
        for first in looks:
            yield (question,), (first - from_look,)


def first_alarms(figures, outcomes):
    """Return the share of watches with an alarm, and quartiles of its delay in looks.

    None is a delay beyond the last look.
    """
    delays = np.ravel(outcomes)
    record = {"alarms": round(float(np.isfinite(delays).mean()), 4)}
    quartiles = np.quantile(delays, (0.25, 0.5, 0.75), method="inverted_cdf")
    for name, delay in zip(figures, quartiles, strict=True):
        record[name] = float(delay) if np.isfinite(delay) else None
    return record


def setting(reference, *, rows=200, looks=120, shift=0.0, from_look=0):
    return {
        "reference": reference,
        "rows": rows,
        "looks": looks,
        "shift": shift,
        "from_look": from_look,
    }


STUDY = Study(
    "watch",
    one_draw,
    [(setting(reference), 20) for reference in REFERENCES]
    + [
        (setting(reference, shift=shift, from_look=from_look), 10)
        for reference in REFERENCES
        for shift, from_look in CHANGES
    ]
    + [(setting(reference, rows=1, looks=2000), 10) for reference in REFERENCES[:2]],
    ("question",),
    ("early", "delay", "late"),
    first_alarms,
)


def false_alarms(records):
    """Return the share of watches with a false alarm."""
    names = [*QUESTIONS, *ONCE]
    titles = [name.replace(" %", "%") for name in names]
    columns = ["looks", "rows a look", "reference", *titles, "watches"]
    lines = []
    quiet = [record for record in records if record["shift"] == 0]
    for key, cells in grouped(quiet, "looks", "rows", "reference").items():
        by_name = {cell["question"]: percent(cell["alarms"]) for cell in cells}
        line = [f"{value:,}" for value in key]
        line += [by_name.get(name, "") for name in names]
        lines.append([*line, cells[0]["draws"]])
    return markdown_table(columns, lines)


def delays(records):
    """Return the median number of looks to an alarm, with its quartiles."""
    names = ("changed", "moved>0.05", ONCE[1])
    columns = ["reference", "shift", "from look", *names]
    lines = []
    moved = [record for record in records if record["shift"]]
    for (reference, shift, from_look), cells in grouped(
        moved, "reference", "shift", "from_look"
    ).items():
        by_name = {cell["question"]: delay_text(cell) for cell in cells}
        line = [f"{reference:,}", f"+{shift}", from_look + 1]
        lines.append([*line, *(by_name[name] for name in names)])
    return markdown_table(columns, lines)


def delay_text(cell):
    """Write the median of a delay and its quartiles; "never" is after the last look."""
    early, middle, late = (
        "never" if cell[name] is None else f"{cell[name]:g}"
        for name in ("early", "delay", "late")
    )
    if early == late:
        return middle
    return f"{middle} ({early}-{late})"


def page_text(about, records):
    """Return docs/watch_compared.md."""
    return PAGE.format(
        verdict=verdict(records),
        caption=caption(STUDY, about, records),
        false_alarms=false_alarms(records),
        delays=delays(records),
    )


def verdict(records):
    """Say which raised false alarms, and which was earlier."""
    quiet = [record for record in records if record["shift"] == 0]
    by_question = grouped(quiet, "question")

    def worst(question):
        return max(record["alarms"] for record in by_question[question,])

    ours = max(worst(question) for question in QUESTIONS)
    daily = [record["alarms"] for record in by_question[ONCE[0],]]
    moved = [record for record in records if record["shift"]]
    cells = grouped(moved, "reference", "shift", "from_look")
    counts = {"earlier": 0, "as early": 0, "later": 0}
    for of_cell in cells.values():
        found = {record["question"]: record["delay"] for record in of_cell}
        mine, theirs = (
            np.inf if found[name] is None else found[name]
            for name in ("changed", ONCE[1])
        )
        word = "as early"
        if mine != theirs:
            word = "earlier" if mine < theirs else "later"
        counts[word] += 1
    return (
        f"**A watch raised a false alarm in at most {percent(ours)} of the runs, over "
        f"all looks; a test at every look in at least {percent(min(daily), 0)}, and "
        f"Bonferroni in at most {percent(worst(ONCE[1]))}.** After a true change, the "
        f"question `changed` was earlier than Bonferroni in {counts['earlier']} of "
        f"{len(cells)} cells, as early in {counts['as early']}, and later in "
        f"{counts['later']}."
    )
