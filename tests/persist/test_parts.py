"""Walking through a model reaches every object once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cape.persist._parts import parts_of

nested = st.recursive(
    st.builds(object),
    lambda children: (
        st.lists(children, max_size=3)
        | st.tuples(children, children)
        | st.dictionaries(st.integers(), children, max_size=3)
    ),
    max_leaves=10,
)


def leaves_of(thing):
    """The objects at the ends of nested containers, by plain recursion."""
    if isinstance(thing, dict):
        thing = list(thing.values())
    if isinstance(thing, (list, tuple)):
        return [leaf for part in thing for leaf in leaves_of(part)]
    return [thing]


@given(nested)
def test_the_walk_reaches_what_recursion_reaches(thing):
    parts = list(parts_of(thing))
    visited = [id(part) for part in parts]
    assert len(set(visited)) == len(visited)
    for leaf in leaves_of(thing):
        assert id(leaf) in visited


def test_an_object_that_holds_itself_is_visited_once():
    circle = []
    circle.append(circle)
    assert list(parts_of(circle)) == [circle]


def test_an_object_that_occurs_twice_is_visited_once():
    shared = LogisticRegression()
    parts = list(parts_of([shared, {"again": shared}]))
    assert sum(part is shared for part in parts) == 1


def test_simple_values_are_left_out():
    assert list(parts_of([1, "a", None, 0.5, b"", int, True])) == [
        [1, "a", None, 0.5, b"", int, True]
    ]


def test_the_steps_of_a_pipeline_are_reached():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    kinds = {type(part).__name__ for part in parts_of({"a": [pipeline]})}
    assert {"Pipeline", "StandardScaler", "LogisticRegression"} <= kinds


@pytest.mark.parametrize(
    "ensemble",
    [RandomForestClassifier(3), GradientBoostingClassifier(n_estimators=3)],
    ids=["in a list", "in an array of objects"],
)
def test_the_trees_of_an_ensemble_are_reached(train, ensemble):
    ensemble.fit(train.X, train.y)
    trees = []
    for part in parts_of(ensemble):
        if type(part).__name__ == "Tree":
            trees.append(part)
    assert len(trees) == 3


def test_arrays_of_numbers_are_not_walked_through():
    array = np.zeros(5)
    tree = DecisionTreeClassifier()
    parts = list(parts_of([array, np.array([tree, None], dtype=object)]))
    assert any(part is array for part in parts)
    assert any(part is tree for part in parts)
    assert len(parts) == 4
