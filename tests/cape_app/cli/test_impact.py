"""``cape audit --table ll144``: selection rates and impact ratios, in every form."""

import json

import numpy as np
import pandas as pd
import pytest

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def people(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": random.choice(["f", "m", None], 600, p=[0.45, 0.5, 0.05]),
            "race": random.choice(["a", EVIL, "few"], 600, p=[0.55, 0.44, 0.01]),
            "score": random.random(600).round(3),
        }
    )
    frame["advanced"] = np.where(frame["score"] > 0.6, "advance", "reject")
    frame["stage"] = np.where(frame["score"] > 0.8, "offer", frame["advanced"])
    frame.to_csv(tmp_path / "people.csv", index=False)
    return frame


@pytest.fixture
def base(tmp_path, people):
    groups = ("--group", "sex", "--group", "race")
    return ("audit", tmp_path / "people.csv", "--table", "ll144", *groups)


CHOSEN = ("--prediction", "advanced", "--positive", "advance")
ASKED = [
    CHOSEN,
    ("--prediction", "stage", "--positive", "advance", "--positive", "offer"),
    ("--prediction", "score", "--threshold", "0.6"),
]


@pytest.mark.parametrize("asked", ASKED)
def test_json_and_page_have_the_rates_of_the_rows(cape, base, people, tmp_path, asked):
    report = ("--report", tmp_path / "t.html")
    code, printed, _ = cape(*base, *asked, *report, "--json")
    content = json.loads(printed)
    assert code == 0
    assert list(content["tables"]) == ["sex", "race", "sex x race"]
    chosen = people["advanced"] == "advance"
    expected = chosen.groupby(people["sex"]).agg(["size", "sum", "mean"])
    table = content["tables"]["sex"]
    assert table["unknown"] == people["sex"].isna().sum()
    for row in table["categories"]:
        numbers = [row["applicants"], row["selected"], row["rate"]]
        assert numbers == expected.loc[row["category"]].tolist()
    ratios = [row["impact_ratio"] for row in content["tables"]["race"]["categories"]]
    assert max(ratios[:2]) == 1 and ratios[2] is None
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert EVIL not in page and "not legal advice" in page and "5-301 (d)" in page
    for table in content["tables"].values():
        for row in table["categories"]:
            assert f"<td>{row['rate']:.3f}</td>" in page


def test_the_terminal_says_what_it_is(cape, base, read_rows):
    code, out, err = cape(*base, *CHOSEN)
    assert code == 0
    assert len(read_rows(out, "f", "m")) == 2
    plain = " ".join(out.split())
    assert "Selected means advance. The law sets no threshold;" in plain
    assert "rows have no group" in err


@pytest.mark.parametrize("prediction", ["advanced", "stage"])
def test_nobody_guesses_who_is_selected(refused, base, people, prediction):
    # Of "advance" and "reject", the later word is the wrong one.
    says = ["--positive", *map(repr, people[prediction].unique())]
    refused(*base, "--prediction", prediction, says=says)


def test_a_condition_of_one_s_own_ends_with_code_1(cape, base):
    code, out, _ = cape(*base, *CHOSEN, "--fail-if", "impact_ratio<1", "--json")
    content = json.loads(out)
    ratios = []
    for table in content["tables"].values():
        ratios += [row["impact_ratio"] for row in table["categories"]]
    assert code == 1
    below = [ratio for ratio in ratios if ratio is not None and ratio < 1]
    assert len(content["breaches"]) == len(below) > 0
    assert len(content["left_out"]) == ratios.count(None)
    assert cape(*base, *CHOSEN, "--fail-if", "impact_ratio<0.01")[0] == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "of --prediction"),
        (("--prediction", "advancd"), "'advancd'"),
        ((*CHOSEN, "--label", "advanced"), "of --prediction"),
        (("--prediction", "advanced", "--positive", "maybe"), "'advance'"),
        ((*CHOSEN, "--group", "sex"), "once"),
        ((*CHOSEN, "--table", "ll145"), "must be ll144"),
        ((*CHOSEN, "--fail-if", "pd>0.1"), "such as 'impact_ratio>0.1'"),
    ],
)
def test_mistakes_are_one_line(refused, base, options, says):
    refused(*base, *options, says=says)


def test_there_are_groups(refused, tmp_path, people):
    refused("audit", tmp_path / "people.csv", "--table", "ll144", *CHOSEN, says="group")
