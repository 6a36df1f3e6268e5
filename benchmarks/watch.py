"""How often a watch raises a false alarm, and how late a true one.

Three groups, of 50, 200 or 1,000 rows a look each. Scores of two classes lie 1.2
standard deviations apart, 30% are positive, and the highest quarter is decided as
positive. Many watches run at once, through the functions that serve one. They are
compared with what people do: a test at every look, three standard deviations, and with
an oracle that knows who changes, when and how far.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from scipy.stats import norm
from study import Study, caption, grouped, markdown_table, percent

from cape.watch._sequential import (
    LEAST_ROWS,
    Reference,
    answer,
    ever_above,
    is_kept,
    looks_until_seen,
    start_weight,
)
from cape.watch._tracks import Mean, compared

SHARE = 0.3
DISTANCE = 1.2
REFERENCES = (300, 2000, 20_000)
ROWS = (50, 200, 1000)
CHANGES = (0.05, 0.1, 0.17)
FROM = (0, 24)
LOOKS = 60
WATCHES = 50
"""Watches that run at once."""

ALPHA = 0.05
LEVELS = {"moved>0.05": 0.6 * ALPHA / 3, "parity>0.1": 0.2 * ALPHA / 3}
"""Of the default questions, for each of three groups or pairs."""

QUESTIONS = ("the watch", *LEVELS, "broken")
OTHERS = ("5 % at every look", "3 standard deviations", "Bonferroni")
ORACLE = "oracle"
SAID = "said"

PAGE = """# The watch beside repeated tests

{verdict}

[`cape watch`](watching.md) asks its questions at every look. Here it asks those of its
defaults, of three groups, at 5% in all: scores of two classes lie 1.2 standard
deviations apart, 30% of the rows are positive, and the highest quarter of the scores is
decided as positive. It is compared with what most people do: test the rows of each look
of each group by themselves, at 5% every time; raise an alarm if the mean score is more
than three standard deviations from that of the reference; or test at 5% divided by the
number of looks and groups (Bonferroni), which has to be known before the first look.
The oracle knows which group changes, when, and how far, and waits only for evidence of
20 to 1.

{caption}

## False alarms

Share of watches that ever raised an alarm in 60 looks although nothing had changed, in
any group or pair. "The watch" is `moved>0.05` and `parity>0.1`; `broken` was simulated
in one group, for 200 rows a look.

{false_alarms}

## How late a true alarm is

Median number of looks from a change of the share of one of three groups to its first
alarm, with quartiles in brackets where they differ; "never" is after look 60. Every
group has 2,000 rows of reference. "Said" is what the watch says beforehand: after how
many looks it expects to see this change. A negative number is a false alarm before the
change.

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


class Streams:
    """Many streams of three groups at once, each with its own reference."""

    def __init__(self, random, reference, rows):
        positives = random.binomial(reference, SHARE, (WATCHES, 3))
        smallest = reference * SHARE
        n_cells = 4 + 4 * (smallest >= 64) + 8 * (smallest >= 128)
        self.random = random
        self.rows = rows
        self.shares = shares_of_cells(n_cells)
        sizes = (positives, reference - positives)
        drawn = []
        for size, shares in zip(sizes, self.shares, strict=True):
            drawn.append(random.multinomial(size, shares))
        self.reference = Reference(*drawn)
        self.training = sum(drawn)

    def looks(self, shift, from_look):
        """Draw the cells of every look; the share of the first group moves."""
        for look in range(LOOKS):
            share = SHARE + shift * (look >= from_look) * np.array([1, 0, 0])
            mixed = (
                share[:, None] * self.shares[0] + (1 - share[:, None]) * self.shares[1]
            )
            drawn = [self.random.multinomial(self.rows, one, WATCHES) for one in mixed]
            yield np.stack(drawn, 1)

    def mean(self, quantity, cells):
        """Return the mean of shares, or of decisions, of shape (..., WATCHES, 3)."""
        values = self.reference.values
        if quantity == "decided":
            values = 1.0 * (np.arange(cells.shape[-1]) >= 0.75 * cells.shape[-1])
        rows = cells.sum(-1)
        some = np.maximum(rows, 1)
        square = (cells * values**2).sum(-1) / some
        return Mean(rows, (cells * values).sum(-1) / some, square)

    def watch(self, shift, from_look, *, with_broken):
        """Return the first look with an alarm, by question; infinity without one.

        Without a change that is an alarm in any group; with one, in the first.
        """
        first = {}
        begun = []
        total = np.zeros_like(self.training)
        at_change = total
        for look, new in enumerate(self.looks(shift, from_look)):
            if look == from_look:
                at_change = total
            begun = [(k, cells) for k, cells in begun if is_kept(k, look)]
            begun.append((look, total))
            total = total + new
            numbers = np.array([number for number, _ in begun])
            before = np.array([cells for _, cells in begun])
            chances = self.chances(total - before, before, numbers)
            chances |= self.of_one_look(new)
            if shift and look >= from_look:
                chances[ORACLE] = self.oracle(total - at_change, at_change, shift)
            if with_broken:
                chances["broken"] = self.broken(total - before, numbers)
            for question, chance in chances.items():
                of_subjects = chance[:, :1] if shift else chance
                alarm = of_subjects.min(1) <= LEVELS.get(question, ALPHA)
                now = np.where(alarm, look + 1.0, np.inf)
                first[question] = np.minimum(first.get(question, np.inf), now)
        if shift:
            first[SAID] = self.said(shift, from_look)
        first["the watch"] = np.minimum(*(first[name] for name in LEVELS))
        return first

    def chances(self, since, before, numbers):
        """Return the p-values of the questions of the watch."""
        chances = {}
        for question, tolerance in zip(LEVELS, (0.05, 0.1), strict=True):
            quantity = "share" if question.startswith("moved") else "decided"
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
            chances[question], _ = answer(
                change, enough / noise, moved, tolerance, numbers
            )
        return chances

    def of_one_look(self, new):
        """Test the rows of each look by themselves, as if nobody had looked before."""
        change, noise = compared(
            self.mean("share", new), self.mean("share", self.training)
        )
        z = np.abs(change) / np.sqrt(noise)
        chance = 2 * norm.sf(z)
        limit = 2 * norm.sf(3)
        return {
            OTHERS[0]: chance,
            OTHERS[1]: np.where(chance <= limit, 0.0, 1.0),
            OTHERS[2]: chance * 3 * LOOKS,
        }

    def oracle(self, since, before, shift):
        """Return 1 / the likelihood ratio of the true change since its look."""
        after = self.mean("share", since)
        change, noise = compared(after, self.mean("share", self.training + before))
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
                number=max(from_look, 1),
            )
            looks.append(np.inf if delay is None else from_look + delay)
        return np.array(looks, dtype=float)

    def broken(self, since, numbers):
        """Return the p-value of the misfit in the first group, and its level."""
        cells = since[:, :, 0]
        least = 16 * cells.shape[-1]
        enough = cells.sum(-1) >= least
        of_first = Reference(
            self.reference.positives[:, 0], self.reference.negatives[:, 0]
        )
        size = np.add(*of_first.sizes)
        square = of_first.misfit(np.where(enough[..., None], cells, 1.0))
        chance = ever_above(square, cells.shape[-1] - 2, np.log1p(size / least))
        chance = np.where(enough, chance / start_weight(numbers)[:, None], 1.0)
        # Its level is a fifth of 5 %, for one of three groups.
        return chance.min(0)[:, None] * 15


