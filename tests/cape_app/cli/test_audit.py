"""``cape audit``: its numbers are those of ``cape.metrics.audit`` on the same table."""

import json

import pandas as pd
import pytest

from cape.metrics import audit

METRICS = [
    "pd",
    "fpr",
    "fnr",
    "accuracy",
    "precision",
    "prevalence",
    "predicted_prevalence",
    "pe",
    "fpr_difference",
    "fnr_difference",
    "accuracy_difference",
    "predicted_prevalence_difference",
    "predicted_prevalence_ratio",
]


@pytest.fixture
def base(tmp_path, scored):
    return "audit", tmp_path / "scored.csv", "--label", "y", "--prediction", "yhat"


@pytest.mark.parametrize("groups", [["race"], ["race", "sex"]])
def test_json_holds_the_numbers_of_the_python_function(cape, base, scored, groups):
    options = [word for name in groups for word in ("--group", name)]
    code, out, err = cape(*base, *options, "--level", 0.8, "--json")
    content = json.loads(out)
    found = audit(
        scored["y"], scored["yhat"], sensitive_features=scored[groups], level=0.8
    )
    names = None
    if len(groups) == 2:
        # People read what a value is of.
        values = {finding.group for finding in found.findings}
        names = {(race, sex): f"race {race} · sex {sex}" for race, sex in values}
    expected = found.to_dict(names)
    assert (code, err) == (0, "")
    assert (content["level"], content["rows"]) == (0.8, 240)
    assert content["groups"] == expected["groups"]
    assert content["pairs"] == expected["pairs"]
    assert content["made"]["columns"]["groups"] == ", ".join(groups)


def test_the_table_shows_the_same_numbers(cape, base, scored, read_rows):
    code, out, _ = cape(*base, "--group", "race", "--level", 0.9)
    found = audit(
        scored["y"], scored["yhat"], sensitive_features=scored["race"], level=0.9
    )
    table = found.table()
    for name, *cells in read_rows(out, "blue", "green"):
        value = table.loc[name, "value"]
        metrics = ("prevalence", "predicted_prevalence", "pd", "fpr", "fnr")
        numbers = [cell.partition(" ")[0] for cell in cells]
        assert numbers == [f"{value[metric]:.3f}" for metric in metrics]
    worst = found.worst_pairs()["pe"]
    assert code == 0
    assert f"{worst.estimate.value:.3f} (" in out
    assert f"{worst.group} / {worst.other}." in out
    assert len(read_rows(out, "blue", "green")) == 2
    assert len(out.splitlines()) <= 16
    low, high = table.loc[("blue", "pd"), ["low", "high"]]
    assert f"({low:.3f}-{high:.3f})" in out
    _, out, _ = cape(*base, "--group", "race", "--level", 0.9, "--verbose")
    assert "precision" in out and "PE: Proportional equality" in out


def test_the_difference_that_is_sure_comes_first_and_its_labels_beside_it(
    cape, tmp_path
):
    """A dozen rows differ more; half of a thousand for sure."""
    groups = {
        "few": (2, 0, 7, 3),
        "many": (300, 10, 150, 540),
        "fair": (80, 20, 20, 80),
    }
    rows = []
    for name, cells in groups.items():
        for (y, p), n in zip([(1, 1), (0, 1), (1, 0), (0, 0)], cells, strict=True):
            rows += [{"y": y, "p": p, "g": name}] * n
    pd.DataFrame(rows).to_csv(tmp_path / "f.csv", index=False)
    columns = ("--label", "y", "--prediction", "p", "--group", "g")
    _, out, _ = cape("audit", tmp_path / "f.csv", *columns)
    assert out.startswith("many: 31% predicted positive, 45% labeled positive (11")
    content = json.loads(cape("audit", tmp_path / "f.csv", *columns, "--json")[1])
    first = content["differences"][0]
    assert (first["metric"], first["group"]) == ("pd", "many")


def test_an_undefined_pe_is_told(cape, tmp_path):
    frame = pd.DataFrame({"y": [0, 1] * 40, "p": [0] * 40 + [0, 1] * 20})
    frame.assign(g=["none"] * 40 + ["some"] * 40).to_csv(tmp_path / "f.csv")
    columns = ("--label", "y", "--prediction", "p", "--group", "g")
    _, out, _ = cape("audit", tmp_path / "f.csv", *columns)
    assert "PE relative to none is undefined" in " ".join(out.split())


def test_without_groups_there_is_one_and_no_pair(cape, base, read_rows):
    code, out, _ = cape(*base)
    assert code == 0
    assert [row[:2] for row in read_rows(out, "everyone")] == [["everyone", "0.333"]]
    assert "PE compares groups" in out
    assert "Positive means y = 1." in out
    assert "Positive means y = 0." in cape(*base, "--positive", "0")[1]


