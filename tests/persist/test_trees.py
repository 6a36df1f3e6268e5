"""Trees that would make scikit-learn read outside its tables are refused."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from cape import CapeClassifier, persist
from cape.persist._sound import check_sound


@pytest.fixture
def boosted(train):
    """A boosted model of two trees, whose tables a test may change."""
    return HistGradientBoostingClassifier(max_iter=2).fit(train.X, train.y)


@pytest.fixture
def by_category(random):
    """A boosted model that splits by a category."""
    X = random.randint(0, 6, (300, 1))
    y = np.isin(X[:, 0], [1, 4])
    model = HistGradientBoostingClassifier(max_iter=1, categorical_features=[0])
    return model.fit(X, y)


@pytest.mark.parametrize(
    "learner",
    [
        HistGradientBoostingClassifier(max_iter=3),
        RandomForestClassifier(3),
        GradientBoostingClassifier(n_estimators=3),
        DecisionTreeClassifier(),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_trees_of_scikit_learn_are_accepted(train, learner):
    check_sound({"deep": [learner.fit(train.X, train.y)]})


def test_trees_of_one_leaf_are_accepted(train):
    constant = np.zeros((len(train.y), 2))
    for learner in (
        HistGradientBoostingClassifier(max_iter=2),
        DecisionTreeClassifier(),
    ):
        check_sound(learner.fit(constant, train.y))


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_child_outside_the_table_is_refused(boosted, side):
    boosted._predictors[0][0].nodes[side][0] = 10**6
    with pytest.raises(ValueError, match="nodes point outside the tree"):
        check_sound({"deep": [boosted]})


def test_a_child_just_outside_the_table_is_refused(boosted):
    nodes = boosted._predictors[1][0].nodes
    nodes["right"][0] = len(nodes)
    with pytest.raises(ValueError, match="nodes point outside the tree"):
        check_sound(boosted)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_walk_in_a_circle_is_refused(boosted, side):
    boosted._predictors[0][0].nodes[side][0] = 0
    with pytest.raises(ValueError, match="nodes point outside the tree"):
        check_sound(boosted)


@pytest.mark.parametrize("column", [-5, 2, 10**6])
def test_a_column_that_the_table_does_not_have_is_refused(boosted, column):
    check_sound(boosted)
    boosted._predictors[0][0].nodes["feature_idx"][0] = column
    with pytest.raises(ValueError, match="points? outside"):
        check_sound(boosted)


def test_a_tree_without_nodes_is_refused(boosted):
    tree = boosted._predictors[0][0]
    tree.nodes = tree.nodes[:0]
    with pytest.raises(ValueError, match="nodes point outside the tree"):
        check_sound(boosted)


@pytest.mark.parametrize("table", ["binned_left_cat_bitsets", "raw_left_cat_bitsets"])
def test_a_set_of_categories_that_is_missing_is_refused(by_category, table):
    check_sound(by_category)
    tree = by_category._predictors[0][0]
    setattr(tree, table, getattr(tree, table)[:0])
    with pytest.raises(ValueError, match="nodes point outside the tree"):
        check_sound(by_category)


class _Tree:
    """Gives the tables of a decision tree, of which scikit-learn lets none be set."""

    def __init__(self, tree):
        self.children_left = tree.children_left.copy()
        self.children_right = tree.children_right.copy()
        self.feature = tree.feature.copy()
        self.n_features = tree.n_features
        self.node_count = tree.node_count
        self.capacity = tree.capacity


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("children_left", 0),
        ("children_right", 10**6),
        ("children_right", -5),
        ("feature", -2),
        ("feature", 2),
    ],
)
def test_a_decision_tree_that_points_outside_is_refused(train, table, wrong):
    from cape.persist._trees import check_tree

    tree = _Tree(DecisionTreeClassifier(max_depth=2).fit(train.X, train.y).tree_)
    check_tree(tree)
    getattr(tree, table)[0] = wrong
    with pytest.raises(ValueError, match="a tree whose nodes point outside the tree"):
        check_tree(tree)


def test_a_decision_tree_of_more_columns_than_its_table_is_refused(train):
    learner = DecisionTreeClassifier(max_depth=2).fit(train.X, train.y)
    learner.n_features_in_ = 1
    with pytest.raises(ValueError, match="outside the columns of a table"):
        check_sound(learner)


def test_a_file_with_such_a_tree_is_not_loaded(train, path, monkeypatch):
    learner = HistGradientBoostingClassifier(max_iter=2)
    clf = CapeClassifier(learner, pool="threshold", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    persist.load(persist.save(clf, path))
    pool = clf.models_[0].pool
    pool.models[0]._predictors[0][0].nodes["left"][0] = 10**6
    with pytest.raises(ValueError, match="clf cannot be saved, since loading fails"):
        persist.save(clf, path, overwrite=True)
    with monkeypatch.context() as careless:
        careless.setattr("cape.persist._skops.check_sound", lambda clf: None)
        persist.save(clf, path, overwrite=True)
    with pytest.raises(ValueError, match="nodes point outside the tree"):
        persist.load(path)