def one_draw(seed, setting):
    """Run some watches; yield questions and first alarms."""
    reference, rows, from_look = (
        setting[name] for name in ("reference", "rows", "from_look")
    )
    random = np.random.default_rng([seed, reference, rows, from_look])
    streams = Streams(random, reference, rows)
    with_broken = rows == ROWS[1] and not setting["shift"]
    found = streams.watch(setting["shift"], from_look, with_broken=with_broken)
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


def setting(reference, rows, shift=0.0, from_look=0):
    return {
        "reference": reference,
        "rows": rows,
        "shift": shift,
        "from_look": from_look,
    }


STUDY = Study(
    "watch",
    one_draw,
    [
        (setting(reference, rows, shift, from_look), 10)
        for reference in REFERENCES[1:2]
        for rows in ROWS
        for shift in CHANGES
        for from_look in FROM
    ]
    + [(setting(reference, rows), 10) for reference in REFERENCES for rows in ROWS],
    ("question",),
    ("early", "delay", "late"),
    first_alarms,
)


def false_alarms(records):
    """Return the share of watches with a false alarm."""
    names = [*QUESTIONS, *OTHERS]
    titles = [name.replace(" %", "%") for name in names]
    columns = ["rows a look and group", "reference of a group", *titles]
    lines = []
    quiet = [record for record in records if record["shift"] == 0]
    for key, cells in grouped(quiet, "rows", "reference").items():
        by_name = {cell["question"]: percent(cell["alarms"]) for cell in cells}
        line = [f"{value:,}" for value in key]
        lines.append([*line, *(by_name.get(name, "") for name in names)])
    return markdown_table(columns, lines)


def delays(records):
    """Return the median number of looks to an alarm, with its quartiles."""
    names = (ORACLE, QUESTIONS[1], SAID, OTHERS[2], *OTHERS[:2])
    columns = ["rows a look and group", "change", "from look", *names]
    lines = []
    moved = [record for record in records if record["shift"]]
    for (rows, shift, from_look), cells in grouped(
        moved, "rows", "shift", "from_look"
    ).items():
        by_name = {cell["question"]: delay_text(cell) for cell in cells}
        line = [f"{rows:,}", f"+{shift}", from_look + 1]
        lines.append([*line, *(by_name[name] for name in names)])
    return markdown_table([name.replace(" %", "%") for name in columns], lines)


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

    daily = min(record["alarms"] for record in by_question[OTHERS[0],])
    three = max(record["alarms"] for record in by_question[OTHERS[1],])
    moved = [record for record in records if record["shift"]]
    cells = grouped(moved, "rows", "shift", "from_look")
    counts = {"earlier": 0, "as early": 0, "later": 0}
    for of_cell in cells.values():
        found = {record["question"]: record["delay"] for record in of_cell}
        mine, theirs = (
            np.inf if found[name] is None else found[name]
            for name in (QUESTIONS[1], OTHERS[2])
        )
        word = "as early"
        if mine != theirs:
            word = "earlier" if mine < theirs else "later"
        counts[word] += 1
    return (
        f"**A watch raised a false alarm in at most {percent(worst(QUESTIONS[0]))} of "
        f"the runs, over all looks and groups; a test at every look in at least "
        f"{percent(daily, 0)}, three standard deviations in up to "
        f"{percent(three, 0)}, and Bonferroni in at most "
        f"{percent(worst(OTHERS[2]))}.** After a true change, the watch was earlier "
        f"than Bonferroni in {counts['earlier']} of {len(cells)} cells, as early in "
        f"{counts['as early']}, and later in {counts['later']}."
    )
