"""Summaries and pages as the command line makes them, each made once."""

import json

import pandas as pd
import pytest

from cape_app.files import predict_file
from cape_app.pages import to_html

LEVEL = 0.9
TOLERANCE = 0.1


@pytest.fixture(scope="session")
def summarise(summaries_of):
    """Give the JSON of the report of an examination."""
    return summaries_of.batch


@pytest.fixture(scope="session")
def batch_of_file(summaries_of):
    """Make the summary of a batch in a file."""

    def make(model, path, *, level=0.95):
        predicted = predict_file(model, path, level=level, tolerance=TOLERANCE)
        files = [(path.name, predicted.rows, predicted.sha256)]
        predicted.examination.provenance = summaries_of.provenance(model, files)
        return summaries_of.batch(predicted.examination, title=path.name)

    return make


@pytest.fixture(scope="session")
def batches_of_files(summaries_of):
    """Make the summary of several files, one a batch."""

    def make(model, paths, *, level=0.95):
        batches = []
        files = []
        for path in paths:
            found = predict_file(model, path, level=level, tolerance=TOLERANCE)
            batches.append(summaries_of.facts(found.examination, path.name))
            files.append((path.name, found.rows, found.sha256))
        provenance = summaries_of.provenance(model, files)
        return summaries_of.batches(batches, level=level, provenance=provenance)

    return make


@pytest.fixture(scope="session")
def audit_of(summaries_of, confusion):
    """Make the summary of an audit from the tp, fp, fn and tn of each group."""

    def make(counts, **given):
        facts = {"level": 0.95, "file": "a.csv", "file_sha256": "0" * 64, "columns": {}}
        groups = {}
        for group, cells in counts.items():
            groups[group] = confusion(*cells)
        return summaries_of.audit(groups, **{**facts, **given})

    return make


@pytest.fixture(scope="session")
def summaries(
    people_folder,
    people_model,
    tmp_path_factory,
    batch_of_file,
    batches_of_files,
    audit_of,
):
    """A summary of every kind, at a level of 90 %; "new" is a batch without labels."""
    path = people_folder / "new.csv"
    unlabelled = tmp_path_factory.mktemp("unlabelled") / "new.csv"
    pd.read_csv(path).drop(columns="y").to_csv(unlabelled, index=False)
    counts = {"blue": (40, 10, 10, 40), "green": (20, 10, 5, 65)}
    paths = [people_folder / "train.csv", path]
    return {
        "batch": batch_of_file(people_model, path, level=LEVEL),
        "new": batch_of_file(people_model, unlabelled, level=LEVEL),
        "audit": audit_of(counts, level=LEVEL, columns={"label": "y"}),
        "ll144": audit_of(
            {**counts, "few": (1, 0, 0, 1)},
            columns={"positive": "yes"},
            group_columns=["colour"],
            table="ll144",
        ),
        "batches": batches_of_files(people_model, paths, level=LEVEL),
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
