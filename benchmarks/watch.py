"""How often a watch raises a false alarm, and how late a true one.

Three groups, of 50, 200 or 1,000 rows a look each. Scores of two classes lie 1.2
standard deviations apart, or .5, 30% are positive, and the highest quarter is decided
as positive. Many watches run at once, through the functions that serve one. They are
compared with what people do: a test at every look, three standard deviations, ``cape
predict --fail-if``, NannyML (from ``make results-peers``), and with an oracle that
knows who changes, when and how far.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm
from study import Study, caption, grouped, markdown_table, percent

from cape import CapeClassifier, Scores, examine
from cape.watch._sequential import (
    LEAST_ROWS,
    TYPICAL,
    Reference,
    answer,
    evidence_of_change,
    is_kept,
    looks_until_seen,
)
from cape.watch._tracks import ROWS_PER_CELL, TYPICAL_MISFIT, Mean, compared

SHARE = 0.3
SCORES = {"stronger": 1.2, "weak": 0.5}
"""How many standard deviations the scores of the classes lie apart."""
REFERENCES = (300, 2000, 20_000)
ROWS = (50, 200, 1000)
CHANGES = (0.05, 0.1, 0.17)
SMALL = (0.02, 0.04)
FROM = (0, 24)
LOOKS = 60
WATCHES = 50
"""Watches that run at once."""
STREAMS = 20
"""Those of what works with rows, which takes long."""

LABELS = 20
"""Labels of a look and group, where shares are watched with labels, too."""

ALPHA = 0.05
LEVELS = {
    "moved>0.05": 0.6 * ALPHA / 3,
    "parity>0.1": 0.2 * ALPHA / 3,
    "broken": 0.2 * ALPHA / 3,
    "changed": 0.6 * ALPHA / 3,
    "with labels": 0.6 * ALPHA / 3,
}
"""For each of three groups or pairs: the default questions, then "changed" in place of
"moved", and "moved" with labels of some rows."""
DEFAULTS = tuple(LEVELS)[:3]

THE_WATCH = "the watch"
EVERY_LOOK = "chi-square at every look"
THREE = "3 standard deviations"
BONFERRONI = "Bonferroni"
PREDICT = "predict --fail-if"
NANNYML = "NannyML"
OTHERS = (EVERY_LOOK, THREE, BONFERRONI, PREDICT, NANNYML)
ORACLE = "oracle"
SAID = "said"
PYTHON = Path(".venv-nannyml/bin/python")
"""Of an environment with NannyML, by `make results-peers`; CAPE_NANNYML is another."""

PAGE = """# The watch beside repeated tests

{verdict}

[`cape watch`](watching.md) asks its questions at every look. Here it asks those of its
defaults, of three groups, at 5% in all. Stronger scores of two classes lie 1.2 standard
deviations apart (an AUC of .80), weak ones .5 (.64); 30% of the rows are positive, and
the highest quarter of the scores is decided as positive. It is compared with what
people do with the rows of each look by themselves: a chi-square test of the scores of
every group at 5%; an alarm if the mean score is more than three standard deviations
from that of the reference; a test at 5% divided by the number of looks and groups
(Bonferroni), which has to be known before the first look; `cape predict --fail-if
"moved>0.05"`; and the default of NannyML for scores, the Jensen-Shannon distance with
its threshold from the reference. The last two work with rows and were run on {streams}
streams a cell, with changes from the first look on: they forget each look. The oracle
knows which group changes, when, how far, and the scores of the classes, and waits only
for evidence of 20 to 1.

{caption}

## False alarms

Share of watches that ever raised an alarm in 60 looks although nothing had changed, in
any group or pair. "The watch" is `moved>0.05`, `parity>0.1` and `broken` (which was
simulated for 200 rows a look). `changed`, and `moved` with labels of {labels} rows a
look and group, are asked in place of `moved`.

{false_alarms}

## How late a true alarm is

Median number of looks from a change of the share of one of three groups to its first
alarm, with quartiles in brackets where they differ; "never" is after look 60. Every
group has 2,000 rows of reference. "Said" is what the watch says beforehand: after how
many looks it expects to see this change. A negative number is a false alarm before the
change. {kept}

{delays}

What the oracle cannot see, no watch can: weak scores of 50 rows do not show a change of
0.1, however long one looks, and a reference of 2,000 rows leaves 0.05 within its noise.
Labels show it. Beside the oracle, evidence is spent on not knowing which group and
which question (a factor of 100, of which simulations give back 2.5), when (4 from the
start, up to 20 late) and how far (3 to 5): the watch needs two to three times its
evidence.

