"""Damaged JSON of evidence and streams: one ValueError, which names the field."""

import copy
import json
from datetime import timedelta

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Evidence
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


@pytest.fixture(scope="module")
def content(clf):
    """Evidence with labels, as JSON has it."""
    evidence = clf.evidence(X, KNOWN, sensitive_features=z)
    return json.loads(evidence.to_json())


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


def field_of(path):
    """Return the name of the field that a path leads to."""
    return [step for step in path if isinstance(step, str)][-1]


def read(clf, content):
    """Read evidence and use it, as whoever got the text would."""
    evidence = Evidence.from_json(json.dumps(content))
    return clf.adapt(evidence=evidence)


def refusal(function, clf, content):
    """Return the words of the ValueError; nothing if there was none."""
    try:
        function(clf, content)
    except ValueError as error:
        return str(error)
    return ""


def test_what_was_written_is_read(clf, content):
    assert Evidence.from_json(json.dumps(content)) == clf.evidence(
        X, KNOWN, sensitive_features=z
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_field_of_evidence_refuses_what_it_cannot_be(clf, content):
    optional = ("tally", "agreements", "columns", "labelled", "unseen")
    for path in leaves(content):
        old = at(content, path)
        name = field_of(path)
        for value in NO_NUMBERS:
            if name == "group" or (name in optional and value in (None, [], {})):
                continue
            if isinstance(old, str) and isinstance(value, str):
                continue
            if name in ("groups", "cells", "edges") and value == []:
                continue
            message = refusal(read, clf, changed(content, path, value))
            is_named = name in message or "cells of this model" in message
            # What labelled rows cannot be is said of all of them.
            is_named = is_named or "labelled must be rows of the batch" in message
            assert is_named, (path, value, message)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_field_of_evidence_must_be_there(clf, content):
    for path in leaves(content):
        name = path[-1]
        if not isinstance(name, str) or name == "labelled":
            continue
        damaged = copy.deepcopy(content)
        del at(damaged, path[:-1])[name]
        with pytest.raises(ValueError, match=name):
            read(clf, damaged)


GROUP = ("groups", 0)
POSITIVES = (*GROUP, "labelled", 0, "positives")


@pytest.mark.parametrize("part", [GROUP, POSITIVES], ids=["batch", "labelled"])
@pytest.mark.parametrize("name", ["tally", "agreements", "columns"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_a_model_counts_cannot_be_left_out(clf, content, part, name):
    if at(content, part)[name] is None:
        pytest.skip("this model does not count it")
    # Nobody counts columns where drift is ignored, but then for labelled rows as well.
    with pytest.raises(ValueError, match=f"{name}|labelled|cells of this model"):
        read(clf, changed(content, (*part, name), None))


def test_scores_of_other_units_are_refused(clf, content):
    unit = at(content, (*GROUP, "scores", "unit"))
    for other in (unit + 1, 2 * unit, 10**6):
        with pytest.raises(ValueError, match="scores|tally|columns|labelled|cells of"):
            read(clf, changed(content, (*GROUP, "scores", "unit"), other))


@pytest.mark.parametrize("name", ["cells", "edges", "counts", "sums"])
def test_lists_have_their_length_and_their_order(clf, content, name):
    path = (*GROUP, "scores", name)
    numbers = at(content, path)
    if name in ("counts", "sums"):
        damaged = [numbers[:-1], [*numbers, 1]]
    else:
        repeated = [numbers[0], numbers[0], *numbers[2:]]
        descending = [numbers[1], numbers[0], *numbers[2:]]
        damaged = [repeated, descending, [*numbers[:-1], 10**15]]
    for wrong in damaged:
        with pytest.raises(ValueError, match=rf"groups\[0\]\.scores\.{name} must be"):
            read(clf, changed(content, path, wrong))


def test_groups_and_probabilities_come_once(clf, content):
    twice = {**content, "groups": [content["groups"][0]] * 2}
    with pytest.raises(ValueError, match=r"groups\[1\]\.group must be a different one"):
        read(clf, twice)
    path = (*GROUP, "labelled")
    twice = changed(content, path, at(content, path) * 2)
    with pytest.raises(ValueError, match=r"labelled\[1\]\.probability must be another"):
        read(clf, twice)


def test_plain_and_weighted_labels_are_not_mixed_in_text(clf, content):
    path = (*GROUP, "labelled")
    part = at(content, path)[0]
    mixed = changed(content, path, [part, {**part, "probability": 1 << 31}])
    with pytest.raises(ValueError, match=r"groups\[0\]\.labelled must be all drawn"):
        read(clf, mixed)


def test_labelled_rows_are_rows_of_the_batch(clf, content):
    # Labelled rows in a cell of which the batch has fewer rows.
    scores = at(content, (*POSITIVES, "scores"))
    unit = scores["unit"]
    batch = at(content, (*GROUP, "scores"))
    empty = sorted(set(range(len(batch["edges"]) + 1)) - set(batch["cells"]))
    if not empty:
        pytest.skip("the batch has rows in every cell")
    cell = empty[len(empty) // 2]
    edges = [0, *batch["edges"]]
    moved = {
        **scores,
        "cells": [cell],
        "counts": [unit * sum(scores["counts"]) // unit],
        "sums": [(edges[cell] + 1) * sum(scores["counts"])],
    }
    with pytest.raises(ValueError, match="labelled|tally|scores"):
        read(clf, changed(content, (*POSITIVES, "scores"), moved))


# Streams


@pytest.fixture(scope="module", params=["rows", "time"])
def stream(request, clf):
    """A stream with labels, as JSON has it."""
    window = 25 if request.param == "rows" else timedelta(hours=60)
    rolling = RollingCape(clf, window, refresh=7)
    times = {} if request.param == "rows" else {"times": HOURS}
    rolling.predict(X, sensitive_features=z, ids=range(80), **times)
    rolling.label(range(40, 80, 2), y[40:80:2])
    return json.loads(rolling.to_json())


def resume(clf, content):
    """Read a stream and go on with it."""
    rolling = RollingCape.from_json(clf, json.dumps(content))
    rolling.evidence()
    return rolling


def test_a_stream_that_was_written_is_read(clf, stream):
    rolling = resume(clf, stream)
    assert json.loads(rolling.to_json()) == stream


def test_a_stream_refuses_whatever_was_changed(clf, stream):
    for path in leaves(stream):
        for value in NO_NUMBERS:
            if value == at(stream, path) and value is not True:
                continue
            with pytest.raises(ValueError, match=r"RollingCape\.to_json|sha256 must"):
                resume(clf, changed(stream, path, value))
        if isinstance(path[-1], str):
            damaged = copy.deepcopy(stream)
            del at(damaged, path[:-1])[path[-1]]
            with pytest.raises(ValueError, match=r"to_json|must be given"):
                resume(clf, damaged)
