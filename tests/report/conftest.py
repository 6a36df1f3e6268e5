"""Summaries and pages as the command line makes them, each made once."""

import json
import re

import pandas as pd
import pytest

from cape.files import monitor_files, predict_file
from cape.metrics._rates import Confusion
from cape.report import to_html
from cape.report._audit import audit_summary
from cape.report._batch import batch_summary
from cape.report._model import explorer_summary, file_provenance
from cape.report._monitor import monitor_summary

LEVEL = 0.9


@pytest.fixture(scope="session")
def summarise():
    """Give `batch_summary` to tests: the JSON of the report of an examination."""
    return batch_summary


@pytest.fixture(scope="session")
def batch_of_file():
    """Make the summary of a batch in a file."""

    def make(model, path, *, level=0.95):
        predicted = predict_file(model, path, level=level)
        files = [(path.name, predicted.rows, predicted.sha256)]
        predicted.examination.provenance = file_provenance(model, files)
        return batch_summary(predicted.examination, title=path.name)

    return make


@pytest.fixture(scope="session")
def monitor_of_files():
    """Make the summary of several files, one a batch."""

    def make(model, paths, *, level=0.95):
        batches = list(monitor_files(model, paths, level=level))
        files = [(batch.name, batch.rows, batch.sha256) for batch in batches]
        provenance = file_provenance(model, files)
        return monitor_summary(batches, level=level, provenance=provenance)

    return make


@pytest.fixture(scope="session")
def audit_of():
    """Make the summary of an audit from the tp, fp, fn and tn of each group."""

    def make(counts, **given):
        facts = {"level": 0.95, "file": "a.csv", "file_sha256": "0" * 64, "columns": {}}
        groups = {}
        for group, cells in counts.items():
            groups[group] = Confusion(*cells, rows=sum(cells))
        return audit_summary(groups, **{**facts, **given})

    return make


@pytest.fixture(scope="session")
def summaries(
    people_folder,
    people_model,
    tmp_path_factory,
    batch_of_file,
    monitor_of_files,
    audit_of,
):
    """A summary of every kind, at a level of 90 %; "new" is a batch without labels."""
    path = people_folder / "new.csv"
    unlabelled = tmp_path_factory.mktemp("unlabelled") / "new.csv"
    pd.read_csv(path).drop(columns="y").to_csv(unlabelled, index=False)
    counts = {"blue": (40, 10, 10, 40), "green": (20, 10, 5, 65)}
    paths = [people_folder / "train.csv", path]
    title = people_model.details["data"]["file"]
    provenance = file_provenance(people_model)
    return {
        "batch": batch_of_file(people_model, path, level=LEVEL),
        "new": batch_of_file(people_model, unlabelled, level=LEVEL),
        "audit": audit_of(counts, level=LEVEL, columns={"label": "y"}),
        "monitor": monitor_of_files(people_model, paths, level=LEVEL),
        "explorer": explorer_summary(
            people_model.clf, title=title, provenance=provenance
        ),
    }


@pytest.fixture(scope="session")
def pages(summaries):
    """The pages of the summaries; to draw one takes a second or two."""
    return {kind: to_html(summary) for kind, summary in summaries.items()}


@pytest.fixture(scope="session")
def renamed():
    """Call a group, or anything else, by another name in a whole summary."""

    def rename(summary, old, new):
        text = json.dumps(summary).replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
        return json.loads(text)

    return rename


@pytest.fixture(scope="session")
def data_in():
    """Read the JSON in a script element of a page."""

    def read(page, name):
        return json.loads(re.search(rf'id="{name}">(.*?)</script>', page, re.S)[1])

    return read
