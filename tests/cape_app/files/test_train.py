"""Training on files: columns, labels, samples, and every mistake a person makes."""

import hashlib
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape_app.files import load_model, predict_file, train_file
from cape_app.files._columns import Columns
from cape_app.files._reservoir import _STREAM, Reservoir
from cape_app.tables import Dialect
from cape_app.tables._open import open_table

FAST = {"cv": 2, "pool": "threshold"}


@pytest.fixture
def light(monkeypatch):
    """A learner that takes numbers only and is trained in no time."""
    monkeypatch.setattr(
        "cape_app.files._train.make_learner", lambda name: LogisticRegression()
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


@pytest.fixture
def train(tmp_path):
    """Write a table and train on it."""

    def call(frame, **options):
        path = tmp_path / "train.csv"
        frame.to_csv(path, index=False)
        chosen = {"label": "y", "group": ["z"], "learner": "logistic", "settings": FAST}
        return train_file(path, None, **{**chosen, **options})

    return call


def codes(notes):
    return [note.code for note in notes]


@pytest.mark.parametrize(
    "learner", ["logistic", pytest.param("boosting", marks=pytest.mark.slow)]
)
def test_text_dates_thousands_of_levels_and_gaps_are_learnt_from(train, learner):
    random = np.random.default_rng(0)
    n = 1500
    y = random.random(n) < 0.4
    word = np.where(y ^ (random.random(n) < 0.2), "stolen", "mislaid")
    days = pd.to_timedelta(random.integers(0, 700, n), unit="D")
    frame = pd.DataFrame(
        {
            "note": [f"{w} in street {i}" for i, w in enumerate(word)],
            "since": pd.Timestamp("2012-01-01") + days,
            "hole": np.where(random.random(n) < 0.9, np.nan, 1.0),
            "y": np.where(y, "yes", "no"),
        }
    )
    chosen = {"cv": 2, "scores": "refit"}
    keep = ["note", "since"]
    model = train(frame, group=[], learner=learner, settings=chosen, keep=keep)
    assert model.columns.features == {"note": "text", "since": "date", "hole": "number"}
    assert model.clf.models_["everyone"].auc() > 0.7


def test_a_model_trained_on_a_file_is_the_one_trained_in_memory(
    light, train, frame, tmp_path
):
    frame = frame.assign(s=["f", "f", "m", "m"] * 50)
    steps = []
    chosen = {"cv": 3, "pool": "threshold", "random_state": 7}
    model = train(
        frame,
        group=["z", "s"],
        drop=["u"],
        settings=chosen,
        on_rows=lambda *step: steps.append(step),
    )
    plain = CapeClassifier(
        LogisticRegression(),
        group_columns=["z", "s"],
        preprocessing="once",
        **chosen,
    )
    with pytest.warns(UserWarning, match="fewer than 25 rows in a class"):
        plain.fit(frame[["x", "z", "s"]], frame["y"])
    assert model.clf.fingerprint_ == plain.fingerprint_
    assert model.clf.groups_ == [("a", "f"), ("a", "m"), ("b", "f"), ("b", "m")]
    # The encoders are put in front of any learner, and never see labels.
    parameters = plain.get_params() | {"rule": "prevalence"}
    for name, value in model.details["settings"].items():
        assert value == parameters[name]
    assert steps == [
        ("reading", 200),
        ("checking", 0),
        ("checking", 200),
        ("training", 0),
    ]
    content = (tmp_path / "train.csv").read_bytes()
    assert model.details["data"] == {
        "file": "train.csv",
        "rows": 200,
        "rows_in_file": 200,
        "sha256": hashlib.sha256(content).hexdigest(),
        "dialect": {
            "separator": ",",
            "encoding": "utf-8",
            "decimal": ".",
            "marks": "",
            "missing": [],
        },
    }


@pytest.mark.slow
def test_the_defaults_are_those_of_the_classifier(train, frame):
    model = train(frame, learner="auto", settings={})
    clf = CapeClassifier(group_columns=["z"], random_state=0)
    clf.fit(frame[["x", "u", "z"]], frame["y"])
    assert model.clf.fingerprint_ == clf.fingerprint_
    assert model.details["learner"] == "auto: mean of three"


@pytest.mark.parametrize(
    ("labels", "positive", "expected", "kind"),
    [
        (["bad", "good"], None, ("bad", "good"), "text"),
        (["bad", "good"], "bad", ("good", "bad"), "text"),
        ([10.0, 9.0], None, ("9", "10"), "number"),
        ([10, 9], "9.0", ("10", "9"), "number"),
        (["1", "unknown"], None, ("1", "unknown"), "text"),
        ([0.5, 1.5], None, ("0.5", "1.5"), "number"),
        ([True, False], None, ("False", "True"), "flag"),
        (["2020-01-01", "2020-01-02"], None, ("2020-01-01", "2020-01-02"), "text"),
    ],
)
def test_which_label_is_positive_and_of_which_kind(
    light, train, frame, labels, positive, expected, kind
):
    frame["y"] = np.array(labels)[frame["y"]]
    model = train(frame.drop(columns="z"), group=[], positive=positive)
    assert (model.columns.labels, model.columns.label_kind) == (expected, kind)


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {"label": "Y"}, r"has no column 'Y'; did you mean 'y'\?"),
        ({}, {"group": ["zz"]}, r"has no column 'zz'"),
        ({}, {"drop": ["nothing"]}, r"has no column 'nothing'"),
        ({}, {"group": ["y"]}, r"'y' cannot be both the label and a group"),
        ({}, {"group": ["z", "z"]}, r"a column can be a group only once, got 'z', 'z'"),
        ({}, {"drop": ["z"]}, r"'z' is the label or a group.*cannot be dropped"),
        ({}, {"drop": ["x", "u"]}, r"no column left to learn from"),
        ({"y": [0, 1, 2, 1] * 50}, {}, r"'y' must hold two values, got 3: '1' \(100"),
        ({"y": 1}, {}, r"label column 'y' must hold two values, got 1"),
        ({}, {"label": "x"}, r"must hold two values, got 200: .* and 196 more\. Make"),
        (
            {"y": [0, 1, None, 1] * 50},
            {"missing_labels": "error"},
            r"50 of the first 200 rows have .* 'y', so no label.*--missing-labels drop",
        ),
        ({"y": None}, {}, r"no row has a label in 'y'"),
        ({"y": list("abcd") * 50}, {}, r"such as --positive \w\.$"),
        (
            {"y": [*"ab"] * 98 + [*"acd?"]},
            {},
            r"If one is a mistake, .*--read-as-missing.* such as --positive \S+\.$",
        ),
        (
            {"y": list("abcd") * 50},
            {"positive": ["a", "x"]},
            r"no value 'x'; its values",
        ),
        ({}, {"positive": ["0", "1"]}, r"--positive names all values"),
        ({}, {"missing_labels": "guess"}, r"missing_labels must be one of"),
        (
            {"z": ["a", None] * 100},
            {},
            r"100 of the first 200 rows have no value in 'z'",
        ),
        (
            {"z": ["a"] * 190 + ["rare"] * 10},
            {"settings": {"small_groups": "error"}},
            r"'rare' has 10 rows",
        ),
        ({"x": None, "u": None}, {}, r"all values of all columns to learn from"),
        ({}, {"learner": "magic"}, r"learner must be one of"),
        ({}, {"positive": "evil"}, r"has no value 'evil'"),
        ({}, {"most": 0}, "most must be at least 1, got 0"),
    ],
)
def test_mistakes(light, train, tmp_path, frame, change, options, words):
    with pytest.raises(ValueError, match=words):
        train(frame.assign(**change), **options)
    assert [file.name for file in tmp_path.iterdir()] == ["train.csv"]


