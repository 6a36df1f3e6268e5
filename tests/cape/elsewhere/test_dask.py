"""On Dask as in memory, for any partitioning, and when a worker is killed."""

import logging
import os
import signal
import time
from itertools import pairwise

import dask
import dask.dataframe as dd
import distributed
import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier
from cape.datasets import make_synthetic
from cape.elsewhere import dask as scale

FEATURES = ["U", "V"]
COLUMNS = ["U", "V", "z"]


@pytest.fixture(scope="module")
def new():
    """A batch in which both groups have moved, named in words."""
    frame = make_synthetic(600, prevalences=(0.2, 0.8), random_state=1).frame
    return frame.assign(z=np.where(frame["z"] == 1, "one", "zero"))


@pytest.fixture(scope="module")
def clf():
    """A model of the two groups."""
    train = make_synthetic(600, random_state=0)
    groups = np.where(train.sensitive_features == 1, "one", "zero")
    clf = CapeClassifier(LogisticRegression(), cv=3, random_state=0)
    return clf.fit(train.data, train.target, sensitive_features=groups)


@pytest.fixture(scope="module")
def in_memory(clf, new):
    """What the model says about the batch in memory: evidence and predictions."""
    evidence = clf.evidence(new[FEATURES], sensitive_features=new["z"])
    labels = clf.predict(new[FEATURES], sensitive_features=new["z"])
    return evidence, pd.Series(labels, index=new.index, name="prediction")


@pytest.mark.parametrize("npartitions", [1, 2, 7, 9, 40, 70])
@pytest.mark.slow
def test_any_number_of_partitions_gives_what_memory_gives(
    clf, new, in_memory, npartitions
):
    evidence, labels = in_memory
    ddf = dd.from_pandas(new[COLUMNS], npartitions=npartitions, sort=False)
    assert scale.evidence(clf, ddf, sensitive_features="z") == evidence
    y_pred = scale.predict(clf, ddf, sensitive_features="z")
    assert y_pred.npartitions == ddf.npartitions
    pd.testing.assert_series_equal(y_pred.compute(), labels)


@settings(max_examples=8)
@given(st.lists(st.integers(0, 600), max_size=6))
def test_any_cuts_give_what_memory_gives(clf, new, in_memory, cuts):
    """Partitions of any lengths, empty ones included."""
    bounds = [0, *sorted(cuts), len(new)]
    pieces = []
    for start, stop in pairwise(bounds):
        pieces.append(new[COLUMNS].iloc[start:stop])
    ddf = dd.from_map(lambda piece: piece, pieces, meta=new[COLUMNS].iloc[:0])
    assert scale.evidence(clf, ddf, sensitive_features="z") == in_memory[0]


def test_the_order_of_rows_does_not_matter(clf, new, in_memory):
    shuffled = new.sample(frac=1, random_state=0)
    ddf = dd.from_pandas(shuffled[COLUMNS], npartitions=4, sort=False)
    assert scale.evidence(clf, ddf, sensitive_features="z") == in_memory[0]
    y_pred = scale.predict(clf, ddf, sensitive_features="z").compute()
    pd.testing.assert_series_equal(y_pred, in_memory[1].loc[shuffled.index])


