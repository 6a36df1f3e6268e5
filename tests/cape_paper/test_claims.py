"""A verdict says yes where the claim holds, and no where it does not."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape_paper import published
from cape_paper._claims import reasons, verdicts

PRINTED = published()["table_results"]["compas"]
BETTER = {
    "pd_0": 0.01,
    "pd_1": 0.02,
    "pe_01": 0.03,
    "accuracy_0": 0.7,
    "accuracy_1": 0.72,
}
FAIRNESS = ("pd_0", "pd_1", "pe_01", "fpr_diff", "fnr_diff", "accuracy_diff")


def finished_row(name, mean, printed, sd=0.01):
    return {
        "method": name,
        "status": "ok",
        "seeds": 20,
        "printed": printed,
        "mean": mean,
        "sd": {"predicted_prevalence_0": sd},
    }


def run_like_print(changes=None, **facts):
    """Make a run that found just what is printed, but for changed means by method."""
    changes = changes or {}
    rows = []
    for name, printed in copy.deepcopy(PRINTED).items():
        mean = {**printed, **changes.get(name, {})}
        rows.append(finished_row(name, mean, printed, sd=0.08))
    rows.append(
        finished_row("CAPE default", BETTER | changes.get("CAPE default", {}), None)
    )
    spa = {"quantifier": "spa", "mean": [0.7, 0.6], "printed": [0.592, 0.644]}
    run = {
        "experiment": "compas",
        "same_data": True,
        "chosen_by_print": False,
        "quantifiers": [spa],
        "rows": rows,
    }
    return {**run, **facts}


def claimed(words, judged):
    return [verdict for verdict in judged if verdict["claim"].startswith(words)]


def test_print_itself_passes_all():
    judged = verdicts(run_like_print())
    assert all(verdict["holds"] for verdict in judged)
    assert len(claimed("CAPE-D below Max_Acc", judged)) == 6
    assert len(judged) == 12


def test_features_that_were_chosen_by_print_are_not_judged_by_it():
    assert verdicts(run_like_print(chosen_by_print=True)) == []


def test_other_rows_are_not_judged_by_nearness():
    judged = verdicts(run_like_print(same_data=False))
    assert len(judged) == 7
    assert claimed("CAPE default", judged) == []


def test_methods_that_failed_are_not_judged():
    run = run_like_print()
    for row in run["rows"]:
        if row["method"] == "CAPE-D":
            row["status"] = "failed: x"
    assert {verdict["claim"][:6] for verdict in verdicts(run)} == {"CAPE-1"}


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({"CAPE-D": {"fpr_0": 0.7}}, "CAPE-D: FPR and FNR"),
        ({"CAPE-D": {"accuracy_1": 0.6}}, "CAPE-D: accuracy"),
        ({"CAPE-1": {"fnr_1": 0.1}}, "CAPE-1: FPR and FNR"),
        ({"CAPE-1": {"accuracy_0": 0.9}}, "CAPE-1: accuracy"),
        ({"CAPE-D": {"pd_0": 0.5}}, "CAPE-D below Max_Acc on pd_0"),
        ({"Max_Acc": {"fpr_diff": 0.01}}, "CAPE-D below Max_Acc on fpr_diff"),
        ({"CAPE-D": {"fnr_diff": 0.2}}, "CAPE-D is near equalised odds"),
        ({"CAPE default": {"pd_0": 0.024}}, "CAPE default (mean of 20 seeds)"),
        ({"CAPE default": {"accuracy_1": 0.1}}, "CAPE default (mean of 20 seeds)"),
        ({"CAPE default": {"pe_01": None}}, "CAPE default (mean of 20 seeds)"),
    ],
)
def test_what_does_not_hold_is_told(changes, claim):
    [verdict] = claimed(claim, verdicts(run_like_print(changes)))
    assert not verdict["holds"]


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_order_holds_if_and_only_if_it_is_that_of_print(cape, max_acc):
    changes = {
        "CAPE-D": dict.fromkeys(FAIRNESS, cape),
        "Max_Acc": dict.fromkeys(FAIRNESS, max_acc),
    }
    for verdict in claimed("CAPE-D below", verdicts(run_like_print(changes))):
        assert verdict["holds"] == (cape < max_acc)


def synthetic_run(
    cape, max_acc, sd=0.001, pairs=((0.2, 0.8), (0.5, 0.5)), repetitions=10
):
    summary = {
        "CAPE-D": {"mean": cape, "sd": dict.fromkeys(cape, sd)},
        "CAPE default": {"mean": cape, "sd": dict.fromkeys(cape, sd)},
        "Max_Acc": {"mean": max_acc, "sd": dict.fromkeys(cape, sd)},
    }
    entries = [{"rho_0": a, "rho_1": b, "methods": summary} for a, b in pairs]
    printed = published()["table_synthetic"]
    run = {"experiment": "synthetic", "pairs": entries, "printed": printed}
    return {**run, "repetitions": repetitions}


WORSE = {
    "pd_0": 0.2,
    "pd_1": 0.2,
    "pe_01": 0.2,
    "accuracy_0": 0.5,
    "accuracy_1": 0.5,
}


def test_claims_of_the_synthetic_experiment():
    judged = verdicts(synthetic_run(BETTER, WORSE))
    assert [verdict["holds"] for verdict in judged] == [True] * 4
    assert judged[0]["claim"].startswith("Table 1, 0.2 and 0.8")
    judged = verdicts(synthetic_run(WORSE, BETTER, sd=0.02))
    assert [verdict["holds"] for verdict in judged] == [False] * 4
    assert "pd_0 0.200 against 0.010" in judged[0]["detail"]
    assert "greatest of pe_01: 0.0200" in judged[3]["detail"]
    # One repetition says nothing of the spread.
    assert len(verdicts(synthetic_run(BETTER, WORSE, sd=0.0, repetitions=1))) == 3


def told(words, run):
    return [reason for reason in reasons(run) if words in reason]


def test_reasons_have_the_numbers_of_the_run():
    run = run_like_print()
    [estimates] = told("SPA estimates 0.700 (print 0.592), 0.600 (print 0.644)", run)
    assert "does not list its features" in estimates
    assert told("standard deviation of 0.080", run)
    assert told("--features wide", run)
    assert told("AIF360's rows", run)
    assert told("ROC-spd row for COMPAS", run)
    assert not told("other rows", run)
    assert not told("MEPS rows", run)
