"""benchmarks/rules.py: the page has its figures; its parts measure what they say."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import threshold_peers

import rules as benchmark

ROOT = Path(__file__).parents[1]
RECORDS = json.loads((ROOT / "docs" / "data" / "rules.json").read_text())
PAGE = (ROOT / "docs" / "what_to_aim_at.md").read_text(encoding="utf-8")


def test_the_page_has_the_table_of_the_stored_figures():
    assert benchmark.table(RECORDS) in PAGE


def test_all_81_pairs_and_200_batches_of_compas_were_run():
    batches = {(one["data"], one["batches"]) for one in RECORDS}
    assert batches == {("pairs", 81), ("compas", 200)}


def test_the_oracle_is_right_where_scores_are_perfect():
    y = np.tile([0, 1], 40)
    z = np.repeat([0, 1], 40)
    scores = 0.1 + 0.8 * y
    batch = benchmark.Rows(None, y, z)
    for criterion in benchmark.METRICS:
        np.testing.assert_array_equal(benchmark.oracle(criterion, scores, batch), y)


def test_the_oracle_of_equal_shares_pays_what_arithmetic_asks_for():
    """With perfect scores and true shares .2 and .6, one row in five is wrong."""
    y = np.repeat([0, 1, 0, 1], [80, 20, 40, 60])
    z = np.repeat([0, 1], [100, 100])
    random = np.random.default_rng(0)
    scores = y + random.uniform(0, 0.5, len(y))
    y_pred = benchmark.oracle("demographic_parity", scores, benchmark.Rows(None, y, z))
    shares = [y_pred[z == group].mean() for group in (0, 1)]
    assert shares[0] == pytest.approx(shares[1], abs=0.011)
    assert np.mean(y_pred != y) == pytest.approx(0.2, abs=0.011)


def test_a_batch_of_compas_has_the_rows_asked_for():
    random = np.random.default_rng(0)
    table = benchmark.Rows(None, np.tile([0, 1], 50), np.repeat([0, 1], 50))
    rest = np.arange(0, 100, 3)
    drawn = benchmark.resample(table, rest, random)
    assert set(drawn) <= set(rest)
    counts = np.bincount(table.z[drawn])
    assert counts.tolist() == [benchmark.COMPAS_ROWS] * 2


def test_a_peer_that_is_not_installed_is_named_and_left_out(monkeypatch, capsys):
    monkeypatch.setattr(threshold_peers, "find_spec", lambda package: None)
    assert threshold_peers.installed_peers() == {}
    assert "OxonFair is left out: oxonfair is not installed." in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("criterion", threshold_peers.CONSTRAINTS)
def test_fairlearn_gets_scores_and_keeps_its_constraint_in_training(criterion):
    random = np.random.default_rng(0)
    y = np.tile([0, 1], 1000)
    z = np.repeat([0, 1], 1000)
    scores = 1 / (1 + np.exp(-2 * y + 1 - z / 2 + random.normal(size=2000)))
    peer = threshold_peers.FairlearnThresholds(criterion).fit(scores, y, z)
    y_pred = peer.predict(scores, z)
    metric = benchmark.METRICS[criterion]
    assert metric(y, y_pred, sensitive_features=z) < 0.05
    assert np.mean(y_pred == y) > 0.7
