"""Files of a German spreadsheet: semicolons, decimal commas, 31.12.2024, a mark."""

import codecs
import shutil

import numpy as np
import pandas as pd
import pytest

from cape._tables import Dialect
from cape.cli._app import run
from cape.files import load_model
from cape.files._notes import Notes
from cape.files._scan import Scan
from cape.files._training_table import ColumnChoice, read_training_table

DIALECT = ("--separator", ";", "--decimal", ",")


def people(n, seed):
    rng = np.random.default_rng(seed)
    region = rng.choice(["Süd", "Nord"], n)
    positive = rng.random(n) < 0.5
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    return pd.DataFrame(
        {
            "Einkommen in €": np.round(rng.normal(size=n) + positive, 3),
            "Beginn": days.strftime("%d.%m.%Y"),
            "Region": region,
            "Rückfall": np.where(positive, "1,0", "0,0"),
        }
    )


def write(frame, path, encoding):
    text = frame.to_csv(sep=";", decimal=",", index=False, lineterminator="\r\n")
    path.write_bytes(text.encode(encoding))


@pytest.fixture(scope="module", params=["utf-8-sig", "cp1252"])
def folder(request, tmp_path_factory):
    """A training file, a batch, and the model: trained once for each encoding."""
    folder = tmp_path_factory.mktemp("german")
    write(people(300, 1), folder / "train.csv", request.param)
    write(people(200, 2), folder / "new.csv", request.param)
    options = ["--label", "Rückfall", "--group", "Region", "--learner", "logistic"]
    files = [str(folder / "train.csv"), "--out", str(folder / "m.cape")]
    assert run(["train", *files, *options, *DIALECT, *named(request.param)]) == 0
    return folder, request.param


def named(encoding):
    """The option that an encoding needs; a mark is found without one."""
    return () if encoding == "utf-8-sig" else ("--encoding", encoding)


@pytest.fixture
def trained(folder, tmp_path, monkeypatch):
    """A copy of the folder to work in; gives the encoding."""
    shutil.copytree(folder[0], tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return folder[1]


def test_numbers_and_dates_are_what_they_are(trained):
    features = load_model("m.cape").columns.features
    assert features == {"Einkommen in €": "number", "Beginn": "date"}


def test_predictions_are_written_as_the_batch_came(trained, cape, tmp_path):
    code, _, err = cape("predict", "m.cape", "new.csv", "--out", "p.csv")
    assert code == 0, err
    batch = (tmp_path / "new.csv").read_bytes().decode(trained)
    written = (tmp_path / "p.csv").read_bytes()
    assert written.startswith(codecs.BOM_UTF8) == (trained == "utf-8-sig")
    # Every line is that of the batch, and three fields more.
    for line, longer in zip(
        batch.splitlines(), written.decode(trained).splitlines(), strict=True
    ):
        assert longer.startswith(f"{line};")
        assert len(longer.removeprefix(line).split(";")) == 4
        assert "." not in longer.removeprefix(line)


def test_typed_formats_get_numbers_and_dates(trained, cape, tmp_path):
    assert cape("predict", "m.cape", "new.csv", "--out", "p.parquet")[0] == 0
    frame = pd.read_parquet(tmp_path / "p.parquet")
    assert frame["Einkommen in €"].dtype == float
    assert frame["Beginn"].dtype.kind == "M"


def test_every_command_takes_the_options(trained, cape):
    encoding = named(trained)
    sheet = ("sample", "m.cape", "new.csv", "--rows", 20, "--out", "s.csv")
    assert cape(*sheet, *DIALECT, *encoding)[0] == 0
    assert cape("predict", "m.cape", "new.csv", "--checked", "s.csv")[0] == 0
    assert cape("monitor", "m.cape", "train.csv", "new.csv")[0] == 0
    assert cape("predict", "m.cape", "new.csv", "--out", "p.csv")[0] == 0
    columns = ("--label", "Rückfall", "--prediction", "prediction")
    code, _, err = cape("audit", "p.csv", *columns, *DIALECT, *encoding)
    assert code == 0, err


def test_a_batch_that_is_written_otherwise_says_which_option(
    trained, refused, tmp_path
):
    people(50, 3).to_csv(tmp_path / "plain.csv", index=False, encoding=trained)
    refused("predict", "m.cape", "plain.csv", says=["a comma", "--separator"])
    comma = ("predict", "m.cape", "plain.csv", "--separator", ",")
    refused(*comma, says=["expected numbers", "(--decimal .)"])


def test_without_the_option_columns_are_named(trained):
    notes = Notes()
    choice = ColumnChoice("Rückfall", (), (), None)
    scan = Scan("train.csv", Dialect(";", trained))
    read_training_table(scan, choice, most=1000, notes=notes)
    (note,) = notes
    assert note.values["look"] == "comma"
    assert note.values["columns"] == ["Einkommen in €"]
