"""Bank calls: the reading on an invented file, the counts on the real one."""

import hashlib

import numpy as np
import pandas as pd
import pytest

from cape.datasets._files import RemoteFile, data_folder
from cape_paper import _bank
from cape_paper._bank import load_bank

needs_bank = pytest.mark.skipif(
    not (data_folder() / _bank.FILE.path).exists(),
    reason="the bank's calls are not here: set CAPE_DATA to a folder that has them",
)


@pytest.fixture
def invented(tmp_path, monkeypatch):
    """Ten calls, whose ages are their places."""
    columns = [*_bank.TASK.features, "contact", "day", "month", "duration"]
    table = pd.DataFrame({name: ["x"] * 10 for name in columns})
    table["age"] = np.arange(10)
    table["marital"] = ["married", "single"] * 5
    table["y"] = ["no"] * 8 + ["no", "yes"]
    path = tmp_path / _bank.FILE.path
    path.parent.mkdir()
    table.to_csv(path, index=False)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(_bank, "FILE", RemoteFile(_bank.FILE.path, "", sha256))
    return tmp_path


def test_the_first_calls_are_for_training_and_the_last_to_use(invented):
    train = load_bank(subset="train", data_home=invented)
    test = load_bank(subset="test", data_home=invented)
    assert train.data["age"].tolist() == [0, 1, 2, 3, 4, 5]
    assert test.data["age"].tolist() == [8, 9]
    assert test.target.tolist() == [0, 1]
    assert test.sensitive_features.tolist() == ["married", "not married"]
    assert len(load_bank(data_home=invented).target) == 8


def test_nothing_that_is_known_only_after_the_call_is_a_feature(invented):
    data = load_bank(data_home=invented).data
    for name in ("duration", "contact", "day", "month", "marital", "y"):
        assert name not in data


def test_without_the_file_the_error_says_where_to_put_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="Put the file") as caught:
        load_bank(data_home=tmp_path)
    assert str(tmp_path / "bank" / "bank-full.csv.gz") in str(caught.value)


@needs_bank
def test_counts_and_prevalences_of_the_real_file():
    train = load_bank(subset="train")
    test = load_bank(subset="test")
    assert train.data.shape == (24003, 11)
    assert test.data.shape == (8000, 11)
    before = train.target.groupby(train.sensitive_features).mean()
    after = test.target.groupby(test.sensitive_features).mean()
    assert before["married"] == pytest.approx(0.043, abs=0.001)
    assert after["married"] == pytest.approx(0.312, abs=0.001)
