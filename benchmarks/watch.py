"""Simulate how often a watch raises a false alarm, and how late a true one.

120 looks of 200 rows, and 2,000 looks of one row. Scores of two classes lie 1.2
standard deviations apart, 30 % are positive. Many watches run at once, through the
functions that serve one. They are compared with a test at every look, at 5 % and after
Bonferroni.

python benchmarks/watch.py --draws 1000
python benchmarks/watch.py --write docs/watching.md
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.stats import chi2, norm
from study import (
    gather,
    grouped,
    markdown_table,
    read_options,
    replace_block,
    store,
    stored,
)

from cape._sequential import Reference, ever_above, life_of, start_weight

KEY = ("rows", "reference", "shift", "from_look", "question")
SHARE = 0.3
DISTANCE = 1.2
REFERENCES = (300, 2000, 20_000)
CHANGES = ((0.1, 0), (0.2, 0), (0.1, 40), (0.2, 40))
WATCHES = 50
"""Watches that run at once."""

QUESTIONS = ("moved>0", "moved>0.05", "changed", "broken")
ONCE = ("5 % at every look", "Bonferroni")


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


def one_draw(task):
    """Run some watches; return cells and first alarms."""
    seed, reference, rows, looks, shift, from_look = task
    random = np.random.default_rng([seed, reference, rows, from_look])
    found = Stream(random, reference, rows, looks).watch(shift, from_look)
    cell = (rows, reference, shift, from_look)
    return [((*cell, question), first) for question, first in found.items()]


def simulate(tasks, options):
    """Return records of the first alarms."""
    records = []
    for cell, first in gather(one_draw, tasks, options).items():
        first = np.concatenate(first)
        delay = float(np.median(first)) - cell[3]
        record = dict(zip(KEY, cell, strict=True))
        record |= {"alarms": round(float(np.isfinite(first).mean()), 4)}
        record |= {"delay": delay if np.isfinite(delay) else None}
        records.append(record | {"watches": len(first)})
    return records


def tables(records):
    """Return the false alarms, and the delays, as tables in Markdown."""
    names = [*QUESTIONS, *ONCE]
    lines = []
    for (rows, reference), cells in grouped(
        [record for record in records if record["shift"] == 0], "rows", "reference"
    ).items():
        by_name = {cell["question"]: cell for cell in cells}
        line = [f"{rows:,}", f"{reference:,}"]
        for name in names:
            known = name in by_name
            line.append(f"{100 * by_name[name]['alarms']:.1f} %" if known else "")
        lines.append([*line, cells[0]["watches"]])
    false = markdown_table(["rows a look", "reference", *names, "watches"], lines)
    lines = []
    for (reference, shift, from_look), cells in grouped(
        [record for record in records if record["shift"]],
        "reference", "shift", "from_look",
    ).items():  # fmt: skip
        by_name = {cell["question"]: cell for cell in cells}
        delays = [by_name[name]["delay"] for name in ("changed", "moved>0.05", ONCE[1])]
        shown = ["never" if delay is None else f"{delay:g}" for delay in delays]
        lines.append([f"{reference:,}", f"+{shift}", from_look + 1, *shown])
    columns = ["reference", "shift", "from look", "changed", "moved>0.05", ONCE[1]]
    return false, markdown_table(columns, lines)


def main():
    """Simulate all settings, or write what was simulated into a page."""
    options = read_options(__doc__, draws=1000)
    if options.write:
        false, delays = tables(stored("watch"))
        replace_block(options.write, "false alarms", false)
        replace_block(options.write, "delays", delays)
        return
    seeds = range(options.draws // WATCHES)
    for reference in REFERENCES:
        tasks = [(seed, reference, 200, 120, 0.0, 0) for seed in seeds]
        tasks += [
            (seed, reference, 1, 2000, 0.0, 0) for seed in seeds[: len(seeds) // 4]
        ]
        for shift, from_look in CHANGES:
            few = seeds[: len(seeds) // 2]
            tasks += [(seed, reference, 200, 120, shift, from_look) for seed in few]
        store("watch", simulate(tasks, options), KEY)
    print(*tables(stored("watch")), sep="\n\n")


if __name__ == "__main__":
    main()
