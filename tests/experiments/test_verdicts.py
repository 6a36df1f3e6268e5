"""Verdicts say yes where it holds, and no where it does not."""

import copy

import pytest

from cape.experiments import published
from cape.experiments._verdicts import synthetic_verdicts, verdicts

PRINTED = published()["table_results"]["compas"]
BETTER = {
    "pd_0": 0.01,
    "pd_1": 0.02,
    "pe_01": 0.03,
    "accuracy_0": 0.7,
    "accuracy_1": 0.72,
}


def results(**means):
    """A run that found just what is printed, but for ``means``."""
    rows = [
        {
            "method": name,
            "status": "ok",
            "seeds": 20,
            "printed": row,
            "mean": {**row, **means.get(name, {})},
        }
        for name, row in copy.deepcopy(PRINTED).items()
    ]
    rows.append(
        {
            "method": "CAPE threshold",
            "status": "ok",
            "seeds": 20,
            "printed": None,
            "mean": BETTER,
        }
    )
    return {"same_data": True, "rows": rows}


def verdict(found, begin):
    return [v for v in found if v["claim"].startswith(begin)]


def test_print_itself_passes_all():
    found = verdicts(results())
    assert all(v["holds"] for v in found)
    assert len(found) == 4 + 6 + 1 + 1


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"CAPE-D": {"fpr_0": 0.7}}, "CAPE-D: FPR and FNR"),
        ({"CAPE-D": {"accuracy_1": 0.6}}, "CAPE-D: accuracy"),
        ({"CAPE-1": {"fnr_1": 0.1}}, "CAPE-1: FPR and FNR"),
        ({"CAPE-D": {"pd_0": 0.5}}, "CAPE-D below Max_Acc on pd_0"),
        ({"Max_Acc": {"fpr_diff": 0.01}}, "CAPE-D below Max_Acc on fpr_diff"),
        ({"CAPE-D": {"fnr_diff": 0.2}}, "CAPE-D is near equalised odds"),
    ],
)
def test_what_does_not_hold_is_told(change, claim):
    failed = [v["claim"] for v in verdicts(results(**change)) if not v["holds"]]
    assert len([name for name in failed if name.startswith(claim)]) == 1


@pytest.mark.parametrize("column", list(BETTER))
def test_the_threshold_pool_must_beat_print_on_every_count(column):
    run = results()
    run["rows"][-1]["mean"] = {**BETTER, column: PRINTED["CAPE-D"][column]}
    assert not verdict(verdicts(run), "CAPE threshold")[0]["holds"]


def test_nearness_is_judged_on_the_papers_data_alone():
    found = verdicts({**results(), "same_data": False})
    assert not verdict(found, "CAPE-D:") and not verdict(found, "CAPE threshold")
    assert len(verdict(found, "CAPE-D below")) == 6


def test_undefined_and_missing_rows_are_left_out():
    run = results(**{"CAPE-D": {"pe_01": None}})
    assert not verdict(verdicts(run), "CAPE-D below Max_Acc on pe_01")
    assert verdicts({"same_data": True, "rows": []}) == []


def test_synthetic_verdicts_leave_out_what_is_undefined():
    row = {
        "mean": dict.fromkeys(("pd_0", "pd_1", "accuracy_0", "accuracy_1"), 0.1)
        | {"pe_01": None}
    }
    row["sd"] = dict.fromkeys(("accuracy_1", "pd_1"), 0.02) | {"pe_01": None}
    defined = {
        "mean": {**row["mean"], "pe_01": 0.3},
        "sd": {**row["sd"], "pe_01": 0.001},
    }
    names = ("CAPE-D", "CAPE threshold", "Max_Acc")
    pairs = [
        {"rho_0": 0.5, "rho_1": 0.1, "methods": dict.fromkeys(names, row)},
        {"rho_0": 0.1, "rho_1": 0.1, "methods": dict.fromkeys(names, defined)},
    ]
    found = synthetic_verdicts(
        {"pairs": pairs, "printed": published()["table_synthetic"]}
    )
    assert [v["holds"] for v in found] == [
        False
    ] * 4  # no better than itself, and a spread of 0.02
    assert (
        "0.3000 against 0.3000" in found[1]["detail"]
        and "0.0200" in found[-1]["detail"]
    )
