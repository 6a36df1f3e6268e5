"""Chromium, and a page for each kind of report."""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.files import (
    Columns,
    TableModel,
    count_file,
    file_hash,
    monitor_files,
    predict_file,
)
from cape.report import (
    audit_summary,
    batch_summary,
    explorer_summary,
    monitor_summary,
    write_report,
)

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "Chromium must be installed: make test-browser does it."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """The text of axe-core, the checker of accessibility."""
    path = Path(os.environ.get("CAPE_AXE", ".browser/node_modules/axe-core/axe.min.js"))
    assert path.exists(), (
        f"axe-core must be at {path}: make test-browser puts it there."
    )
    return path.read_text(encoding="utf-8")


def make_table(names, n, seed):
    """Rows of several groups, each with a prevalence of its own."""
    random = np.random.default_rng(seed)
    group = random.choice(len(names), n)
    y = random.random(n) < 0.15 + 0.7 * ((group + seed) % len(names)) / len(names)
    frame = pd.DataFrame(
        {"x": random.normal(y * 1.5), "u": random.normal(y * 0.7), "y": y.astype(int)}
    )
    return frame.assign(z=np.array(names, dtype=object)[group])


def make_model(names):
    """A model as ``cape train`` makes it, of a learner that takes no time."""
    frame = make_table(names, 250 * len(names), 0)
    clf = CapeClassifier(
        LogisticRegression(), pool="threshold", quantifier="histogram", scores="folds", cv=3, random_state=0,
        group_columns=["z"],
    )  # fmt: skip
    clf.fit(frame[["x", "u", "z"]], frame["y"])
    columns = Columns("y", ("0", "1"), "number", ("z",), {"x": "number", "u": "number"})
    data = {"file": "train.csv", "rows": len(frame), "sha256": "0" * 64}
    details = {
        "columns": columns.to_dict(),
        "learner": "logistic",
        "data": data,
        "settings": {"cv": 3},
    }
    return TableModel(clf, columns, details)


TWO, TEN = (
    ["a", EVIL],
    [*(f"group {i}" for i in range(8)), EVIL, "a group with a rather long name, " * 3],
)


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Every kind of page, by name."""
    folder = tmp_path_factory.mktemp("pages")
    written = {}
    for names, suffix in ((TWO, ""), (TEN, " of ten")):
        model = make_model(names)
        batches = [folder / f"b{i}{suffix}.csv" for i in range(3)]
        for i, path in enumerate(batches, 1):
            make_table(names, 150 * len(names), i).to_csv(path, index=False)
        first = batches[0]
        found = predict_file(model, first)
        monitored = list(monitor_files(model, batches))
        scored = folder / f"scored{suffix}.csv"
        make_table(names, 400, 1).assign(p=lambda f: (f["x"] > 0.7).astype(int)).to_csv(
            scored, index=False
        )
        counts, _ = count_file(scored, label="y", prediction="p", group=["z"])
        summaries = {
            "batch": batch_summary(model, found, first, file_hash(first)),
            "explorer": explorer_summary(model),
            "audit": audit_summary(
                counts,
                level=0.95,
                file="s.csv",
                file_sha256="0" * 64,
                columns={"label": "y"},
            ),
            "monitor": monitor_summary(
                model,
                monitored,
                [(b.name, b.rows, b.sha256) for b in monitored],
                level=0.95,
            ),
        }
        for kind, summary in summaries.items():
            path = write_report(summary, folder / f"{kind}{suffix}.html")
            written[f"{kind}{suffix}"] = (path, summary)
    return written
