"""Reasons for differences from print, with the numbers of the run."""

import copy

import pytest

from cape.experiments._reasons import SYNTHETIC, reasons


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
    for name in ("CAPE-D", "CAPE threshold"):
        sd = row_of(compared, name)["sd"]["predicted_prevalence_0"]
        assert f"{sd:.3f}" in sentence


@pytest.mark.parametrize("name", ["CAPE-D", "CAPE threshold"])
def test_without_both_pools_nothing_is_said_about_their_spread(results, row_of, name):
    row_of(results, name)["status"] = "failed: no memory"
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


def test_nothing_is_said_where_nothing_is_printed(results):
    for row in results["rows"]:
        row["printed"] = None
    assert reasons(results) == []


def test_every_reason_is_a_sentence(compared):
    for sentence in [*reasons(compared), *SYNTHETIC]:
        assert sentence.endswith(".")
        assert "  " not in sentence