## Small moves

`moved>0.05` tests that nothing has changed, and alarms if the estimated change exceeds
0.05. Share of watches that ever do so in 60 looks, if one of three groups has moved by
less from the first look on.

{small_moves}
"""


def shares_of_cells(n_cells, distance):
    """Return the shares of cells of equal size in both classes."""
    grid = np.linspace(-6, 6 + distance, 20_001)
    both = (norm.cdf(grid) + norm.cdf(grid - distance)) / 2
    cuts = np.interp(np.arange(1, n_cells) / n_cells, both, grid)
    ends = [-np.inf, *cuts, np.inf]
    classes = []
    for mean in (distance, 0.0):
        classes.append([np.diff(norm.cdf(two, mean))[0] for two in pairwise(ends)])
    return np.array(classes)


class Streams:
    """Many streams of three groups at once, each with its own reference."""

    def __init__(self, random, reference, rows, distance):
        positives = random.binomial(reference, SHARE, (WATCHES, 3))
        smallest = reference * SHARE
        n_cells = 4 + 4 * (smallest >= 64) + 8 * (smallest >= 128)
        self.random = random
        self.rows = rows
        self.shares = shares_of_cells(n_cells, distance)
        sizes = (positives, reference - positives)
        drawn = []
        for size, shares in zip(sizes, self.shares, strict=True):
            drawn.append(random.multinomial(size, shares))
        self.reference = Reference(*drawn)
        self.truth = Reference(3e8 * self.shares[0], 7e8 * self.shares[1])
        self.training = sum(drawn)

    def looks(self, shift, from_look):
        """Draw cells and positive labels of every look; the first group's share moves.

        Labels are of rows of their own, so that they are independent of the cells.
        """
        for look in range(LOOKS):
            share = SHARE + shift * (look >= from_look) * np.array([1, 0, 0])
            mixed = (
                share[:, None] * self.shares[0] + (1 - share[:, None]) * self.shares[1]
            )
            drawn = [self.random.multinomial(self.rows, one, WATCHES) for one in mixed]
            yield np.stack(drawn, 1), self.random.binomial(LABELS, share, (WATCHES, 3))

    def mean(self, quantity, cells, reference=None):
        """Return the mean of shares, or of decisions, of shape (..., WATCHES, 3)."""
        values = (reference or self.reference).values
        if quantity == "decided":
            values = 1.0 * (np.arange(cells.shape[-1]) >= 0.75 * cells.shape[-1])
        rows = cells.sum(-1)
        some = np.maximum(rows, 1)
        square = (cells * values**2).sum(-1) / some
        mean = (cells * values).sum(-1) / some
        return Mean(rows, rows, 0 * rows, mean, square, mean)

    def watch(self, shift, from_look):
        """Return the first look with an alarm, by question; infinity without one.

        Without a change that is an alarm in any group; with one, in the first.
        """
        first = {}
        begun = []
        total = np.zeros_like(self.training)
        labels = np.zeros((WATCHES, 3), dtype=int)
        at_change = total
        for look, (new, labelled) in enumerate(self.looks(shift, from_look)):
            if look == from_look:
                at_change = total
            begun = [one for one in begun if is_kept(one[0], look)]
            begun.append((look, total, labels))
            total = total + new
            labels = labels + labelled
            numbers, before, labels_before = map(np.array, zip(*begun, strict=True))
            since = total - before
            chances = self.chances(since, before, numbers)
            if not shift and self.rows == ROWS[1]:
                chances["broken"] = self.broken(since, numbers)
            chances["with labels"] = self.with_labels(
                since, before, labels - labels_before, labels_before, numbers
            )
            chances |= self.of_one_look(new)
            if shift and look >= from_look:
                chances[ORACLE] = self.oracle(total - at_change, at_change, shift)
            for question, chance in chances.items():
                of_subjects = chance[:, :1] if shift else chance
                alarm = of_subjects.min(1) <= LEVELS.get(question, ALPHA)
                now = np.where(alarm, look + 1.0, np.inf)
                first[question] = np.minimum(first.get(question, np.inf), now)
        if shift:
            first[SAID] = self.said(shift, from_look)
        of_watch = [first[name] for name in DEFAULTS if name in first]
        first[THE_WATCH] = np.minimum.reduce(of_watch)
        return first

    def chances(self, since, before, numbers):
        """Return the p-values of the questions of the watch."""
        chances = {}
        for question, tolerance in (
            ("moved>0.05", 0.05),
            ("changed", 0.0),
            ("parity>0.1", 0.1),
        ):
            quantity = "decided" if question.startswith("parity") else "share"
            after = self.mean(quantity, since)
            known = self.mean(quantity, self.training)
            earlier = self.mean(quantity, self.training + before)
            change, noise = compared(after, earlier)
            moved = after.mean - known.mean
            if quantity == "decided":
                one, other = np.array(list(combinations(range(3), 2))).T
                change = change[..., one] - change[..., other]
                noise = noise[..., one] + noise[..., other]
                moved = moved[..., one] - moved[..., other]
            enough = after.rows[..., :1] >= LEAST_ROWS
            chances[question] = p_value(
                change, enough / noise, moved, tolerance, numbers
            )
        return chances

    def with_labels(self, since, before, labels, labels_before, numbers):
        """Return the p-values of "moved" if some rows of every look have labels."""
        training = self.mean("share", self.training)
        of_scores = training.square - training.mean**2
        worth = of_scores / (training.mean * (1 - training.mean))
        n_labels = LABELS * (np.append(numbers, numbers[-1] + 1))
        passed = n_labels[:-1, None, None]
        n_since = n_labels[-1] - passed

        def both(cells, positives, n_labels):
            """Return the sum of shares over rows, and how many rows they are worth."""
            scored = self.mean("share", cells)
            rows = scored.rows - n_labels
            total = rows * scored.mean + worth * positives
            return total, rows + worth * n_labels

        total, rows = both(since, labels, n_since)
        mean = total / rows
        by_labels = worth * n_since / rows
        of_training = 1 / worth + (1 - by_labels) ** 2 * (1 - 1 / worth)
        training_rows = training.rows / of_training
        total, earlier = both(before, labels_before, passed)
        earlier = earlier + training_rows
        known = (total + training_rows * training.mean) / earlier
        noise = of_scores * (1 / rows + 1 / earlier)
        shown = np.where(n_since >= LEAST_ROWS, labels / n_since, mean)
        moved = shown - training.mean
        return p_value(mean - known, 1 / noise, moved, 0.05, numbers)

    def of_one_look(self, new):
        """Test the rows of each look by themselves, as if nobody had looked before."""
        change, noise = compared(
            self.mean("share", new), self.mean("share", self.training)
        )
        chance = 2 * norm.sf(np.abs(change) / np.sqrt(noise))
        limit = 2 * norm.sf(3)
        n, m = new.sum(-1, keepdims=True), self.training.sum(-1, keepdims=True)
        expected = (new + self.training) / (n + m)
        square = (new - n * expected) ** 2 / np.maximum(
            expected * n * m / (n + m), 1e-9
        )
        return {
            EVERY_LOOK: chi2.sf(square.sum(-1), new.shape[-1] - 1),
            THREE: np.where(chance <= limit, 0.0, 1.0),
            BONFERRONI: chance * 3 * LOOKS,
        }

    def oracle(self, since, before, shift):
        """Return 1 / the likelihood ratio of the true change since its look."""
        after = self.mean("share", since, self.truth)
        earlier = self.mean("share", self.training + before, self.truth)
        change, noise = compared(after, earlier)
        return np.exp((shift**2 / 2 - shift * change) / noise)

    def said(self, shift, from_look):
        """Return the look at which a watch expects to see a change from a look on."""
        training = self.mean("share", self.training)
        variance = training.square - training.mean**2
        looks = []
        for row, size in zip(variance[:, 0], training.rows[:, 0], strict=True):
            delay = looks_until_seen(
                float(f"{self.rows / row:.2g}"),
                float(f"{size / row:.2g}"),
                shift,
                LEVELS["moved>0.05"],
                tolerance=0.05,
                number=from_look,
            )
            looks.append(np.inf if delay is None else from_look + delay)
        return np.array(looks, dtype=float)

    def broken(self, since, numbers):
        """Return the p-values of the misfit."""
        n_cells = since.shape[-1]
        rows = since.sum(-1)
        enough = rows >= ROWS_PER_CELL * n_cells
        square = self.reference.misfit(np.where(enough[..., None], since, 1.0))
        size = np.sum(self.reference.sizes, axis=0)
        ratio = TYPICAL_MISFIT**2 * rows * size / (rows + size)
        evidence = enough * evidence_of_change(square, ratio, n_cells - 2)
        return answer(evidence, np.inf, 0.0, numbers)[0]


def p_value(change, information, moved, tolerance, numbers):
    """Return the anytime p-value of a change."""
    square = change**2 * information
    evidence = evidence_of_change(square, information * TYPICAL**2)
    return answer(evidence, moved, tolerance, numbers)[0]


def tables_of(random, rows, shares, distance):
    """Draw rows of three groups, with their calibrated scores."""
    group = np.repeat(list("abc"), rows)
    y = (random.random(3 * rows) < np.repeat(shares, rows)).astype(int)
    x = random.normal(size=3 * rows) + distance * y
    log_odds = distance * x - distance**2 / 2 + np.log(SHARE / (1 - SHARE))
    return pd.DataFrame({"group": group, "score": 1 / (1 + np.exp(-log_odds)), "y": y})


def peers(random, reference, rows, distance, shift, from_look):
    """Return the first alarms of what works with rows, in streams of its own."""
    first = {PREDICT: np.full(STREAMS, np.inf)}
    named = []
    for watch in range(STREAMS):
        known = tables_of(random, reference, [SHARE] * 3, distance)
        looks = []
        for look in range(LOOKS):
            share = SHARE + shift * (look >= from_look)
            looks.append(tables_of(random, rows, [share, SHARE, SHARE], distance))
        first[PREDICT][watch] = predicted(known, looks, bool(shift))
        stream = pd.concat([known, *looks], keys=range(-1, LOOKS), names=["look", None])
        named.append(stream.reset_index("look").assign(watch=watch))
    python = os.environ.get("CAPE_NANNYML", PYTHON)
    if Path(python).exists():
        first[NANNYML] = nannyml_alarms(python, pd.concat(named), bool(shift))
    return first


def predicted(known, looks, only_first):
    """Return the first look at which ``cape predict --fail-if "moved>0.05"`` fails."""
    clf = CapeClassifier(Scores("score"))
    clf.fit(known[["score"]], known["y"], sensitive_features=known["group"])
    for number, look in enumerate(looks):
        seen = examine(clf, look[["score"]], sensitive_features=look["group"])
        for group, test in seen.moved.groups.items():
            far = abs(test.estimate - test.training_prevalence) > 0.05
            if test.moved and far and (group == "a" or not only_first):
                return number + 1.0
    return np.inf


def nannyml_alarms(python, streams, only_first):
    """Return the first look at which NannyML raises an alert on the scores."""
    if only_first:
        streams = streams[streams["group"] == "a"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "streams.parquet")
        streams.drop(columns="y").to_parquet(path)
        script = Path(__file__).with_name("watch_nannyml.py")
        command = [str(python), str(script), str(path)]
        quiet = {**os.environ, "NML_DISABLE_USAGE_LOGGING": "1"}
        run = subprocess.run(
            command, env=quiet, check=True, stdout=subprocess.PIPE, text=True
        )
    found = json.loads(run.stdout.splitlines()[-1])
    return np.array([np.inf if look is None else look + 1.0 for look in found])


def one_draw(seed, setting):
    """Run some watches; yield questions and first alarms."""
    shift, from_look = setting["shift"], setting["from_look"]
    design = setting["reference"], setting["rows"], SCORES[setting["scores"]]
    entropy = [seed, *design[:2], from_look, int(10 * design[2])]
    random = np.random.default_rng(entropy)
    found = Streams(random, *design).watch(shift, from_look)
    # They forget each look, so that an early change and a late one are alike.
    is_known = setting["reference"] == REFERENCES[1] and not from_look
    if seed == 0 and is_known and shift not in SMALL:
        found |= peers(random, *design, shift, from_look)
    for question, looks in found.items():
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


def setting(reference, rows, scores="stronger", shift=0.0, from_look=0):
    return {
        "reference": reference,
        "rows": rows,
        "scores": scores,
        "shift": shift,
        "from_look": from_look,
    }


SEEDS = 10
MOVES = [
    setting(2000, rows, scores, shift, from_look)
    for scores in SCORES
    for rows in ROWS
    for shift in CHANGES
    for from_look in FROM
]
QUIET = [setting(reference, rows) for reference in REFERENCES for rows in ROWS]
QUIET += [setting(2000, rows, "weak") for rows in ROWS]
SMALL_MOVES = [
    setting(reference, rows, shift=shift)
    for reference in REFERENCES[1:]
    for rows in ROWS
    for shift in SMALL
]

STUDY = Study(
    "watch",
    one_draw,
    [(one, SEEDS) for one in [*QUIET, *MOVES, *SMALL_MOVES]],
    ("question",),
    ("early", "delay", "late"),
    first_alarms,
)


def table(records, fields, names, text):
    """Return a table with a line for each setting, and a column for each question."""
    columns = [heading for heading, _ in fields.values()] + list(names)
    lines = []
    for key, cells in grouped(records, *fields).items():
        by_name = {cell["question"]: text(cell) for cell in cells}
        start = []
        for value, (_, form) in zip(key, fields.values(), strict=True):
            start.append(form(value))
        lines.append([*start, *(by_name.get(name, "") for name in names)])
    return markdown_table(columns, lines)


ABOUT_LOOKS = {
    "scores": ("scores", str),
    "rows": ("rows a look and group", "{:,}".format),
}


def false_alarms(records):
    """Return the share of watches with a false alarm."""
    fields = ABOUT_LOOKS | {"reference": ("reference of a group", "{:,}".format)}
    quiet = [record for record in records if record["shift"] == 0]
    names = [THE_WATCH, *LEVELS, *OTHERS]
    return table(quiet, fields, names, lambda cell: percent(cell["alarms"]))


def small_moves(records):
    """Return the share of watches that raise an alarm of a small change."""
    fields = ABOUT_LOOKS | {
        "reference": ("reference of a group", "{:,}".format),
        "shift": ("change", "+{}".format),
    }
    moved = [record for record in records if record["shift"] in SMALL]
    names = [*list(LEVELS)[:1], *list(LEVELS)[3:]]
    return table(moved, fields, names, lambda cell: percent(cell["alarms"]))


def delays(records):
    """Return the median number of looks to an alarm, with its quartiles."""
    fields = ABOUT_LOOKS | {
        "shift": ("change", "+{}".format),
        "from_look": ("from look", lambda look: look + 1),
    }
    moved = [record for record in records if record["shift"] in CHANGES]
    names = (ORACLE, "moved>0.05", SAID, "changed", "with labels", *OTHERS)
    return table(moved, fields, names, delay_text)


def kept(records):
    """Say how often the delay was what was said."""
    moved = [record for record in records if record["shift"] in CHANGES]
    n_kept, n_said = 0, 0
    for cells in grouped(moved, "scores", "rows", "shift", "from_look").values():
        found = {cell["question"]: cell["delay"] for cell in cells}
        if found[SAID] and cells[0]["from_look"] + found[SAID] <= LOOKS:
            n_said += 1
            delay = found["moved>0.05"] or np.inf
            n_kept += abs(delay - found[SAID]) <= max(found[SAID] / 3, 1)
    return (
        f"It was within a third of that, or a look, in {n_kept} of the {n_said} cells "
        "in which it was to be seen by look 60."
    )


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
    slow = (PREDICT, NANNYML)
    drawn = [record for record in records if record["question"] not in slow]
    return PAGE.format(
        verdict=verdict(records),
        caption=caption(STUDY, about, drawn),
        false_alarms=false_alarms(records),
        delays=delays(records),
        small_moves=small_moves(records),
        streams=STREAMS,
        labels=LABELS,
        kept=kept(records),
    )


def verdict(records):
    """Say which raised false alarms, and which was earlier."""
    quiet = [record for record in records if record["shift"] == 0]
    by_question = grouped(quiet, "question")

    def worst(question):
        return max(record["alarms"] for record in by_question[question,])

    daily = min(record["alarms"] for record in by_question[EVERY_LOOK,])
    moved = [record for record in records if record["shift"] in CHANGES]
    cells = grouped(moved, "scores", "rows", "shift", "from_look")
    counts = {"earlier": 0, "as early": 0, "later": 0}
    for of_cell in cells.values():
        found = {record["question"]: record["delay"] for record in of_cell}
        mine, theirs = (
            np.inf if found[name] is None else found[name]
            for name in ("moved>0.05", BONFERRONI)
        )
        word = "as early"
        if mine != theirs:
            word = "earlier" if mine < theirs else "later"
        counts[word] += 1
    return (
        f"**A watch raised a false alarm in at most {percent(worst(THE_WATCH))} of "
        f"the runs, over all looks and groups; a chi-square test at every look in at "
        f"least {percent(daily, 0)}, three standard deviations in up to "
        f"{percent(worst(THREE), 0)}, and Bonferroni in at most "
        f"{percent(worst(BONFERRONI))}.** After a true change, the watch was earlier "
        f"than Bonferroni in {counts['earlier']} of {len(cells)} cells, as early in "
        f"{counts['as early']}, and later in {counts['later']}."
    )
