"""Chromium, and a page for each kind of report."""

import os
import shutil
from copy import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Watch
from cape.examination import examine
from cape_app.files import (
    count_file,
    predict_file,
)
from cape_app.pages import write_report

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


def make_model(names, table_model):
    """A model as ``cape train`` makes it, of a learner that takes no time."""
    frame = make_table(names, 250 * len(names), 0)
    clf = CapeClassifier(
        LogisticRegression(), pool="threshold", quantifier="emq", scores="folds",
        cv=3, random_state=0, group_columns=["z"],
    )  # fmt: skip
    clf.fit(frame[["x", "u", "z"]], frame["y"])
    data = {"file": "train.csv", "rows": len(frame), "sha256": "0" * 64}
    details = {
        "learner": "logistic",
        "data": data,
        "settings": {"cv": 3},
    }
    model = table_model(clf, ("x", "u"), details)
    details["columns"] = model.columns.to_dict()
    return model


TWO = ["a", EVIL]
LONG = "a group with a rather long name, " * 3
TEN = [*(f"group {i}" for i in range(8)), EVIL, LONG]


def make_summaries(model, names, folder, summaries_of):
    """The summary of every kind of page, for batches of these groups."""
    paths = [folder / f"b{place}.csv" for place in range(3)]
    for place, path in enumerate(paths, 1):
        make_table(names, 150 * len(names), place).to_csv(path, index=False)
    batches = [
        summaries_of.facts(predict_file(model, path).examination, path.name)
        for path in paths
    ]
    provenance = summaries_of.provenance(model)

    def examine_file(path):
        """The examination of a file with labels."""
        predicted = predict_file(model, path)
        file = (path.name, predicted.rows, predicted.sha256)
        predicted.examination.provenance = summaries_of.provenance(model, [file])
        return predicted.examination

    examination = examine_file(paths[0])
    frame = copy(examination)
    frame.observed = frame.provenance = frame.labels = None
    faulty = make_table(names, 150 * len(names), 1)
    faulty.assign(u=faulty["u"] + 50).to_csv(folder / "fault.csv", index=False)
    drifted = faulty.assign(u=faulty["u"].abs())
    drifted.to_csv(folder / "drift.csv", index=False)
    refuted = pd.read_csv(paths[0])
    # Reversed labels would contradict the scores; these contradict the estimate.
    more = np.random.default_rng(0).random(len(refuted)) < 0.15
    labels = refuted["y"].where(~more, 1)
    refuted.assign(y=labels).to_csv(folder / "refuted.csv", index=False)
    return {
        "fault": summaries_of.batch(examine_file(folder / "fault.csv")),
        "drift": summaries_of.batch(examine_file(folder / "drift.csv")),
        "batch": summaries_of.batch(examination, title=paths[0].name),
        # What a data scientist gets, who has a data frame and no file.
        "frame": summaries_of.batch(frame),
        "labels": summaries_of.batch(examine_sample(model, paths[0])),
        "refuted": summaries_of.batch(examine_file(folder / "refuted.csv")),
        "audit": make_audit(names, folder / "scored.csv", summaries_of),
        "batches": summaries_of.batches(batches, level=0.95, provenance=provenance),
        "watch": summaries_of.watch(
            watch_files(model, paths), provenance=provenance, command="cape sample"
        ),
    }


def watch_files(model, paths):
    """A watch that has looked at every file; its model promises nothing."""
    with pytest.warns(UserWarning, match="cannot be guaranteed"):
        watch = Watch(model.clf, ["moved>0", "broken", "parity>0"])
    for path in paths:
        watch.look(model.clf.evidence(pd.read_csv(path)[["x", "u", "z"]]), path.name)
    return watch


def examine_sample(model, path):
    """The examination of a table in which every third row has a label."""
    table = pd.read_csv(path)
    labels = table["y"].where(table.index % 3 == 0)
    return examine(model.clf, table[["x", "u", "z"]], labels)


def make_audit(names, path, summaries_of):
    """The audit of a simple rule."""
    table = make_table(names, 400, 1)
    table.assign(p=(table["x"] > 0.7).astype(int)).to_csv(path, index=False)
    counts, *_ = count_file(path, label="y", prediction="p", group=["z"])
    columns = {"label": "y"}
    return summaries_of.audit(
        counts, level=0.95, file=path, file_sha256="0" * 64, columns=columns
    )


@pytest.fixture(scope="session")
def pages(tmp_path_factory, table_model, summaries_of):
    """Every kind of page, by name."""
    written = {}
    for names, suffix in ((TWO, ""), (TEN, " of ten")):
        folder = tmp_path_factory.mktemp("pages")
        model = make_model(names, table_model)
        summaries = make_summaries(model, names, folder, summaries_of)
        for kind, summary in summaries.items():
            path = write_report(summary, folder / f"{kind}.html")
            written[f"{kind}{suffix}"] = (path, summary)
    return written


@pytest.fixture
def visit(chromium, pages):
    """Open a page; afterwards nothing may have gone wrong in it, nor left it."""
    troubles, contexts = [], []

    def go(name, width=900, height=900, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss())
        )
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:"))
                or troubles.append(request.url)
            ),
        )
        path, summary = pages[name]
        page.goto(path.as_uri())
        return page, summary

    yield go
    for context in contexts:
        context.close()
    assert troubles == []
