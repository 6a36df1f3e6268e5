"""Damaged JSON of evidence, adaptations and streams: one ValueError."""

import copy
import json
import warnings
from datetime import timedelta

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import Adaptation, CapeClassifier, Evidence
from cape.datasets import make_synthetic
from cape.watch._stream import RollingCape

TRAIN = make_synthetic(300, random_state=0)
NEW = make_synthetic(80, prevalences=(0.2, 0.8), random_state=1)
X, y = NEW.data.to_numpy(), NEW.target.to_numpy()
z = NEW.sensitive_features.to_numpy()
KNOWN = np.where(np.arange(80) % 2 == 0, y, None)
HOURS = np.datetime64("2026-01-01T00", "ns") + np.arange(80) * np.timedelta64(1, "h")

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


def stream(clf, span):
    """A stream with labels, as JSON has it."""
    window = 25 if span == "rows" else timedelta(hours=60)
    rolling = RollingCape(clf, window, refresh=7)
    times = {} if span == "rows" else {"times": HOURS}
    rolling.predict(X, sensitive_features=z, ids=range(80), **times)
    rolling.label(range(40, 80, 2), y[40:80:2])
    return json.loads(rolling.to_json())


@pytest.fixture(params=["evidence", "adaptation", "rows", "time"])
def written(request, clf):
    """A text as JSON has it, and who reads it."""
    if request.param in ("rows", "time"):
        content = stream(clf, request.param)
        return content, lambda text: RollingCape.from_json(clf, text)
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
