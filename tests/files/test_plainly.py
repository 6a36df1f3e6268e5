"""Files against the plain computation in memory."""

import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, examine
from cape._tables import TableError, read_table
from cape.files import (
    Columns,
    Notes,
    TableModel,
    count_file,
    gather_evidence,
    monitor_files,
    predict_file,
    train_file,
)
from cape.files._model import file_hash, load_model
from cape.files._reservoir import Reservoir


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def table(n, seed=0, groups=("a", "b", "c")):
    random = np.random.default_rng(seed)
    z = random.choice(groups, n)
    y = (random.random(n) < 0.4).astype(int)
    return pd.DataFrame(
        {"x": random.normal(size=n) + y, "u": random.normal(size=n), "z": z, "y": y}
    )


TRAIN, NEW = table(300), table(90, seed=1)
COLUMNS = Columns("y", ("0", "1"), "number", ("z",), {"x": "number", "u": "number"})


def model_of(**given):
    settings = {
        "cv": 2,
        "prevalences": 4,
        "random_state": 0,
        "group_columns": ["z"],
        **given,
    }
    frame = TRAIN.assign(
        z=TRAIN["z"].where((TRAIN["z"] != "c") | (TRAIN.index < 60), "b")
    )  # "c" is a small group
    clf = CapeClassifier(
        LogisticRegression(), min_group_size=30, small_groups="pooled", **settings
    )
    return TableModel(clf.fit(frame.drop(columns="y"), frame["y"]), COLUMNS, {})


@pytest.fixture(
    scope="module",
    params=["resampled-refit", "resampled-folds", "threshold-refit", "threshold-folds"],
)
def model(request):
    pool, scores = request.param.split("-")
    return model_of(pool=pool, scores=scores, unknown_groups="pooled")


def in_memory(model, frame):
    X = frame.drop(columns=["y"])
    return model.clf.predict_proba(X)[:, 1]


@settings(max_examples=3)
@given(
    rows=st.integers(8, 100), order=st.permutations(range(90)), unknown=st.booleans()
)
def test_any_cut_and_any_order_predict_as_in_memory(
    folder, model, rows, order, unknown
):
    frame = NEW.iloc[order].reset_index(drop=True)
    if unknown:
        frame["z"] = frame["z"].where(frame["u"] < 0.5, "stranger")
    frame.to_csv(folder / "new.csv", index=False)
    found = predict_file(
        model, folder / "new.csv", folder / "out.csv", rows=rows, overwrite=True
    )
    probability = in_memory(model, frame)
    out = pd.read_csv(folder / "out.csv")
    np.testing.assert_allclose(out["probability"], probability, atol=1e-8)
    np.testing.assert_array_equal(out["prediction"], probability > 0.5)
    assert found.evidence == model.clf.evidence(frame.drop(columns="y"))
    for group, rows_of_it in frame.groupby("z").groups.items():
        truth, called = frame["y"][rows_of_it] == 1, probability[rows_of_it] > 0.5
        counts = found.examination.observed.cape[group]
        assert (counts.tp, counts.fp) == (
            (truth & called).sum(),
            (~truth & called).sum(),
        )
        assert counts.rows == len(rows_of_it)
        assert set(out.loc[rows_of_it, "estimated_prevalence"]) == {
            round(found.adaptation.groups[group].estimate.value, 9)
        }


@pytest.mark.parametrize("kind", ["category", "int", "bool", "Int8"])
def test_group_columns_of_any_type_are_the_groups_of_the_text(folder, kind):
    numbers = (NEW["z"] == "a").astype(int)
    fit = TRAIN.assign(z=(TRAIN["z"] == "a").astype(int))
    if kind == "bool":
        numbers, fit["z"] = numbers == 1, fit["z"] == 1
    clf = CapeClassifier(
        LogisticRegression(),
        pool="threshold",
        cv=2,
        group_columns=["z"],
        random_state=0,
    )
    model = TableModel(
        clf.fit(fit.drop(columns="y").astype({"z": str}), fit["y"]), COLUMNS, {}
    )
    NEW.assign(z=numbers.astype(str)).to_csv(folder / "text.csv", index=False)
    NEW.assign(z=numbers.astype(kind)).to_parquet(folder / "typed.parquet")
    expected, _ = gather_evidence(model, folder / "text.csv")
    found, labelled = gather_evidence(model, folder / "typed.parquet", rows=7)
    assert found == expected and labelled


