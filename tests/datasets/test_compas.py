"""COMPAS: the reading on an invented file, the counts on the real one."""

import hashlib

import pandas as pd
import pytest

from cape.datasets import _compas, fetch_compas
from cape.datasets._files import RemoteFile, data_folder
from cape.experiments import published

needs_compas = pytest.mark.skipif(
    not (data_folder() / _compas.FILE.path).exists(),
    reason="COMPAS is not here: set CAPE_DATA, or fetch it once",
)


@pytest.fixture
def invented(tmp_path, monkeypatch):
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
            "unused": "x",
        }
    )
    path = tmp_path / _compas.FILE.path
    path.parent.mkdir()
    table.to_csv(path, index=False)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(
        _compas, "FILE", RemoteFile(_compas.FILE.path, _compas.FILE.url, sha256)
    )
    return tmp_path


def test_reads_the_papers_rows_and_our_features(invented):
    train = fetch_compas(subset="train", data_home=invented)
    assert train.sensitive_features.tolist() == ["Caucasian", "African-American"]
    assert train.target.tolist() == [0, 1]
    assert train.data["sex"].tolist() == [1, 0]
    assert train.data["c_charge_degree"].tolist() == [1, 0]
    assert "unused" not in train.data
    assert fetch_compas(subset="test", data_home=invented).data["age"].tolist() == [40]
    assert len(fetch_compas(data_home=invented).target) == 3


def test_the_variable_names_the_folder(invented, monkeypatch):
    monkeypatch.setenv("CAPE_DATA", str(invented))
    assert len(fetch_compas().target) == 3


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
