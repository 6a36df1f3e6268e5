"""MEPS: the official transport files, and the one-panel files."""

import hashlib
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cape.datasets import _files
from cape_paper import _meps
from cape_paper._meps import ONE_PANEL, fetch_meps

sys.path.insert(0, str(Path(__file__).parent))
from xport import write_xport

needs_meps = pytest.mark.skipif(
    not all(
        (_files.data_folder() / file.path).exists() for file in _meps._PANELS.values()
    ),
    reason="MEPS is not here: set CAPE_DATA to a folder that has it",
)


def official_table(year, rows):
    """Columns of a full-year file; ``rows`` says what differs from an ordinary row."""
    suffix = str(year)[-2:]
    names = [f"{name}53X" for name in _meps._EDITED_IN_ROUND_53] + [
        f"{name}53" for name in _meps._OF_ROUND_53
    ]
    names += [f"{name}{suffix}" for name in (*_meps._OF_YEAR, *_meps._TRIPS)]
    plain = [
        name
        for name in (*_meps._FEATURES, "EDUCYR", "HIDEG")
        if f"{name}53" not in names and f"{name}53X" not in names
    ]
    plain = [name for name in plain if f"{name}{suffix}" not in names]
    columns = ["DUPERSID", "PANEL", "HISPANX", "RACEV2X", *names, *plain, "OTHER"]
    table = pd.DataFrame(
        [
            {**dict.fromkeys(columns, 1.0), "HISPANX": 2.0, "DUPERSID": "x1", **row}
            for row in rows
        ]
    )
    return table[columns]


def put(folder, year, rows):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            f"{Path(_meps.OFFICIAL[year].path).name[:4]}.ssp",
            write_xport(official_table(year, rows)),
        )
    path = folder / _meps.OFFICIAL[year].path
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(buffer.getvalue())


@pytest.fixture
def no_network(monkeypatch):
    def fetch(url, name):
        raise ConnectionError("no network in this test")

    monkeypatch.setattr(_files, "_downloader", lambda: fetch)


def test_the_writer_of_these_tests_writes_what_pandas_reads():
    table = pd.DataFrame(
        {"A": [1.0, -2.5, 0.0, 1e6, np.nan], "B": [0.1, 1e-3, 25.93, -9.0, 2.0]}
    )
    table["NAME"] = ["ab", "c", "d", "e", "f"]
    read = pd.read_sas(
        io.BytesIO(write_xport(table)), format="xport", encoding="latin-1"
    )
    pd.testing.assert_frame_equal(read, table, check_dtype=False)


def test_reads_official_files_by_the_recipe(tmp_path, no_network):
    put(
        tmp_path,
        2015,
        [
            {"PANEL": 19.0},
            {"PANEL": 20.0, "HISPANX": 1.0},  # Hispanic: Non-White
            {"RACEV2X": 2.0, "OBTOTV15": 6.0},  # 6 + 4 other trips: positive
            {"OBTOTV15": 5.0},  # 5 + 4: not
        ],
    )
    put(tmp_path, 2016, [{"HHTOTD16": 30.0}])
    train = fetch_meps(subset="train", data_home=tmp_path)
    assert train.sensitive_features.tolist() == [
        "White",
        "Non-White",
        "Non-White",
        "White",
    ]
    assert train.target.tolist() == [0, 0, 1, 0]
    assert list(train.data.columns) == list(
        _meps.TASK.features
    ) and train.data.shape == (4, 40)
    assert train.variant == "MEPS"
    assert fetch_meps(subset="test", data_home=tmp_path).target.tolist() == [1]
    assert len(fetch_meps(data_home=tmp_path).target) == 5


@pytest.mark.parametrize(
    ("column", "value", "kept"),
    [
        ("REGION53", -1, False),
        ("AGE53X", -1, False),
        ("AGE53X", 0, True),
        ("MARRY53X", -7, False),
        ("ASTHDX", -1, False),
        ("EDUCYR", -8, False),
        ("HIDEG", -9, False),
        ("HIDEG", -1, True),
        ("PHQ242", -1, True),
        ("POVCAT15", -2, False),
        ("PCS42", -9, True),  # not categorical: no filter
        ("K6SUM42", -9, True),
    ],
)
def test_keeps_the_rows_that_the_recipe_keeps(
    tmp_path, no_network, column, value, kept
):
    put(tmp_path, 2015, [{column: float(value)}, {}])
    assert len(fetch_meps(subset="train", data_home=tmp_path).target) == 1 + kept


def test_reads_long_files_in_parts(tmp_path, no_network, monkeypatch):
    monkeypatch.setattr(_meps, "_ROWS_OF_A_PART", 50)
    put(tmp_path, 2015, [{"AGE53X": float(i % 90)} for i in range(120)])
    assert fetch_meps(subset="train", data_home=tmp_path).data["AGE"].tolist() == [
        i % 90 for i in range(120)
    ]


