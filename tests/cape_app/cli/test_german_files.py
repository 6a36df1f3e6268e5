"""Files of a German spreadsheet: semicolons, decimal commas, 31.12.2024, a mark."""

import codecs

import numpy as np
import pandas as pd
import pytest

from cape_app.files import load_model

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


def named(encoding):
    """The option that an encoding needs; a mark is found without one."""
    return () if encoding == "utf-8-sig" else ("--encoding", encoding)


@pytest.fixture(params=["utf-8-sig", "cp1252"])
def trained(request, tmp_path, work_in, cape):
    """A training file, a batch and the model in a folder; gives the encoding."""
    work_in(tmp_path)
    write(people(300, 1), tmp_path / "train.csv", request.param)
    write(people(200, 2), tmp_path / "new.csv", request.param)
    columns = ("--label", "Rückfall", "--group", "Region", "--drop", "Beginn")
    options = (*DIALECT, *named(request.param), "--cv", 2, "--learner", "logistic")
    code, _, err = cape("train", "train.csv", "--out", "m.cape", *columns, *options)
    assert code == 0, err
    return request.param


def test_predictions_are_written_as_the_batch_came(trained, cape, tmp_path):
    assert load_model("m.cape").columns.features == {"Einkommen in €": "number"}
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
    assert cape("predict", "m.cape", "new.csv", "--out", "p.parquet")[0] == 0
    frame = pd.read_parquet(tmp_path / "p.parquet")
    assert frame["Einkommen in €"].dtype == float
    assert frame["Beginn"].dtype.kind == "M"


@pytest.mark.parametrize("trained", ["cp1252"], indirect=True)
def test_every_command_takes_the_options(trained, cape, refused, tmp_path):
    encoding = named(trained)
    sheet = ("sample", "m.cape", "new.csv", "--rows", 20, "--out", "s.csv")
    assert cape(*sheet, *DIALECT, *encoding)[0] == 0
    predict = ("predict", "m.cape", "new.csv", "--out", "p.csv")
    assert cape(*predict, "--checked", "s.csv")[0] == 0
    assert cape("predict", "m.cape", "train.csv", "new.csv")[0] == 0
    columns = ("--label", "Rückfall", "--prediction", "prediction")
    code, _, err = cape("audit", "p.csv", *columns, *DIALECT, *encoding)
    assert code == 0, err
    people(50, 3).to_csv(tmp_path / "plain.csv", index=False, encoding=trained)
    # The separator is plain, and the decimal sign is not.
    plain = ("predict", "m.cape", "plain.csv")
    refused(*plain, says=["line 2", "expected numbers", "(--decimal .)"])
    code, _, err = cape(*plain, "--decimal", ".")
    assert code == 0 and "uses a comma as the separator" in err