def test_rows_without_a_label_are_left_out(light, train, frame, notes):
    gaps = frame.astype({"y": object})
    gaps.loc[::4, "y"] = None
    gaps.loc[1, "y"] = " "
    model = train(gaps, notes=notes)
    labelled = frame.drop(index=[*range(0, 200, 4), 1])
    assert model.clf.fingerprint_ == train(labelled).clf.fingerprint_
    note = {"n": 51, "rows": 200}
    assert [one.values for one in notes if one.code == "missing_labels"] == [note]
    assert model.details["data"]["rows_in_file"] == 200


def test_a_total_below_the_rows_is_left_out(light, train, frame, tmp_path, notes):
    columns = ["x", "u", "z", "y"]
    total = pd.DataFrame([["Total", 7.5, None, 101]], columns=columns)
    model = train(pd.concat([frame[columns], total]), notes=notes)
    plain = train(frame[columns])
    assert model.columns == plain.columns
    assert model.clf.fingerprint_ == plain.clf.fingerprint_
    assert codes(notes) == ["total"]
    # Among numbers of a later file the word stops the reader.
    new = tmp_path / "new.csv"
    pd.concat([frame[columns], total]).to_csv(new, index=False)
    with pytest.raises(ValueError, match=r"'x': expected numbers.*delete that line"):
        predict_file(model, new)
    # In a column that the model does not use it does not.
    below = total.assign(x=1, id="Summe:")
    table = pd.concat([frame.assign(id=range(200)), below])[["id", *columns]]
    table.to_csv(new, index=False)
    notes = type(notes)()
    prediction = predict_file(model, new, tmp_path / "out.csv", rows=10, notes=notes)
    assert prediction.rows == len(pd.read_csv(tmp_path / "out.csv")) == 200
    assert "total" in codes(notes)