def test_an_unknown_group_is_refused_unless_pooled(folder):
    NEW.assign(z=NEW["z"].where(NEW.index != 88, "stranger")).to_csv(
        folder / "strange.csv", index=False
    )
    model = model_of(pool="threshold")
    before = sorted(folder.iterdir())
    for rows in (5, 89, 1000):
        with pytest.raises(TableError, match=r"not in training: 'stranger' \(1 rows\)"):
            predict_file(model, folder / "strange.csv", folder / "never.csv", rows=rows)
    assert sorted(folder.iterdir()) == before


def test_an_error_leaves_the_file_that_was_there(folder):
    model = model_of(pool="threshold")
    (folder / "old.csv").write_text("precious")
    NEW.assign(z=None).to_csv(folder / "nameless.csv", index=False)
    with pytest.raises(TableError, match="90 of 90 rows have no value in 'z'"):
        predict_file(model, folder / "nameless.csv", folder / "old.csv", overwrite=True)
    with pytest.raises(FileExistsError):
        predict_file(model, folder / "nameless.csv", folder / "old.csv")
    assert (folder / "old.csv").read_text() == "precious"


labels = st.sampled_from(["no", "yes"])


@settings(max_examples=12)
@given(
    pairs=st.lists(
        st.tuples(labels, labels, st.sampled_from(["a", "b"])), min_size=1, max_size=25
    ),
    rows=st.integers(3, 30),
)
def test_counts_of_a_file_are_counted_by_hand(folder, pairs, rows):
    pd.DataFrame(pairs, columns=["y", "p", "g"]).to_csv(
        folder / "scored.csv", index=False
    )
    counts, found = count_file(
        folder / "scored.csv",
        label="y",
        prediction="p",
        group=["g"],
        positive="yes",
        rows=rows,
    )
    by_hand = Counter(pairs)
    assert found[1] == "yes" and sorted(counts) == sorted(
        {group for *_, group in pairs}
    )
    for group, c in counts.items():
        cells = [
            by_hand[truth, called, group]
            for truth in ("yes", "no")
            for called in ("yes", "no")
        ]
        assert [c.tp, c.fn, c.fp, c.tn] == cells and c.rows == sum(cells)


@settings(max_examples=8)
@given(
    seed=st.integers(0, 99),
    most=st.integers(1, 40),
    cuts=st.lists(st.integers(0, 300), max_size=25),
)
def test_a_sample_is_that_of_the_rows_with_the_smallest_draws(seed, most, cuts):
    reservoir = Reservoir(["z"], "y", most=most, seed=seed)
    for part in np.split(np.arange(300), sorted(cuts)):
        reservoir.add(TRAIN.iloc[part])
    luck = np.random.default_rng(seed).random(300)
    kept = []
    for _, of_group in TRAIN.groupby("z"):
        share = min(1, most / of_group["y"].value_counts().max())
        for _, rows in of_group.groupby("y"):
            order = rows.index[np.argsort(luck[rows.index])]
            kept += order[: max(round(share * len(rows)), 1)].tolist()
    pd.testing.assert_frame_equal(reservoir.sample(), TRAIN.loc[sorted(kept)])


