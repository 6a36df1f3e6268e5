"""Simulate what CAPE promises, and write the pages that say how often it was kept.

    python benchmarks/trust.py                  # all that is not in docs/data yet
    python benchmarks/trust.py coverage watch   # some studies
    python benchmarks/trust.py --pages          # no simulation, only the pages
    python benchmarks/trust.py --quick          # a first look; writes to results/

A study that was stopped goes on with the next setting. Numbers of other defaults, or of
another version, are made anew.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import drift_tests
import expected
import interval_coverage
import labels
import numpy as np
import rules
import strata
import watch
import watch_series
from study import DATA, DOCS, caption, load, percent, replace_block, run

# The cheapest first.
STUDIES = {
    study.name: study
    for study in (
        labels.SIMULATED,
        drift_tests.OF_SCORES,
        expected.STUDY,
        rules.STUDY,
        watch.STUDY,
        watch_series.STUDY,
        labels.REAL,
        interval_coverage.STUDY,
        drift_tests.OF_COLUMNS,
        strata.STUDY,
    )
}
QUICK = 0.1


def main():
    """Simulate, then write the pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []])
    parser.add_argument("--pages", action="store_true", help="only write the pages")
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    share = QUICK if options.quick else 1.0
    folder = Path("results/trust") if options.quick else DATA
    if not options.pages:
        missing = rules.missing_peers()
        if missing:
            raise SystemExit(f"Not installed: {', '.join(missing)}. Use `make trust`.")
        for name in options.studies or STUDIES:
            run(STUDIES[name], options.processes, share=share, folder=folder)
    if not options.quick:
        write_pages()


BLOCKS = (
    ("coverage", "coverage", interval_coverage.tables),
    ("shift_test", "shift test", drift_tests.scores_tables),
    ("column_test", "column test", drift_tests.columns_table),
    ("labels_real", "labels, real", labels.table_of_real_shifts),
    ("labels_simulated", "labels", labels.table_of_simulations),
    ("labels_simulated", "labels saved", labels.table_of_labels_saved),
    ("expected", "expected", expected.table),
    ("strata", "strata", strata.table_of),
)
"""The study, the name of its block on a page, and its table."""

PAGES = {"strata": "a_hundred_labels.md"}
"""Pages of blocks; the others are on docs/trust.md."""


def blocks(stored):
    """Return the text of every block."""
    texts = {"verdict": verdict(stored)}
    for name, block, table in BLOCKS:
        about, records = stored[name]
        parts = [table(records)] if records else []
        parts.append(caption(STUDIES[name], about, records))
        texts[block] = "\n\n".join(parts)
    return texts


def write_pages():
    """Write the blocks, and the pages on the rules and on the watch."""
    stored = {name: load(name) for name in STUDIES}
    for block, text in blocks(stored).items():
        replace_block(DOCS / PAGES.get(block, "trust.md"), block, text)
    for module in (rules, watch):
        about, records = stored[module.STUDY.name]
        if records:
            text = module.page_text(about, records)
            if module is watch:
                text += watch_series.section(*stored["watch_series"])
            page = DOCS / f"{module.STUDY.name}_compared.md"
            page.write_text(text, encoding="utf-8")


def verdict(stored):
    """Say in a few sentences what was found."""
    sentences = []
    for name, sentence in SENTENCES.items():
        _, records = stored[name]
        if records:
            sentences.append(f"- {sentence(records)}")
    sentences.append(
        "- **The watch** has a page of its own: [beside repeated "
        "tests](watch_compared.md)."
    )
    if stored["rules"][1]:
        sentences.append(
            "- **The rules** have a page of their own: [beside other "
            "libraries](rules_compared.md)."
        )
    return "\n".join(sentences)


def on_coverage(records):
    """Say how often intervals held."""
    default = [r["inside"] for r in records if r["scores"] == "auto"]
    return (
        f"**Intervals of prevalences**, nominally 95%, held the truth in "
        f"{share_range(default)} of the draws in the {len(default)} cells of the "
        f"default settings ({percent(np.mean(default))} on average), where the shift "
        "is a prior shift."
    )


def on_scores(records):
    """Say how often the test of the scores rejected pure prior shifts."""
    quiet = [r for r in records if r["moved"] == "nothing"]
    sound = [r["rejected"] for r in quiet if not is_unsound(r)]
    unsound = [r["rejected"] for r in quiet if is_unsound(r)]
    text = (
        f"**The test of the scores**, at 5%, rejected {share_range(sound)} of pure "
        "prior shifts where it is sound"
    )
    if unsound:
        text += f", and {share_range(unsound)} where it is not, and says so"
    return f"{text}."


def on_columns(records):
    """Say how often the test of the columns rejected pure prior shifts."""
    quiet = [r["rejected"] for r in records if r["moved"] == "nothing"]
    return (
        "**The test of the columns**, with that of the scores, rejected "
        f"{share_range(quiet)} of them."
    )


def on_labels(records):
    """Say what a hundred labels are worth."""
    real = [r for r in records if r["labels"] == 100]
    return (
        f"**A hundred labels** a group, in {len(real)} groups of real shifts: the "
        f"interval held the truth in {percent(labels.mean(real, 'inside'))} of the "
        f"draws ({share_range([r['inside'] for r in real])} by group), and the error "
        f"was {labels.mean(real, 'error'):.3f}, against "
        f"{labels.mean(real, 'error_alone'):.3f} of labels alone and "
        f"{labels.mean(real, 'error_label_free'):.3f} without labels."
    )


def on_rates(records):
    """Say how often expected rates held."""
    rates = [r["inside"] for r in records]
    return (
        f"**Expected rates** were inside their 95% intervals in {share_range(rates)} "
        f"of the draws ({percent(np.mean(rates))} on average)."
    )


SENTENCES = {
    "coverage": on_coverage,
    "shift_test": on_scores,
    "column_test": on_columns,
    "labels_real": on_labels,
    "expected": on_rates,
}


def is_unsound(record):
    """Tell whether a flexible learner was refitted."""
    return record["learner"] == "boosting" and record["scores"] == "refit"


def share_range(values):
    """Write the smallest and the greatest of some shares."""
    return f"{100 * min(values):.1f} to {100 * max(values):.1f}%"


if __name__ == "__main__":
    main()
