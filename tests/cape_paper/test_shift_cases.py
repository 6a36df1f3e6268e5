"""Cases of real shifts: which are read, and which are skipped, with a sentence."""

import pandas as pd
import pytest
from sklearn.utils import Bunch

from cape_paper import _shift_cases
from cape_paper._shift_cases import CASES, NOT_IDENTIFIED, load_cases


def invented(subset, data_home=None):
    """A case of three rows to train on, and two to use."""
    n_rows = {"train": 3, "test": 2}[subset]
    return Bunch(
        data=pd.DataFrame({"age": range(n_rows)}),
        target=pd.Series([1, 0, 0][:n_rows]),
        sensitive_features=pd.Series(["a", "b", "b"][:n_rows]),
        groups=["a", "b"],
        variant=f"Invented, {data_home}",
        DESCR="Nothing is known of it.",
    )


def absent(subset, data_home=None):
    raise FileNotFoundError("Put the file at /here")


@pytest.fixture
def two_cases(monkeypatch):
    cases = {"known": invented, "absent": absent}
    monkeypatch.setattr(_shift_cases, "CASES", cases)


def test_a_case_becomes_a_problem(two_cases):
    [problem] = load_cases(["known"], "folder").problems
    assert problem.name == "known"
    assert problem.title == "Invented, folder"
    assert problem.groups == ["a", "b"]
    assert problem.X_train["age"].tolist() == [0, 1, 2]
    assert problem.X_test["age"].tolist() == [0, 1]
    assert problem.y_train.tolist() == [1, 0, 0]
    assert problem.z_test.tolist() == ["a", "b"]
    assert problem.notes == ["Nothing is known of it."]


def test_a_case_whose_files_nobody_offers_is_skipped_with_a_sentence(two_cases):
    loaded = load_cases()
    assert [problem.name for problem in loaded.problems] == ["known"]
    [sentence] = loaded.skipped
    assert sentence.startswith("absent was skipped:")
    # The page is read on other computers.
    assert "/here" not in sentence


def test_a_case_that_is_named_must_be_there(two_cases):
    with pytest.raises(FileNotFoundError, match="Put the file at /here"):
        load_cases(["known", "absent"])


def test_no_network_is_no_reason_to_skip(monkeypatch):
    def fail(subset, data_home):
        raise OSError("could not be downloaded")

    monkeypatch.setattr(_shift_cases, "CASES", {"remote": fail})
    with pytest.raises(OSError, match="could not be downloaded"):
        load_cases()


def test_an_unknown_case_is_an_error_before_anything_is_read(monkeypatch):
    def fail(subset, data_home):
        pytest.fail("a case was read")

    monkeypatch.setattr(_shift_cases, "CASES", {"known": fail})
    with pytest.raises(ValueError, match="cases must be one of 'known', got 'other'"):
        load_cases(["known", "other"])


def test_cases_that_are_set_apart_are_cases():
    assert set(NOT_IDENTIFIED) < set(CASES)


@pytest.mark.parametrize("name", ["compas", "compas-sex", "compas-age", "bank"])
def test_real_cases_have_two_groups_whose_prevalences_moved(name):
    try:
        [problem] = load_cases([name]).problems
    except OSError:
        pytest.skip(f"the files of {name} are not here: set CAPE_DATA")
    counts = problem.counts()
    assert len(counts) == 2
    for group in counts:
        assert group["prevalence_test"] - group["prevalence_train"] > 0.15
    assert list(problem.X_train) == list(problem.X_test)
