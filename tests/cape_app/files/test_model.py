"""Model files: how they are loaded and described, and what damage is found."""

import json

import pytest

from cape import persist
from cape.persist import TRUSTED
from cape_app.files import load_model


def test_a_saved_model_knows_its_table_and_its_groups(people_folder, people_model):
    assert people_model.columns.label == "y"
    assert people_model.columns.groups == ("race",)
    kinds = {"age": "number", "degree": "text", "free": "flag"}
    assert people_model.columns.features == kinds
    details = people_model.details
    assert details["data"]["rows"] == 900
    assert details["settings"]["scores"] == "auto"
    assert json.loads(json.dumps(details, allow_nan=False)) == details
    for group in details["groups"]:
        model = people_model.clf.models_[group["group"]]
        assert group["rows"] == model.size
        assert group["prevalence"] == model.prevalence
        assert group["auc"] == model.auc()


def test_a_file_that_is_no_model_is_refused(people_folder, tmp_path):
    with pytest.raises(ValueError, match="must be a model file written by cape"):
        load_model(people_folder / "new.csv")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*m\.cape\.$"):
        load_model(tmp_path / "m.cape")


def test_a_model_that_python_saved_has_no_columns(tmp_path, people_model):
    persist.save(people_model.clf, tmp_path / "m.cape")
    with pytest.raises(ValueError, match=r"has no columns of a table"):
        load_model(tmp_path / "m.cape")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learner", None),
        ("data", "text"),
        ("settings", None),
        ("columns", {"labels": 3}),
        ("columns", {"labels": ["no"]}),
        ("columns", {"groups": None}),
        ("columns", {"features": ["n"]}),
        ("columns", "text"),
        ("groups", [{"group": 1}]),
    ],
    ids=str,
)
def test_damaged_details_are_refused_by_the_name_of_the_file(
    tmp_path, people_model, name, value
):
    if isinstance(value, dict):
        value = {**people_model.details[name], **value}
    details = {**people_model.details, name: value}
    if value is None:
        del details[name]
    persist.save(people_model.clf, tmp_path / "m.cape", details=details)
    with pytest.raises(ValueError, match=r"m\.cape is damaged: "):
        load_model(tmp_path / "m.cape")


def test_a_file_that_is_replaced_while_it_is_read_is_noticed(
    people_folder, monkeypatch
):
    header = persist.read_header(people_folder / "m.cape")
    other = {**header, "fingerprint": "f" * 64}
    monkeypatch.setattr(persist, "read_header", lambda path, key: other)
    with pytest.raises(ValueError, match="replaced while it was being read"):
        load_model(people_folder / "m.cape")


def test_a_model_file_holds_nothing_of_the_app():
    assert not [name for name in TRUSTED if name.startswith("cape_app")]
