"""Learners of other packages are fitted, saved and loaded: ``make test-learners``."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from cape import CapeClassifier, persist

pytestmark = pytest.mark.learners


def xgboost():
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=5, n_jobs=1)


def lightgbm():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1)


def catboost():
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=5, thread_count=1, verbose=False, allow_writing_files=False
    )


def explainable_boosting():
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(
        max_rounds=20, outer_bags=2, interactions=1, n_jobs=1
    )


def over_sampling():
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline

    smote = SMOTE(k_neighbors=2, random_state=0)
    return make_pipeline(StandardScaler(), smote, LogisticRegression())


def under_sampling():
    from imblearn.pipeline import make_pipeline
    from imblearn.under_sampling import RandomUnderSampler

    return make_pipeline(RandomUnderSampler(random_state=0), LogisticRegression())


def balanced_forest():
    from imblearn.ensemble import BalancedRandomForestClassifier

    return BalancedRandomForestClassifier(3, random_state=0)


PIPELINE = "imblearn.pipeline.Pipeline"
UNDER_SAMPLER = (
    "imblearn.under_sampling._prototype_selection._random_under_sampler."
    "RandomUnderSampler"
)

# The types that a user has to vouch for, as the error of `save` lists them.
TYPES = {
    xgboost: ["xgboost.core.Booster", "xgboost.sklearn.XGBClassifier"],
    lightgbm: [
        "collections.OrderedDict",
        "collections.defaultdict",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
    ],
    catboost: ["catboost.core.CatBoostClassifier"],
    explainable_boosting: [
        "interpret.glassbox._ebm._ebm.ExplainableBoostingClassifier"
    ],
    over_sampling: ["imblearn.over_sampling._smote.base.SMOTE", PIPELINE],
    under_sampling: [PIPELINE, UNDER_SAMPLER],
    balanced_forest: [
        "imblearn.ensemble._forest.BalancedRandomForestClassifier",
        PIPELINE,
        UNDER_SAMPLER,
    ],
}


@pytest.fixture(autouse=True)
def _their_warnings():
    """What other packages warn of is not for us to mend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("pool", ["threshold", "resampled"])
@pytest.mark.parametrize("make", TYPES, ids=lambda make: make.__name__)
def test_a_learner_is_useful_and_comes_back_if_the_user_vouches_for_it(
    train, batch, tmp_path, make, pool
):
    clf = CapeClassifier(make(), pool=pool, cv=2, prevalences=3, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    labels = clf.predict(batch.X, sensitive_features=batch.z)
    assert np.mean(labels == batch.y) > 0.7
    with pytest.raises(ValueError, match=f"got {', '.join(TYPES[make])}"):
        persist.save(clf, tmp_path / "model.cape")
    path = persist.save(clf, tmp_path / "model.cape", trusted=TYPES[make])
    with pytest.raises(ValueError, match="Nothing was loaded"):
        persist.load(path)
    loaded = persist.load(path, trusted=TYPES[make])
    for method in ("predict", "predict_proba"):
        expected = getattr(clf, method)(batch.X, sensitive_features=batch.z)
        result = getattr(loaded, method)(batch.X, sensitive_features=batch.z)
        np.testing.assert_array_equal(result, expected)
