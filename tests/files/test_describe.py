"""What is said of a model: groups, data, and how well it tells classes apart."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from cape import persist
from cape._group_model import GroupModel
from cape.files import describe_file, describe_model


def scores_of(positives, negatives, n_cells=4):
    """What `auc` needs of a group: in which cells the scores of both classes are."""
    histograms = {}
    for name, cells in (("positives", positives), ("negatives", negatives)):
        counts = np.bincount(cells, minlength=n_cells)
        histograms[name] = SimpleNamespace(shares=counts / counts.sum())
    return SimpleNamespace(**histograms)


cells = st.lists(st.integers(0, 3), min_size=1, max_size=30)


@given(cells, cells)
def test_auc_is_that_of_scikit_learn_with_ties(positives, negatives):
    labels = [1] * len(positives) + [0] * len(negatives)
    expected = roc_auc_score(labels, positives + negatives)
    assert GroupModel.auc(scores_of(positives, negatives)) == pytest.approx(expected)


@given(cells, cells)
def test_auc_of_swapped_classes_is_the_opposite(positives, negatives):
    straight = GroupModel.auc(scores_of(positives, negatives))
    swapped = GroupModel.auc(scores_of(negatives, positives))
    assert straight + swapped == pytest.approx(1)


def test_a_description_holds_the_facts_of_each_group(people_model):
    content = describe_model(people_model)
    models = people_model.clf.models_
    assert [group["group"] for group in content["groups"]] == list(models)
    for group in content["groups"]:
        model = models[group["group"]]
        assert group["rows"] == model.size
        assert group["prevalence"] == model.prevalence
        assert group["auc"] == model.auc()


def test_a_description_holds_the_details_and_can_be_json(people_model):
    content = describe_model(people_model)
    for name, value in people_model.details.items():
        assert content[name] == value
    assert content["fingerprint"] == people_model.clf.fingerprint_
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_a_description_leaves_the_details_as_they_are(people_model):
    before = json.dumps(people_model.details)
    describe_model(people_model)["data"] = None
    assert json.dumps(people_model.details) == before


def test_a_file_is_described_as_its_model_with_its_header(people_folder, people_model):
    content = describe_file(people_folder / "m.cape")
    header = persist.read_header(people_folder / "m.cape")
    assert content.pop("saved") == header["saved"]
    assert content.pop("versions") == header["versions"]
    assert content == describe_model(people_model)


def test_a_file_that_is_no_model_is_refused(people_folder, tmp_path):
    with pytest.raises(ValueError, match="must be a model file written by cape"):
        describe_file(people_folder / "new.csv")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        describe_file(tmp_path / "none.cape")
