"""The printed numbers fit together, so that a slip in copying them would be seen."""

import pytest

from cape_paper import published

PAPERS_SLIPS = {
    ("meps", "ROC-aod", "pd_1"): (
        "prints .216 predicted and PD .199 where .117 is true; .316 would fit"
    ),
    ("meps", "Meta-fair-fdr", "accuracy_1"): (
        "prints FPR .254, but FPR-diff .102 and accuracy .758, which .245 fits"
    ),
}
ROWS = []
for data, rows in published()["table_results"].items():
    ROWS += [(data, name, row) for name, row in rows.items()]
every_row = pytest.mark.parametrize(("data", "name", "row"), ROWS)


@every_row
def test_pd_follows_from_prevalences(data, name, row):
    truth = published()["table_quantifier"][data]["test"]
    for z in (0, 1):
        implied = abs(truth[z] - row[f"predicted_prevalence_{z}"])
        fits = row[f"pd_{z}"] == pytest.approx(implied, abs=0.0021)
        assert fits != ((data, name, f"pd_{z}") in PAPERS_SLIPS)


@every_row
def test_accuracy_follows_from_error_rates_but_for_the_papers_slips(data, name, row):
    truth = published()["table_quantifier"][data]["test"]
    for z in (0, 1):
        false_negatives = truth[z] * row[f"fnr_{z}"]
        false_positives = (1 - truth[z]) * row[f"fpr_{z}"]
        implied = 1 - false_negatives - false_positives
        fits = row[f"accuracy_{z}"] == pytest.approx(implied, abs=0.005)
        assert fits != ((data, name, f"accuracy_{z}") in PAPERS_SLIPS)


@every_row
def test_values_are_shares(data, name, row):
    for column, value in row.items():
        if column != "pe_01":
            assert 0 <= value <= 1, column


def test_undefined_is_none():
    assert published()["table_results"]["meps"]["CEOP-fpr"]["pe_01"] is None


def test_all_tables_are_there():
    assert len(published()["table_synthetic"]) == 3
    assert set(published()["table_quantifier"]) == {"compas", "meps"}
    assert {"compas", "meps"} <= set(published()["dataset_counts"])


def test_the_settings_of_table_1_have_both_methods():
    for setting in published()["table_synthetic"]:
        for metric in ("accuracy", "pd", "pe_01"):
            assert set(setting[metric]) == {"CAPE", "Max_Acc"}
        # The paper: better than Max_Acc in all settings.
        assert setting["pe_01"]["CAPE"] < setting["pe_01"]["Max_Acc"]


def test_error_rates_of_the_two_groups_differ_by_the_printed_difference():
    for rows in published()["table_results"].values():
        cape = rows["CAPE-D"]
        for rate in ("fpr", "fnr", "accuracy"):
            difference = abs(cape[f"{rate}_0"] - cape[f"{rate}_1"])
            assert cape[f"{rate}_diff"] == pytest.approx(difference, abs=0.0011)
