"""On Dask as in memory, for any partitioning, and with a worker killed in the middle."""

import logging
import os
import signal
import time

import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from cape import CapeClassifier, scale
from cape.cli import app
from cape.datasets import make_synthetic

COLUMNS = ["U", "V", "z"]


@pytest.fixture(scope="module")
def new():
    frame = make_synthetic(600, prevalences=(0.2, 0.8), random_state=1).frame
    return frame.assign(z=np.where(frame["z"] == 1, "one", "zero"))


@pytest.fixture(scope="module")
def clf():
    train = make_synthetic(600, random_state=0)
    groups = np.where(train.sensitive_features == 1, "one", "zero")
    return CapeClassifier(LogisticRegression(), cv=3, random_state=0).fit(
        train.data, train.target, sensitive_features=groups
    )


@pytest.mark.parametrize("npartitions", [1, 2, 7, 40])
def test_any_partitioning_gives_what_memory_gives(clf, new, npartitions):
    ddf = dd.from_pandas(new[COLUMNS], npartitions=npartitions, sort=False)
    expected = clf.evidence(new[["U", "V"]], sensitive_features=new["z"])
    assert scale.evidence(clf, ddf, sensitive_features="z") == expected
    adaptation = scale.adapt(clf, ddf, sensitive_features="z", level=0.9)
    assert adaptation == clf.adapt(evidence=expected, level=0.9)
    y_pred = scale.predict(clf, ddf, sensitive_features="z").compute()
    pd.testing.assert_series_equal(
        y_pred,
        pd.Series(
            clf.predict(new[["U", "V"]], sensitive_features=new["z"]),
            index=new.index,
            name="prediction",
        ),
    )


def test_an_adaptation_made_before_is_used(clf, new):
    ddf = dd.from_pandas(new[COLUMNS], npartitions=3)
    half = new[new["V"] > 30]
    adaptation = clf.adapt(half[["U", "V"]], sensitive_features=half["z"])
    y_pred = scale.predict(
        clf, ddf, sensitive_features="z", adaptation=adaptation
    ).compute()
    expected = clf.predict(
        new[["U", "V"]], sensitive_features=new["z"], adaptation=adaptation
    )
    np.testing.assert_array_equal(y_pred, expected)


def test_groups_in_a_collection_of_their_own_or_in_several_columns(new):
    train = make_synthetic(600, random_state=0)
    groups = pd.DataFrame({"z": train.sensitive_features, "w": np.arange(600) % 2})
    clf = CapeClassifier(LogisticRegression(), cv=3, pool="threshold", random_state=0)
    clf.fit(train.data, train.target, sensitive_features=groups)
    frame = train.frame[["U", "V"]].assign(z=groups["z"], w=groups["w"])
    expected = clf.evidence(train.data, sensitive_features=groups)
    ddf = dd.from_pandas(frame, npartitions=4)
    assert scale.evidence(clf, ddf, sensitive_features=["z", "w"]) == expected
    assert (
        scale.evidence(clf, ddf[["U", "V"]], sensitive_features=ddf[["z", "w"]])
        == expected
    )
    y_pred = scale.predict(
        clf, ddf[["U", "V"]], sensitive_features=ddf[["z", "w"]]
    ).compute()
    np.testing.assert_array_equal(
        y_pred, clf.predict(train.data, sensitive_features=groups)
    )


def test_group_columns_and_empty_partitions(new):
    train = make_synthetic(600, random_state=0).frame
    clf = CapeClassifier(LogisticRegression(), cv=3, group_columns="z", random_state=0)
    clf.fit(train[COLUMNS], train["y"])
    ddf = dd.from_pandas(train[COLUMNS], npartitions=5)
    thinned = ddf[ddf["U"] > 10]
    some = train[train["U"] > 10]
    sparse = dd.from_pandas(train[COLUMNS].iloc[:3], npartitions=3)
    none = sparse[sparse["U"] > 1e9]
    assert scale.evidence(clf, thinned) == clf.evidence(some[COLUMNS])
    assert scale.evidence(clf, none).rows == {}
    y_pred = scale.predict(clf, thinned).compute()
    np.testing.assert_array_equal(y_pred, clf.predict(some[COLUMNS]))


def test_wrong_input_is_named(clf, new):
    ddf = dd.from_pandas(new[COLUMNS], npartitions=4)
    with pytest.raises(TypeError, match="ddf must be a Dask DataFrame, got DataFrame"):
        scale.evidence(clf, new)
    with pytest.raises(ValueError, match="must be columns of ddf"):
        scale.evidence(clf, ddf, sensitive_features="nowhere")
    with pytest.raises(ValueError, match="must have the 4 partitions of ddf, got 2"):
        scale.evidence(
            clf, ddf[["U", "V"]], sensitive_features=ddf["z"].repartition(npartitions=2)
        )


