"""Training on files: columns, labels, and every mistake a person makes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, persist
from cape._tables import TableError
from cape.files import (
    DEFAULT_SETTINGS,
    Notes,
    file_hash,
    load_model,
    predict_file,
    train_file,
)
from cape.files._plain_text import by_value

FAST = {"cv": 2, "pool": "threshold"}


def train(frame, tmp_path, **options):
    path = tmp_path / "train.csv"
    frame.to_csv(path, index=False)
    return train_file(
        path,
        None,
        **{
            "label": "y",
            "group": ["z"],
            "learner": "logistic",
            "settings": FAST,
            **options,
        },
    )


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    return pd.DataFrame(
        {
            "x": random.normal(size=200) + y,
            "u": random.normal(size=200),
            "z": ["a", "b"] * 100,
            "y": y,
        }
    )


def test_a_saved_model_knows_its_table(people_folder, people_model):
    folder, model = people_folder, people_model
    assert model.columns.label == "y"
    assert model.columns.groups == ("race",)
    kinds = {"age": "number", "degree": "text", "free": "flag"}
    assert model.columns.features == kinds
    assert model.clf.groups_ == ["blue", "green"]
    assert model.details["data"]["rows"] == 900
    assert len(model.details["data"]["sha256"]) == 64
    assert model.details["settings"]["scores"] == "auto"
    assert persist.read_header(folder / "m.cape")["details"] == model.details


@pytest.mark.parametrize("learner", ["logistic", "boosting"])
def test_text_dates_thousands_of_levels_and_gaps_are_learnt_from(tmp_path, learner):
    random = np.random.default_rng(0)
    n = 2500
    y = random.random(n) < 0.4
    word = np.where(y ^ (random.random(n) < 0.2), "stolen", "mislaid")
    frame = pd.DataFrame(
        {
            "note": [f"{w} in street {i}" for i, w in enumerate(word)],
            "since": pd.Timestamp("2012-01-01")
            + pd.to_timedelta(random.integers(0, 700, n), unit="D"),
            "hole": np.where(random.random(n) < 0.9, np.nan, 1.0),
            "y": np.where(y, "yes", "no"),
        }
    )
    model = train(
        frame,
        tmp_path,
        group=[],
        learner=learner,
        settings={"cv": 2, "scores": "refit"},
    )
    assert model.columns.features == {"note": "text", "since": "date", "hole": "number"}
    assert frame["note"].nunique() == n
    assert model.clf.models_["everyone"].auc() > 0.7


def test_columns_can_be_dropped_and_groups_combined(tmp_path, frame):
    model = train(
        frame.assign(s=["f", "f", "m", "m"] * 50),
        tmp_path,
        drop=["u"],
        group=["z", "s"],
    )
    assert list(model.columns.features) == ["x"]
    assert model.clf.groups_ == [("a", "f"), ("a", "m"), ("b", "f"), ("b", "m")]
    assert train(frame, tmp_path, group=[]).clf.groups_ == ["everyone"]


def test_which_label_is_positive(tmp_path, frame):
    words = frame.assign(y=np.where(frame.y == 1, "bad", "good"))
    assert train(words, tmp_path).columns.labels == ("bad", "good")
    assert train(words, tmp_path, positive="bad").columns.labels == ("good", "bad")
    assert train(frame.assign(y=frame.y + 9.0), tmp_path).columns.labels == ("9", "10")
    with pytest.raises(
        TableError, match="the positive label must be 'bad' or 'good', got 'evil'"
    ):
        train(words, tmp_path, positive="evil")
    assert sorted(["b", "10", "9", "a", "-1"], key=by_value) == [
        "-1",
        "9",
        "10",
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {"label": "Y"}, r"has no column 'Y'; did you mean 'y'\?"),
        ({}, {"group": ["zz"]}, r"has no column 'zz'; its columns are 'x'"),
        (
            {},
            {"drop": ["nothing"]},
            r"has no column 'nothing'; its columns are 'x', 'u', 'z', 'y'",
        ),
        ({}, {"group": ["y"]}, r"'y' cannot be both the label and a group"),
        ({}, {"drop": ["x", "u"]}, r"no column left to learn from"),
        (
            {"y": [0, 1, 2, 1] * 50},
            {},
            r"label column 'y' must hold two values, got 3: '1' \(100 rows\)",
        ),
        ({"y": 1}, {}, r"label column 'y' must hold two values, got 1"),
        (
            {"y": [0, 1, None, 1] * 50},
            {},
            r"label column 'y': 50 of 200 rows have no label",
        ),
        (
            {"z": ["a", None] * 100},
            {},
            r"group column 'z': 100 of 200 rows have no value",
        ),
        ({"z": ["a"] * 190 + ["rare"] * 10}, {}, r"'rare' has 10 rows"),
        (
            {"x": None, "u": None},
            {},
            r"all values of all columns to learn from are missing",
        ),
        (
            {},
            {"learner": "magic"},
            r"learner must be one of 'auto', 'boosting', 'logistic', got 'magic'",
        ),
    ],
)
def test_mistakes(tmp_path, frame, change, options, words):
    with pytest.raises(ValueError, match=words):
        train(frame.assign(**change), tmp_path, **options)


def test_lists_are_no_features(tmp_path):
    frame = pd.DataFrame({"v": [[1, 2]] * 4, "y": [0, 1] * 2})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"column 'v' holds lists or bytes.*--drop"):
        train_file(tmp_path / "t.parquet", None, label="y")


def test_a_model_is_replaced_only_on_request_and_before_the_work(tmp_path, frame):
    (tmp_path / "m.cape").write_text("precious")
    with pytest.raises(FileExistsError, match="--force"):
        train_file("no-such-file.csv", tmp_path / "m.cape", label="y")
    assert (tmp_path / "m.cape").read_text() == "precious"


def test_an_answer_in_two_columns_is_noted(tmp_path, frame):
    notes = Notes()
    noise = np.random.default_rng(1).normal(size=200)
    answer = {"first": noise, "second": frame.y - noise}
    train(frame.assign(**answer), tmp_path, group=[], notes=notes)
    assert ["does a column hold the answer" in note for note in notes] == [True]


def suspicious(frame):
    """Add a column of each kind that should not be learned from."""
    n = np.arange(len(frame))
    return frame.assign(
        row=n + 1,
        case=[f"case {i}" for i in n],
        answer=np.where(frame.y == 1, "late", "in time"),
        day=pd.Timestamp("2013-01-01") + pd.to_timedelta(n * 37 % 101, unit="D"),
    )


def test_suspicious_columns_are_noted_and_learned_from(tmp_path, frame):
    notes = Notes()
    model = train(suspicious(frame), tmp_path, notes=notes)
    assert list(notes) == [
        f"{words}. Leave a column out with --drop, all suspicious columns with "
        "--drop-suspicious."
        for words in [
            "row numbers, which mean nothing in another file: 'row' (counts the rows)",
            "columns that tell the answer, perhaps because they were filled in after "
            "it was known: 'answer' (alone has an AUC of 1.000)",
            "dates, which in later files come after all of training: 'day' (holds "
            "dates)",
            "identifiers, whose values are new in every file: 'case' (all 200 values "
            "differ)",
        ]
    ]
    features = ["x", "u", "row", "case", "answer", "day"]
    assert list(model.columns.features) == features
    assert not model.details["suspicious"]["dropped"]


def test_suspicious_columns_are_dropped_as_with_drop(tmp_path, frame):
    notes = Notes()
    names = ["row", "case", "answer", "day"]
    dropped = train(suspicious(frame), tmp_path, notes=notes, drop_suspicious=True)
    assert all(note.startswith("dropped ") for note in notes)
    assert all(repr(name) in " ".join(notes) for name in names)
    assert dropped.details["suspicious"] == {
        "rows": 200,
        "rows_in_table": 200,
        "findings": [
            {"column": "row", "kind": "row number", "why": "counts the rows"},
            {"column": "case", "kind": "identifier", "why": "all 200 values differ"},
            {
                "column": "answer",
                "kind": "tells the answer",
                "why": "alone has an AUC of 1.000",
            },
            {"column": "day", "kind": "date", "why": "holds dates"},
        ],
        "dropped": True,
    }
    same = train(suspicious(frame), tmp_path, drop=names)
    assert dropped.columns == same.columns
    assert dropped.clf.fingerprint_ == same.clf.fingerprint_
    assert same.details["suspicious"]["findings"] == []


def test_nothing_suspicious_nothing_dropped(tmp_path, frame):
    notes = Notes()
    dropped = train(frame, tmp_path, notes=notes, drop_suspicious=True)
    assert list(notes) == []
    assert dropped.clf.fingerprint_ == train(frame, tmp_path).clf.fingerprint_


def test_groups_are_not_suspicious(tmp_path, frame):
    # The group tells the answer, but the user named it.
    notes = Notes()
    z = np.where(frame.y == 1, "a", "b")
    z[:80:2] = "a"
    z[1:80:2] = "b"
    assert train(frame.assign(z=z), tmp_path, notes=notes, drop_suspicious=True)
    assert not any("dropped" in note for note in notes)


def test_a_file_of_suspicious_columns_is_refused(tmp_path, frame):
    table = suspicious(frame).drop(columns=["x", "u"])
    with pytest.raises(TableError, match=r"no column left to learn from.*'row'"):
        train(table, tmp_path, drop_suspicious=True)


def test_later_files_need_no_suspicious_columns(tmp_path, frame):
    options = {"label": "y", "learner": "logistic", "settings": FAST}
    suspicious(frame).to_csv(tmp_path / "train.csv", index=False)
    model = train_file(
        tmp_path / "train.csv",
        tmp_path / "m.cape",
        drop_suspicious=True,
        **options,
    )
    saved = load_model(tmp_path / "m.cape")
    assert saved.details == model.details
    for name in ("with", "without"):
        table = frame if name == "without" else suspicious(frame)
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        predict_file(saved, tmp_path / f"{name}.csv", tmp_path / f"{name}_out.csv")
    outputs = [
        pd.read_csv(tmp_path / f"{name}_out.csv")["prediction"]
        for name in ("with", "without")
    ]
    assert outputs[0].tolist() == outputs[1].tolist()


def test_auc_is_scikit_learns_auc(tmp_path, frame):
    from sklearn.metrics import roc_auc_score

    from cape.histogram import ONE

    model = train(frame, tmp_path, group=[]).clf.models_["everyone"]
    scores = [h.centres.repeat(h.counts) for h in (model.positives, model.negatives)]
    assert all(score.max() <= ONE for score in scores)
    truth = np.repeat([1, 0], [len(scores[0]), len(scores[1])])
    assert model.auc() == pytest.approx(
        roc_auc_score(truth, np.concatenate(scores)), abs=2e-3
    )


def test_settings_replace_the_defaults_and_are_saved(tmp_path, frame):
    model = train(frame, tmp_path, settings={"cv": 3, "random_state": 7})
    # The encoders are put in front of any learner, and never see labels.
    expected = {**DEFAULT_SETTINGS, "preprocessing": "once", "cv": 3, "random_state": 7}
    assert model.details["settings"] == expected
    assert model.clf.cv == 3
    assert model.clf.random_state == 7
    assert DEFAULT_SETTINGS["cv"] == "auto"


def test_the_same_file_gives_the_same_model(tmp_path, frame):
    one = train(frame, tmp_path)
    other = train(frame, tmp_path)
    assert one.clf.fingerprint_ == other.clf.fingerprint_
    assert one.details == other.details


def test_the_defaults_are_those_of_the_classifier(tmp_path, frame):
    model = train(frame, tmp_path, learner="auto", settings={})
    clf = CapeClassifier(group_columns=["z"], random_state=0)
    clf.fit(frame[["x", "u", "z"]], frame["y"])
    assert model.clf.fingerprint_ == clf.fingerprint_
    assert model.details["learner"] == "auto: mean of three"


def test_progress_goes_from_reading_to_training(tmp_path, frame):
    steps = []
    train(frame, tmp_path, on_rows=lambda *step: steps.append(step))
    assert steps == [("reading", 200), ("training", 0)]


def test_the_file_that_was_trained_on_is_recorded(tmp_path, frame):
    data = train(frame, tmp_path).details["data"]
    assert data == {
        "file": "train.csv",
        "rows": 200,
        "rows_in_file": 200,
        "sha256": file_hash(tmp_path / "train.csv"),
        "dialect": {"separator": ",", "encoding": "utf-8", "decimal": "."},
    }


def test_a_warning_of_the_learner_is_a_note(tmp_path, frame, monkeypatch):
    class Loud(LogisticRegression):
        def fit(self, X, y):
            warnings.warn("this is odd", UserWarning, stacklevel=1)
            return super().fit(X, y)

    monkeypatch.setattr("cape.files._train.make_learner", lambda name: Loud())
    notes = Notes()
    train(frame, tmp_path, notes=notes)
    assert list(notes) == ["this is odd"]


def test_an_unknown_setting_is_refused(tmp_path, frame):
    with pytest.raises(TypeError, match="swimming"):
        train(frame, tmp_path, settings={"swimming": "pool"})