def test_without_files_and_network_the_error_says_what_to_download(
    tmp_path, no_network
):
    with pytest.raises(
        OSError,
        match=r"Download https://meps.ahrq.gov/mepsweb/data_files/pufs/h181ssp.zip",
    ) as caught:
        fetch_meps(data_home=tmp_path)
    assert str(tmp_path / "meps" / "h181ssp.zip") in str(caught.value)
    assert "data use agreement" in str(caught.value)


def test_a_file_without_a_column_or_without_a_transport_file_is_told(tmp_path):
    path = tmp_path / "h181ssp.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "h181.ssp", write_xport(official_table(2015, [{}]).drop(columns="ASTHDX"))
        )
    with pytest.raises(ValueError, match=r"must have the columns \['ASTHDX'\]"):
        _meps.read_official(path, 2015)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(ValueError, match="must hold one SAS transport file"):
        _meps.read_official(path, 2015)


def test_official_files_grouped_by_sex_have_race_as_a_number(tmp_path, no_network):
    put(tmp_path, 2015, [{"SEX": 2.0}, {"SEX": 1.0, "HISPANX": 1.0}])
    by_sex = fetch_meps(subset="train", group="sex", data_home=tmp_path)
    assert by_sex.sensitive_features.tolist() == ["Female", "Male"]
    assert by_sex.data["RACE"].tolist() == [1, 0]
    assert "SEX" not in by_sex.data
    assert by_sex.data.shape == (2, 40)


def test_official_files_grouped_by_age_keep_the_age_as_a_feature(tmp_path, no_network):
    put(tmp_path, 2015, [{"AGE53X": 24.0}, {"AGE53X": 25.0}])
    by_age = fetch_meps(subset="train", group="age", data_home=tmp_path)
    assert by_age.sensitive_features.tolist() == ["below 25", "from 25"]
    assert by_age.data["AGE"].tolist() == [24, 25]
    assert {"SEX", "RACE"} < set(by_age.data)


def test_an_unknown_group_is_an_error_before_any_download(tmp_path, monkeypatch):
    monkeypatch.setattr(_meps, "get_file", lambda *given: pytest.fail("downloads"))
    with pytest.raises(ValueError, match="group must be one of 'race', 'sex', 'age'"):
        fetch_meps(group="region", data_home=tmp_path)


def put_panels(folder, monkeypatch):
    """Write small one-panel files, and let the loader expect them."""
    features = [name if name != "SEX" else "sex" for name in _meps._FEATURES]
    table = pd.DataFrame(
        [
            {
                **dict.fromkeys(features, 1),
                "sex": 1 - race,
                "race": race,
                "Probability": race,
            }
            for race in (1, 0)
        ]
    )
    panels = {}
    for year, file in _meps._PANELS.items():
        path = folder / file.path
        path.parent.mkdir(exist_ok=True)
        table.to_csv(path, index=False)
        panels[year] = _files.RemoteFile(
            file.path, "", hashlib.sha256(path.read_bytes()).hexdigest()
        )
    monkeypatch.setattr(_meps, "_PANELS", panels)


def test_one_panel_files_grouped_by_sex_have_race_as_a_feature(
    tmp_path, monkeypatch, no_network
):
    put_panels(tmp_path, monkeypatch)
    by_sex = fetch_meps(subset="train", group="sex", data_home=tmp_path)
    assert by_sex.sensitive_features.tolist() == ["Male", "Female"]
    assert by_sex.data["race"].tolist() == [1, 0]
    assert "SEX" not in by_sex.data
    assert by_sex.variant == f"MEPS, {ONE_PANEL}, by sex"


def test_one_panel_files_are_used_and_labelled(tmp_path, monkeypatch, no_network):
    put_panels(tmp_path, monkeypatch)
    result = fetch_meps(subset="train", data_home=tmp_path)
    assert ONE_PANEL in result.variant
    assert result.sensitive_features.tolist() == [
        "White",
        "Non-White",
    ] and result.target.tolist() == [1, 0]
    put(tmp_path, 2015, [{}])  # official files win
    assert ONE_PANEL not in fetch_meps(subset="train", data_home=tmp_path).variant


@needs_meps
def test_one_panel_files_have_the_known_prevalences():
    for subset, white, other in (("train", 0.1876, 0.1405), ("test", 0.1864, 0.1275)):
        result = fetch_meps(subset=subset)
        if ONE_PANEL not in result.variant:
            pytest.skip("the official files are here")
        shares = result.target.groupby(result.sensitive_features).mean()
        assert shares["White"] == pytest.approx(white, abs=1e-4)
        assert shares["Non-White"] == pytest.approx(other, abs=1e-4)
