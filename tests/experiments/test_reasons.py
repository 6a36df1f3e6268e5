"""Reasons for differences from print are given where something is printed, with the run's own numbers."""

from cape.experiments._reasons import reasons


def test_the_numbers_in_the_reasons_are_the_runs(compared):
    text = " ".join(reasons(compared))
    spa = next(row for row in compared["quantifiers"] if row["quantifier"] == "spa")
    assert f"{spa['mean'][0]:.3f} (print 0.592)" in text
    cape = next(row for row in compared["rows"] if row["method"] == "CAPE-D")
    assert f"{cape['sd']['predicted_prevalence_0']:.3f}" in text
    assert "favourable label" in text and "ROC-spd" in text


def test_other_data_is_named_as_such(compared):
    found = reasons({**compared, "same_data": False, "experiment": "meps"})
    assert found[0].startswith("The printed numbers are of other rows")
    assert not [text for text in found if text.startswith("SPA")]
    assert "contradict themselves" in found[-1]


def test_nothing_is_said_where_nothing_is_printed(compared):
    unprinted = [{**row, "printed": None} for row in compared["rows"]]
    assert reasons({**compared, "rows": unprinted}) == []
