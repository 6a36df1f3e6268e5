"""Groups whose names read alike keep their own numbers wherever they are shown.

("a, b", "c") and ("a", "b, c") are both "a, b, c" when joined by a comma, and the
number 1 reads like the text "1".
"""

from copy import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.examination import examine, rows_needed
from cape.metrics import (
    audit,
    confusion_by_group,
    fairness_table,
    proportional_equality_matrix,
)
from cape_app.files import count_file, predict_file, train_file
from cape_app.pages import to_html

COMBINATIONS = [("a, b", "c"), ("a", "b, c")]
TYPES = [1, "1"]
SIZES = [120, 260]


def _table(seed=0, sizes=SIZES, prevalences=(0.3, 0.6)):
    """Draw rows of two groups that differ in size and prevalence."""
    random = np.random.default_rng(seed)
    code = np.repeat([0, 1], sizes)
    y = (random.random(len(code)) < np.take(prevalences, code)).astype(int)
    X = random.normal(size=(len(code), 2)) + 2 * y[:, None]
    return X, y, code


def _sensitive(groups, code):
    """Make the sensitive features of rows, with one column a value of a group."""
    if isinstance(groups[0], tuple):
        return pd.DataFrame([groups[one] for one in code], columns=["v", "w"])
    return np.array(groups, dtype=object)[code]


@pytest.fixture(scope="module", params=[COMBINATIONS, TYPES], ids=["comma", "types"])
def case(request):
    groups = request.param
    X, y, code = _table()
    clf = CapeClassifier(LogisticRegression(), cv=2, random_state=0)
    clf.fit(X, y, sensitive_features=_sensitive(groups, code))
    z = _sensitive(groups, code)
    seen = examine(clf, X, sensitive_features=z)
    y_pred = clf.predict(X, sensitive_features=z, adaptation=seen.adaptation)
    return SimpleNamespace(groups=groups, z=z, y=y, y_pred=y_pred, seen=seen)


def test_groups_are_keyed_by_themselves(case):
    rows = {group: case.seen.adaptation.groups[group].rows for group in case.groups}
    assert list(rows.values()) == SIZES
    counts = confusion_by_group(case.y, case.y_pred, sensitive_features=case.z)
    assert [counts[group].rows for group in case.groups] == SIZES


def test_tables_have_a_label_for_each_group(case):
    tables = [
        case.seen.adaptation.table(),
        case.seen.table(),
        case.seen.moved.table(),
        case.seen.expected.table(),
        rows_needed(case.seen.clf, 0.2),
        proportional_equality_matrix(case.y, case.y_pred, sensitive_features=case.z),
    ]
    for table in tables:
        assert table.index.is_unique and len(table) == 2
    rows = case.seen.adaptation.table()["rows"]
    assert sorted(rows) == SIZES
    assert case.seen.expected.pairs().index.is_unique
    both = case.seen.compare(case.y, case.y_pred, sensitive_features=case.z)
    assert both.index.is_unique
    assert fairness_table(
        case.y, case.y_pred, sensitive_features=case.z
    ).index.is_unique
    assert case.seen.columns.table().groupby("group").ngroups == 2


def test_audits_have_a_label_for_each_group(case):
    result = audit(case.y, case.y_pred, sensitive_features=case.z)
    assert result.table().index.is_unique and result.pairs().index.is_unique
    found = {}
    for entry in result.to_dict()["groups"]:
        if entry["metric"] == "accuracy":
            found[entry["group"]] = entry["rows"]
    assert sorted(found.values()) == SIZES
    for name, size in found.items():
        row = next(row for row in repr(result).splitlines() if row.startswith(name))
        assert row.removeprefix(name).split()[0] == str(size)


def test_every_part_of_a_report_calls_a_group_the_same(case, summaries_of):
    summary = summaries_of.batch(case.seen)
    names = [entry["group"] for entry in summary["groups"]]
    assert len(set(names)) == 2
    sizes = {entry["group"]: entry["rows"] for entry in summary["groups"]}
    for part in ("shift_test", "expected"):
        for entry in summary[part]["groups"]:
            assert entry["rows"] == sizes[entry["group"]]
    content = case.seen.to_dict()
    assert {entry["group"]: entry["rows"] for entry in content["groups"]} == sizes
    assert [entry["group"] for entry in summary["histograms"]] == names
    for text in (
        repr(case.seen),
        repr(case.seen.adaptation),
        repr(case.seen.prior_shift),
    ):
        assert all(name in text for name in names)


def test_labels_of_one_group_stay_with_that_group(case, summaries_of, observed):
    # Labels have arrived for the rows of one group only.
    counts = confusion_by_group(case.y, case.y_pred, sensitive_features=case.z)
    of_one = {case.groups[1]: counts[case.groups[1]]}
    labelled = copy(case.seen)
    labelled.observed = observed(of_one, of_one)
    summary = summaries_of.batch(labelled)
    name = {entry["rows"]: entry["group"] for entry in summary["groups"]}[SIZES[1]]
    for part in ("cape", "unadapted"):
        found = summary["observed"][part]["groups"]
        assert {entry["group"] for entry in found} == {name}
        assert {entry["group"] for entry in labelled.to_dict()["observed"][part]} == {
            name
        }
    assert to_html(summary).count("<svg")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alike")
    for seed, name in enumerate(["train.csv", "new.csv"]):
        X, y, code = _table(seed)
        frame = pd.DataFrame(X, columns=["s", "t"])
        frame[["v", "w"]] = _sensitive(COMBINATIONS, code).to_numpy()
        frame.assign(y=y, yhat=1 - y).to_csv(folder / name, index=False)
    return folder


def test_batches_in_files_keep_groups_apart(folder, summaries_of):
    model = train_file(
        folder / "train.csv",
        None,
        label="y",
        group=["v", "w"],
        drop=["yhat"],
        learner="logistic",
        settings={"cv": 2},
    )
    batches = []
    for name in ("train.csv", "new.csv"):
        examination = predict_file(model, folder / name).examination
        batches.append(summaries_of.facts(examination, name))
    provenance = summaries_of.provenance(model)
    summary = summaries_of.batches(batches, level=0.95, provenance=provenance)
    assert len(summary["groups"]) == 2
    for entry, size in zip(summary["groups"], SIZES[::-1], strict=True):
        assert [batch["rows"] for batch in entry["batches"]] == [size, size]


def test_audits_of_files_keep_groups_apart(folder, summaries_of):
    path = folder / "new.csv"
    counts, *_ = count_file(path, label="y", prediction="yhat", group=["v", "w"])
    facts = {"level": 0.95, "file": path, "file_sha256": "0", "columns": {}}
    summary = summaries_of.audit(counts, **facts)
    rows = {}
    for entry in summary["observed"]["cape"]["groups"]:
        if entry["metric"] == "accuracy":
            rows[entry["group"]] = entry["rows"]
    assert rows == {"a, 'b, c'": SIZES[1], "'a, b', c": SIZES[0]}
    page = to_html(summary)
    assert page.count("a, &#39;b, c&#39;") and page.count("&#39;a, b&#39;, c")
