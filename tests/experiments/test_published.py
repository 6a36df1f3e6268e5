"""The printed numbers hang together, so that a slip in copying them would be seen."""

import pytest

from cape.experiments import published

PAPERS_SLIPS = {
    (
        "meps",
        "ROC-aod",
        "pd_1",
    ): "prints .216 predicted and PD .199 where .117 is true; .316 would fit",
    (
        "meps",
        "Meta-fair-fdr",
        "accuracy_1",
    ): "prints FPR .254, but FPR-diff .102 and accuracy .758, which .245 fits",
}
ROWS = [
    (data, name, row)
    for data, rows in published()["table_results"].items()
    for name, row in rows.items()
]


@pytest.mark.parametrize(("data", "name", "row"), ROWS)
def test_pd_follows_from_prevalences(data, name, row):
    truth = published()["table_quantifier"][data]["test"]
    for z in (0, 1):
        fits = row[f"pd_{z}"] == pytest.approx(
            abs(truth[z] - row[f"predicted_prevalence_{z}"]), abs=0.0021
        )
        assert fits != ((data, name, f"pd_{z}") in PAPERS_SLIPS)


@pytest.mark.parametrize(("data", "name", "row"), ROWS)
def test_accuracy_follows_from_error_rates_but_for_the_papers_own_slips(
    data, name, row
):
    truth = published()["table_quantifier"][data]["test"]
    for z in (0, 1):
        implied = 1 - truth[z] * row[f"fnr_{z}"] - (1 - truth[z]) * row[f"fpr_{z}"]
        fits = row[f"accuracy_{z}"] == pytest.approx(implied, abs=0.005)
        assert fits != ((data, name, f"accuracy_{z}") in PAPERS_SLIPS)


def test_undefined_is_none_and_all_tables_are_there():
    assert published()["table_results"]["meps"]["CEOP-fpr"]["pe_01"] is None
    assert len(published()["table_synthetic"]) == 3
    assert set(published()["table_quantifier"]) == {"compas", "meps"}
