"""The demo's numbers: CAPE follows both groups, Max_Acc does not."""

import pandas as pd
import pytest

from cape.cli._demo import run_demo

NAMES = ["Max_Acc", "CAPE, paper", "CAPE"]
PD_AND_PE = [("pd", 0), ("pd", 1), ("pe", "worst pair")]


@pytest.fixture(scope="module")
def table():
    return run_demo(n_train=3000, n_test=3000, random_state=1)


@pytest.mark.parametrize("column", PD_AND_PE)
@pytest.mark.parametrize("name", ["CAPE, paper", "CAPE"])
def test_cape_is_fairer_than_max_acc_where_both_groups_move(table, column, name):
    assert table.loc[name, column] < table.loc["Max_Acc", column]


def test_fairness_does_not_cost_accuracy(table):
    assert (table["accuracy", 0] > 0.85).all()


def test_steps_are_told_in_the_order_of_the_table():
    steps = []
    table = run_demo(n_train=1000, n_test=500, on_step=steps.append)
    assert steps == NAMES
    assert table.index.tolist() == NAMES


def test_the_batch_has_the_prevalences_that_were_asked_for():
    table = run_demo(prevalences=(0.1, 0.6), n_train=1000, n_test=500)
    assert table["prevalence", 0].tolist() == pytest.approx([0.1] * 3)
    assert table["prevalence", 1].tolist() == pytest.approx([0.6] * 3)


def test_the_same_seed_gives_the_same_table_and_another_does_not():
    options = {"n_train": 1000, "n_test": 500}
    first = run_demo(**options, random_state=3)
    pd.testing.assert_frame_equal(first, run_demo(**options, random_state=3))
    assert not first.equals(run_demo(**options, random_state=4))
