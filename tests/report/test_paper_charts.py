"""Pictures of the experiments: frames hold the numbers, and all can be written."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from cape.experiments import compare_methods, run_synthetic
from cape.report import save_pictures
from cape.report._paper_charts import (
    _how_to_read,
    frame_comparison,
    frame_figure,
    frame_pairs,
    frame_theorem,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
from invented import invented_shifts

from conftest import small_problem


@pytest.fixture(scope="module")
def synthetic():
    return run_synthetic(repetitions=2, n_train=800, n_test=300, prevalences=(0.1, 0.5))


@pytest.fixture(scope="module")
def compared():
    return compare_methods(
        small_problem(),
        methods=["CAPE-D", "Max_Acc", "AD"],
        seeds=2,
        learner="logistic",
    )


def test_the_figure_has_mean_and_one_sd_of_the_points_where_rho_0_is_half(synthetic):
    frame = frame_figure(synthetic)
    assert sorted(frame["rho_1"].unique()) == [0.1, 0.5] and len(frame) == 2 * 3 * 3
    pair = next(
        p for p in synthetic["pairs"] if (p["rho_0"], p["rho_1"]) == (0.5, 0.1)
    )["methods"]["CAPE-D"]
    row = frame.query(
        "classifier == 'CAPE-D' and rho_1 == 0.1 and metric == 'PD of group 1'"
    ).iloc[0]
    assert row["mean"] == pair["mean"]["pd_1"]
    assert row["high"] == pytest.approx(pair["mean"]["pd_1"] + pair["sd"]["pd_1"])
    assert (frame["low"] >= 0).all()


def test_the_heat_map_has_every_pair(synthetic):
    frame = frame_pairs(synthetic)
    assert len(frame) == 4 * 3 * 2
    mean = synthetic["pairs"][1]["methods"]["Max_Acc"]["mean"]
    value = frame.query("rho_0 == 0.1 and rho_1 == 0.5 and classifier == 'Max_Acc'")[
        "value"
    ].tolist()
    assert value == [(mean["pd_0"] + mean["pd_1"]) / 2, mean["pe_01"]]


def test_the_theorem_has_its_parts(synthetic):
    frame = frame_theorem(synthetic).pivot(index="rho_1", columns="what", values="mean")
    parts = (
        frame["delta_1, error of the quantifier"]
        + frame["delta_2, error of the members"]
        + 0.05
    )
    assert frame["Theorem 3's bound"].tolist() == pytest.approx(parts.tolist())


def test_the_comparison_has_ours_and_print_and_leaves_out_what_did_not_run(compared):
    frame = frame_comparison(compared)
    ours = frame.query("method == 'CAPE-D' and kind == 'ours' and metric == 'PD'")
    assert ours["value"].tolist() == [
        compared["rows"][0]["mean"]["pd_0"],
        compared["rows"][0]["mean"]["pd_1"],
    ]
    assert frame.query("method == 'CAPE-D' and kind == 'print' and metric == 'PE'")[
        "value"
    ].tolist() == [0.082]


def test_every_picture_is_written_as_png_and_as_a_page_that_needs_no_network(
    tmp_path, synthetic, compared
):
    paths = []
    for results in (synthetic, compared, invented_shifts()):
        paths += save_pictures(results, tmp_path)
    names = [
        "synthetic-figure",
        "synthetic-pairs",
        "synthetic-theorem",
        "small-methods",
        "shifts-estimates",
    ]
    assert [path.name for path in paths] == [
        f"{name}.{kind}" for name in names for kind in ("png", "html")
    ]
    for path in paths:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert content.startswith(b"\x89PNG") and len(content) > 5000
        else:
            assert b'src="http' not in content and b"vega" in content


def test_the_title_of_a_comparison_speaks_of_what_is_drawn():
    frame = pd.DataFrame({"kind": ["ours"], "value": [0.1], "high": [0.1]})
    assert _how_to_read(frame) == "PD and PE: lower is fairer."
    spread = frame.assign(high=0.2)
    assert _how_to_read(spread).startswith("Lines: one standard deviation over seeds.")
    printed = pd.concat([spread, frame.assign(kind="print")])
    text = "Filled: ours, with one standard deviation over seeds. Hollow: the paper's."
    assert _how_to_read(printed).startswith(text)
