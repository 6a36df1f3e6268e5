"""A first end-to-end check."""

from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier
from cape.datasets import make_synthetic
from cape.metrics import prevalence_difference


def test_cape_follows_both_groups():
    train = make_synthetic(4000, random_state=0)
    test = make_synthetic(4000, prevalences=(0.2, 0.8), random_state=1)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    clf.fit(train.data, train.target, sensitive_features=train.sensitive_features)
    y_pred = clf.predict(test.data, sensitive_features=test.sensitive_features)
    for group in (0, 1):
        rows = test.sensitive_features == group
        assert prevalence_difference(test.target[rows], y_pred[rows]) < 0.06
