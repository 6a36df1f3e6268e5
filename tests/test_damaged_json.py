"""Damaged JSON of evidence and streams: one ValueError, which names the field."""

import copy
import json
from datetime import timedelta

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Evidence
from cape.datasets import make_synthetic
from cape.stream import RollingCape

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


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_field_of_a_stream_refuses_what_it_cannot_be(clf, stream):
    possible = [
        ("window", 10**30),
        ("seconds", 1.5),
    ]
    for path in leaves(stream):
        old = at(stream, path)
        name = field_of(path)
        if name in ("rows", "gone_since_look") and path[-1] != name:
            # What a row cannot be has a test of its own.
            continue
        for value in [*NO_NUMBERS, float("inf")]:
            if name == "group" or value == old:
                continue
            if isinstance(old, str) and isinstance(value, str):
                continue
            lists = ("groups", "rows", "gone_since_look", "labels")
            if name in lists and value == []:
                continue
            if (name, value) in possible:
                continue
            message = name
            if name == "window" and isinstance(value, dict):
                message = "seconds"
            found = refusal(resume, clf, changed(stream, path, value))
            is_named = message in found
            if name == "now":
                is_named = is_named or "order of their times" in found
            assert is_named, (path, value, found)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_field_of_a_stream_must_be_there(clf, stream):
    for path in leaves(stream):
        if not isinstance(path[-1], str):
            continue
        damaged = copy.deepcopy(stream)
        del at(damaged, path[:-1])[path[-1]]
        with pytest.raises(ValueError, match=path[-1]):
            resume(clf, damaged)


def test_rows_of_a_stream_are_those_of_the_model(clf, stream):
    path = ("groups", 0, "rows", 3)
    row = at(stream, path)
    scores, deciding, time, codes, name = row
    bad_rows = [
        [],
        row[:3],
        [*row, 1],
        [[*scores, 1], deciding, time, codes, name],
        [[-1] * len(scores), deciding, time, codes, name],
        [[2**40] * len(scores), deciding, time, codes, name],
        [scores, [], time, codes, name],
        [scores, deciding, "now", codes, name],
        [scores, deciding, time, codes + "00", name],
        [scores, deciding, time, "ff" * (len(codes) // 2), name],
        [scores, deciding, time, "no hex", name],
        [scores, deciding, time, codes, 1.5],
        [scores, deciding, time, codes, [1]],
    ]
    for bad in bad_rows:
        with pytest.raises(ValueError, match=r"groups\[0\]\.rows must be"):
            resume(clf, changed(stream, path, bad))


def test_a_window_holds_no_more_rows_than_its_size(clf, stream):
    if isinstance(stream["window"], dict):
        pytest.skip("a window of time")
    with pytest.raises(ValueError, match=r"groups\[0\]\.rows must be"):
        resume(clf, {**stream, "window": 5})


def test_times_of_a_stream_ascend_up_to_now(clf, stream):
    if not isinstance(stream["window"], dict):
        with pytest.raises(ValueError, match="now must be"):
            resume(clf, {**stream, "now": 5})
        return
    with pytest.raises(ValueError, match="now must be"):
        resume(clf, {**stream, "now": None})
    rows = at(stream, ("groups", 0, "rows"))
    with pytest.raises(ValueError, match=r"groups\[0\]\.rows must be"):
        resume(clf, changed(stream, ("groups", 0, "rows"), rows[::-1]))
    late = [*rows[:-1], [*rows[-1][:2], stream["now"] + 1, *rows[-1][3:]]]
    with pytest.raises(ValueError, match=r"groups\[0\]\.rows must be"):
        resume(clf, changed(stream, ("groups", 0, "rows"), late))


def test_labels_of_a_stream_belong_to_its_rows(clf, stream):
    path = ("groups", 0, "labels")
    labels = at(stream, path)
    assert labels
    for wrong, field in (
        ([*labels, labels[0]], "id"),
        ([{**labels[0], "id": "nobody"}], "id"),
        ([{**labels[0], "positive": 2}], "positive"),
        ([{**labels[0], "probability": 2**33}], "probability"),
        ([labels[0], {**labels[1], "probability": 7}], "labels"),
    ):
        with pytest.raises(ValueError, match=field):
            resume(clf, changed(stream, path, wrong))


def test_groups_of_a_stream_come_once_and_are_known(clf, stream):
    with pytest.raises(ValueError, match=r"groups\[1\]\.group must be a different one"):
        resume(clf, {**stream, "groups": [stream["groups"][0]] * 2})
    for group in ("nobody", [1, 2], {"a": 1}, 1.5):
        with pytest.raises(ValueError, match="group"):
            resume(clf, changed(stream, ("groups", 0, "group"), group))
