"""Labels that contradict the scores: whose rows they are, nobody can know."""

import numpy as np
import pytest

from cape import Adaptation, AdaptationWarning, examine
from cape.datasets import make_synthetic

NEW = make_synthetic(1200, prevalences=(0.3, 0.7), random_state=6)
X, y = NEW.data.to_numpy(), NEW.target.to_numpy()
z = NEW.sensitive_features.to_numpy()

pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")


@pytest.fixture(scope="module")
def clf(fitted):
    return fitted(pool="threshold")


def labels_of(n, wrong, seed=0):
    """Labels of a plain sample, turned round or of other rows of it."""
    random = np.random.default_rng(seed)
    rows = random.choice(len(y), n, replace=False)
    known = np.full(len(y), np.nan)
    known[rows] = {
        "": y[rows],
        "turned round": 1 - y[rows],
        "shuffled": random.permutation(y[rows]),
        "one row off": np.roll(y[rows], 1),
        "sorted": np.sort(y[rows]),
    }[wrong]
    return known


@pytest.mark.parametrize("decide", [True, False])
@pytest.mark.parametrize("n", [150, 1200])
@pytest.mark.parametrize("wrong", ["turned round", "shuffled", "one row off", "sorted"])
def test_labels_of_other_rows_back_nothing(clf, wrong, n, decide):
    known = labels_of(n, wrong)
    groups = {"sensitive_features": z}
    free = clf.adapt(X, **groups)
    if decide:
        with pytest.warns(AdaptationWarning, match="contradict the scores"):
            seen = examine(clf, X, known, **groups)
    else:
        seen = examine(clf, X, known, labels_decide=False, **groups)
    assert seen.action.code == "do_not_use"
    for group, check in seen.labels.groups.items():
        assert seen.action.groups[group].reason == "contradicted"
        # Both numbers, and what the labels alone say.
        assert check.labels.auc < 0.75 and check.labels.training_auc > 0.95
        assert check.labels.estimate == pytest.approx(np.nanmean(known[z == group]))
        assert check.labels.verdict is None
        estimate = seen.adaptation.groups[group].estimate
        assert estimate.value == free.groups[group].estimate.value
    if decide:
        assert Adaptation.from_json(seen.adaptation.to_json()) == seen.adaptation


def test_few_labels_of_many_groups_contradict_together(clf):
    known = labels_of(30, "shuffled")
    seen = clf.adapt(X, known, sensitive_features=z)
    assert any(group.labels.contradict_scores for group in seen.groups.values())


def test_right_labels_are_hardly_ever_blamed(clf):
    groups = {"sensitive_features": z}
    blamed = 0
    for seed in range(60):
        adaptation = clf.adapt(X, labels_of(40, "", seed), **groups)
        found = [group.labels.contradict_scores for group in adaptation.groups.values()]
        blamed += any(found)
    assert blamed <= 2


def test_rows_that_are_all_alike_cannot_contradict(clf):
    alike = np.tile(X.mean(axis=0), (60, 1))
    half = np.arange(60) % 2
    adaptation = clf.adapt(alike, half, sensitive_features=np.zeros(60, dtype=int))
    assert not adaptation.groups[0].labels.contradict_scores


def test_a_broken_column_is_to_blame_before_labels(clf):
    groups = {"sensitive_features": z}
    with pytest.warns(AdaptationWarning, match="not what they were"):
        adaptation = clf.adapt(X * [1, 60], y, **groups)
    for group in adaptation.groups.values():
        assert group.labels.verdict is not None
    # Scores that say nothing are the column's fault, the opposite is not.
    with pytest.warns(AdaptationWarning):
        fixed = X.copy()
        fixed[:, 0] = np.median(X[:, 0])
        adaptation = clf.adapt(fixed, 1 - y, **groups)
    assert any(one.labels.contradict_scores for one in adaptation.groups.values())
