"""The bridge to AIF360: its noise stays inside, and its words are derived from data."""

import logging
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape._groups import check_groups
from cape.metrics import confusion_by_group
from cape_paper import _aif360
from cape_paper._aif360 import (
    SIDES,
    Bridge,
    algorithm,
    old_normal_density,
    undisturbed,
)
from cape_paper._singular import ProjectedNormal

GENERAL = "aif360.algorithms.inprocessing.celisMeta.General"


def logging_setup():
    root = logging.getLogger()
    return list(root.handlers), list(root.filters)


def make_noise():
    logging.warning("noise")
    print("noise")  # noqa: T201
    warnings.warn("noise", stacklevel=1)
    np.random.seed(3)


def test_noise_is_kept_inside(capsys):
    with undisturbed():
        make_noise()
    assert capsys.readouterr() == ("", "")


def test_nothing_is_changed_for_good():
    setup = logging_setup()
    state = np.random.get_state()[1].copy()
    filters = list(warnings.filters)
    with undisturbed():
        make_noise()
    assert logging_setup() == setup
    assert (np.random.get_state()[1] == state).all()
    assert warnings.filters == filters
    with pytest.warns(UserWarning, match="heard again"):
        warnings.warn("heard again", stacklevel=1)


def test_all_is_restored_after_an_error():
    setup = logging_setup()
    state = np.random.get_state()[1].copy()
    with pytest.raises(RuntimeError), undisturbed():
        make_noise()
        raise RuntimeError
    assert logging_setup() == setup
    assert (np.random.get_state()[1] == state).all()


def test_silence_within_silence_ends_with_the_outer_one(capsys):
    setup = logging_setup()
    with undisturbed():
        with undisturbed():
            make_noise()
        make_noise()
    assert capsys.readouterr() == ("", "")
    assert logging_setup() == setup