def test_an_index_with_duplicates_is_kept(clf, new, in_memory):
    frame = new[COLUMNS].set_index(np.arange(len(new)) // 10)
    ddf = dd.from_pandas(frame, npartitions=4, sort=False)
    y_pred = scale.predict(clf, ddf, sensitive_features="z").compute()
    assert y_pred.index.equals(frame.index)
    np.testing.assert_array_equal(y_pred, in_memory[1])


def test_an_adaptation_made_before_is_used(clf, new):
    ddf = dd.from_pandas(new[COLUMNS], npartitions=3)
    half = new[new["V"] > 30]
    with pytest.warns(AdaptationWarning, match="[Ll]ook at the columns V"):
        adaptation = clf.adapt(half[FEATURES], sensitive_features=half["z"])
    y_pred = scale.predict(clf, ddf, sensitive_features="z", adaptation=adaptation)
    expected = clf.predict(
        new[FEATURES], sensitive_features=new["z"], adaptation=adaptation
    )
    np.testing.assert_array_equal(y_pred.compute(), expected)


def test_every_row_is_scored_once(new):
    """By the model, which also scores the rows of an empty partition: none."""
    scored = []

    class Counting(LogisticRegression):
        def predict_proba(self, X):
            scored.append(len(X))
            return super().predict_proba(X)

    clf = CapeClassifier(Counting(), cv=2, random_state=0, share_estimator=False)
    clf.fit(new[FEATURES], new["y"])
    scored.clear()
    ddf = dd.from_pandas(new[FEATURES], npartitions=3)
    with dask.config.set(scheduler="sync"):
        y_pred = scale.predict(clf, ddf)
        assert sum(scored) == len(new)
        y_pred.compute()
        assert sum(scored) == len(new)
        later = scale.predict(clf, ddf, adaptation=clf.adapt(new[FEATURES]))
        scored.clear()
        later.compute()
    assert sum(scored) == len(new)


def test_predictions_have_the_type_of_the_labels(new):
    train = make_synthetic(600, random_state=0)
    y = np.where(train.target == 1, "yes", "no")
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=2, random_state=0)
    clf.fit(train.data, y)
    ddf = dd.from_pandas(new[FEATURES], npartitions=2)
    y_pred = scale.predict(clf, ddf).compute()
    assert set(y_pred) <= {"no", "yes"}
    np.testing.assert_array_equal(y_pred, clf.predict(new[FEATURES]))


def test_groups_may_be_in_several_columns():
    train = make_synthetic(600, random_state=0)
    groups = pd.DataFrame({"z": train.sensitive_features, "w": np.arange(600) % 2})
    clf = CapeClassifier(LogisticRegression(), cv=3, pool="threshold", random_state=0)
    clf.fit(train.data, train.target, sensitive_features=groups)
    expected = clf.evidence(train.data, sensitive_features=groups)
    ddf = dd.from_pandas(pd.concat([train.data, groups], axis=1), npartitions=4)
    columns = ["z", "w"]
    assert scale.evidence(clf, ddf, sensitive_features=columns) == expected
    y_pred = scale.predict(clf, ddf, sensitive_features=columns).compute()
    np.testing.assert_array_equal(
        y_pred, clf.predict(train.data, sensitive_features=groups)
    )


def test_group_columns_and_empty_partitions():
    train = make_synthetic(600, random_state=0).frame
    clf = CapeClassifier(LogisticRegression(), cv=3, group_columns="z", random_state=0)
    clf.fit(train[COLUMNS], train["y"])
    ddf = dd.from_pandas(train[COLUMNS], npartitions=5)
    thinned = ddf[ddf["U"] > 10]
    expected = train.loc[train["U"] > 10, COLUMNS]
    assert scale.evidence(clf, thinned) == clf.evidence(expected)
    with pytest.warns(AdaptationWarning, match="[Ll]ook at the columns U"):
        y_pred = scale.predict(clf, thinned).compute()
    np.testing.assert_array_equal(y_pred, clf.predict(expected))
    assert scale.evidence(clf, ddf[ddf["U"] > 1e9]).rows == {}


def test_wrong_input_is_named(clf, new):
    ddf = dd.from_pandas(new[COLUMNS], npartitions=4)
    with pytest.raises(TypeError, match="ddf must be a Dask DataFrame, got DataFrame"):
        scale.evidence(clf, new)
    with pytest.raises(TypeError, match="ddf must be a Dask DataFrame, got ndarray"):
        scale.predict(clf, new[FEATURES].to_numpy())
    message = (
        r"must name columns of ddf, among \['U', 'V', 'z'\], got \['z', 'nowhere'\]"
    )
    with pytest.raises(ValueError, match=message):
        scale.evidence(clf, ddf, sensitive_features=["z", "nowhere"])
    with pytest.raises(ValueError, match="sensitive_features must name columns"):
        scale.evidence(clf, ddf[FEATURES], sensitive_features=ddf["z"])


