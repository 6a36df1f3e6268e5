"""Damaged JSON of evidence and adaptations: one ValueError."""

import copy
import json
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import Adaptation, CapeClassifier, Evidence
from cape.datasets import make_synthetic

TRAIN = make_synthetic(300, random_state=0)
NEW = make_synthetic(80, prevalences=(0.2, 0.8), random_state=1)
X, y = NEW.data.to_numpy(), NEW.target.to_numpy()
z = NEW.sensitive_features.to_numpy()
KNOWN = np.where(np.arange(80) % 2 == 0, y, None)

NO_NUMBERS = [-1, 1.5, "x", None, [], {}, True, float("nan"), 10**30]


@pytest.fixture(
    scope="module",
    params=[("resampled", "folds"), ("threshold", "refit")],
    ids="-".join,
)
def clf(request):
    pool, scores = request.param
    clf = CapeClassifier(
        LogisticRegression(),
        cv=2,
        prevalences=3,
        pool=pool,
        scores=scores,
        quantifier="spa",
        random_state=0,
    )
    return clf.fit(
        TRAIN.data.to_numpy(), TRAIN.target, sensitive_features=TRAIN.sensitive_features
    )


def leaves(content, path=()):
    """Yield the path of every field, and of the first entry of every list."""
    if path:
        yield path
    if isinstance(content, dict):
        for name, part in content.items():
            yield from leaves(part, (*path, name))
    if isinstance(content, list) and content:
        yield from leaves(content[0], (*path, 0))


def changed(content, path, value):
    """Return a copy with one field changed."""
    content = copy.deepcopy(content)
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return content


def at(content, path):
    for step in path:
        content = content[step]
    return content


@pytest.fixture(params=["evidence", "adaptation"])
def written(request, clf):
    """A text as JSON has it, and who reads it."""
    evidence = clf.evidence(X, KNOWN, sensitive_features=z)
    if request.param == "evidence":
        return json.loads(evidence.to_json()), Evidence.from_json
    with warnings.catch_warnings(action="ignore"):
        adaptation = clf.adapt(evidence=evidence)
    return json.loads(adaptation.to_json()), Adaptation.from_json


def test_what_was_written_is_read(written):
    content, read = written
    assert json.loads(read(json.dumps(content)).to_json()) == content


def test_whatever_was_changed_is_refused(written):
    content, read = written
    for path in leaves(content):
        for value in NO_NUMBERS:
            if value == at(content, path) and value is not True:
                continue
            with pytest.raises(ValueError, match=r"^text must .* \w+\.to_json"):
                read(json.dumps(changed(content, path, value)))
        if isinstance(path[-1], str):
            damaged = copy.deepcopy(content)
            del at(damaged, path[:-1])[path[-1]]
            with pytest.raises(ValueError, match=r"^text must .* \w+\.to_json"):
                read(json.dumps(damaged))
