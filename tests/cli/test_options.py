"""Options that commands share: the dialect of a CSV, and who does the work."""

import sys

import pytest

from cape._tables import Dialect
from cape.cli._options import dialect_of, trainers, workers
from cape.files import here


@pytest.mark.parametrize("name", ["tab", "\\t", "\t"])
def test_a_tabulator_can_be_named(name):
    assert dialect_of(name, None, None).separator == "\t"


@pytest.mark.parametrize("separator", [",", ";", "|", " "])
def test_other_separators_are_taken_as_they_are(separator):
    dialect = dialect_of(separator, "latin-1", None)
    assert dialect.separator == separator
    assert dialect.encoding == "latin-1"


@pytest.mark.parametrize(
    ("separator", "encoding", "decimal", "message"),
    [
        ("", None, None, "separator must be one character, got ''"),
        ("tabs", None, None, "separator must be one character, got 'tabs'"),
        (None, "klingon", None, "such as utf-8 or latin-1, got 'klingon'"),
        (None, None, ";", "decimal must be '.' or ',', got ';'"),
        (None, None, "", "decimal must be '.' or ',', got ''"),
    ],
)
def test_what_is_no_dialect_is_refused(separator, encoding, decimal, message):
    with pytest.raises(ValueError, match=message):
        dialect_of(separator, encoding, decimal)


def test_what_is_not_given_is_as_in_the_file_of_training():
    trained = Dialect(";", "latin-1", ",")
    assert dialect_of(None, None, None, default=trained) == trained
    assert dialect_of(",", None, ".", default=trained) == Dialect(",", "latin-1")
    assert dialect_of(None, None, None) == Dialect()


def test_without_an_address_this_process_does_the_work():
    with workers(None) as each:
        assert each is here
    with trainers(None) as nothing:
        assert nothing is None


@pytest.mark.parametrize("who", [workers, trainers])
def test_without_dask_an_address_says_what_to_install(monkeypatch, who):
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = r"--dask needs Dask: pip install 'cape-fair\[dask\]'"
    with pytest.raises(ImportError, match=message), who("tcp://127.0.0.1:1"):
        pass
