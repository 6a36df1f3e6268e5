"""A whole comparison on three groups, one of which leaves a rate undefined."""

import json

import numpy as np
import pandas as pd
import pytest

from cape_paper import (
    compare_methods,
    results_markdown,
    results_tables,
    table_problem,
)
from cape_paper._peers import METHODS, Method

OPTIONS = {"seeds": 1, "learner": "logistic"}
NAMES = ["CAPE default", "Max_Acc", "Always positive", "Reweigh"]


def three_group_table(n_rows, prevalences, seed):
    """Make rows whose one feature is higher for positives."""
    random = np.random.default_rng(seed)
    groups = random.choice(["a", "b", "c"], n_rows)
    shares = pd.Series(groups).map(prevalences)
    positive = random.random(n_rows) < shares
    score = random.normal(size=n_rows) + 2 * positive
    return pd.DataFrame({"x": score, "z": groups, "y": positive.astype(int)})


@pytest.fixture(scope="module")
def problem():
    train = three_group_table(900, {"a": 0.5, "b": 0.4, "c": 0.6}, seed=0)
    test = three_group_table(900, {"a": 0.2, "b": 0.8, "c": 0.5}, seed=1)
    return table_problem(train, test, label="y", group="z")


@pytest.fixture(scope="module")
def results(problem):
    return compare_methods(problem, methods=NAMES, **OPTIONS)


def test_every_method_runs(results):
    assert [row["status"] for row in results["rows"]] == ["ok"] * 4


def test_every_group_has_its_columns_and_only_the_worst_pair_has_a_pe(results):
    for row in results["rows"]:
        for rate in ("fpr", "fnr", "accuracy", "predicted_prevalence", "pd"):
            assert {f"{rate}_{z}" for z in range(3)} <= set(row["mean"])
        assert row["mean"]["pe"] is not None
        assert "pe_01" not in row["mean"]


def test_estimates_are_near_the_true_prevalences_of_all_groups(results):
    [spa] = [row for row in results["quantifiers"] if row["quantifier"] == "spa"]
    for estimate, counts in zip(spa["mean"], results["data"], strict=True):
        assert estimate == pytest.approx(counts["prevalence_test"], abs=0.1)


def test_cape_is_nearer_to_the_groups_that_moved(results, row_of):
    cape = row_of(results, "CAPE default")["mean"]
    max_acc = row_of(results, "Max_Acc")["mean"]
    for z in (0, 1):
        assert cape[f"pd_{z}"] < max_acc[f"pd_{z}"]
    assert cape["pe"] < max_acc["pe"]


def test_always_positive_misses_by_the_share_of_negatives(results, row_of):
    mean = row_of(results, "Always positive")["mean"]
    for z, counts in enumerate(results["data"]):
        assert mean[f"pd_{z}"] == pytest.approx(1 - counts["prevalence_test"])


def test_nothing_is_printed_so_nothing_is_judged_or_explained(results):
    assert results["verdicts"] == []
    assert results["reasons"] == []
    assert not any(row["printed"] for row in results["rows"])


def test_tables_name_every_group(results):
    prevalences, rates, between, parity = results_tables(results)
    assert prevalences.columns == ["", "a", "b", "c"]
    assert [row[1] for row in rates.rows[:3]] == ["a", "b", "c"]
    assert between.columns[-1] == "PE worst"
    assert "TPR diff" in parity.columns


def test_the_numbers_do_not_depend_on_the_number_of_jobs(problem, results, row_of):
    parallel = compare_methods(problem, methods=NAMES, n_jobs=2, **OPTIONS)
    for name in NAMES:
        expected = row_of(results, name)["mean"]
        assert row_of(parallel, name)["mean"] == expected
    assert parallel["quantifiers"] == results["quantifiers"]


def test_the_order_of_test_rows_does_not_change_cape(problem, results, row_of):
    train = three_group_table(900, {"a": 0.5, "b": 0.4, "c": 0.6}, seed=0)
    test = three_group_table(900, {"a": 0.2, "b": 0.8, "c": 0.5}, seed=1)
    shuffled = test.sample(frac=1, random_state=0)
    other = table_problem(train, shuffled, label="y", group="z")
    again = compare_methods(other, methods=["CAPE default"], **OPTIONS)
    expected = row_of(results, "CAPE default")["mean"]
    assert row_of(again, "CAPE default")["mean"] == pytest.approx(expected)


class NeverPositive:
    """A method whose predicted prevalences are 0, so that no ratio is defined."""

    def fit(self, X, y, *, sensitive_features):
        return self

    def predict(self, X, *, sensitive_features):
        return np.zeros(len(X), dtype=int)


@pytest.fixture
def undefined(problem, monkeypatch):
    """A comparison with a method whose PE is undefined."""

    def make(learner, seed, favourable):
        return NeverPositive()

    never = Method("baseline", make, "no row is called positive", random=False)
    monkeypatch.setitem(METHODS, "Never positive", never)
    return compare_methods(problem, methods=["Never positive"], **OPTIONS)


def test_an_undefined_pe_is_none_and_the_rest_is_not(undefined):
    [row] = undefined["rows"]
    assert row["status"] == "ok"
    assert row["mean"]["pe"] is None
    assert row["sd"]["pe"] is None
    assert row["mean"]["fnr_0"] == 1
    assert row["warnings"] == []


def test_an_undefined_pe_can_be_stored_and_is_shown_as_such(undefined):
    assert json.loads(json.dumps(undefined, allow_nan=False)) == undefined
    page = results_markdown(undefined)
    lines = [line for line in page.splitlines() if "undef" in line]
    # PE in one table; ratio of shares and precision in the table of parity.
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("| Never positive |")