def test_a_group_of_few_rows_is_marked_and_an_undefined_rate_is_a_dash(
    cape, tmp_path, read_rows
):
    groups = ["few"] * 6 + ["many"] * 80
    frame = pd.DataFrame({"y": [1] * 6 + [0, 1] * 40, "p": [1, 0] * 43, "g": groups})
    frame.to_csv(tmp_path / "f.csv", index=False)
    columns = ("--label", "y", "--prediction", "p", "--group", "g")
    _, out, _ = cape("audit", tmp_path / "f.csv", *columns)
    few, many = read_rows(out, "few", "many")
    assert "too few" in few[1] and "too few" in few[2]
    assert not any("few" in cell for cell in many[1:])


@pytest.mark.parametrize("metric", ["accuracy_difference", "pe"])
def test_one_person_neither_fails_nor_passes_and_is_never_the_worst(
    cape, base, tmp_path, scored, metric
):
    people = pd.DataFrame(
        {"y": [1, 1], "yhat": [0, 1], "race": ["one", "two"], "sex": ["f", "f"]}
    )
    both = pd.concat([scored, people], ignore_index=True)
    both.to_csv(tmp_path / "people.csv", index=False)
    plain = json.loads(cape(*base, "--group", "race", "--json")[1])
    worst = plain["worst"][metric]
    condition = ("--fail-if", f"{metric}>{worst['value'] + 0.01:.4f}")
    options = (*base[2:], "--group", "race", *condition)
    code, out, _ = cape("audit", tmp_path / "people.csv", *options, "--json")
    content = json.loads(out)
    assert content["small_groups"] == ["one", "two"]
    assert content["worst"][metric]["value"] == worst["value"]
    assert code == 0
    assert content["breaches"] == []
    # Every ordered pair with one of the two people, and no pair without.
    assert len(content["left_out"]) == 10
    for left in content["left_out"]:
        assert "one" in left["where"] or "two" in left["where"]


def values_of(frame, metric):
    """The values of a metric, by group or by pair of groups."""
    found = audit(frame["y"], frame["yhat"], sensitive_features=frame["race"]).to_dict()
    values = {}
    for finding in [*found["groups"], *found["pairs"]]:
        if finding["metric"] == metric:
            where = finding["group"]
            if "other" in finding:
                where = f"{where} / {finding['other']}"
            values[where] = finding["value"]
    return values


def test_fail_if_finds_just_those_beyond_the_limit(cape, base, scored):
    options = ["--group", "race", "--json"]
    expected = {}
    for metric in METRICS:
        values = values_of(scored, metric)
        limit = round(max(values.values()) - 5e-4, 4)
        beyond = {where: value for where, value in values.items() if value > limit}
        expected[f"{metric}>{limit:g}"] = beyond
        options += ["--fail-if", f"{metric} > {limit:.4f}"]
        options += ["--fail-if", f"{metric} > {limit + 1:.4f}"]
    code, out, _ = cape(*base, *options)
    found = {}
    for breach in json.loads(out)["breaches"]:
        places = found.setdefault(breach["condition"], {})
        places[breach["where"]] = breach["value"]
    assert code == 1
    assert found == expected


def test_every_condition_that_is_met_gets_a_line_below_the_table(cape, base):
    conditions = ("--fail-if", " Accuracy >= 1e-1", "--fail-if", "pd>9")
    code, out, err = cape(*base, "--group", "race", *conditions)
    last = out.splitlines()[-2:]
    assert (code, err) == (1, "")
    assert "pd>9" not in out
    assert [line.split(": ")[1] for line in last] == ["blue", "green"]


@pytest.mark.parametrize(
    "text", ["", "pd", "pd>", ">0.1", "pd=0.1", "pd>x", "pd>1>2", "PDX>1", "pd>-1"]
)
def test_what_is_no_condition_is_refused_with_what_is_accepted(refused, base, text):
    says = ["--fail-if must be a metric", f"got {text!r}", "fpr_difference"]
    refused(*base, "--fail-if", text, says=says)


def test_other_words_separators_and_encodings_are_read(cape, base, tmp_path, scored):
    words = {0: "repaid", 1: "défaut"}
    other = scored.assign(y=scored["y"].map(words), yhat=scored["yhat"].map(words))
    other.to_csv(tmp_path / "o.csv", index=False, sep="\t", encoding="latin-1")
    options = ("--separator", "tab", "--encoding", "latin-1", "--positive", "défaut")
    columns = (*base[2:], "--group", "race", "--json")
    code, out, _ = cape("audit", tmp_path / "o.csv", *columns, *options)
    content = json.loads(out)
    plain = json.loads(cape(*base[:2], *columns)[1])
    assert code == 0
    assert content["made"]["columns"]["positive"] == "défaut"
    assert content["groups"] == plain["groups"]


