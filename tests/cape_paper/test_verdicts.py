"""A verdict says yes where the claim holds, and no where it does not."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape_paper import published
from cape_paper._verdicts import synthetic_verdicts, verdicts

PRINTED = published()["table_results"]["compas"]
BETTER = {
    "pd_0": 0.01,
    "pd_1": 0.02,
    "pe_01": 0.03,
    "accuracy_0": 0.7,
    "accuracy_1": 0.72,
}
FAIRNESS = ("pd_0", "pd_1", "pe_01", "fpr_diff", "fnr_diff", "accuracy_diff")


def finished_row(name, mean, printed):
    return {
        "method": name,
        "status": "ok",
        "seeds": 20,
        "printed": printed,
        "mean": mean,
    }


def run_like_print(changes=None):
    """Make a run that found just what is printed, but for changed means by method."""
    changes = changes or {}
    rows = []
    for name, printed in copy.deepcopy(PRINTED).items():
        mean = {**printed, **changes.get(name, {})}
        rows.append(finished_row(name, mean, printed))
    rows.append(finished_row("CAPE default", dict(BETTER), None))
    return {"same_data": True, "rows": rows}


def beginning_with(words, judged):
    return [verdict for verdict in judged if verdict["claim"].startswith(words)]


def test_print_itself_passes_all():
    judged = verdicts(run_like_print())
    assert all(verdict["holds"] for verdict in judged)
    assert len(beginning_with("CAPE-D: ", judged)) == 2
    assert len(beginning_with("CAPE-1: ", judged)) == 2
    assert len(beginning_with("CAPE-D below Max_Acc", judged)) == 6
    assert len(judged) == 12


def test_features_that_were_chosen_by_print_are_not_judged_by_it():
    assert verdicts({**run_like_print(), "chosen_by_print": True}) == []
    assert verdicts({**run_like_print(), "chosen_by_print": False}) != []


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
    ],
)
def test_what_does_not_hold_is_told(changes, claim):
    judged = verdicts(run_like_print(changes))
    [verdict] = beginning_with(claim, judged)
    assert not verdict["holds"]


@given(st.floats(-0.3, 0.3))
def test_nearness_to_print_has_its_limit(gap):
    printed = PRINTED["CAPE-D"]["fpr_1"]
    judged = verdicts(run_like_print({"CAPE-D": {"fpr_1": printed + gap}}))
    rates, accuracy = beginning_with("CAPE-D: ", judged)
    assert rates["holds"] == (abs(printed + gap - printed) <= 0.15)
    assert accuracy["holds"]
    if abs(gap) > 1e-9:
        assert f"farthest fpr_1: {printed + gap:.3f}" in rates["detail"]


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_order_holds_if_and_only_if_it_is_that_of_print(cape, max_acc):
    changes = {
        "CAPE-D": dict.fromkeys(FAIRNESS, cape),
        "Max_Acc": dict.fromkeys(FAIRNESS, max_acc),
    }
    judged = verdicts(run_like_print(changes))
    for column in FAIRNESS:
        printed = PRINTED["CAPE-D"][column]
        below_in_print = printed < PRINTED["Max_Acc"][column]
        word = "below" if below_in_print else "above"
        claim = f"CAPE-D {word} Max_Acc on {column}, as in print"
        [verdict] = beginning_with(claim, judged)
        assert verdict["holds"] == ((cape < max_acc) == below_in_print)
        expected = f"{cape:.3f} and {max_acc:.3f}, print {printed:.3f}"
        assert verdict["detail"].startswith(expected)


def test_where_print_has_cape_above_max_acc_so_must_we():
    run = run_like_print()
    for row in run["rows"]:
        if row["method"] == "CAPE-D":
            row["printed"]["pd_0"] = 0.9
    [verdict] = beginning_with("CAPE-D above Max_Acc on pd_0", verdicts(run))
    assert not verdict["holds"]


@pytest.mark.parametrize("column", list(BETTER))
def test_the_threshold_pool_must_beat_print_in_every_column(column):
    run = run_like_print()
    run["rows"][-1]["mean"][column] = PRINTED["CAPE-D"][column]
    [verdict] = beginning_with("CAPE default", verdicts(run))
    assert not verdict["holds"]


def test_an_undefined_pe_does_not_beat_print():
    run = run_like_print()
    run["rows"][-1]["mean"]["pe_01"] = None
    [verdict] = beginning_with("CAPE default", verdicts(run))
    assert not verdict["holds"]
    assert "pe_01" not in verdict["detail"]


def test_nearness_is_judged_on_the_papers_data_alone():
    judged = verdicts({**run_like_print(), "same_data": False})
    assert beginning_with("CAPE-D: ", judged) == []
    assert beginning_with("CAPE default", judged) == []
    assert len(beginning_with("CAPE-D below", judged)) == 6


def test_undefined_values_have_no_order():
    judged = verdicts(run_like_print({"CAPE-D": {"pe_01": None}}))
    assert beginning_with("CAPE-D below Max_Acc on pe_01", judged) == []
    assert len(beginning_with("CAPE-D below", judged)) == 5


def test_without_rows_there_are_no_verdicts():
    assert verdicts({"same_data": True, "rows": []}) == []


@pytest.mark.parametrize("name", ["CAPE-D", "Max_Acc", "CAPE-1", "CAPE default"])
def test_a_method_that_failed_is_not_judged(name):
    run = run_like_print()
    for row in run["rows"]:
        if row["method"] == name:
            row["status"] = "failed: no memory"
            del row["mean"]
    for verdict in verdicts(run):
        assert f"{name}:" not in verdict["claim"]
        assert f"{name} (" not in verdict["claim"]


METHODS = ("CAPE-D", "CAPE default", "Max_Acc")


def summary(fairness, accuracy, sd=0.001):
    """The means and spreads of a method, all alike."""
    mean = {
        "pd_0": fairness,
        "pd_1": fairness,
        "pe_01": fairness,
        "accuracy_0": accuracy,
        "accuracy_1": accuracy,
    }
    return {"mean": mean, "sd": dict.fromkeys(mean, sd)}


def synthetic_run(cape, max_acc, pairs=((0.1, 0.1), (0.5, 0.1))):
    """Make a run in which both kinds of CAPE have the same numbers."""
    entries = []
    for rho_0, rho_1 in pairs:
        methods = copy.deepcopy(
            {"CAPE-D": cape, "CAPE default": cape, "Max_Acc": max_acc}
        )
        entries.append({"rho_0": rho_0, "rho_1": rho_1, "methods": methods})
    return {"pairs": entries, "printed": published()["table_synthetic"]}


def test_a_run_in_which_cape_is_better_passes_all():
    run = synthetic_run(cape=summary(0.01, 0.9), max_acc=summary(0.1, 0.8))
    judged = synthetic_verdicts(run)
    assert all(verdict["holds"] for verdict in judged)
    # One setting of Table 1, two kinds of CAPE over all pairs, and the spread.
    assert len(judged) == 4
    assert judged[0]["detail"] == "better on all"
    assert judged[1]["detail"].startswith("PD 0.0100 against 0.1000, PE 0.0100")


def test_a_method_is_not_better_than_itself():
    same = summary(0.1, 0.8)
    judged = synthetic_verdicts(synthetic_run(cape=same, max_acc=same))
    *against_max_acc, spread = judged
    assert not any(verdict["holds"] for verdict in against_max_acc)
    assert spread["holds"]


@pytest.mark.parametrize("column", ["pd_0", "pd_1", "pe_01"])
def test_table_1_names_the_columns_in_which_cape_is_worse(column):
    run = synthetic_run(cape=summary(0.01, 0.9), max_acc=summary(0.1, 0.8))
    run["pairs"][0]["methods"]["CAPE-D"]["mean"][column] = 0.3
    [verdict] = beginning_with("Table 1, 0.1 and 0.1", synthetic_verdicts(run))
    assert not verdict["holds"]
    assert verdict["detail"] == f"worse on {column} 0.300 against 0.100"


def test_a_lower_accuracy_is_worse():
    run = synthetic_run(cape=summary(0.01, 0.7), max_acc=summary(0.1, 0.8))
    table_1, *over_pairs, _ = synthetic_verdicts(run)
    assert "worse on accuracy_0 0.700 against 0.800; accuracy_1" in table_1["detail"]
    assert not any(verdict["holds"] for verdict in over_pairs)


def test_an_undefined_pe_is_left_out():
    run = synthetic_run(cape=summary(0.01, 0.9), max_acc=summary(0.1, 0.8))
    for method in METHODS:
        run["pairs"][0]["methods"][method]["mean"]["pe_01"] = None
        run["pairs"][1]["methods"][method]["sd"]["pe_01"] = None
    judged = synthetic_verdicts(run)
    assert all(verdict["holds"] for verdict in judged)
    assert "PE 0.0100 against 0.1000" in judged[1]["detail"]


def test_a_spread_of_a_hundredth_is_too_large():
    large = summary(0.01, 0.9, sd=0.02)
    run = synthetic_run(cape=large, max_acc=summary(0.1, 0.8))
    spread = synthetic_verdicts(run)[-1]
    assert not spread["holds"]
    assert "greatest of pd_1: 0.0200" in spread["detail"]


def test_the_spread_is_that_of_the_figure_alone():
    run = synthetic_run(cape=summary(0.01, 0.9), max_acc=summary(0.1, 0.8))
    run["pairs"][0]["methods"]["CAPE-D"] = summary(0.01, 0.9, sd=0.5)
    assert synthetic_verdicts(run)[-1]["holds"]


def test_pairs_that_are_not_in_table_1_have_no_verdict_of_it():
    run = synthetic_run(
        cape=summary(0.01, 0.9), max_acc=summary(0.1, 0.8), pairs=((0.3, 0.4),)
    )
    judged = synthetic_verdicts(run)
    assert beginning_with("Table 1", judged) == []
    assert len(judged) == 2


shares = st.floats(0, 1)


@given(shares, shares, shares, shares)
def test_over_all_pairs_a_method_must_be_fairer_and_more_accurate(
    cape_fairness, cape_accuracy, max_acc_fairness, max_acc_accuracy
):
    run = synthetic_run(
        cape=summary(cape_fairness, cape_accuracy),
        max_acc=summary(max_acc_fairness, max_acc_accuracy),
        pairs=((0.3, 0.4),),
    )
    fairer = cape_fairness < max_acc_fairness
    more_accurate = cape_accuracy > max_acc_accuracy
    for verdict in synthetic_verdicts(run):
        assert verdict["holds"] == (fairer and more_accurate)