def test_numbers_are_cut_into_groups_of_later_files_too(light, train, frame, tmp_path):
    ages = frame.assign(age=np.arange(200) % 60 + 0.5)
    edges = {"age": [18, 30]}
    model = train(ages, group=["age"], drop=["z"], bins=edges)
    assert model.clf.groups_ == ["18-29", "30+", "under 18"]
    assert Columns.from_dict(model.columns.to_dict()) == model.columns
    ages.to_csv(tmp_path / "new.csv", index=False, sep=";", decimal=",")
    dialect = Dialect(separator=";", decimal=",")
    batch = predict_file(model, tmp_path / "new.csv", dialect=dialect).examination
    assert list(batch.names.values()) == model.clf.groups_
    with pytest.raises(ValueError, match="column 'age': expected numbers, got 'old'"):
        train(
            ages.astype({"age": object}).replace(30.5, "old"), bins=edges, group=["age"]
        )


def test_a_column_with_many_numbers_is_better_cut(light, train, frame, notes):
    many = frame.assign(z=np.arange(200) % 25)
    train(many, notes=notes, settings={**FAST, "small_groups": "pooled"})
    (note,) = [note for note in notes if note.code == "many_groups"]
    assert note.values == {"column": "z", "n": 25, "edges": "6,12,18"}


def test_names_in_two_forms_of_unicode_are_one_group(light, train, frame, notes):
    composed, apart = "Zo\u00eb", "Zoe\u0308"
    names = frame["z"].replace("a", composed)
    names[::4] = apart
    model = train(frame.assign(z=names), notes=notes)
    assert model.clf.groups_ == [composed, "b"]
    assert codes(notes) == []


MARKS = np.array(["Fail", "Withdrawn", "Pass", "Distinction"])


def test_some_labels_are_set_against_the_rest(light, train, frame, tmp_path, notes):
    marks = frame.assign(y=MARKS[2 * frame["y"] + np.arange(200) % 2])
    wanted = ["Pass", "Distinction"]
    model = train(marks, positive=wanted, notes=notes)
    assert codes(notes) == ["against_rest"]
    assert model.columns.labels == ("not Pass or Distinction", "Pass or Distinction")
    # Later labels are read alike.
    assert Columns.from_dict(model.columns.to_dict()) == model.columns
    out = tmp_path / "out.csv"
    prediction = predict_file(model, tmp_path / "train.csv", out)
    written = pd.read_csv(out)["prediction"]
    assert set(written) == set(model.columns.labels)
    observed = prediction.examination.observed.cape
    assert sum(group.tp + group.fn for group in observed.values()) == frame["y"].sum()
    assert model.clf.fingerprint_ == train(frame).clf.fingerprint_


