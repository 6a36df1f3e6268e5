"""COMPAS: the reading on an invented file, the counts on the real one."""

import hashlib
import os
from pathlib import Path

import pandas as pd
import pytest

from cape.datasets import _compas, fetch_compas
from cape_paper import published

FILE = Path(os.environ.get("CAPE_DATA", "~/.cache/cape")).expanduser()
FILE /= _compas.FILE
RACES = ["Caucasian", "African-American"]
needs_compas = pytest.mark.skipif(
    not FILE.exists(),
    reason="COMPAS is not here: set CAPE_DATA, or fetch it once",
)


@pytest.fixture
def invented(tmp_path, monkeypatch, environ):
    """A small file with the columns of the real one, which the loader expects."""
    table = pd.DataFrame(
        {
            "race": [
                "Caucasian",
                "African-American",
                "Hispanic",
                "Caucasian",
                "African-American",
            ],
            "is_recid": [0, 1, 1, 1, 0],
            "compas_screening_date": [
                "2013-08-14",
                "2013-01-27",
                "2013-04-14",
                "2014-02-01",
                "2014-03-01",
            ],
            "c_charge_desc": ["Battery", "Theft", "Theft", "Theft", None],
            "age": [69, 34, 24, 40, 50],
            "sex": ["Male", "Female", "Male", "Male", "Female"],
            "priors_count": [0, 0, 4, 1, 2],
            "juv_fel_count": 0,
            "juv_misd_count": 1,
            "juv_other_count": 2,
            "c_charge_degree": ["F", "M", "F", "F", "M"],
            "days_b_screening_arrest": [-1, None, 7, None, 2],
            "c_days_from_compas": [1, 3, 5, 1, 2],
            "unused": "x",
        }
    )
    path = tmp_path / _compas.FILE
    path.parent.mkdir()
    table.to_csv(path, index=False)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(_compas, "_SHA256", sha256)
    environ("CAPE_DATA", tmp_path)
    return tmp_path


def test_reads_the_papers_rows_and_our_features(invented):
    train = fetch_compas(subset="train", data_home=invented)
    assert train.sensitive_features.tolist() == ["Caucasian", "African-American"]
    assert train.target.tolist() == [0, 1]
    assert train.data["sex"].tolist() == [1, 0]
    assert train.data["c_charge_degree"].tolist() == [1, 0]
    assert "unused" not in train.data
    assert fetch_compas(subset="test", data_home=invented).data["age"].tolist() == [40]
    assert len(fetch_compas().target) == 3


def test_wide_features_are_the_narrow_ones_days_and_charges(invented):
    narrow = fetch_compas(data_home=invented)
    wide = fetch_compas(features="wide", data_home=invented)
    n_narrow = narrow.data.shape[1]
    pd.testing.assert_frame_equal(wide.data.iloc[:, :n_narrow], narrow.data)
    assert list(wide.data.columns[n_narrow:]) == [
        "days_b_screening_arrest",
        "c_days_from_compas",
        "c_charge_desc_Battery",
        "c_charge_desc_Theft",
    ]
    assert wide.data["c_charge_desc_Theft"].tolist() == [0, 1, 1]


def test_missing_days_become_the_median_of_2013(invented):
    for subset, days in (("train", [-1, -1]), ("test", [-1])):
        wide = fetch_compas(subset=subset, features="wide", data_home=invented)
        assert wide.data["days_b_screening_arrest"].tolist() == days


def test_both_sets_of_features_have_the_same_rows_and_say_which_they_are(invented):
    narrow = fetch_compas(data_home=invented)
    wide = fetch_compas(features="wide", data_home=invented)
    pd.testing.assert_series_equal(wide.target, narrow.target)
    pd.testing.assert_series_equal(wide.sensitive_features, narrow.sensitive_features)
    assert narrow.variant == "COMPAS"
    assert wide.variant == "COMPAS, wide features"
    assert "second, wider guess" in wide.DESCR
    assert "second, wider guess" not in narrow.DESCR


