"""MEPS, every person of a year: the reading on invented files, counts on real ones."""

import hashlib

import pandas as pd
import pytest

from cape.datasets import _files
from cape_paper import _meps_people
from cape_paper._meps_people import load_meps_people

needs_people = pytest.mark.skipif(
    not all(
        (_files.data_folder() / file.path).exists()
        for file in _meps_people.FILES.values()
    ),
    reason="the people of MEPS are not here: set CAPE_DATA to a folder that has them",
)


def people(rows, without=()):
    """Make a table with all columns of the files; ``rows`` says what differs."""
    columns = [*_meps_people._FEATURES, *_meps_people._VISITS, "racethx", "panel"]
    ordinary = dict.fromkeys(columns, 1) | dict.fromkeys(_meps_people._VISITS, 0)
    table = pd.DataFrame([{**ordinary, **row} for row in rows])
    return table.drop(columns=list(without))


@pytest.fixture
def invented(tmp_path, monkeypatch):
    """Files of 2013 and 2014, which the loader then expects."""
    tables = {
        2013: people([{"racethx": 2, "obtotv": 10}, {"agex": 7}], without=["educyr"]),
        2014: people(
            [
                {"racethx": 2, "obtotv": 3, "optotv": 3, "ertot": 3, "hhtotd": 1},
                {"racethx": 3, "obtotv": 10, "hhtotd": -9},
                {"racethx": 4, "obtotv": 9},
            ]
        ),
        2015: people([{"agex": 50}]),
    }
    files = {}
    for year, table in tables.items():
        path = tmp_path / _meps_people.FILES[year].path
        path.parent.mkdir(exist_ok=True)
        table.to_csv(path, index=False)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        files[year] = _files.RemoteFile(_meps_people.FILES[year].path, "", sha256)
    monkeypatch.setattr(_meps_people, "FILES", _meps_people.FILES | files)
    return tmp_path


def test_ten_visits_are_positive_and_unknown_numbers_count_as_none(invented):
    test = load_meps_people(2013, 2014, subset="test", data_home=invented)
    assert test.target.tolist() == [1, 1, 0]
    assert test.sensitive_features.tolist() == ["White", "Non-White", "Non-White"]


def test_features_are_those_that_both_years_have_and_no_visits(invented):
    train = load_meps_people(2013, 2014, subset="train", data_home=invented)
    assert train.data.shape == (2, 24)
    assert train.data["agex"].tolist() == [1, 7]
    for name in ("educyr", "racethx", "panel", *_meps_people._VISITS):
        assert name not in train.data
    later = load_meps_people(2014, 2015, data_home=invented)
    assert "educyr" in later.data
    assert len(later.target) == 4


def test_one_year_alone_is_read_without_the_file_of_the_other(invented):
    (invented / _meps_people.FILES[2014].path).unlink()
    assert len(load_meps_people(2013, 2014, subset="train", data_home=invented).target)
    with pytest.raises(FileNotFoundError, match="meps_fy2014_people"):
        load_meps_people(2013, 2014, data_home=invented)


def test_the_notes_name_the_years(invented):
    result = load_meps_people(2013, 2015, data_home=invented)
    assert result.variant == "MEPS, all people, 2013 to 2015"
    assert "training rows are of 2013, test rows of 2015" in result.DESCR


@pytest.mark.parametrize("years", [{"train": 2011}, {"test": "2013"}])
def test_an_unknown_year_is_an_error(years):
    [(name, year)] = years.items()
    says = f"{name} must be one of 2012, 2013, 2014, 2015, got {year!r}"
    with pytest.raises(ValueError, match=says):
        load_meps_people(**years)


def test_an_unknown_subset_is_an_error(invented):
    with pytest.raises(ValueError, match="subset must be one of"):
        load_meps_people(2013, 2014, subset="later", data_home=invented)


@needs_people
def test_counts_and_prevalences_of_the_real_files():
    train = load_meps_people(2012, 2013, subset="train")
    assert train.data.shape == (38687, 24)
    assert not train.data.isna().any().any()
    shares = train.target.groupby(train.sensitive_features).mean()
    assert shares["White"] == pytest.approx(0.188, abs=0.001)
    assert shares["Non-White"] == pytest.approx(0.078, abs=0.001)


@needs_people
def test_years_of_education_are_missing_in_2014():
    frame = load_meps_people(2014, 2015).frame
    missing = frame["educyr"] < 0
    assert missing[:34666].mean() == pytest.approx(0.99, abs=0.005)
    assert missing[34666:].mean() == pytest.approx(0.51, abs=0.005)
