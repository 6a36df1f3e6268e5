"""Pictures of the experiments: frames hold the numbers, and all can be written."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from cape_paper import compare_methods, run_synthetic, save_pictures
from cape_paper._charts import (
    _how_to_read,
    draw_comparison,
    draw_figure,
    draw_pairs,
    draw_theorem,
    frame_comparison,
    frame_figure,
    frame_pairs,
    frame_theorem,
)

sys.path.insert(0, str(Path(__file__).parent))
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


def invented_comparison(n):
    columns = [f"{rate}_{z}" for rate in ("pd", "accuracy") for z in range(n)] + [
        "pe",
        "pe_01",
    ]
    ran = {"mean": dict.fromkeys(columns, 0.1), "sd": dict.fromkeys(columns, 0.2)}
    rows = [
        {"method": "Zeta", "printed": dict.fromkeys(columns, 0.3), **ran},
        {
            "method": "Alpha",
            "printed": None,
            "mean": {**ran["mean"], "pe": None, "pe_01": None},
            "sd": ran["sd"],
        },
        {"method": "Absent", "printed": dict.fromkeys(columns, 0.4)},
    ]
    return {"groups": [f"g{z}" for z in range(n)], "rows": rows}


@pytest.mark.parametrize("n", [2, 3, 8])
def test_the_comparison_draws_every_group_in_a_colour_and_methods_in_their_order(n):
    frame = frame_comparison(invented_comparison(n))
    assert (frame["low"] >= 0).all()
    assert (
        frame.query("method == 'Zeta' and kind == 'ours' and metric == 'PD'")[
            "high"
        ].tolist()
        == [pytest.approx(0.3)] * n
    )
    assert frame.query("metric == 'PE'")[["method", "kind"]].to_numpy().tolist() == [
        ["Zeta", "ours"],
        ["Zeta", "print"],
        ["Absent", "print"],
    ]
    spec = draw_comparison(frame).to_dict()
    for panel in spec["hconcat"]:
        for layer in panel["layer"]:
            assert layer["encoding"]["y"]["scale"]["domain"] == [
                "Zeta",
                "Alpha",
                "Absent",
            ]
            colours = layer["encoding"]["color"]["scale"]
            assert colours["domain"] == [f"g{z}" for z in range(n)] + ["between groups"]
            assert (
                len(colours["range"]) == n + 1
                and colours["range"][-1] not in colours["range"][:-1]
            )
    assert [p["layer"][2]["encoding"]["x"]["title"] for p in spec["hconcat"]] == [
        "PD",
        "PE",
        "accuracy",
    ]
    assert [
        p["layer"][2]["encoding"]["x"]["scale"]["zero"] for p in spec["hconcat"]
    ] == [True, True, False]


def test_the_figure_has_three_panels_over_one_axis_and_a_band():
    frame = pd.DataFrame(
        [
            {
                "rho_1": 0.2,
                "classifier": name,
                "metric": metric,
                "mean": 0.3,
                "low": 0.2,
                "high": 0.4,
            }
            for name in ("Max_Acc", "Another")
            for metric in ("accuracy of group 1", "PD of group 1", "PE of groups 0, 1")
        ]
    )
    panels = draw_figure(frame).to_dict()["hconcat"]
    assert [p["layer"][1]["encoding"]["y"]["title"] for p in panels] == frame[
        "metric"
    ].tolist()[:3]
    for panel in panels:
        band, line = (layer["encoding"] for layer in panel["layer"])
        assert (
            line["x"]["scale"]["domain"] == [0.1, 0.9] and band["y2"]["field"] == "high"
        )
        assert line["color"]["scale"]["domain"] == ["Max_Acc", "Another"]
    assert [p["layer"][1]["encoding"]["y"]["scale"]["zero"] for p in panels] == [
        False,
        True,
        True,
    ]


def test_heat_maps_have_a_row_a_metric_with_its_own_scale():
    rows = [
        [0.1, 0.2, name, metric, 0.5]
        for name in ("b", "a")
        for metric in ("PD, mean of groups", "PE of groups 0, 1")
    ]
    spec = draw_pairs(
        pd.DataFrame(rows, columns=["rho_0", "rho_1", "classifier", "metric", "value"])
    ).to_dict()
    colours = [part["encoding"]["color"] for part in spec["vconcat"]]
    assert [(c["title"], c["scale"]["type"]) for c in colours] == [
        ("PD, mean of groups", "linear"),
        ("PE of groups 0, 1", "sqrt"),
    ]
    assert all(
        part["encoding"]["column"]["sort"] == ["b", "a"] for part in spec["vconcat"]
    )
    assert spec["resolve"]["scale"]["color"] == "independent"


def test_the_theorems_lines_each_have_a_colour_and_a_dash():
    encoding = draw_theorem(
        pd.DataFrame({"rho_1": [0.1], "what": ["PD observed"], "mean": [0.2]})
    ).to_dict()["encoding"]
    names = encoding["color"]["scale"]["domain"]
    assert names[0] == "PD observed" and len(names) == 5 == len(
        set(encoding["color"]["scale"]["range"])
    )
    assert (
        encoding["strokeDash"]["scale"]["domain"] == names
        and len(encoding["strokeDash"]["scale"]["range"]) == 5
    )
