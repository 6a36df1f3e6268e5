"""What the studies share: simulations in several processes, stored records, tables."""

from __future__ import annotations

import datetime
import json
import re
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from cape_paper import defaults_hash, stamp

DOCS = Path(__file__).parents[1] / "docs"
DATA = DOCS / "data"

Record = dict[str, Any]


def draw_shifted(rows, prevalences, size, seed):
    """Draw rows of each group, so many of them positive, without replacement.

    Parameters
    ----------
    rows : tuple of X, y and groups
        Of pandas; labels are 0 and 1.
    prevalences : mapping from group to float
    size : int
        Rows of each group.
    seed : int

    Returns
    -------
    tuple of X, y and groups
        In the order in which the rows came.
    """
    _, y, z = rows
    random = np.random.RandomState(seed)
    drawn = []
    for group, prevalence in prevalences.items():
        n_positive = round(prevalence * size)
        for label, n in ((1, n_positive), (0, size - n_positive)):
            of_class = np.flatnonzero((z == group) & (y == label))
            drawn.append(random.choice(of_class, size=n, replace=False))
    places = np.sort(np.concatenate(drawn))
    return tuple(column.iloc[places] for column in rows)


def means(figures: Sequence[str], outcomes: Sequence[tuple]) -> Record:
    """Return the mean and the standard deviation of every figure.

    A figure that is undefined in one outcome has no mean: None.
    """
    summary: Record = {}
    values = np.array(outcomes, dtype=float).reshape(len(outcomes), -1)
    for name, column in zip(figures, values.T, strict=True):
        for suffix, value in (("", column.mean()), ("_sd", column.std())):
            is_known = np.isfinite(value)
            summary[name + suffix] = round(float(value), 5) if is_known else None
    return summary


class Study(NamedTuple):
    """A simulation.

    ``work(seed, setting)`` yields pairs of a cell and an outcome, both tuples.
    """

    name: str
    """Name of its file in ``docs/data``."""

    work: Callable[[int, Record], Iterable[tuple[tuple, tuple]]]
    settings: Sequence[tuple[Record, int]]
    """What is simulated, and how many seeds of it."""

    cell: tuple[str, ...]
    """Names of the fields of a cell."""

    figures: tuple[str, ...]
    """Names of the fields of an outcome."""

    summary: Callable[[Sequence[str], Sequence[tuple]], Record] = means
    facts: Callable[[], Record] = dict
    """What else to store about a run, such as versions."""


def load(name: str, folder: Path = DATA) -> tuple[Record, list[Record]]:
    """Return what is known about the run of a study, and its records.

    Records of other defaults, or of another version, count as none.
    """
    about = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "version": version("cape-fair"),
        "defaults": defaults_hash(),
        "seconds": 0.0,
    }
    path = folder / f"{name}.json"
    if path.exists():
        stored = json.loads(path.read_text(encoding="utf-8"))
        same = ("version", "defaults")
        if all(stored["about"].get(field) == about[field] for field in same):
            return stored["about"], stored["records"]
    return about, []


def save(name: str, about: Record, records: list[Record], folder: Path = DATA) -> None:
    """Store the records of a study, one on a line."""
    lines = ",\n".join(map(json.dumps, records))
    text = f'{{"about": {json.dumps(about)},\n"records": [\n{lines}\n]}}\n'
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def run(study: Study, processes: int, *, share: float = 1.0, folder: Path = DATA):
    """Simulate every setting that is not stored yet, and store it.

    Parameters
    ----------
    study : Study
    processes : int
    share : float, default=1.0
        Part of the seeds; with less than 1 the records are a first look.
    folder : Path, optional
        Where the records are.
    """
    for setting, seeds in study.settings:
        if records_of(setting, load(study.name, folder)[1]):
            continue
        tasks = [(study, seed, setting) for seed in range(max(1, round(share * seeds)))]
        cells = defaultdict(list)
        seconds = 0.0
        one_thread = partial(threadpool_limits, 1)
        with get_context("fork").Pool(processes, initializer=one_thread) as pool:
            for outcomes, taken in pool.imap(_one_task, tasks):
                seconds += taken
                for cell, outcome in outcomes:
                    cells[cell].append(outcome)
        new = []
        for cell, outcomes in cells.items():
            record = setting | dict(zip(study.cell, cell, strict=True))
            record |= study.summary(study.figures, outcomes)
            new.append(record | {"draws": len(outcomes)})
        about, stored = load(study.name, folder)
        about |= {"seconds": round(about["seconds"] + seconds, 1)} | study.facts()
        # In the order of the settings, without those that the study no longer has.
        ordered = []
        for known, _ in study.settings:
            ordered += records_of(known, stored + new)
        save(study.name, about, ordered, folder)
        print(f"{study.name} {setting}: {seconds:.0f} s of work", flush=True)


def records_of(setting: Record, records: Iterable[Record]) -> list[Record]:
    """Return the records of a setting."""
    return [record for record in records if setting.items() <= record.items()]


def _one_task(task):
    study, seed, setting = task
    warnings.simplefilter("ignore")
    start = time.process_time()
    outcomes = list(study.work(seed, setting))
    return outcomes, time.process_time() - start


def grouped(records: Iterable[Record], *names: str) -> dict[tuple, list[Record]]:
    """Group records by some of their fields."""
    groups = defaultdict(list)
    for record in records:
        groups[tuple(record[name] for name in names)].append(record)
    return groups


def markdown_table(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    rule = "|---" * len(columns) + "|"
    rows = [f"| {' | '.join(map(str, line))} |" for line in (columns, *lines)]
    return "\n".join([rows[0], rule, *rows[1:]])


def caption(study: Study, about: Record, records: list[Record]) -> str:
    """Say how the table of a study was made, and how far its shares scatter."""
    work = f", {about['seconds']:.0f} s of processor time" if about["seconds"] else ""
    sentences = [
        f"`python benchmarks/trust.py {study.name}`{work}.",
        stamp(about["defaults"], about["date"]),
    ]
    if records:
        least = min(record["draws"] for record in records)
        error = 100 * np.sqrt(0.95 * 0.05 / least)
        sentences.append(
            f"At least {least} draws a cell: a share of 95% has a standard error of "
            f"at most {error:.1f} points."
        )
    waiting = [s for s, _ in study.settings if not records_of(s, records)]
    if waiting:
        names = "; ".join(map(setting_text, waiting))
        sentences.append(f"Not simulated yet: {names}.")
    return f"*{' '.join(sentences)}*"


def setting_text(setting: Record) -> str:
    """Name the fields of a setting that are neither empty nor 0."""
    fields = [(name.replace("_", " "), value) for name, value in setting.items()]
    return ", ".join(f"{name} {value}" for name, value in fields if value)


def percent(share: float, digits: int = 1) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.{digits}f}%"


def replace_block(page: Path, name: str, text: str) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- end of name -->``."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    old = page.read_text(encoding="utf-8")
    if begin not in old or end not in old:
        raise ValueError(f"{page} must have the marks {begin} and {end}.")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), flags=re.DOTALL)
    new = pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", old)
    page.write_text(new, encoding="utf-8")