def test_other_mistakes(train, tmp_path, frame):
    with pytest.raises(ValueError, match="has a header but no rows"):
        train(frame.head(0))
    with pytest.raises(TypeError, match="swimming"):
        train(frame, settings={"swimming": "pool"})
    lists = pd.DataFrame({"v": [[1, 2]] * 4, "y": [0, 1] * 2})
    lists.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"column 'v' holds lists or bytes.*--drop"):
        train_file(tmp_path / "t.parquet", None, label="y")


def test_a_model_is_replaced_only_on_request_and_before_the_work(tmp_path):
    (tmp_path / "m.cape").write_text("precious")
    with pytest.raises(FileExistsError):
        train_file("no-such-file.csv", tmp_path / "m.cape", label="y")
    assert (tmp_path / "m.cape").read_text() == "precious"


def test_an_answer_in_two_columns_is_noted(train, frame, notes):
    noise = np.random.default_rng(1).normal(size=200)
    answer = {"first": noise, "second": frame.y - noise}
    train(frame.assign(**answer), group=[], notes=notes)
    assert codes(notes) == ["perfect_scores"]


def suspicious(frame):
    """Add a column of each kind that should not be learned from."""
    n = np.arange(len(frame))
    return frame.assign(
        row=n + 1,
        case=n * 7919 % 100_003,
        answer=frame.y * 2.0 + 1,
        day=pd.Timestamp("2013-01-01") + pd.to_timedelta(n * 37 % 101, unit="D"),
    )


SUSPICIOUS = {"row": "row number", "answer": "tells the answer", "day": "date"}


def test_suspicious_columns_are_left_out_as_with_drop(train, frame, notes):
    table = suspicious(frame)
    table["case"] = [f"case {i}" for i in range(200)]
    kinds = {**SUSPICIOUS, "case": "identifier"}
    left = train(table, notes=notes)
    assert codes(notes) == ["left_out"] * 4
    named = {}
    for note in notes:
        for column, _ in note.values["columns"]:
            named[column] = note.values["kind"]
    assert named == kinds
    findings = left.details["suspicious"]["findings"]
    assert {one["column"]: one["kind"] for one in findings} == kinds
    same = train(table, drop=list(kinds))
    assert left.columns == same.columns
    assert left.clf.fingerprint_ == same.clf.fingerprint_
    assert same.details["suspicious"]["findings"] == []
    kept = train(table, keep=["row"])
    assert set(kept.columns.features) - set(left.columns.features) == {"row"}
    assert kept.details["suspicious"]["kept"] == ["row"]


def test_groups_are_not_suspicious(light, train, frame, notes):
    # The group tells the answer, but the user named it.
    z = np.where(frame.y == 1, "a", "b")
    z[:80:2] = "a"
    z[1:80:2] = "b"
    train(frame.assign(z=z), notes=notes)
    assert "left_out" not in codes(notes)


def test_something_must_be_left_to_learn_from(light, train, frame):
    table = suspicious(frame).drop(columns=["x", "u", "case"])
    with pytest.raises(ValueError, match=r"no column left to learn from.*'row'"):
        train(table)
    table = table[["y", "z"]]
    with pytest.raises(ValueError, match=r"all values of all columns to learn from"):
        train(table.assign(empty=np.nan))
    with pytest.raises(ValueError, match=r"no column left .* all are left out \('k'\)"):
        train(table.assign(k=7))


def test_constant_columns_are_dropped_with_a_note(light, train, frame, notes):
    model = train(frame.assign(empty=np.nan, k="A"), notes=notes)
    assert set(model.columns.features) == set(train(frame).columns.features)
    (note,) = [note for note in notes if note.code == "left_out"]
    assert note.values["kind"] == "constant"
    assert [name for name, _ in note.values["columns"]] == ["empty", "k"]


