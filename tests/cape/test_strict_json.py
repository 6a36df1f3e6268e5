"""Everything that is written as JSON can be read by any reader: no NaN, no Infinity."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import cape
from cape import CapeClassifier, examine
from cape.datasets import make_synthetic
from cape.metrics import audit


def refuse(constant):
    raise AssertionError(constant)


def check(content):
    """Content as to_json or to_dict give it."""
    text = content
    if not isinstance(content, str):
        text = json.dumps(content, allow_nan=False)
    json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def world():
    """A model, and a batch with a group of one row, gaps, and few labels."""
    train = make_synthetic(300, random_state=0).frame
    new = make_synthetic(60, prevalences=(0.02, 0.98), random_state=1).frame
    for table in (train, new):
        table["z"] = table["z"].map({0: "a", 1: "b"}).astype(object)
        table["empty"] = np.nan
    train.loc[:3, "z"] = "c"
    new.loc[new.index[0], "z"] = "c"
    y = train.pop("y")
    clf = CapeClassifier(
        _tolerant(LogisticRegression()), group_columns="z", cv=2, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(train, y)
    return clf, new


def _tolerant(learner):
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(SimpleImputer(keep_empty_features=True), learner)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("drift", ["cautious", "ignore"])
@pytest.mark.parametrize("labelled", [0, 1, 15])
def test_what_is_said_of_a_batch(world, drift, labelled):
    clf, new = world
    X = new.drop(columns="y")
    y = new["y"].where(np.arange(len(new)) < labelled)
    adaptation = clf.adapt(X, y, drift=drift)
    check(adaptation.to_json())
    check(clf.evidence(X, y).to_json())
    seen = examine(clf, X, y, drift=drift)
    check(seen.to_dict())
    results = [
        seen.action,
        seen.moved,
        seen.prior_shift,
        seen.columns,
        seen.expected,
        seen.criteria,
        seen.labels,
    ]
    for result in results:
        if result is not None:
            check(result.to_dict())


@pytest.mark.filterwarnings("ignore")
def test_audits_and_columns(world):
    _, new = world
    # A group without negatives, one without positives, one of a single row.
    for predicted in (new["y"], 1 - new["y"], 0 * new["y"]):
        check(audit(new["y"], predicted, sensitive_features=new["z"]).to_dict())
    table = pd.DataFrame({"x": [np.inf, np.nan, 1.0, -np.inf] * 10, "n": range(40)})
    check(cape.check(table, np.arange(40) % 2).to_dict())
