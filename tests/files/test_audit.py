"""Counting a scored file: the same as the metrics, for any cut, with every mistake said."""

import numpy as np
import pandas as pd
import pytest

from cape._tables import TableError
from cape.files import Notes, count_file
from cape.metrics import confusion_by_group


@pytest.fixture
def scored(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "y": random.integers(0, 2, 300),
            "p": random.integers(0, 2, 300).astype(float),
            "g": random.choice(["a", "b"], 300),
            "s": random.integers(1, 3, 300).astype(float),
        }
    )
    frame.to_csv(tmp_path / "s.csv", index=False)
    return tmp_path / "s.csv", frame


@pytest.mark.parametrize("rows", [7, 100, 1000])
def test_counts_are_those_of_the_metrics(scored, rows):
    path, frame = scored
    counts, labels = count_file(path, label="y", prediction="p", group=["g"], rows=rows)
    assert counts == confusion_by_group(
        frame["y"], frame["p"], sensitive_features=frame["g"]
    )
    assert labels == ("0", "1")


def test_combinations_and_no_group(scored):
    path, _ = scored
    notes = Notes()
    counts, _ = count_file(
        path, label="y", prediction="p", group=["g", "s"], notes=notes
    )
    assert list(counts) == [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")]
    assert [note.endswith("taken as the same group.") for note in notes] == [True]
    assert list(count_file(path, label="y", prediction="p")[0]) == ["everyone"]


def test_the_positive_label(scored, tmp_path):
    path, frame = scored
    flipped, labels = count_file(
        path, label="y", prediction="p", group=["g"], positive="0"
    )
    straight, _ = count_file(path, label="y", prediction="p", group=["g"])
    assert labels == ("1", "0")
    assert flipped["a"].tp == straight["a"].tn
    with pytest.raises(
        TableError, match="the positive label must be '0' or '1', got 'x'"
    ):
        count_file(path, label="y", prediction="p", positive="x")
    one = tmp_path / "one.csv"
    frame.assign(y="no", p="no").to_csv(one, index=False)
    with pytest.raises(TableError, match=r"only 'no' occurs.*--positive"):
        count_file(one, label="y", prediction="p")
    counts, _ = count_file(one, label="y", prediction="p", positive="yes")
    assert counts["everyone"].tn == 300
    frame.assign(y=1, p=1).to_csv(one, index=False)
    assert count_file(one, label="y", prediction="p")[0]["everyone"].tp == 300


@pytest.mark.parametrize(
    ("change", "columns", "words"),
    [
        ({}, {"label": "Y"}, r"no column 'Y'; did you mean 'y'\?"),
        (
            {"p": ["0", "1", "maybe"] * 100},
            {},
            r"two values between them, got 3: '0', '1', 'maybe'",
        ),
        ({"g": ["a", None] * 150}, {}, r"column 'g': 150 rows have no value"),
    ],
)
def test_mistakes(scored, tmp_path, change, columns, words):
    path = tmp_path / "bad.csv"
    scored[1].assign(**change).to_csv(path, index=False)
    with pytest.raises(TableError, match=words):
        count_file(path, **{"label": "y", "prediction": "p", "group": ["g"], **columns})
    pd.DataFrame(columns=["y", "p", "g"]).to_csv(path, index=False)
    with pytest.raises(TableError, match="no rows"):
        count_file(path, label="y", prediction="p", group=["g"])