def test_a_quantifier_that_keeps_rows_is_refused_by_name(new):
    from quapy.method.aggregative import SMM

    clf = CapeClassifier(
        LogisticRegression(), quantifier=SMM(), cv=3, random_state=0
    ).fit(new[["U", "V"]], new["y"], sensitive_features=new["z"])
    with pytest.raises(TypeError, match="QuaPyQuantifier"):
        scale.adapt(
            clf, dd.from_pandas(new[COLUMNS], npartitions=2), sensitive_features="z"
        )


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit="2GiB",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_members_train_on_the_workers(cluster, new):
    train = make_synthetic(600, random_state=0)
    make = CapeClassifier(LogisticRegression(), cv=2, prevalences=2, random_state=0)
    here = make.fit(
        train.data, train.target, sensitive_features=train.sensitive_features
    ).fingerprint_
    with distributed.get_task_stream(cluster) as tasks:
        there = scale.fit(
            make,
            train.data,
            train.target,
            sensitive_features=train.sensitive_features,
            client=cluster,
        )
    assert there.fingerprint_ == here
    assert len({task["worker"] for task in tasks.data}) == 2


def test_the_commands_use_the_workers(cluster, tmp_path):
    address = cluster.scheduler.address
    d = make_synthetic(1200, random_state=0)
    frame = d.data.assign(z=d.sensitive_features, y=d.target)
    frame[:800].to_csv(tmp_path / "train.csv", index=False)
    frame[800:].drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    options = ["--label", "y", "--group", "z", "--learner", "logistic", "--cv", "2"]
    files = {}
    for where, dask in (("here", []), ("there", ["--dask", address])):
        model, out = str(tmp_path / f"{where}.cape"), tmp_path / f"{where}.csv"
        for command in (
            ["train", str(tmp_path / "train.csv"), "--out", model, *options],
            ["predict", model, str(tmp_path / "new.csv"), "--out", str(out)],
        ):
            with distributed.get_task_stream(cluster) as tasks:
                done = CliRunner().invoke(app, [*command, *dask])
            assert done.exit_code == 0, done.output
            assert bool(tasks.data) == bool(dask)
        files[where] = pd.read_csv(out)
    pd.testing.assert_frame_equal(
        files["here"], files["there"], rtol=1e-5
    )  # a copy of X may lie in memory otherwise


def test_an_address_where_nobody_is(tmp_path):
    frame = make_synthetic(100, random_state=0).frame
    frame.to_csv(tmp_path / "train.csv", index=False)
    options = [
        "--label",
        "y",
        "--group",
        "z",
        "--out",
        str(tmp_path / "model.cape"),
        "--dask",
        "tcp://127.0.0.1:9",
    ]
    found = CliRunner().invoke(app, ["train", str(tmp_path / "train.csv"), *options])
    assert found.exit_code != 0 and not (tmp_path / "model.cape").exists()


def test_a_killed_worker_changes_nothing(cluster, clf, new):
    def slowly(frame):
        time.sleep(0.2)
        return frame

    expected = clf.predict(new[["U", "V"]], sensitive_features=new["z"])
    ddf = dd.from_pandas(new[COLUMNS], npartitions=12).map_partitions(
        slowly, meta=new[COLUMNS].iloc[:0]
    )
    adaptation = clf.adapt(new[["U", "V"]], sensitive_features=new["z"])
    predicted = cluster.compute(
        scale.predict(clf, ddf, sensitive_features="z", adaptation=adaptation)
    )
    time.sleep(0.5)
    victim = next(iter(cluster.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)
    np.testing.assert_array_equal(predicted.result(timeout=60), expected)


def test_parts_are_done_by_the_workers_in_order_and_a_few_at_a_time(cluster, clf, new):
    asked = []

    def parts():
        for start in range(0, len(new), 100):
            asked.append(start)
            yield new.iloc[start : start + 100]

    def look(clf, part):
        return clf.evidence(part[["U", "V"]], sensitive_features=part["z"])

    each = scale.on_workers(cluster, ahead=1)(look, (clf,), parts())
    first, found = next(each)
    assert first.index[0] == 0
    assert len(asked) < 4
    rest = list(each)
    assert [part.index[0] for part, _ in rest] == [100, 200, 300, 400, 500]
    whole = clf.evidence(new[["U", "V"]], sensitive_features=new["z"])
    assert sum((evidence for _, evidence in rest), found) == whole


def test_who_does_the_parts_of_a_file_makes_no_difference(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    from cape.files import predict_file, train_file

    def in_threads(work, shared, parts):
        parts = list(parts)
        with ThreadPoolExecutor(2) as pool:
            return zip(
                parts,
                list(pool.map(lambda part: work(*shared, part), parts)),
                strict=True,
            )

    make_synthetic(400, random_state=0).frame.to_parquet(tmp_path / "train.parquet")
    model = train_file(
        tmp_path / "train.parquet", None, label="y", group=["z"], learner="logistic"
    )
    new = make_synthetic(500, prevalences=(0.2, 0.8), random_state=1).frame.drop(
        columns="y"
    )
    new.to_csv(tmp_path / "new.csv", index=False)
    here = predict_file(model, tmp_path / "new.csv", tmp_path / "here.csv")
    there = predict_file(
        model, tmp_path / "new.csv", tmp_path / "there.csv", rows=70, each=in_threads
    )
    assert there.adaptation == here.adaptation
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