def test_a_batch_that_is_watched_is_what_an_examination_says_of_it(folder, model):
    paths = []
    for seed in (3, 4):
        paths.append(folder / f"month{seed}.csv")
        table(120, seed=seed).drop(columns="y").to_csv(paths[-1], index=False)
    for path, batch in zip(
        paths, monitor_files(model, paths, rows=50, level=0.9), strict=True
    ):
        frame = pd.read_csv(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = examine(model.clf, frame, level=0.9)
        adaptation, tests, moved = seen.adaptation, seen.prior_shift, seen.moved
        assert (batch.name, batch.rows, batch.sha256) == (
            path.name,
            120,
            file_hash(path),
        )
        assert (
            [entry["group"] for entry in batch.groups]
            == list(adaptation.groups)
            == ["a", "b", "c"]
        )
        for entry in batch.groups:
            found = adaptation.groups[entry["group"]]
            assert (entry["estimate"], entry["low"], entry["high"]) == (
                found.estimate,
                found.low,
                found.high,
            )
            assert (entry["rows"], entry["pd_bound"], entry["theta"]) == (
                found.rows,
                found.pd_bound,
                found.made_for,
            )
            test = moved.groups[entry["group"]]
            assert entry["p_moved"] == test.p_value
            assert entry["p_moved_adjusted"] == test.p_adjusted
            assert entry["verdict"] == found.verdict
            effect = tests.groups[entry["group"]].effect
            assert entry["unexplained"] == effect


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_every_kind_of_column_reads_alike_from_every_format(folder, suffix):
    frame = pd.DataFrame(
        {
            "n": [1.5, None, -2],
            "t": ["a", None, "007"],
            "d": pd.to_datetime(["2024-01-01 00:00", None, "2024-02-29 10:00"]),
            "f": pd.array([True, None, False], dtype="boolean"),
            "z": ["1", "2", "1"],
        }
    )
    path = folder / f"kinds.{suffix}"
    {
        "csv": lambda f, p: f.to_csv(p, index=False),
        "parquet": pd.DataFrame.to_parquet,
    }.get(suffix, pd.DataFrame.to_feather)(frame, path)
    columns = Columns(
        "y",
        ("0", "1"),
        "number",
        ("z",),
        {"n": "number", "t": "text", "d": "date", "f": "flag"},
    )
    notes = Notes()
    found = columns.table(
        read_table(path, types=columns.types(labels=False)), path, notes
    )
    expected = pd.DataFrame(
        {
            "n": [1.5, np.nan, -2],
            "t": pd.Series(["a", None, "007"], dtype="str"),
            "d": frame["d"].astype("datetime64[us]"),
            "f": [1.0, np.nan, 0.0],
            "z": pd.Series(["1", "2", "1"], dtype="str"),
        }
    )
    pd.testing.assert_frame_equal(found, expected)
    assert list(notes) == []


def test_a_model_trained_on_a_file_is_the_one_trained_in_memory(folder):
    TRAIN.to_csv(folder / "train.csv", index=False)
    given = {"cv": 2, "pool": "threshold", "scores": "refit", "quantifier": "spa"}
    model = train_file(
        folder / "train.csv",
        folder / "m.cape",
        label="y",
        group=["z"],
        learner="logistic",
        settings=given,
    )
    plain = CapeClassifier(
        model.clf.estimator,
        group_columns=["z"],
        preprocessing="once",
        random_state=0,
        **given,
    )
    plain.fit(TRAIN[["x", "u", "z"]].astype({"z": "str"}), TRAIN["y"])
    assert model.clf.fingerprint_ == plain.fingerprint_
    again = load_model(folder / "m.cape")
    assert (
        again.clf.fingerprint_ == plain.fingerprint_ and again.columns == model.columns
    )


def test_a_training_that_fails_leaves_no_model(tmp_path):
    TRAIN.assign(z=["rare", *TRAIN["z"][1:]]).to_csv(
        tmp_path / "train.csv", index=False
    )
    with pytest.raises(ValueError, match="'rare' has 1 rows"):
        train_file(
            tmp_path / "train.csv",
            tmp_path / "m.cape",
            label="y",
            group=["z"],
            learner="logistic",
        )
    assert [file.name for file in tmp_path.iterdir()] == ["train.csv"]


def test_warnings_become_remarks_and_noise_does_not():
    notes = Notes()
    with notes.listening():
        warnings.warn("look  at\nthis", UserWarning, stacklevel=1)
        warnings.warn("look at this", RuntimeWarning, stacklevel=1)
        warnings.warn(
            "Found unknown categories in columns [0]", UserWarning, stacklevel=1
        )
        warnings.warn("soon gone", FutureWarning, stacklevel=1)
    notes.say("and that")
    assert list(notes) == ["look at this", "and that"]
    with pytest.raises(ZeroDivisionError), notes.listening():
        raise ZeroDivisionError