def test_later_files_need_no_suspicious_columns(light, tmp_path, frame):
    table = suspicious(frame).drop(columns="case")
    table.to_csv(tmp_path / "with.csv", index=False)
    frame.to_csv(tmp_path / "without.csv", index=False)
    model = train_file(
        tmp_path / "with.csv",
        tmp_path / "m.cape",
        label="y",
        drop=["z"],
        learner="logistic",
        settings=FAST,
    )
    saved = load_model(tmp_path / "m.cape")
    assert saved.details == model.details
    outputs = []
    for name in ("with", "without"):
        out = tmp_path / f"{name}_out.csv"
        predict_file(saved, tmp_path / f"{name}.csv", out)
        outputs.append(pd.read_csv(out)["prediction"].tolist())
    assert outputs[0] == outputs[1]


def test_a_warning_of_the_learner_is_a_note(train, frame, monkeypatch, notes):
    class Loud(LogisticRegression):
        def fit(self, X, y):
            warnings.warn("this is odd", UserWarning, stacklevel=1)
            return super().fit(X, y)

    monkeypatch.setattr("cape_app.files._train.make_learner", lambda name: Loud())
    train(frame, notes=notes)
    assert [note.values for note in notes] == [{"text": "this is odd"}]


def test_a_long_table_is_sampled_with_a_note(light, train, frame, notes):
    model = train(frame, most=30, notes=notes)
    (note,) = [note for note in notes if note.code == "sampled"]
    n = model.details["data"]["rows"]
    assert note.values == {"n": n, "rows": 200, "most": 30}
    assert n < 120 and model.details["data"]["rows_in_file"] == 200
    for group, of_group in frame.groupby("z")["y"]:
        share = model.clf.models_[group].prevalence
        assert share == pytest.approx(of_group.mean(), abs=0.02)


def test_what_cape_wrote_is_not_learnt_from(train, frame, notes):
    wrote = {"prediction": 1, "probability": frame["x"], "estimated_prevalence": 0.3}
    model = train(frame.assign(**wrote), notes=notes)
    assert [note.values for note in notes if note.code == "own_columns"] == [
        {"columns": ["prediction", "probability", "estimated_prevalence"]}
    ]
    assert list(model.columns.features) == ["x", "u"]


def test_words_that_make_numbers_text_stop_training(train, frame, notes):
    """A code of letters and figures is no such column, nor are a few classes."""
    numbers = [str(number) for number in range(100)] * 2
    frame["w"] = ["A1", "7"] * 100
    frame["deck"] = [*"1234567"] * 28 + [*"1", "?", "?", "-"]
    train(frame, notes=notes)
    frame = frame.drop(columns=["w", "deck"])
    frame["u"] = [*numbers[:-3], "n.v.", "n.v.", "-"]
    says = (
        r"column 'u': 3 of 200 rows say 'n.v.', '-', .*--read-as-missing n.v. .*--drop"
    )
    with pytest.raises(ValueError, match=says):
        train(frame)
    read = Dialect(missing=("n.v.", "-"))
    assert train(frame, dialect=read).columns.features["u"] == "number"