def test_the_report_says_what_json_says_and_is_replaced_only_by_force(
    cape, refused, tmp_path, base
):
    report, page = tmp_path / "a.json", tmp_path / "a.html"
    base = (*base, "--group", "race")
    _, out, _ = cape(*base, "--report", report, "--json")
    printed, written = json.loads(out), json.loads(report.read_text())
    assert printed["pairs"] == written["observed"]["cape"]["pairs"]
    assert printed["made"] == written["made"]
    refused(*base, "--report", report, says=[f"{report} already exists", "--force"])
    code, out, _ = cape(*base, "--report", report, "--level", 0.5, "--force")
    assert code == 0
    assert json.loads(report.read_text())["level"] == 0.5
    assert f"report: {report}" in out.replace("\n", "")
    words = ("--note", "A first look.")
    code, _, _ = cape(*base, "--report", page, "--fail-if", "pd>=0", *words)
    assert code == 1
    assert "A first look." in page.read_text()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--prediction", "y_hat"], ["no column 'y_hat'", "did you mean 'yhat'?"]),
        (["--label", "race"], ["two values, got 4: '0', '1'"]),
        (["--group", "sexe"], ["did you mean 'sex'?"]),
        (["--group", "gap"], ["7 of the first 240 rows have no value in 'gap'"]),
        (["--positive", "2"], ["the positive label must be '0' or '1', got '2'"]),
        (["--level", "2"], ["--level must be in (0, 1), got 2.0"]),
        (["--report", "no/a.html"], ["no of a.html does not exist"]),
        (["--report", "a.txt"], ["must end in .html or .json, got 'a.txt'"]),
        (["--map", "high"], ["--map must be PREDICTION=LABEL, such as high=yes"]),
        (["--map", "a=1", "--map", "a=0"], ["--map names 'a' twice"]),
    ],
)
def test_mistakes_name_what_came_and_what_is_accepted(
    refused, tmp_path, base, scored, options, says
):
    gap = scored["race"].where(scored.index >= 7)
    scored.assign(gap=gap).to_csv(tmp_path / "scored.csv", index=False)
    refused(*base, *options, says=says)


def test_a_remark_goes_to_the_error_stream_and_leaves_json_alone(
    cape, tmp_path, base, scored
):
    wards = scored.assign(ward=scored.index % 2 + 1.0)
    wards.to_csv(tmp_path / "wards.csv", index=False)
    options = (*base[2:], "--group", "ward", "--json")
    code, out, err = cape("audit", tmp_path / "wards.csv", *options)
    assert code == 0
    groups = {f["group"] for f in json.loads(out)["groups"]}
    assert groups == {"1", "2"}
    assert err.startswith("note: group column 'ward'") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("bins", "says"),
    [
        ("age", "--bins must be COLUMN=NUMBERS, such as Age=18,30,50,65, got 'age'"),
        ("age=young", "such as Age=18,30,50,65, got 'young'"),
        ("age=30,20", "--bins must be ascending numbers, got 30, 20 for 'age'"),
        ("sex=30", "--bins must be given for group columns ('age'), got 'sex'"),
    ],
)
def test_bins_that_are_wrong(refused, base, scored, bins, says):
    scored.assign(age=30).to_csv(base[1], index=False)
    refused(*base, "--group", "age", "--bins", bins, says=says)


def test_numbers_are_cut_into_groups(cape, base, tmp_path, scored):
    scored.assign(age=[18 + n % 79 for n in range(240)]).to_csv(base[1], index=False)
    groups = (*base, "--group", "age")
    code, out, err = cape(*groups, "--json")
    assert code == 0
    assert "'age' has 79 values" in err and "--bins age=38,57,76" in err
    code, out, err = cape(*groups, "--bins", "age=20,40,65", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)["groups"]
    rows = {one["group"]: one["rows"] for one in content if one["metric"] == "pd"}
    assert list(rows) == ["20-39", "40-64", "65+", "under 20"]
    assert sum(rows.values()) == 240 and rows["under 20"] == 8


def test_predictions_in_other_words_are_mapped(cape, base, tmp_path, scored):
    words = scored.assign(yhat=scored["yhat"].map({1: "high", 0: "low"}))
    words.to_csv(tmp_path / "words.csv", index=False)
    in_words = ("audit", tmp_path / "words.csv", *base[2:], "--group", "race")
    code, _, err = cape(*in_words)
    assert code == 2
    assert "--map high=LABEL --map low=LABEL" in err
    _, plain, _ = cape(*base, "--group", "race", "--json")
    code, out, _ = cape(*in_words, "--map", "high=1", "--map", "low=0", "--json")
    assert code == 0
    assert json.loads(out)["groups"] == json.loads(plain)["groups"]
