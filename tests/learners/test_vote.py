"""A member of a vote is the learner that it would have been alone."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cape import CapeClassifier
from cape._learners._choice import default_candidates, has_member, member_of


def boosting(**settings):
    return HistGradientBoostingClassifier(max_iter=5, **settings)


def vote():
    members = [("bayes", GaussianNB()), ("trees", boosting(random_state=3))]
    return VotingClassifier(members, voting="soft")


def labelled_rows(n, labels=("no", "yes"), seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    X = random.normal(size=(n, 3)) + y[:, None]
    return X, np.array(labels)[y], random.integers(0, 2, n)


def test_members_are_found_by_kind_and_parameters():
    assert has_member(vote(), GaussianNB())
    # Seeds are set by the training.
    assert has_member(vote(), boosting())
    assert not has_member(vote(), boosting(max_depth=2))
    assert not has_member(vote(), LogisticRegression())
    assert not has_member(GaussianNB(), GaussianNB())


def test_a_member_has_the_classes_of_the_vote():
    X, y, _ = labelled_rows(200)
    fitted = vote().fit(X, y)
    member = member_of(fitted, boosting())
    alone = boosting(random_state=3).fit(X, y)
    assert member.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(member.predict(X), alone.predict(X))
    np.testing.assert_array_equal(member.predict_proba(X), alone.predict_proba(X))
    # The vote itself goes on with the numbers of the classes.
    assert fitted.estimators_[1].classes_.tolist() == [0, 1]
    assert set(fitted.predict(X)) == {"no", "yes"}


def test_the_default_boosting_is_a_member_of_the_default_vote():
    candidates = default_candidates(3000)
    mean, boosting = candidates.values()
    assert has_member(mean, boosting)


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_a_candidate_out_of_the_vote_can_be_chosen(labels, monkeypatch):
    """The logistic member knows nothing here, so that boosting alone is better."""
    X, y, z = labelled_rows(600, labels)
    middle = np.abs(X[:, 0]) < 0.7
    y = np.array(labels)[middle.astype(int)]
    members = [("line", LogisticRegression()), ("trees", boosting(learning_rate=0.5))]
    candidates = {
        "vote": VotingClassifier(members, voting="soft"),
        "trees": boosting(learning_rate=0.5),
    }
    monkeypatch.setattr(
        "cape._training._train.default_candidates", lambda n: candidates
    )
    clf = CapeClassifier(random_state=0).fit(X, y, sensitive_features=z)
    assert clf.candidates_["chosen"].to_dict() == {"vote": False, "trees": True}
    assert clf.candidates_["log_loss"].notna().all()
    for model in clf.models_.values():
        assert type(model.scoring_models[0]) is HistGradientBoostingClassifier
    assert clf.score(X, y, sensitive_features=z) > 0.9