def test_errors_are_raised_before_any_partition_is_read(clf, new):
    def fail(frame):
        raise AssertionError("no partition must be read")

    ddf = dd.from_map(fail, [new], meta=new[COLUMNS].iloc[:0])
    with pytest.raises(ValueError, match="columns of ddf"):
        scale.predict(clf, ddf, sensitive_features="nowhere")
    with pytest.raises(NotFittedError):
        scale.evidence(CapeClassifier(), ddf, sensitive_features="z")


@pytest.fixture(scope="module")
def cluster():
    """A client of two workers with one thread each."""
    from distributed import Client, LocalCluster

    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "memory_limit": "2GiB",
        "silence_logs": logging.CRITICAL,
    }
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        yield client


def test_learners_are_trained_by_the_workers(cluster):
    """By joblib alone, as the documents say."""
    train = make_synthetic(600, random_state=0)
    groups = train.sensitive_features
    clf = CapeClassifier(LogisticRegression(), cv=2, prevalences=2, random_state=0)
    clf.fit(train.data, train.target, sensitive_features=groups)
    fingerprint = clf.fingerprint_
    with distributed.get_task_stream(cluster) as tasks, joblib.parallel_config("dask"):
        clf.fit(train.data, train.target, sensitive_features=groups)
    assert clf.fingerprint_ == fingerprint
    assert len({task["worker"] for task in tasks.data}) == 2


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(cluster, clf, new, in_memory):
    def slowly(frame):
        time.sleep(0.2)
        return frame

    ddf = dd.from_pandas(new[COLUMNS], npartitions=12)
    ddf = ddf.map_partitions(slowly, meta=new[COLUMNS].iloc[:0])
    adaptation = clf.adapt(new[FEATURES], sensitive_features=new["z"])
    y_pred = scale.predict(clf, ddf, sensitive_features="z", adaptation=adaptation)
    future = cluster.compute(y_pred)
    time.sleep(0.5)
    victim = next(iter(cluster.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)
    np.testing.assert_array_equal(future.result(timeout=60), in_memory[1])


def test_truth_values_beside_missing_ones_are_labels(new):
    """Dask makes text of them."""
    settings = {"cv": 2, "random_state": 0}
    clf = CapeClassifier(LogisticRegression(), **settings)
    clf.fit(new[FEATURES], new["y"] == 1)
    known = (new["y"] == 1).astype(object).where(np.arange(len(new)) < 300, None)
    frame = new[FEATURES].assign(known=known)
    expected = clf.adapt(new[FEATURES], known)
    evidence = scale.evidence(clf, dd.from_pandas(frame, npartitions=2), "known")
    assert clf.adapt(evidence=evidence) == expected


@pytest.mark.parametrize("probability", [None, "chance"])
def test_labels_of_some_rows_count_as_in_memory(clf, new, probability):
    is_labelled = np.random.default_rng(0).random(len(new)) < 0.2
    frame = new.assign(known=new["y"].where(is_labelled), chance=0.2)
    columns = [*COLUMNS, "known", *([probability] if probability else [])]
    ddf = dd.from_pandas(frame[columns], npartitions=4)
    expected = clf.adapt(
        new[FEATURES],
        frame["known"],
        sensitive_features=new["z"],
        inclusion_probability=frame[probability] if probability else None,
    )
    evidence = scale.evidence(
        clf,
        ddf,
        "known",
        sensitive_features="z",
        inclusion_probability=probability,
    )
    by_name = clf.adapt(evidence=evidence)
    assert by_name == expected
    assert all(adapted.labels.rows > 20 for adapted in by_name.groups.values())
