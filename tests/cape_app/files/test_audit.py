"""Counting a scored file: the same as the metrics, however the file is cut."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.metrics import confusion_by_group
from cape_app.files import count_file
from cape_app.files._notes import Notes


def make_frame(seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "y": random.integers(0, 2, 300),
            "p": random.integers(0, 2, 300).astype(float),
            "g": random.choice(["a", "b"], 300),
            "s": random.integers(1, 3, 300).astype(float),
        }
    )


@pytest.fixture
def frame():
    return make_frame()


@pytest.fixture
def count(tmp_path):
    """Write a frame to a file and count it."""

    def call(frame, name="scored.csv", **options):
        path = tmp_path / name
        if name.endswith("csv"):
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
        return count_file(path, **{"label": "y", "prediction": "p", **options})

    return call


@pytest.mark.parametrize("rows", [7, 100, 1000])
def test_counts_are_those_of_the_metrics(count, frame, rows):
    counts, labels, _ = count(frame, group=["g"], rows=rows)
    expected = confusion_by_group(frame["y"], frame["p"], sensitive_features=frame["g"])
    assert counts == expected
    assert labels == ("0", "1")


def test_a_typed_file_is_counted_as_a_csv(count, frame):
    expected = count(frame, group=["g", "s"])
    assert count(frame, "scored.parquet", group=["g", "s"])[:2] == expected[:2]


@settings(max_examples=10)
@given(st.permutations(range(300)))
def test_the_order_of_rows_does_not_matter(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("order")
    frame = make_frame()
    frame.to_csv(folder / "one.csv", index=False)
    frame.iloc[order].to_csv(folder / "other.csv", index=False)
    columns = {"label": "y", "prediction": "p", "group": ["g"]}
    one, *_ = count_file(folder / "one.csv", **columns)
    other, *_ = count_file(folder / "other.csv", **columns)
    assert list(one.items()) == list(other.items())


def test_several_columns_make_groups_of_combinations(count, frame, notes):
    counts, *_ = count(frame, group=["g", "s"], notes=notes)
    assert list(counts) == [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")]
    assert [note.code for note in notes] == ["respelled"]


def test_without_group_columns_all_rows_are_one_group(count, frame):
    counts, *_ = count(frame)
    assert list(counts) == ["everyone"]
    assert counts["everyone"].rows == 300


def test_a_label_that_is_its_own_prediction_is_always_right(count, frame):
    counts, *_ = count(frame, prediction="y")
    everyone = counts["everyone"]
    assert everyone.accuracy == 1
    assert everyone.tp == frame["y"].sum()


def test_naming_the_other_label_positive_swaps_the_counts(count, frame):
    straight, *_ = count(frame, group=["g"])
    flipped, labels, _ = count(frame, group=["g"], positive="0")
    assert labels == ("1", "0")
    for group in ("a", "b"):
        assert flipped[group].tp == straight[group].tn
        assert flipped[group].fp == straight[group].fn
        assert flipped[group].rows == straight[group].rows


@pytest.mark.parametrize("positive", ["1", "1.0"])
def test_the_positive_label_may_be_spelled_as_in_either_column(count, frame, positive):
    expected = count(frame)
    assert count(frame, positive=positive) == expected


def test_one_label_alone_needs_to_be_told(count, frame):
    all_no = frame.assign(y="no", p="no")
    with pytest.raises(ValueError, match=r"only 'no' occurs.*--positive"):
        count(all_no)
    counts, labels, _ = count(all_no, positive="yes")
    assert counts["everyone"].tn == 300
    assert labels == ("no", "yes")


@pytest.mark.parametrize(("label", "cell"), [(1, "tp"), (0, "tn")])
def test_zero_or_one_alone_needs_not(count, frame, label, cell):
    counts, labels, _ = count(frame.assign(y=label, p=label))
    assert getattr(counts["everyone"], cell) == 300
    assert labels == ("0", "1")


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"label": "Y"}, r"no column 'Y'; did you mean 'y'\?"),
        ({}, {"prediction": "pp"}, r"no column 'pp'; its columns are 'y', 'p', 'g'"),
        ({}, {"group": ["gg"]}, r"no column 'gg'; its columns are"),
        ({}, {"group": ["g", "g"]}, r"a column can be a group only once, got 'g', 'g'"),
        ({}, {"positive": "x"}, r"the positive label must be '0' or '1', got 'x'"),
        (
            {"p": ["0", "1", "maybe"] * 100},
            {},
            r"'y' and 'p' must together hold two values, got 3: '0', '1', 'maybe'",
        ),
        (
            {"p": range(300)},
            {},
            r"got 300: '0', '1', '2', '3', '4' and 295 more.*--threshold 0\.5",
        ),
        (
            {"y": [0, 1, 2] * 100},
            {},
            r"'y' must hold two values, got 3: .*such as --positive \d\.$",
        ),
        (
            {"y": ["a", "b", "c", "d"] * 75},
            {"positive": ["a", "e"]},
            r"no value 'e'; its values are 'a' \(75 rows\), 'b'",
        ),
        ({}, {"positive": ["0", "1"]}, r"--positive names all values"),
        ({"y": None}, {}, r"no row has a label"),
        ({"g": ["a"] * 299 + [None]}, {}, r"If it is a total"),
        (
            {"g": ["a", None] * 150},
            {},
            r"150 of the first 300 rows have no value in 'g'",
        ),
        (
            {"y": [1, None, 0] * 100},
            {"missing_labels": "error"},
            r"100 of the first 300 rows have .* 'y', so .*; the first are lines 3",
        ),
        ({"p": [1, None, 0] * 100}, {}, r"column 'p': 100 rows have no value"),
        ({"p": ["x", 0.5] * 150}, {"threshold": 0.5}, r"column 'p'.*number"),
    ],
)
def test_what_is_wrong_is_said(count, frame, change, options, message):
    with pytest.raises(ValueError, match=message):
        count(frame.assign(**change), **{"group": ["g"], **options})


@pytest.fixture
def in_words(tmp_path):
    """Labels yes and no, and predictions that say high and low."""
    frame = pd.DataFrame(
        {
            "y": ["yes"] * 6 + ["no"] * 6,
            "p": ["high"] * 5 + ["low"] * 5 + ["high"] * 2,
        }
    )
    frame.to_csv(tmp_path / "words.csv", index=False)
    return tmp_path / "words.csv"


def test_predictions_can_be_translated(in_words):
    mapping = {"high": "yes", "low": "no"}
    counts, labels, _ = count_file(in_words, label="y", prediction="p", mapping=mapping)
    assert labels == ("no", "yes")
    (found,) = counts.values()
    assert (found.tp, found.fp, found.fn, found.tn) == (5, 2, 1, 4)


def test_the_error_says_how_to_translate(in_words):
    with pytest.raises(ValueError, match="--map high=LABEL --map low=LABEL") as caught:
        count_file(in_words, label="y", prediction="p")
    assert "got 4: 'high', 'low', 'no', 'yes'" in str(caught.value)
    with pytest.raises(ValueError, match="--map low=LABEL") as caught:
        count_file(in_words, label="y", prediction="p", mapping={"high": "yes"})
    assert "high" not in str(caught.value)


def test_some_values_are_set_against_the_rest(count, notes):
    frame = pd.DataFrame(
        {
            "y": ["Fail", "Pass", "Distinction", "Withdrawn"] * 10,
            "p": ["Fail", "Distinction", "Withdrawn", "Pass"] * 10,
        }
    )
    counts, labels, _ = count(frame, positive=["Pass", "Distinction"], notes=notes)
    found = counts["everyone"]
    assert (found.tp, found.fp, found.fn, found.tn) == (10, 10, 10, 10)
    assert labels == ("not Pass or Distinction", "Pass or Distinction")
    assert [note.code for note in notes] == ["against_rest"]
    # As `predict_file` names them, and by other words.
    named = frame.assign(p=np.where(frame["p"].isin(["Pass", "Distinction"]), *labels))
    inverse, *_ = count(named, positive=["Pass", "Distinction"])
    assert inverse["everyone"].tp == found.fn
    words = frame.assign(p=np.where(frame["p"].isin(["Pass", "Distinction"]), 1, 0))
    with pytest.raises(ValueError, match="two values, got 4.*--map"):
        count(words, positive=["Pass", "Distinction"])
    mapping = {"1": "Pass", "0": "Fail"}
    translated = count(words, positive=["Pass", "Distinction"], mapping=mapping)
    assert translated[:2] == (counts, labels)


def test_probabilities_are_positive_above_the_threshold(count, frame):
    scores = frame.assign(p=np.random.default_rng(1).random(300).round(2))
    scores.loc[0, "p"] = 0.4
    called = scores.assign(p=(scores["p"] > 0.4).astype(int))
    assert (
        count(scores, group=["g"], threshold=0.4)[:2] == count(called, group=["g"])[:2]
    )
    with pytest.raises(ValueError, match=r"--threshold 0\.5"):
        count(scores)


def test_rows_without_a_label_are_left_out(count, frame, notes):
    gaps = frame.astype({"y": object})
    gaps.loc[::3, "y"] = None
    gaps.loc[1, "y"] = " "
    counts, *_ = count(gaps, group=["g"], notes=notes)
    labelled = frame.drop(index=[*range(0, 300, 3), 1])
    assert counts == count(labelled, group=["g"])[0]
    note = {"n": 101, "rows": 300}
    assert [(one.code, one.values) for one in notes] == [("missing_labels", note)]


TOTAL = {"y": 151, "p": 140, "g": None, "s": 450}


@pytest.mark.parametrize("rows", [None, 20, 300])
@pytest.mark.parametrize("column", ["id", "g"])
def test_a_total_below_the_rows_is_no_row(count, frame, notes, column, rows):
    table = frame.assign(id=[f"no {n}" for n in range(300)])[["id", *frame]]
    last = pd.DataFrame([{**TOTAL, column: "Total"}])
    counts, *_ = count(pd.concat([table, last]), group=["g"], notes=notes, rows=rows)
    assert counts == count(table, group=["g"])[0]
    (note,) = notes
    assert note.code == "total" and note.values["column"] == column


def test_a_value_that_is_called_total_is_none(count, frame, notes):
    table = frame.assign(g=["total", "partial"] * 150).iloc[::-1]
    counts, *_ = count(table, group=["g"], notes=notes)
    assert sum(of_group.rows for of_group in counts.values()) == 300
    assert list(notes) == []


def test_a_prediction_that_never_occurs_is_noted(in_words, notes):
    mapping = {"high": "yes", "low": "no", "hgih": "yes"}
    count_file(in_words, label="y", prediction="p", mapping=mapping, notes=notes)
    assert [note.values for note in notes] == [{"column": "p", "value": "hgih"}]


def test_numbers_are_translated_however_they_are_written(tmp_path):
    frame = pd.DataFrame({"y": ["yes", "no"] * 5, "p": [1.0, 0.0] * 5})
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    counts, *_ = count_file(
        tmp_path / "numbers.csv",
        label="y",
        prediction="p",
        mapping={"1": "yes", "0": "no"},
    )
    (found,) = counts.values()
    assert found.accuracy == 1


def test_a_copy_of_the_label_is_no_prediction(tmp_path):
    frame = pd.DataFrame({"y": [1, 0] * 20, "copy": [1.0, 0.0] * 20})
    frame.to_csv(tmp_path / "scored.csv", index=False)
    notes = Notes()
    count_file(
        tmp_path / "scored.csv", label="y", prediction="copy", group=[], notes=notes
    )
    assert [note.code for note in notes] == ["same_as_label"]