@pytest.mark.parametrize(
    ("option", "value"), [("features", "paper"), ("group", "religion"), ("subset", "x")]
)
def test_a_choice_that_is_not_offered_is_an_error_before_any_download(
    tmp_path, option, value
):
    with pytest.raises(ValueError, match=f"{option} must be one of .*, got '{value}'"):
        fetch_compas(**{option: value}, data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_groups_by_sex_have_people_of_all_races_and_no_sex_as_a_feature(invented):
    by_sex = fetch_compas(subset="train", group="sex", data_home=invented)
    assert by_sex.sensitive_features.tolist() == ["Male", "Female", "Male"]
    assert by_sex.target.tolist() == [0, 1, 1]
    assert "sex" not in by_sex.data
    assert by_sex.data["c_charge_degree"].tolist() == [1, 0, 1]
    assert by_sex.variant == "COMPAS, by sex"


def test_groups_by_age_begin_anew_at_25(invented):
    by_age = fetch_compas(group="age", data_home=invented)
    assert by_age.data["age"].tolist() == [69, 34, 24, 40]
    assert by_age.sensitive_features.tolist() == [
        "from 25",
        "from 25",
        "below 25",
        "from 25",
    ]
    assert by_age.groups == ["below 25", "from 25"]


@needs_compas
def test_wide_features_of_the_real_file_are_numbers_without_gaps():
    train = fetch_compas(subset="train", features="wide")
    test = fetch_compas(subset="test", features="wide")
    assert train.data.shape == (4319, 49)
    assert test.data.shape == (1810, 49)
    assert list(train.data.columns) == list(test.data.columns)
    for part in (train, test):
        assert not part.data.isna().any().any()
    charges = train.data.filter(like="c_charge_desc_")
    assert charges.shape[1] == 40
    assert charges.sum(axis=1).max() == 1
    assert charges.sum().is_monotonic_decreasing


@needs_compas
def test_the_facts_in_the_notes_about_days_are_those_of_the_file():
    table = pd.read_csv(FILE)
    kept = table["race"].isin(RACES) & table["c_charge_desc"].notna()
    year = table["compas_screening_date"].str[:4]
    of_2013 = table[kept & (year == "2013")]
    of_2014 = table[kept & (year == "2014")]
    days = of_2013["days_b_screening_arrest"]
    assert days.isna().sum() == 180
    assert of_2014["days_b_screening_arrest"].isna().sum() == 41
    assert (days > 0).sum() == 233
    reoffends = of_2013["is_recid"]
    assert reoffends[days > 0].mean() == pytest.approx(0.70, abs=0.005)
    assert reoffends[days.isna()].mean() == pytest.approx(0.13, abs=0.005)
    assert reoffends.mean() == pytest.approx(0.42, abs=0.005)


@needs_compas
def test_counts_and_prevalences_are_near_the_papers():
    paper = published()
    for subset in ("train", "test"):
        result = fetch_compas(subset=subset)
        assert abs(len(result.target) - paper["dataset_counts"]["compas"][subset]) <= 41
        share = (result.sensitive_features == result.groups[1]).mean()
        assert share == pytest.approx(
            paper["dataset_counts"]["compas"][f"{subset}_share_z1"], abs=0.002
        )
        prevalences = [
            result.target[result.sensitive_features == group].mean()
            for group in result.groups
        ]
        assert prevalences == pytest.approx(
            paper["table_quantifier"]["compas"][subset], abs=0.002
        )
        assert not result.data.isna().any().any()


@needs_compas
def test_how_the_file_was_built():
    """The numbers of the notes of `fetch_compas`, counted in the file itself."""
    table = pd.read_csv(FILE)
    screened = pd.to_datetime(table["compas_screening_date"])
    negatives = table["is_recid"] == 0
    ended = screened + pd.to_timedelta(table["end"], unit="D")
    last_day = pd.Timestamp("2016-04-01")
    assert negatives.sum() == 3743
    assert (ended[negatives] == last_day).sum() == 2981
    assert screened[negatives].max() == last_day - pd.DateOffset(years=2)
    used = table["race"].isin(RACES) & table["c_charge_desc"].notna()
    labels = table["is_recid"][used].groupby(screened[used] >= "2014-04-01")
    assert labels.size()[True] == 883
    assert labels.sum()[True] == 881
    early = used & (screened >= "2014-01-01") & (screened < "2014-04-01")
    assert round(table["is_recid"][early].mean(), 2) == 0.37
