"""``cape audit --table ll144``: the numbers of ``impact_ratios``, in every form."""

import json

import numpy as np
import pandas as pd
import pytest

from cape.files._audit import impact_ratios

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def people(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": random.choice(["f", "m", None], 600, p=[0.45, 0.5, 0.05]),
            "race": random.choice(
                ["a", EVIL, "few", "Unknown"], 600, p=[0.5, 0.4, 0.01, 0.09]
            ),
            "score": random.random(600).round(3),
        }
    )
    frame["advanced"] = np.where(frame["score"] > 0.6, "yes", "no")
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame


@pytest.fixture
def base(tmp_path, people):
    path = tmp_path / "people.csv"
    groups = ("--group", "sex", "--group", "race", "--unknown", "Unknown")
    return ("audit", path, "--table", "ll144", *groups)


def rates_in(content):
    """Read the numbers of all known categories in a JSON."""
    numbers = {}
    for table, rows in content["tables"].items():
        for row in rows:
            if row["status"] != "unknown":
                values = row["applicants"], row["rate"], row["impact_ratio"]
                numbers[table, row["category"]] = values
    return numbers


@pytest.mark.parametrize("what", ["decisions", "scores"])
def test_json_csv_and_page_have_the_same_numbers(cape, base, people, tmp_path, what):
    column, rate = ("--prediction", "advanced"), "selection_rate"
    chosen = people["advanced"] == "yes"
    if what == "scores":
        column, rate = ("--score", "score"), "scoring_rate"
        # Of all rows, also those of an unknown category; ties are not above it.
        chosen = people["score"] > np.median(people["score"])
    groups = people[["sex", "race"]].replace("Unknown", None)
    tables = {"sex": groups[["sex"]], "race": groups[["race"]], "sex x race": groups}
    expected = impact_ratios(chosen.to_numpy(), tables, 0.02)
    facts = ("--source", "ACME", "--data-date", "June 2026")
    out = ("--out", tmp_path / "t.csv", "--report", tmp_path / "t.html")
    code, printed, err = cape(*base, *column, *facts, *out, "--json")
    assert (code, err) == (0, "")
    content = json.loads(printed)
    rows = []
    for table, of_table in content["tables"].items():
        rows += [{"table": table, **row} for row in of_table]
    found = pd.DataFrame(rows)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert content["rows"] == 600
    assert ("median" in content) == (what == "scores")
    written = pd.read_csv(tmp_path / "t.csv").rename(columns={rate: "rate"})
    assert set(written.pop("source")) == {"ACME"}
    assert set(written.pop("data_date")) == {"June 2026"}
    pd.testing.assert_frame_equal(written, expected, check_dtype=False)
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert EVIL not in page
    for words in ("legal advice", "no threshold", "5-301 (d)", "ACME", "June 2026"):
        assert words in page
    for _, value, ratio in rates_in(content).values():
        assert f"<td>{value:.3f}</td>" in page
        assert ratio is None or f"<td>{ratio:.3f}</td>" in page


def test_the_terminal_says_what_it_is_and_where_it_comes_from(cape, base, read_rows):
    code, out, err = cape(*base[:-2], "--prediction", "advanced")
    assert code == 0
    assert len(read_rows(out, "f", "m")) == 2
    plain = " ".join(out.split())
    assert "no threshold" in plain and "legal advice" in plain
    assert "Data source: people.csv. Date of the data: not given; the file" in plain
    # Forms have words for "not known"; that is asked, and nothing is assumed.
    assert "--unknown 'Unknown'" in err


def test_one_group_column_is_a_table_and_a_note(cape, base):
    code, out, err = cape(*base[:6], "--score", "score", "--json")
    assert list(json.loads(out)["tables"]) == ["sex"]
    assert code == 0
    assert "--group" in err


def test_several_decisions_can_mean_selected(cape, tmp_path, people):
    people["stage"] = np.where(people["score"] > 0.8, "offer", people["advanced"])
    people.to_csv(tmp_path / "stages.csv", index=False)
    base = ("audit", tmp_path / "stages.csv", "--table", "ll144", "--group", "sex")
    options = ("--positive", "yes", "--positive", "offer", "--json")
    several = cape(*base, "--prediction", "stage", *options)[1]
    one = cape(*base, "--prediction", "advanced", "--json")[1]
    assert rates_in(json.loads(several)) == rates_in(json.loads(one))


def test_a_condition_of_one_s_own_ends_with_code_1(cape, base):
    column = ("--prediction", "advanced")
    code, out, _ = cape(*base, *column, "--fail-if", "impact_ratio<1", "--json")
    content = json.loads(out)
    ratios = [ratio for *_, ratio in rates_in(content).values() if ratio is not None]
    assert code == 1
    assert len(content["breaches"]) == sum(ratio < 1 for ratio in ratios)
    assert cape(*base, *column, "--fail-if", "impact_ratio<0.01")[0] == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "either --prediction or --score"),
        (("--prediction", "advanced", "--score", "score"), "either --prediction or"),
        (("--prediction", "score"), ["--positive", "--score"]),
        (("--score", "advanced"), "advanced"),
        (("--prediction", "advancd"), "'advanced'"),
        (("--prediction", "advanced", "--positive", "maybe"), "'yes'"),
        (("--prediction", "sex"), "rows have no value"),
        (("--prediction", "advanced", "--group", "sex"), "once"),
        (("--prediction", "advanced", "--table", "ll145"), "must be ll144"),
        (
            ("--prediction", "advanced", "--fail-if", "pd>0.1"),
            "such as 'impact_ratio>0.1'",
        ),
        (("--prediction", "advanced", "--min-share", "2"), "[0, 1]"),
        (
            ("--prediction", "advanced", "--missing-groups", "drop"),
            "cannot be combined with --map",
        ),
    ],
)
def test_mistakes_are_one_line(refused, base, options, says):
    refused(*base, *options, says=says)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--table", "ll144", "--score", "score"), "needs --group"),
        (("--score", "score"), "together with --table ll144"),
        (("--prediction", "advanced"), "--label and --prediction"),
    ],
)
def test_options_that_do_not_fit_are_refused(refused, tmp_path, people, options, says):
    refused("audit", tmp_path / "people.csv", *options, says=says)
