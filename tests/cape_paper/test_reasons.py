"""Reasons for differences from print, with the numbers of the run."""

import copy

import pytest

from cape_paper._reasons import SYNTHETIC, reasons


@pytest.fixture
def results(compared):
    return copy.deepcopy(compared)


def begins(sentences, words):
    return [sentence for sentence in sentences if sentence.startswith(words)]


def test_the_estimates_in_the_reasons_are_those_of_the_run(compared):
    [spa] = [row for row in compared["quantifiers"] if row["quantifier"] == "spa"]
    [sentence] = begins(reasons(compared), "SPA estimates")
    assert f"{spa['mean'][0]:.3f} (print 0.592)" in sentence
    assert f"{spa['mean'][1]:.3f} (print 0.644)" in sentence


def test_the_spreads_in_the_reasons_are_those_of_the_run(compared, row_of):
    [sentence] = begins(reasons(compared), "CAPE-D varies with the seed")
    for name in ("CAPE-D", "CAPE default"):
        sd = row_of(compared, name)["sd"]["predicted_prevalence_0"]
        assert f"{sd:.3f}" in sentence


@pytest.mark.parametrize("name", ["CAPE-D", "CAPE default"])
def test_without_both_pools_nothing_is_said_about_their_spread(results, row_of, name):
    row_of(results, name)["status"] = "failed: no memory"
    assert not begins(reasons(results), "CAPE-D varies")


def test_the_grid_is_no_reason_where_the_threshold_pool_varies_as_much(results, row_of):
    cape_sd = row_of(results, "CAPE-D")["sd"]
    threshold_sd = row_of(results, "CAPE default")["sd"]
    threshold_sd["predicted_prevalence_0"] = cape_sd["predicted_prevalence_0"]
    assert not begins(reasons(results), "CAPE-D varies")


def test_other_data_is_named_as_such_and_its_estimates_are_no_reason(results):
    results["same_data"] = False
    sentences = reasons(results)
    assert sentences[0].startswith("The printed numbers are of other rows")
    assert not begins(sentences, "SPA")


def test_without_printed_estimates_nothing_is_said_about_them(results):
    for row in results["quantifiers"]:
        row["printed"] = None
    assert not begins(reasons(results), "SPA")


def test_what_aif360_leaves_open_is_said_where_aif360_has_printed_rows(results):
    sentences = reasons(results)
    assert begins(sentences, "AIF360's rows")
    assert "favourable label" in begins(sentences, "AIF360's rows")[0]
    results["rows"] = [
        row for row in results["rows"] if not row["about"].startswith("AIF360")
    ]
    assert not begins(reasons(results), "AIF360's rows")


@pytest.mark.parametrize(
    ("experiment", "words"),
    [
        ("compas", "The paper's table has no ROC-spd row for COMPAS"),
        ("meps", "Two printed MEPS rows contradict themselves"),
    ],
)
def test_each_data_set_has_its_own_remark_about_print(results, experiment, words):
    results["experiment"] = experiment
    assert reasons(results)[-1].startswith(words)


def test_it_is_said_that_test_results_had_been_seen_when_the_grid_was_chosen(results):
    results["experiment"] = "compas"
    [sentence] = begins(reasons(results), "Depth and number of trees")
    assert "results on 2014 had been seen" in sentence
    results["experiment"] = "meps"
    assert not begins(reasons(results), "Depth and number of trees")


@pytest.fixture
def wide(results):
    """The comparison, as one whose features were chosen by looking at print."""
    results["experiment"] = "compas"
    results["chosen_by_print"] = True
    return results


def test_it_is_said_how_the_wide_features_were_found(wide):
    sentences = reasons(wide)
    [origin] = begins(sentences, "How these features were found")
    assert "no test label" in origin
    assert sentences[0] == origin


def test_wide_features_make_no_claim_against_print(wide):
    [sentence] = begins(reasons(wide), "Features that were chosen to come near print")
    assert "makes no claim against print" in sentence


def test_the_numbers_that_the_wide_features_were_found_by_are_those_of_the_run(
    wide, row_of
):
    [spa] = [row for row in wide["quantifiers"] if row["quantifier"] == "spa"]
    mean = row_of(wide, "Max_Acc")["mean"]
    [sentence] = begins(reasons(wide), "With them")
    assert sentence == (
        f"With them SPA estimates {spa['mean'][0]:.3f} (print 0.592), "
        f"{spa['mean'][1]:.3f} (print 0.644); "
        f"Max_Acc predicts {mean['predicted_prevalence_0']:.3f} (print 0.284), "
        f"{mean['predicted_prevalence_1']:.3f} (print 0.542)."
    )


def test_without_max_acc_the_wide_features_have_estimates_alone(wide, row_of):
    row_of(wide, "Max_Acc")["status"] = "failed: no memory"
    [sentence] = begins(reasons(wide), "With them")
    assert "Max_Acc" not in sentence
    assert "SPA estimates" in sentence


def test_without_numbers_it_is_still_said_how_the_wide_features_were_found(
    wide, row_of
):
    row_of(wide, "Max_Acc")["status"] = "failed: no memory"
    wide["quantifiers"] = []
    sentences = reasons(wide)
    assert not begins(sentences, "With them")
    assert begins(sentences, "How these features were found")


def test_it_is_said_that_some_days_are_later_than_the_screening(wide):
    [sentence] = begins(reasons(wide), "The days have to be read with care")
    assert "after the screening" in sentence


def test_the_narrow_features_name_the_wide_ones(results):
    results["experiment"] = "compas"
    sentences = reasons(results)
    assert any("--features wide" in sentence for sentence in sentences)
    assert not begins(sentences, "How these features were found")
    assert begins(sentences, "SPA estimates")


def test_the_wide_features_do_not_name_themselves_as_others(wide):
    assert not any("--features wide" in sentence for sentence in reasons(wide))


def test_nothing_is_said_where_nothing_is_printed(results):
    for row in results["rows"]:
        row["printed"] = None
    assert reasons(results) == []


def test_every_reason_is_a_sentence(compared, wide):
    for sentence in [*reasons(compared), *reasons(wide), *SYNTHETIC]:
        assert sentence.endswith(".")
        assert "  " not in sentence