@pytest.mark.parametrize(
    ("texts", "dialect", "value"),
    [
        (["{0},5", "1.{0}0,25"], {"decimal": ",", "marks": "."}, 10.5),
        (["{0},000", "1,0{0},000"], {"marks": ","}, 10_000),
        (["{0}%", "{0} %"], {"marks": "%"}, 10),
        (["{0} €", "1'0{0} €"], {"marks": "€'"}, 10),
        (["$1,{0}0.25"], {"marks": "$,"}, 1100.25),
    ],
)
def test_numbers_that_are_text_stop_training(
    light, train, frame, tmp_path, texts, dialect, value
):
    frame["x"] = frame["x"].round() * 10
    frame = frame.astype({"x": int})
    frame["u"] = [texts[i % len(texts)].format(i // 2 % 50 + 10) for i in range(200)]
    with pytest.raises(ValueError, match="column 'u': numbers are written as"):
        train(frame)
    assert list(train(frame, drop=["u"]).columns.features) == ["x"]
    model = train(frame, dialect=Dialect(**dialect))
    assert model.columns.features["u"] == "number"
    assert model.dialect == Dialect(**dialect)
    table = open_table(tmp_path / "train.csv", Dialect(**dialect))
    (part,) = table.parts(columns=["u"], types={"u": "number"})
    assert part["u"][0] == value


def test_spellings_of_a_label_are_one_label(light, train, frame, notes, tmp_path):
    words = {1: ["Ja", "ja ", "JA"], 0: ["Nein", "nein"]}
    spelled = [words[y][i % len(words[y])] for i, y in enumerate(frame["y"])]
    model = train(frame.assign(y=spelled), notes=notes)
    assert codes(notes) == ["spellings"]
    assert [label.casefold().strip() for label in model.columns.labels] == [
        "nein",
        "ja",
    ]
    plain = train(frame.assign(y=np.where(frame["y"] == 1, "ja", "nein")))
    assert model.clf.fingerprint_ == plain.clf.fingerprint_
    # Spellings of a later file may be new.
    later = pd.DataFrame({"y": ["jA", " NEIN", None]})
    assert model.columns.positive(later, "new.csv", notes).tolist() == [1, 0, -1]


TABLE = pd.DataFrame(
    {
        "x": np.arange(1200),
        "z": np.tile(["a", "b", "b"], 400),
        "y": np.repeat([0, 1, 0], [480, 360, 360]),
    }
)


def filled(table, cuts=(), most=50, seed=0):
    """Fill a reservoir with a table that is cut into parts."""
    reservoir = Reservoir(["z"], "y", most=most, seed=seed)
    for rows in np.split(np.arange(len(table)), sorted(cuts)):
        reservoir.add(table.iloc[rows])
    return reservoir


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 99),
    most=st.sampled_from([1, 7, 50, 5000]),
    cuts=st.lists(st.integers(0, 1200), max_size=25),
)
def test_a_sample_is_that_of_the_rows_with_the_smallest_draws(seed, most, cuts):
    reservoir = filled(TABLE, cuts, most, seed)
    draws = np.random.default_rng([seed, _STREAM]).random(1200)
    kept = []
    for _, of_group in TABLE.groupby("z"):
        share = min(1, most / of_group["y"].value_counts().max())
        for _, rows in of_group.groupby("y"):
            order = rows.index[np.argsort(draws[rows.index])]
            kept += order[: max(round(share * len(rows)), 1)].tolist()
    sample = reservoir.sample()
    pd.testing.assert_frame_equal(sample, TABLE.loc[sorted(kept)])
    pd.testing.assert_frame_equal(reservoir.sample(), sample)


def test_categories_that_do_not_occur_are_no_class():
    groups = pd.Categorical(TABLE["z"], categories=["a", "b", "never"])
    sample = filled(TABLE.assign(z=groups), most=5).sample()
    assert set(sample["z"]) == {"a", "b"}


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file():
    reservoir = Reservoir(["z"], "y", most=20)
    sizes = []
    for _ in range(90):
        reservoir.add(TABLE)
        sizes.append(len(pickle.dumps(reservoir)))
    assert max(sizes[30:]) < 1.3 * max(sizes[:30])


def test_the_auc_of_all_groups_is_not_that_of_a_small_one(light, train, frame):
    groups = np.where(np.arange(len(frame)) < 12, "few", frame["z"])
    table = frame.assign(z=groups)
    for small_groups in ("pooled", "borrow"):
        settings = {**FAST, "small_groups": small_groups}
        model = train(table, settings=settings)
        aucs = {entry["group"]: entry["auc"] for entry in model.details["groups"]}
        rows = {entry["group"]: entry["rows"] for entry in model.details["groups"]}
        assert aucs["few"] is None and rows["few"] == 12
        assert 0 < aucs["a"] < 1
