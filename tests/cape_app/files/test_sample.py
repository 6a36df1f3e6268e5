"""The whole way through files: draw rows, fill in the sheet, predict with it.

And what spreadsheet programs and people do to a sheet.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cape import Estimate
from cape.examination import rows_to_label
from cape_app.files import predict_file, sample_file
from cape_app.files._notes import Notes
from cape_app.files._sample import read_sheet
from cape_app.tables import TableError


@pytest.fixture(scope="module")
def big(tmp_path_factory, draw_people):
    """A batch of 2,500 rows in which both groups have moved."""
    frame = draw_people(2500, {"blue": 0.6, "green": 0.2}, seed=6)
    path = tmp_path_factory.mktemp("big") / "big.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def truth(big):
    return pd.read_csv(big)


@pytest.fixture
def sampled(tmp_path, people_model, big):
    """Draw 240 rows; the sheet as a table, with nothing filled in."""
    out = tmp_path / "sheet.csv"
    sample_file(people_model, big, out, n=240, seed=3)
    return pd.read_csv(out)


@pytest.fixture
def predict(tmp_path, people_model, big):
    """Predict with a sheet; it comes back with semicolons and a byte order mark."""

    def call(sheet, notes=None, **settings):
        path = tmp_path / "back.csv"
        sheet.to_csv(path, index=False, sep=";", encoding="utf-8-sig")
        return predict_file(people_model, big, checked=path, notes=notes, **settings)

    return call


def filled(sheet, truth):
    labels = truth["y"].to_numpy()[sheet["cape_row"] - 1]
    return sheet.assign(y=labels.astype(float))


def test_the_sheet_has_the_rows_as_they_are_and_no_label(sampled, truth):
    columns = ["age", "degree", "free", "race"]
    of_file = truth.iloc[sampled["cape_row"] - 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(sampled[columns], of_file[columns])
    added = ["cape_row", "cape_probability", "cape_key", "y"]
    assert list(sampled) == [*columns, *added]
    assert sampled["y"].isna().all()
    assert sampled["cape_key"].str.startswith("240-equal-3-").all()
    assert sampled["cape_key"].is_unique


def test_rows_are_those_of_the_python_function(sampled, truth, people_model, big):
    X = truth.drop(columns="y").astype({"free": float})
    drawn = rows_to_label(people_model.clf, X, n=240, random_state=3)
    assert drawn.rows.tolist() == (sampled["cape_row"] - 1).tolist()
    probabilities = drawn.inclusion_probability[drawn.rows]
    np.testing.assert_allclose(sampled["cape_probability"], probabilities, atol=1e-9)


# The model was trained on a few hundred rows: some column always seems to have moved.
@pytest.mark.filterwarnings("ignore::cape.rules._adaptation.AdaptationWarning")
def test_a_full_sheet_gives_the_adaptation_of_python(
    sampled, truth, people_model, big, predict
):
    found = predict(filled(sampled, truth))
    X = truth.drop(columns="y").astype({"free": float})
    drawn = rows_to_label(people_model.clf, X, n=240, random_state=3)
    y = np.full(len(X), None, dtype=object)
    y[drawn.rows] = truth["y"].to_numpy()[drawn.rows]
    in_memory = people_model.clf.adapt(
        X, y, inclusion_probability=drawn.inclusion_probability
    )
    assert found.adaptation == in_memory
    for group, checked in found.checked.items():
        assert (checked.drawn, checked.returned) == (120, 120)
        assert checked.used
        assert found.adaptation.groups[group].labels.rows == 120
        assert found.adaptation.groups[group].labels.verdict is not None


def test_labels_decide(sampled, truth, predict, tmp_path):
    """With all drawn rows of blue called negative, the estimate falls."""
    sheet = filled(sampled, truth)
    sheet.loc[sheet["race"] == "blue", "y"] = 0
    predict(sheet, out=tmp_path / "p.csv")
    out = pd.read_csv(tmp_path / "p.csv")
    blue = out[out["race"] == "blue"]
    assert blue["estimated_prevalence"].unique()[0] < 0.1
    assert blue["prediction"].mean() < 0.1
    found = predict(sheet)
    assert found.adaptation.groups["blue"].labels.verdict == "refuted"


def test_rows_left_empty_that_have_the_other_label_are_asked_for(
    sampled, truth, predict, people_model, big
):
    sheet = filled(sampled, truth)
    left_empty = sheet.assign(y=sheet["y"].where(sheet["y"] == 1))
    notes = Notes()
    found = predict(left_empty, notes=notes)
    for group, checked in found.checked.items():
        assert checked.one_class and not checked.used
        assert found.adaptation.groups[group].labels.rows == 0
    assert [note.code for note in notes].count("labels_not_used") == 2
    full = predict(left_empty, blank_means="0")
    assert full.adaptation == predict(sheet).adaptation
    with pytest.raises(ValueError, match="--blank-means"):
        predict(left_empty, blank_means="maybe")
    with pytest.raises(ValueError, match="blank_means"):
        predict_file(people_model, big, blank_means="0")


def test_parts_make_no_difference(sampled, truth, predict):
    sheet = filled(sampled, truth)
    parts, whole = predict(sheet, rows=700), predict(sheet)
    assert parts.adaptation == whole.adaptation


def test_damage_of_spreadsheets_makes_no_difference(sampled, truth, predict):
    sheet = filled(sampled, truth)
    expected = predict(sheet).adaptation
    damaged = sheet.sort_values("age")[["y", "cape_key", "race"]]
    damaged = damaged.assign(y=damaged["y"].map({0.0: " 0,0 ", 1.0: "1.0"}), note="x")
    damaged.insert(0, "empty", None)
    damaged.loc[9999] = None
    damaged["cape_key"] = damaged["cape_key"] + " "
    assert predict(damaged).adaptation == expected


def test_rows_that_did_not_come_back_are_weighed_for(sampled, truth, predict):
    sheet = filled(sampled, truth)
    sheet.loc[150:, "y"] = np.nan
    emptied = predict(sheet)
    deleted = predict(sheet.iloc[:150])
    assert emptied.adaptation == deleted.adaptation
    counts = sheet.iloc[:150]["race"].value_counts()
    for group, checked in deleted.checked.items():
        assert checked.drawn == 120
        assert checked.returned == counts[group]
        assert checked.used
        adapted = deleted.adaptation.groups[group]
        share = truth.loc[truth["race"] == group, "y"].mean()
        assert adapted.estimate.low - 0.05 <= share <= adapted.estimate.high + 0.05
    # Weights of what came back add up to the rows of the group.
    for part in deleted.evidence.groups.values():
        weights = [(1 << 32) / p * rows.size for p, rows in part.labelled.items()]
        assert sum(weights) == pytest.approx(part.scores.size, rel=1e-6)


def test_rows_that_were_chosen_are_not_used_and_that_is_said(
    sampled, truth, predict, notes
):
    sheet = filled(sampled, truth)
    blue = sheet["race"] == "blue"
    # Only the young of blue come back, whose scores are high.
    sheet = sheet[~blue | (sheet["age"] < 35)]
    found = predict(sheet, notes)
    checked = found.checked["blue"]
    assert not checked.used
    assert checked.p_value < 0.01
    adapted = found.adaptation.groups["blue"]
    assert adapted.labels.verdict is None
    # Only the labels of the other groups tell of it.
    moved = adapted.estimate.value - adapted.without_labels.value
    assert abs(moved) < adapted.without_labels.width / 10
    assert found.adaptation.groups["green"].labels.verdict is not None
    (note,) = [note for note in notes if note.code == "labels_not_used"]
    assert note.values["group"] == "blue"


def test_a_group_without_labels_stays_label_free(sampled, truth, predict):
    sheet = filled(sampled, truth)
    found = predict(sheet[sheet["race"] == "green"])
    assert found.checked["blue"].returned == 0
    assert found.adaptation.groups["blue"].labels.rows == 0
    assert found.adaptation.groups["green"].labels.rows == 120
    assert found.checked["blue"] == (120, 0, None, False, False)


def test_an_empty_sheet_changes_nothing_and_is_noted(
    sampled, predict, people_model, big, notes
):
    found = predict(sampled, notes)
    assert found.checked is None
    plain = predict_file(people_model, big)
    assert found.adaptation == plain.adaptation
    assert "no_label_in_sheet" in [note.code for note in notes]


def test_keys_of_another_file_are_refused(sampled, truth, people_model, tmp_path):
    filled(sampled, truth).to_csv(tmp_path / "back.csv", index=False)
    changed = tmp_path / "changed.csv"
    truth.assign(age=truth["age"].where(truth.index > 0, 99)).to_csv(changed)
    with pytest.raises(ValueError, match="line 2: .* does not belong to a row of this"):
        predict_file(people_model, changed, checked=tmp_path / "back.csv")


def test_sheets_of_two_draws_are_refused(
    sampled, truth, predict, people_model, big, tmp_path
):
    sample_file(people_model, big, tmp_path / "other.csv", n=50, seed=4)
    both = pd.concat([sampled, pd.read_csv(tmp_path / "other.csv")])
    with pytest.raises(ValueError, match="must come from one call of cape sample"):
        predict(filled(both, truth))


def test_refused_sheets_leave_no_output(sampled, truth, predict, tmp_path):
    sheet = filled(sampled, truth).astype({"y": object})
    sheet.loc[4, "y"] = "maybe"
    with pytest.raises(ValueError, match="line 6: .*'maybe'"):
        predict(sheet, out=tmp_path / "p.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back.csv", "sheet.csv"]


def test_labels_of_all_rows_are_exact(people_model, big, truth, predict, tmp_path):
    sample_file(people_model, big, tmp_path / "all.csv", n=10_000)
    found = predict(filled(pd.read_csv(tmp_path / "all.csv"), truth))
    for group, adapted in found.adaptation.groups.items():
        share = truth.loc[truth["race"] == group, "y"].mean()
        assert adapted.estimate == Estimate(share, share, share)


def test_a_width_draws_what_it_needs_and_the_sheet_can_be_read(
    people_model, big, truth, predict, tmp_path
):
    sampled = sample_file(people_model, big, tmp_path / "w.csv", width=0.2)
    found = predict(filled(pd.read_csv(tmp_path / "w.csv"), truth))
    for group, n_drawn in sampled.drawn.items():
        assert found.checked[group].drawn == n_drawn
        adapted = found.adaptation.groups[group]
        assert 0.1 < adapted.estimate.high - adapted.estimate.low < 0.26


@pytest.mark.parametrize("suffix", ["parquet", "csv.gz"])
def test_other_formats_of_the_batch(people_model, truth, tmp_path, suffix):
    path = tmp_path / f"batch.{suffix}"
    if suffix == "parquet":
        truth.to_parquet(path)
    else:
        truth.to_csv(path, index=False)
    sample_file(people_model, path, tmp_path / "s.csv", n=100)
    filled(pd.read_csv(tmp_path / "s.csv"), truth).to_csv(tmp_path / "b.csv")
    found = predict_file(people_model, path, checked=tmp_path / "b.csv")
    assert [checked.returned for checked in found.checked.values()] == [50, 50]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"n": 0}, "n must be a whole number"),
        ({"n": 5, "width": 0.1}, "at most one of n and width"),
        ({"width": 0.00001}, "width must be between 0 and 1"),
        ({"n": 5, "seed": -1}, "seed must not be negative"),
        ({"n": 5, "spread": "none"}, "spread must be one of"),
    ],
)
def test_bad_plans_are_refused(people_model, big, tmp_path, settings, says):
    with pytest.raises(ValueError, match=says):
        sample_file(people_model, big, tmp_path / "s.csv", **settings)
    assert not list(tmp_path.iterdir())


def test_a_sheet_is_text_and_cannot_be_sampled_again(
    people_model, big, sampled, tmp_path
):
    with pytest.raises(ValueError, match=r"must end in \.csv or \.tsv"):
        sample_file(people_model, big, tmp_path / "s.parquet", n=5)
    with pytest.raises(ValueError, match="already has a column 'cape_row'"):
        sample_file(people_model, tmp_path / "sheet.csv", tmp_path / "s.csv", n=5)


KEYS = [f"100-equal-7-{row}-0123456789abcdef" for row in (5, 12, 30)]


@pytest.fixture
def read(tmp_path, people_model):
    """Write a sheet and read it: rows and whether they are positive."""

    def call(text, labels=("0", "1"), encoding="utf-8"):
        path = tmp_path / "sheet.csv"
        path.write_bytes(text.encode(encoding))
        columns = replace(people_model.columns, labels=labels)
        return [(label.row, label.positive) for label in read_sheet(path, columns)]

    return call


def sheet(*labels, separator=",", end="\n"):
    """Write lines with an age, a key and a label."""
    lines = [separator.join(["age", "cape_key", "y"])]
    for key, label in zip(KEYS, labels, strict=False):
        lines.append(separator.join(["40", key, label]))
    return end.join(lines) + end


EXPECTED = [(5, True), (12, False), (30, True)]


@pytest.mark.parametrize(
    ("separator", "end", "encoding"),
    [
        (",", "\n", "utf-8"),
        (";", "\r\n", "cp1252"),
        ("\t", "\r\n", "utf-16"),
        ("|", "\n", "utf-8-sig"),
    ],
)
def test_separators_ends_of_lines_and_encodings(read, separator, end, encoding):
    text = sheet("1", "0", "1", separator=separator, end=end)
    text = text.replace("age", "Größe")
    assert read(text, encoding=encoding) == EXPECTED


@pytest.mark.parametrize(
    ("labels", "written"),
    [
        (("0", "1"), ("1.0", "0.00", "1")),
        (("0", "1"), (" 1 ", "0,0", "\t1,0")),
        (("False", "True"), ("TRUE", "false", "True")),
        (("gesund", "krank"), ("krank ", "GESUND", "Krank")),
        # Capitals count where they tell labels apart.
        (("a", "A"), ("A", "a", "A")),
    ],
)
def test_spellings_of_labels(read, labels, written):
    assert read(sheet(*written, separator=";"), labels) == EXPECTED


def test_empty_lines_and_rows_without_a_label_are_left_out(read):
    assert read("\n" + sheet("1", "", " ").replace("\n", "\n\n,,\n")) == [(5, True)]
    assert read(sheet("", "", "")) == []


def test_short_lines_have_empty_fields(read):
    text = f"cape_key,y,remark\n{KEYS[0]},1\n{KEYS[1]}\n{KEYS[2]},0,done\n"
    assert read(text) == [(5, True), (30, False)]


def test_a_row_may_stand_twice_with_one_label_only(read):
    header, *lines = sheet("1", "0", "1").splitlines()
    assert read("\n".join([header, *lines, lines[0] + ".0"])) == EXPECTED
    with pytest.raises(ValueError, match="line 5.*has another label in line 2"):
        read("\n".join([header, *lines, lines[0][:-1] + "0"]))


@pytest.mark.parametrize("label", ["2", "?", "yes", "NA", "1.5", "10"])
def test_an_unknown_label_is_named_with_its_line(read, label):
    with pytest.raises(ValueError, match=r"line 3: .*'0' or '1'.*got '") as error:
        read(sheet("1", label, "1"))
    assert repr(label) in str(error.value)


@pytest.mark.parametrize(
    "key", ["", "12", "1e16", KEYS[0][:-1], KEYS[0].upper(), "100-best-0-5-" + "0" * 16]
)
def test_a_label_needs_a_key(read, key):
    with pytest.raises(ValueError, match="line 2: a row with a label must have the"):
        read(sheet("1").replace(KEYS[0], key))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("age,y\n1,2\n", "has no column 'cape_key'"),
        ("age;y\n1;2\n", "has no column 'cape_key'; its columns are 'age', 'y'."),
        ("age,cape_key\n1,2\n", "has no column 'y'"),
        ("y,cape_key,y\n1,2,3\n", "has 2 columns 'y'"),
    ],
)
def test_a_sheet_must_have_both_columns_once(read, text, says):
    with pytest.raises(ValueError, match=says):
        read(text)


def test_what_is_no_text_file_is_refused_in_words(tmp_path, people_model):
    columns = people_model.columns
    with pytest.raises(FileNotFoundError, match="there is no file .*nowhere.csv"):
        read_sheet(tmp_path / "nowhere.csv", columns)
    with pytest.raises(TableError, match="is a folder without tables"):
        read_sheet(tmp_path, columns)
    pd.DataFrame({"cape_key": ["x"]}).to_parquet(tmp_path / "sheet.parquet")
    with pytest.raises(TableError, match="has no column"):
        read_sheet(tmp_path / "sheet.parquet", columns)
