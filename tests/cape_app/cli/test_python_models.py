"""Models of ``cape train`` in Python, and models of Python in every command."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from cape import CapeClassifier, persist
from cape.datasets import make_synthetic
from cape_app.files import load_model, predict_file, save_model, train_file


@pytest.fixture(scope="module")
def tables():
    """Rows to train on and new ones, with a label of words and groups of numbers."""
    made = []
    for seed in (0, 1):
        table = make_synthetic(800, random_state=seed).frame
        table["y"] = np.where(table["y"] == 1, "good", "bad")
        table["joined"] = pd.date_range("2020-01-01", periods=800).strftime("%Y-%m-%d")
        made.append(table)
    return made


@pytest.mark.parametrize("positive", ["good", "bad"])
def test_a_model_of_cape_train_has_its_labels_in_python(tables, tmp_path, positive):
    old, new = tables
    old.to_csv(tmp_path / "old.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    settings = {"label": "y", "group": ["z"], "learner": "logistic"}
    path = tmp_path / "model.cape"
    train_file(tmp_path / "old.csv", path, positive=positive, **settings)
    predict_file(load_model(path), tmp_path / "new.csv", tmp_path / "out.csv")
    expected = pd.read_csv(tmp_path / "out.csv")["prediction"]
    clf = persist.load(path)
    assert clf.classes_.tolist()[1] == positive
    # In any order, with more columns, groups as numbers or text, dates as text.
    X = new[["z", "joined", "V", "y", "U"]]
    assert clf.predict(X).tolist() == expected.tolist()
    assert clf.predict(X.assign(z=X["z"].astype(str))).tolist() == expected.tolist()
    X = X.assign(joined=pd.to_datetime(X["joined"]), z=X["z"].astype(float))
    assert clf.predict(X).tolist() == expected.tolist()
    assert clf.score(X, new["y"]) > 0.7
    adaptation = clf.adapt(X, new["y"].where(np.arange(800) % 4 == 0, None))
    assert adaptation.groups["0"].labels.rows > 50
    with pytest.raises(ValueError, match="X has no column 'U'"):
        clf.predict(X.drop(columns="U"))


def prefit(X, y):
    """A model that was fitted before, with the group among its columns."""
    forest = RandomForestClassifier(30, max_depth=4, random_state=0)
    forest.fit(X[:400], y[:400])
    clf = CapeClassifier(forest, cv="prefit", random_state=0)
    return clf.fit(X[400:], y[400:], sensitive_features=X["z"][400:])


def by_column(X, y):
    clf = CapeClassifier(LogisticRegression(), group_columns="z", random_state=0)
    return clf.fit(X, y)


def apart(X, y):
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    return clf.fit(X[["U", "V"]], y, sensitive_features=X["z"])


@pytest.mark.parametrize("make", [prefit, by_column, apart])
def test_commands_use_a_model_that_was_fitted_in_python(tables, tmp_path, cape, make):
    old, new = tables
    X, y = old[["U", "V", "z"]], old["y"]
    clf = make(X, y)
    groups = {"sensitive_features": None if make is by_column else X["z"]}
    of_clf = X[clf.feature_names_in_]
    path = save_model(clf, tmp_path / "m.cape", of_clf, label="y", **groups)
    # Floats, as a gap would make them, and in another order.
    table = new[["z", "V", "U", "y"]].assign(z=new["z"].astype(float))
    table.drop(columns="y").to_csv(tmp_path / "new.csv", index=False)
    table.to_parquet(tmp_path / "new.parquet")
    out = tmp_path / "out.csv"
    code, _, _ = cape("predict", path, tmp_path / "new.csv", "--out", out)
    assert code == 0
    if groups["sensitive_features"] is not None:
        groups = {"sensitive_features": new["z"]}
    expected = clf.predict(new[clf.feature_names_in_], **groups)
    assert pd.read_csv(out)["prediction"].tolist() == expected.tolist()
    sheet = tmp_path / "sheet.csv"
    for command in (
        ("predict", path, tmp_path / "new.parquet", "--json"),
        ("sample", path, tmp_path / "new.csv", "--rows", "60", "--out", sheet),
        ("info", path),
    ):
        code, _, err = cape(*command)
        assert code == 0, err
    filled = pd.read_csv(sheet)
    rows = filled["cape_key"].str.extract(r"(\d+)", expand=False).astype(int) - 1
    filled["y"] = new["y"].to_numpy()[rows]
    filled.to_csv(tmp_path / "filled.csv", index=False)
    checked = ("predict", path, tmp_path / "new.csv", "--out", tmp_path / "2.csv")
    code, _, err = cape(*checked, "--checked", tmp_path / "filled.csv")
    assert code == 0, err


def test_a_table_that_a_file_cannot_give_is_refused(tables, tmp_path):
    old, _ = tables
    X = old[["U", "V"]].assign(side=pd.Categorical(np.where(old["U"] > 0, "r", "l")))
    path = tmp_path / "m.cape"
    codes = FunctionTransformer(codes_of_categories)
    clf = CapeClassifier(make_pipeline(codes, LogisticRegression()), random_state=0)
    clf.fit(X, old["y"])
    with pytest.raises(ValueError, match="categories"):
        save_model(clf, path, X)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    clf.fit(X[["U", "V"]], old["y"], sensitive_features=old["z"].to_numpy())
    with pytest.raises(ValueError, match="with names"):
        save_model(clf, path, X[["U", "V"]], sensitive_features=old["z"].to_numpy())
    persist.save(clf, path)
    with pytest.raises(ValueError, match="save_model"):
        load_model(path)


def codes_of_categories(X):
    """Numbers for categories; text would be something else."""
    is_right = X["side"] == "r"
    if X["side"].dtype != "category":
        is_right = ~is_right
    return X.assign(side=is_right)
