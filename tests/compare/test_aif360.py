"""The bridge to AIF360: its noise stays with it, and its words are derived, not assumed."""

import logging
import subprocess
import sys
import warnings

import numpy as np
import pytest

from cape._groups import check_groups
from cape.compare import _aif360
from cape.compare._aif360 import Bridge, old_normal_density, undisturbed


def test_noise_is_kept_in_and_nothing_is_changed_for_good(capsys):
    root = logging.getLogger()
    handlers, filters, state = (
        list(root.handlers),
        list(root.filters),
        np.random.get_state()[1].copy(),
    )
    shown = list(warnings.filters)
    with undisturbed():
        logging.warning("noise")
        print("noise")  # noqa: T201
        warnings.warn("noise", stacklevel=1)
        np.random.seed(3)
    assert (root.handlers, root.filters) == (handlers, filters)
    assert (np.random.get_state()[1] == state).all()
    assert warnings.filters == shown
    assert capsys.readouterr() == ("", "")
    with pytest.warns(UserWarning, match="heard again"):
        warnings.warn("heard again", stacklevel=1)


def test_all_is_restored_after_an_error():
    root = logging.getLogger()
    before = (list(root.handlers), list(root.filters))
    with pytest.raises(RuntimeError), undisturbed():
        raise RuntimeError
    assert (root.handlers, root.filters) == before


def test_importing_and_using_aif360_writes_nothing():
    """In a process of its own, since AIF360 speaks when first imported."""
    code = (
        "from cape.compare import Reweighing\n"
        "from cape.datasets import make_synthetic\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "d = make_synthetic(200, prevalences=(0.3, 0.6), random_state=0)\n"
        "Reweighing(LogisticRegression()).fit(d.data, d.target, sensitive_features=d.sensitive_features)\n"
        "import logging; assert not logging.getLogger().handlers\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "" and done.stderr == ""


def test_the_old_density_is_taken_away_again_even_after_an_error():
    with undisturbed():
        general = _aif360.importlib.import_module(
            "aif360.algorithms.inprocessing.celisMeta.General"
        )
    theirs = general.multivariate_normal
    with pytest.raises(RuntimeError), old_normal_density():
        assert general.multivariate_normal is not theirs
        raise RuntimeError
    assert general.multivariate_normal is theirs


def test_privileged_is_the_group_with_the_greatest_share_of_favourable_labels():
    groups = check_groups(["a", "a", "b", "b", "c", "c"])
    assert Bridge.of(np.array([0, 1, 1, 1, 0, 0]), groups).privileged == "b"
    assert Bridge.of(np.array([1, 1, 0, 1, 0, 0]), groups).privileged == "a"


def test_features_end_with_the_privileged_indicator_and_name_every_group():
    two, three = check_groups(["a", "b"]), check_groups(["a", "b", "c"])
    assert Bridge(["a", "b"], "b").features([[5.0], [6.0]], two).tolist() == [
        [5, 0],
        [6, 1],
    ]
    found = Bridge(["a", "b", "c"], "c").features([[5.0], [6.0], [7.0]], three)
    assert found.tolist() == [[5, 0, 0, 0], [6, 1, 0, 0], [7, 0, 1, 1]]


def test_datasets_hold_dummy_labels_unless_labels_are_given():
    bridge, features = Bridge(["a", "b"], "b"), np.array([[5.0, 0.0], [6.0, 1.0]])
    with undisturbed():
        assert bridge.dataset(features).labels.ravel().tolist() == [0, 0]
        given = bridge.dataset(features, np.array([1, 0]), [0.7, 0.2])
    assert given.labels.ravel().tolist() == [
        1,
        0,
    ] and given.scores.ravel().tolist() == [0.7, 0.2]
    assert given.protected_attributes.ravel().tolist() == [0, 1]
