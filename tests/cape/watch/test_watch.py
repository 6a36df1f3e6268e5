"""A watch: known changes are found, and the chance of any false alarm is bounded."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, Evidence, Scores, Watch
from cape.drift import Past
from cape.drift._mixture import fit_mixture, mixture_cuts
from cape.watch._sequential import (
    LEAST_ROWS,
    TYPICAL,
    Reference,
    answer,
    evidence_of_change,
    start_weight,
)

ASKED = ["moved>0.05", "changed", "broken", "parity>0.1"]


def draw(random, rows, shares, *, cut=0.5, stretch=1.0):
    """Scores of two groups that tell the label, roughly, and the decisions made."""
    group = random.choice(["a", "b"], rows)
    y = (random.random(rows) < np.where(group == "a", *shares)).astype(int)
    logit = (random.normal(size=rows) + 1.2 * y - 0.6) * stretch
    p = 1 / (1 + np.exp(-1.2 * logit))
    return pd.DataFrame({"p": p, "approved": p > cut}), y, group


def fit(random, rows=4000, shares=(0.3, 0.35)):
    X, y, group = draw(random, rows, shares)
    return CapeClassifier(Scores("p", "approved")).fit(X, y, sensitive_features=group)


def evidence_of(clf, drawn, *, labels=False):
    X, y, group = drawn
    return clf.evidence(X, y if labels else None, sensitive_features=group)


@pytest.fixture(scope="module")
def clf():
    return fit(np.random.default_rng(0))


@pytest.fixture(scope="module")
def changed(clf):
    """Thirty looks; group a moves from the eleventh on."""
    random = np.random.default_rng(1)
    watch = Watch(clf, ASKED)
    for number in range(30):
        shares = (0.3 if number < 10 else 0.6, 0.35)
        watch.look(evidence_of(clf, draw(random, 400, shares)), f"day {number}")
    return watch


def test_a_change_is_found_in_its_group_with_its_time(changed):
    raised = {(alarm["question"], *alarm["groups"]) for alarm in changed.alarms}
    # More positives are decided as positive, too.
    gap = ("parity>0.1", "a", "b")
    assert raised == {("moved>0.05", "a"), ("changed", "a"), gap}
    for alarm in changed.alarms:
        assert alarm["since"] in {"day 8", "day 9", "day 10", "day 11", "day 12"}
        assert alarm["p_value"] <= 0.05
    table = changed.table()
    assert table.loc["a", "low"] < 0.6 < table.loc["a", "high"]
    assert table.loc["b", "low"] < 0.35 < table.loc["b", "high"]
    assert table.loc["b", "since"] == "day 0" and not table.loc["b", "moved>0.05"]


def test_scores_that_fit_no_share_are_found(clf):
    random = np.random.default_rng(2)
    watch = Watch(clf, "broken")
    for _ in range(10):
        drawn = draw(random, 600, (0.3, 0.35), stretch=2.0)
        watch.look(evidence_of(clf, drawn))
    assert {alarm["groups"][0] for alarm in watch.alarms} == {"a", "b"}


RATES = ["parity>0.1", "fpr_gap>0.1", "fnr_gap>0.1", "pd>0.05"]


@pytest.mark.parametrize("prefix", ["", "absolute "])
def test_decisions_and_labels_are_compared_between_groups(clf, prefix):
    random = np.random.default_rng(3)
    watch = Watch(clf, [prefix + question for question in RATES])
    for _ in range(10):
        drawn = draw(random, 600, (0.3, 0.8))
        # Group b is refused whatever its score.
        drawn[0]["approved"] &= drawn[2] == "a"
        watch.look(evidence_of(clf, drawn, labels=True))
    raised = {(alarm["question"], *alarm["groups"]) for alarm in watch.alarms}
    assert {(f"{prefix}parity>0.1", "a", "b"), (f"{prefix}pd>0.05", "b")} <= raised
    assert {(f"{prefix}fnr_gap>0.1", "a", "b"), (f"{prefix}fpr_gap>0.1", "a", "b")} <= (
        raised
    )
    table = watch.table()
    assert all(table.loc["b", prefix + question] for question in RATES)


def test_a_gap_of_the_reference_is_no_news_unless_a_bound_is_asked_for():
    random = np.random.default_rng(12)
    clf = fit(random, shares=(0.2, 0.6))
    watch = Watch(clf, ["parity>0.1", "absolute parity>0.1"])
    for _ in range(20):
        watch.look(evidence_of(clf, draw(random, 400, (0.2, 0.6))))
    (alarm,) = watch.alarms
    assert alarm["question"] == "absolute parity>0.1"
    watch.acknowledge("absolute parity>0.1")
    watch.look(evidence_of(clf, draw(random, 400, (0.2, 0.6))))
    assert not watch.alarms


def test_an_alarm_has_the_rates_before_and_since(changed):
    of_shares = [alarm for alarm in changed.alarms if alarm["groups"] == ["a"]]
    for alarm in of_shares:
        assert alarm["before"] == pytest.approx([0.3], abs=0.05)
        # At the alarm, with a few rows of before the change among those since.
        assert alarm["now"] == pytest.approx([0.6], abs=0.15)
    assert len(of_shares) == 2


def test_a_change_is_seen_as_soon_as_was_said(clf):
    random = np.random.default_rng(13)
    watch = Watch(clf)
    for number in range(4):
        watch.look(evidence_of(clf, draw(random, 400, (0.3, 0.35))), f"{number}")
    (said,) = (
        entry["looks"]
        for entry in watch.to_dict()["sees"]
        if (entry["question"], entry["groups"]) == ("moved>0.05", ["a"])
    )
    assert said[0] is None or said[0] > said[1] > said[2]
    took = []
    for _ in range(25):
        again = Watch.from_json(clf, watch.to_json())
        while not again.alarms:
            again.look(evidence_of(clf, draw(random, 400, (0.47, 0.35))))
        took.append(len(again.looks) - 4)
    assert np.median(took) == pytest.approx(said[2], rel=1 / 3, abs=1)


def test_labels_of_some_rows_show_what_weak_scores_cannot():
    random = np.random.default_rng(18)

    def weak(rows, share):
        y = (random.random(rows) < share).astype(int)
        p = 1 / (1 + np.exp(0.8 - 0.5 * random.normal(0.5 * y)))
        return pd.DataFrame({"p": p}), y

    clf = CapeClassifier(Scores("p")).fit(*weak(2000, 0.3))
    plain, labelled = Watch(clf, "moved"), Watch(clf, "moved")
    for number in range(20):
        X, y = weak(100, 0.3 if number < 10 else 0.5)
        some = np.where(np.arange(100) < 30, y.astype(float), np.nan)
        plain.look(clf.evidence(X))
        labelled.look(clf.evidence(X, some))
        if number == 9:
            assert not labelled.alarms
    (alarm,) = labelled.alarms
    assert not plain.alarms
    assert alarm["now"] == pytest.approx([0.5], abs=0.08)
    share = labelled.looks[-1]["groups"][0]["share"]
    assert share["low"] < 0.5 < share["high"] < share["low"] + 0.3
    assert Watch.from_json(clf, labelled.to_json()).to_json() == labelled.to_json()


def test_labels_of_chosen_rows_are_refused_and_count_nothing(clf):
    """Outcomes of positives may be known first; they would look like a new share."""
    watch = Watch(clf, "moved")
    X, y, group = draw(np.random.default_rng(21), 800, (0.3, 0.35))
    positives = np.where(y == 1, 1.0, np.nan)
    with pytest.raises(ValueError, match="rows drawn at random, got labels in 'a'"):
        watch.look(clf.evidence(X, positives, sensitive_features=group))
    assert not watch.looks


def test_labels_tell_moved_scores_from_moved_shares(clf):
    random = np.random.default_rng(19)
    plain, labelled = Watch(clf, "moved"), Watch(clf, "moved")
    for _ in range(12):
        X, y, group = draw(random, 500, (0.3, 0.35))
        X["p"] = 1 / (1 + (1 / X["p"] - 1) * np.exp(-0.4 * (group == "a")))
        some = np.where(np.arange(500) < 150, y.astype(float), np.nan)
        plain.look(clf.evidence(X, sensitive_features=group))
        labelled.look(clf.evidence(X, some, sensitive_features=group))
    assert [alarm["groups"] for alarm in plain.alarms] == [["a"]]
    assert not labelled.alarms


def test_groups_too_small_to_see_anything_cost_others_little():
    random = np.random.default_rng(14)
    X, y, group = draw(random, 6000, (0.3, 0.3))
    group = np.where(random.random(6000) < 0.1, "c", group)
    clf = CapeClassifier(Scores("p", "approved")).fit(X, y, sensitive_features=group)
    took = []
    for rows_of_c in (400, 4):
        watch = Watch(clf, ["changed"])
        X, y, group = draw(random, 200, (0.3, 0.3))
        third = draw(random, rows_of_c, (0.3, 0.3))
        X, y = pd.concat([X, third[0]]), np.append(y, third[1])
        group = np.append(group, np.full(rows_of_c, "c"))
        watch.look(evidence_of(clf, (X, y, group)))
        (of_a,) = (e for e in watch.to_dict()["sees"] if e["groups"] == ["a"])
        took.append(of_a["looks"][1])
    assert took[1] < took[0]


def test_a_saved_watch_goes_on_as_if_it_had_never_stopped(clf):
    random = np.random.default_rng(4)
    looks = [draw(random, 300, (0.3, 0.6)) for _ in range(6)]
    whole = Watch(clf, ASKED)
    saved = Watch(clf, ASKED)
    for number, drawn in enumerate(looks):
        evidence = evidence_of(clf, drawn)
        whole.look(evidence, str(number))
        saved = Watch.from_json(clf, saved.to_json())
        saved.look(Evidence.from_json(evidence.to_json()), str(number))
    assert saved.to_json() == whole.to_json()
    json.loads(whole.to_json(), parse_constant=pytest.fail)


def test_parts_of_a_look_add_up(clf):
    X, _, group = draw(np.random.default_rng(5), 900, (0.3, 0.35))
    parts = [
        clf.evidence(X[start:stop], sensitive_features=group[start:stop])
        for start, stop in ((0, 100), (100, 850), (850, 900))
    ]
    whole = Watch(clf, ASKED)
    whole.look(clf.evidence(X, sensitive_features=group), "day")
    in_parts = Watch(clf, ASKED)
    in_parts.look(sum(parts), "day")
    assert in_parts.to_json() == whole.to_json()


def test_a_look_repeated_counts_nothing(clf):
    watch = Watch(clf)
    evidence = evidence_of(clf, draw(np.random.default_rng(15), 300, (0.3, 0.35)))
    watch.look(evidence, "monday")
    before = watch.to_json()
    assert watch.look(evidence, "monday") == []
    assert watch.to_json() == before


@pytest.mark.parametrize("what", ["name", "rows", "model", "not evidence"])
def test_what_is_no_new_look_is_refused_and_counts_nothing(clf, what):
    random = np.random.default_rng(6)
    drawn = draw(random, 300, (0.3, 0.35))
    watch = Watch(clf)
    assert list(map(str, watch.questions)) == ["moved>0.05", "broken", "parity>0.1"]
    watch.look(evidence_of(clf, drawn), "monday")
    before = watch.to_json()
    other = fit(random)
    new = draw(random, 300, (0.3, 0.35))
    evidence, name = {
        "name": (evidence_of(clf, new), "monday"),
        "rows": (evidence_of(clf, drawn), "tuesday"),
        "model": (evidence_of(other, new), "tuesday"),
        "not evidence": (new[0], "tuesday"),
    }[what]
    with pytest.raises((ValueError, TypeError)):
        watch.look(evidence, name)
    assert watch.to_json() == before
    with pytest.raises(ValueError, match="fingerprint"):
        Watch.from_json(other, before)


def test_looks_without_rows_are_no_repetition(clf):
    X, y, group = draw(np.random.default_rng(8), 300, (0.3, 0.35))
    watch = Watch(clf, ASKED)
    for name, rows in {"friday": 300, "saturday": 0, "sunday": 0}.items():
        watch.look(evidence_of(clf, (X[:rows], y[:rows], group[:rows])), name)
    again = Watch.from_json(clf, watch.to_json())
    assert [look["rows"] for look in again.looks] == [300, 0, 0]
    assert again.to_dict()["groups"][0]["rows"] == (group == "a").sum()


def test_a_state_that_was_changed_is_refused(clf):
    watch = Watch(clf)
    watch.look(evidence_of(clf, draw(np.random.default_rng(7), 300, (0.3, 0.4))))
    text = watch.to_json()
    for damaged in (text.replace("moved>0.05", "moved>0.04"), text[:-9], "{}"):
        with pytest.raises(ValueError, match="text must"):
            Watch.from_json(clf, damaged)


@pytest.mark.parametrize(
    "questions",
    [
        [],
        "moving",
        "broken>0.1",
        "moved>0.6",
        ["moved", "moved>0.05"],
        ["moved>"],
        "absolute moved",
    ],
)
def test_questions_that_nobody_can_answer_are_refused(clf, questions):
    with pytest.raises(ValueError, match="question"):
        Watch(clf, questions)


def test_an_acknowledged_alarm_is_asked_anew(clf, changed):
    watch = Watch.from_json(clf, changed.to_json())
    with pytest.raises(ValueError, match="one active alarm"):
        watch.acknowledge("moved", "b")
    watch.acknowledge("moved", "a")
    watch.acknowledge("parity")
    assert not watch.alarms
    random = np.random.default_rng(8)
    for number in range(10):
        drawn = draw(random, 400, (0.6, 0.35))
        watch.look(evidence_of(clf, drawn), f"new {number}")
    assert not watch.alarms
    for number in range(20):
        drawn = draw(random, 400, (0.3, 0.35))
        watch.look(evidence_of(clf, drawn), f"back {number}")
    assert {tuple(alarm["groups"]) for alarm in watch.alarms} == {("a",), ("a", "b")}


def test_what_moves_as_it_always_did_is_no_alarm(clf):
    rows = np.zeros((4, 4))
    rows[1, 2] = 9.0
    restless = copy.copy(clf)
    restless.past = Past(tuple(map(tuple, rows.tolist())), 9)
    raised = {}
    for name, model in {"unknown": clf, "restless": restless}.items():
        random = np.random.default_rng(17)
        watch = Watch(model, ["moved>0.05"])
        for _ in range(20):
            watch.look(evidence_of(model, draw(random, 2000, (0.39, 0.35))))
        raised[name] = len(watch.alarms)
        for _ in range(10):
            watch.look(evidence_of(model, draw(random, 600, (0.7, 0.35))))
        assert [alarm["groups"] for alarm in watch.alarms] == [["a"]]
    assert raised == {"unknown": 1, "restless": 0}


def test_folds_promise_nothing_and_say_so(train):
    clf = CapeClassifier(LogisticRegression(), random_state=0, cv=5)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    with pytest.warns(UserWarning, match="false alarms"):
        watch = Watch(clf)
    assert not watch.promises


def test_small_groups_are_not_tested():
    random = np.random.default_rng(9)
    X, y, group = draw(random, 1000, (0.3, 0.35))
    kept = (group == "a") | (np.cumsum(group == "b") <= 40)
    clf = CapeClassifier(Scores("p", "approved"))
    with pytest.warns(UserWarning, match="fewer than 25"):
        clf.fit(X[kept], y[kept], sensitive_features=group[kept])
    watch = Watch(clf, ["moved", "parity"])
    watch.look(evidence_of(clf, draw(random, 300, (0.3, 0.35))))
    assert watch.table()["moved>0.05"].tolist() == [False, None]


def test_history_has_every_look_and_marks_alarms(changed):
    history = changed.history()
    assert len(history) == 60
    raised = history[history["alarm"].str.contains("moved")]
    assert raised["group"].tolist() == ["a"]
    assert type(changed.plot()).__name__ == "FacetChart"


def test_history_and_table_are_the_same_from_a_state_file(clf, changed):
    again = Watch.from_json(clf, changed.to_json())
    pd.testing.assert_frame_equal(again.history(), changed.history())
    pd.testing.assert_frame_equal(again.table(), changed.table())


# ------------------------------------------------------------------ the mathematics


@pytest.mark.parametrize("rows", [10, 50, 1000])
@pytest.mark.parametrize("training", [150, 20_000])
def test_evidence_of_no_change_is_rarely_large(rows, training):
    """At 5%, over 150 looks, in 1,000 streams at once."""
    random = np.random.default_rng(16)
    steps = np.sqrt(rows) * random.normal(size=(150, 1000))
    totals = np.concatenate([np.zeros((1, 1000)), np.cumsum(steps, axis=0)])
    known = np.sqrt(training) * random.normal(size=1000)
    lowest = np.ones(1000)
    for look in range(1, 151):
        starts = np.arange(look)
        since = rows * (look - starts)[:, None]
        before = training + rows * starts[:, None]
        difference = (totals[look] - totals[starts]) / since
        difference = 0.6 * (difference - (known + totals[starts]) / before)
        information = (since >= LEAST_ROWS) / (0.36 * (1 / since + 1 / before))
        square, ratio = difference**2 * information, information * TYPICAL**2
        chance, _ = answer(evidence_of_change(square, ratio), np.inf, 0.0, starts)
        lowest = np.minimum(lowest, chance)
    assert (lowest <= 0.05).mean() < 0.065
    assert (lowest <= 0.5).mean() > 0.05


def test_starts_share_one_alpha():
    assert 0.99 < start_weight(np.arange(1 << 12)).sum() < 1


def test_the_misfit_is_that_of_the_test_of_a_batch(clf):
    model = clf.models_["a"]
    drawn = draw(np.random.default_rng(10), 3000, (0.5, 0.5), stretch=1.1)
    batch = evidence_of(clf, drawn).groups["a"].scores
    cuts = mixture_cuts(model.positives, model.negatives, 200)
    reference = Reference(model.positives.merged(cuts), model.negatives.merged(cuts))
    found = fit_mixture(model.positives, model.negatives, batch)
    assert reference.misfit(batch.merged(cuts)) == pytest.approx(found.statistic, 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [600, 4000])
def test_any_false_alarm_ever_is_rare(rows):
    random = np.random.default_rng(rows)
    n_watches = 150
    n_false = 0
    for _ in range(n_watches):
        clf = fit(random, rows)
        watch = Watch(clf, ["moved>0", "changed", "broken", "parity>0.06"])
        for _ in range(60):
            watch.look(evidence_of(clf, draw(random, 400, (0.3, 0.35))))
        n_false += bool(watch.alarms)
    allowed = 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / n_watches)
    assert n_false / n_watches <= allowed