def test_importing_and_using_aif360_writes_nothing():
    """In a process of its own, since AIF360 speaks when it is first imported."""
    code = """
import logging
from sklearn.linear_model import LogisticRegression
from cape_paper._peers import Reweighing
from cape.datasets import make_synthetic
d = make_synthetic(200, prevalences=(0.3, 0.6), random_state=0)
model = Reweighing(LogisticRegression())
model.fit(d.data, d.target, sensitive_features=d.sensitive_features)
assert not logging.getLogger().handlers
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr == ""


def test_metafair_has_the_old_density_for_a_while():
    with undisturbed():
        general = _aif360.importlib.import_module(GENERAL)
    scipys = general.multivariate_normal
    with old_normal_density():
        assert general.multivariate_normal is ProjectedNormal
    assert general.multivariate_normal is scipys


def test_the_old_density_is_taken_away_even_after_an_error():
    with undisturbed():
        general = _aif360.importlib.import_module(GENERAL)
    scipys = general.multivariate_normal
    with pytest.raises(RuntimeError), old_normal_density():
        raise RuntimeError
    assert general.multivariate_normal is scipys


@pytest.mark.parametrize(
    ("favourable", "privileged"),
    [
        ([0, 1, 1, 1, 0, 0], "b"),
        ([1, 1, 0, 1, 0, 0], "a"),
        ([0, 0, 0, 0, 0, 1], "c"),
    ],
)
def test_privileged_is_the_group_with_the_greatest_share_of_favourable_labels(
    favourable, privileged
):
    groups = check_groups(["a", "a", "b", "b", "c", "c"])
    bridge = Bridge.of(np.array(favourable), groups)
    assert bridge.privileged == privileged
    assert bridge.groups == ["a", "b", "c"]


def test_of_equal_shares_the_first_group_is_privileged():
    groups = check_groups(["b", "b", "a", "a"])
    assert Bridge.of(np.array([0, 1, 0, 1]), groups).privileged == "a"


def test_features_of_two_groups_end_with_the_privileged_indicator():
    groups = check_groups(["a", "b"])
    features = Bridge(["a", "b"], "b").features([[5.0], [6.0]], groups)
    assert features.tolist() == [[5, 0], [6, 1]]


def test_features_of_three_groups_tell_all_of_them_apart():
    groups = check_groups(["a", "b", "c"])
    bridge = Bridge(["a", "b", "c"], "c")
    features = bridge.features([[5.0], [6.0], [7.0]], groups)
    assert features.tolist() == [[5, 0, 0, 0], [6, 1, 0, 0], [7, 0, 1, 1]]


def test_features_of_groups_that_are_combinations():
    groups = check_groups(np.array([["f", "x"], ["m", "x"], ["f", "y"]]))
    bridge = Bridge(groups.keys, ("m", "x"))
    features = bridge.features(np.zeros((3, 1)), groups)
    assert features[:, -1].tolist() == [0, 1, 0]
    assert features[:, 1:-1].tolist() == [[0, 0], [0, 1], [1, 0]]


def test_a_group_unknown_in_training_is_not_privileged():
    groups = check_groups(["new", "b"])
    features = Bridge(["a", "b"], "b").features(np.zeros((2, 1)), groups)
    assert features[:, -1].tolist() == [0, 1]


FEATURES = np.array([[5.0, 0.0], [6.0, 1.0]])


def test_datasets_hold_dummy_labels_unless_labels_are_given():
    bridge = Bridge(["a", "b"], "b")
    with undisturbed():
        dataset = bridge.dataset(FEATURES)
    assert dataset.labels.ravel().tolist() == [0, 0]
    assert dataset.protected_attributes.ravel().tolist() == [0, 1]


def test_datasets_hold_the_labels_and_scores_that_are_given():
    bridge = Bridge(["a", "b"], "b")
    with undisturbed():
        dataset = bridge.dataset(FEATURES, np.array([1, 0]), [0.7, 0.2])
    assert dataset.labels.ravel().tolist() == [1, 0]
    assert dataset.scores.ravel().tolist() == [0.7, 0.2]
    np.testing.assert_array_equal(dataset.features, FEATURES)
    assert dataset.favorable_label == 1


@given(st.integers(2, 5), st.integers(0, 2**31))
def test_the_weights_of_reweighing_leave_no_difference_in_prevalence(n_groups, seed):
    """The privileged group against all others: group and label become independent."""
    random = np.random.default_rng(seed)
    # Every group has a row of each label.
    favourable = np.r_[np.tile([0, 1], n_groups), random.integers(0, 2, 40)]
    every_group = np.repeat(np.arange(n_groups), 2)
    groups = check_groups(np.r_[every_group, random.integers(0, n_groups, 40)])
    bridge = Bridge.of(favourable, groups)
    features = bridge.features(np.zeros((len(favourable), 1)), groups)
    with undisturbed():
        reweighing = algorithm("preprocessing", "Reweighing")(**SIDES)
        dataset = bridge.dataset(features, favourable)
        weights = reweighing.fit_transform(dataset).instance_weights
    counts = confusion_by_group(
        favourable,
        favourable,
        sensitive_features=features[:, -1].astype(int),
        sample_weight=weights,
    )
    assert counts[0].prevalence == pytest.approx(counts[1].prevalence)
    assert counts[1].prevalence == pytest.approx(favourable.mean())


@given(st.integers(2, 5), st.integers(0, 2**31))
def test_no_group_has_a_greater_share_than_the_privileged_one(n_groups, seed):
    random = np.random.default_rng(seed)
    favourable = random.integers(0, 2, 40)
    z = np.r_[np.arange(n_groups), random.integers(0, n_groups, 40 - n_groups)]
    groups = check_groups(z)
    bridge = Bridge.of(favourable, groups)
    features = bridge.features(np.zeros((40, 1)), groups)
    shares = [favourable[z == group].mean() for group in range(n_groups)]
    assert shares[bridge.privileged] == max(shares)
    np.testing.assert_array_equal(features[:, -1] == 1, z == bridge.privileged)
