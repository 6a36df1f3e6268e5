"""``cape audit``: its numbers are those of ``cape.metrics.audit`` on the same table."""

import json

import pandas as pd
import pytest

from cape.metrics import audit

OF_GROUP = [
    "pd",
    "fpr",
    "fnr",
    "accuracy",
    "precision",
    "prevalence",
    "predicted_prevalence",
]
OF_PAIR = [
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
    expected = audit(
        scored["y"], scored["yhat"], sensitive_features=scored[groups], level=0.8
    ).to_dict()
    observed = content["observed"]["cape"]
    assert code == 0
    assert err == ""
    assert content["level"] == 0.8
    assert content["rows"] == 240
    assert observed["groups"] == expected["groups"]
    assert observed["pairs"] == expected["pairs"]
    assert content["made"]["columns"]["groups"] == ", ".join(groups)


def test_the_table_shows_the_same_numbers(cape, base, scored, read_rows):
    code, out, _ = cape(*base, "--group", "race", "--level", 0.9)
    found = audit(
        scored["y"], scored["yhat"], sensitive_features=scored["race"], level=0.9
    )
    table = found.table()
    for name, *cells in read_rows(out, "blue", "green"):
        value = table.loc[name, "value"]
        shown = [
            f"{value[metric]:.3f}"
            for metric in ("fpr", "fnr", "accuracy", "prevalence", "pd")
        ]
        low, high = table.loc[(name, "pd"), ["low", "high"]]
        assert cells == [
            str((scored["race"] == name).sum()),
            *shown,
            f"{low:.3f}-{high:.3f}",
        ]
    worst = max(
        (f for f in found.to_dict()["pairs"] if f["metric"] == "pe"),
        key=lambda f: f["value"],
    )
    pair = f"{worst['group']} / {worst['other']}"
    line = f"PE of the worst pair, {pair}: {worst['value']:.3f} "
    assert code == 0
    assert "90%" in out
    assert f"{line}({worst['low']:.3f} to {worst['high']:.3f})" in out
    assert len(read_rows(out, "blue", "green")) == 2
    assert out.startswith("240 rows")


def test_without_groups_there_is_one_and_no_pair(cape, base, read_rows):
    code, out, _ = cape(*base)
    assert code == 0
    assert [row[:2] for row in read_rows(out, "everyone")] == [["everyone", "240"]]
    assert "PE" not in out


def test_a_group_of_few_rows_is_marked_and_an_undefined_rate_is_a_dash(
    cape, tmp_path, read_rows
):
    frame = pd.DataFrame(
        {"y": [1] * 6 + [0, 1] * 40, "p": [1, 0] * 43, "g": ["few"] * 6 + ["many"] * 80}
    )
    frame.to_csv(tmp_path / "f.csv", index=False)
    _, out, _ = cape(
        "audit", tmp_path / "f.csv", "--label", "y", "--prediction", "p", "--group", "g"
    )
    few, many = read_rows(out, "few", "many")
    assert few[2] == "-"
    assert few[3:-1] == ["few"] * 4
    low, high = map(float, few[-1].split("-"))
    assert high - low > 0.2
    assert "few" not in many
    assert many[2] != "-"
    assert "few: fewer than ten rows" in out
    assert "PE of the worst pair: none is defined and has enough rows." in out
    assert "Pairs with few are left out" in out


@pytest.fixture
def with_two_people(tmp_path, scored):
    """The scored table, with two groups of one person each, treated differently."""
    people = pd.DataFrame(
        {"y": [1, 1], "yhat": [0, 1], "race": ["one", "two"], "sex": ["f", "f"]}
    )
    frame = pd.concat([scored, people], ignore_index=True)
    frame.to_csv(tmp_path / "people.csv", index=False)
    command = ("audit", tmp_path / "people.csv", "--label", "y", "--group", "race")
    return (*command, "--prediction", "yhat")


def test_one_person_against_one_person_is_never_the_worst_pair(
    cape, base, with_two_people
):
    plain = json.loads(cape(*base, "--group", "race", "--json")[1])
    content = json.loads(cape(*with_two_people, "--json")[1])
    found = content["observed"]["cape"]
    assert found["small_groups"] == ["one", "two"]
    for metric, worst in plain["observed"]["cape"]["worst"].items():
        pair = found["worst"][metric]
        assert (pair["group"], pair["other"]) == (worst["group"], worst["other"])
        assert pair["value"] == worst["value"]
    for pair in found["pairs"]:
        if "one" in (pair["group"], pair["other"]):
            assert pair["value"] is None
            assert pair["why"] in ("too few rows", "undefined")
            assert pair["high"] is None or pair["high"] - pair["low"] > 0.5


@pytest.mark.parametrize("metric", ["accuracy_difference", "pe"])
def test_fail_if_neither_fails_nor_passes_because_of_one_person(
    cape, base, with_two_people, metric
):
    plain = json.loads(cape(*base, "--group", "race", "--json")[1])
    limit = plain["observed"]["cape"]["worst"][metric]["value"] + 0.01
    condition = ("--fail-if", f"{metric}>{limit:.4f}")
    code, out, _ = cape(*with_two_people, *condition, "--json")
    content = json.loads(out)
    assert code == 0
    assert content["failed"] == []
    # Every ordered pair with one of the two people, and no pair without.
    assert len(content["left_out"]) == 10
    assert all(
        "one" in left["where"] or "two" in left["where"] for left in content["left_out"]
    )
    code, out, _ = cape(*with_two_people, *condition)
    assert code == 0
    assert f"fail-if {condition[1].rstrip('0')} left out, too few rows: " in out


def values_of(frame, metric):
    """The values of a metric, by group or by pair of groups."""
    found = audit(frame["y"], frame["yhat"], sensitive_features=frame["race"]).to_dict()
    values = {}
    for finding in found["groups"]:
        if finding["metric"] == metric:
            values[finding["group"]] = finding["value"]
    for finding in found["pairs"]:
        if finding["metric"] == metric:
            values[f"{finding['group']} / {finding['other']}"] = finding["value"]
    return values


@pytest.mark.parametrize("metric", OF_GROUP + OF_PAIR)
def test_fail_if_finds_just_those_beyond_the_limit(cape, base, scored, metric):
    values = values_of(scored, metric)
    limit = round(max(values.values()) - 5e-4, 4)
    beyond = {where: value for where, value in values.items() if value > limit}
    options = ("--group", "race", "--json", "--fail-if")
    code, out, _ = cape(*base, *options, f"{metric} > {limit:.4f}")
    failed = json.loads(out)["failed"]
    assert code == 1
    assert {breach["where"]: breach["value"] for breach in failed} == beyond
    for breach in failed:
        assert breach["by"] == pytest.approx(breach["value"] - limit)


@pytest.mark.parametrize("metric", OF_GROUP + OF_PAIR)
def test_fail_if_finds_nothing_beyond_the_greatest(cape, base, scored, metric):
    limit = max(values_of(scored, metric).values()) + 1e-3
    options = ("--group", "race", "--json", "--fail-if")
    code, out, _ = cape(*base, *options, f"{metric}>{limit:.4f}")
    assert code == 0
    assert json.loads(out)["failed"] == []


def test_every_condition_that_is_met_gets_a_line_below_the_table(cape, base):
    code, out, err = cape(
        *base, "--group", "race", "--fail-if", "accuracy>=0.1", "--fail-if", "pd>9"
    )
    last = out.splitlines()[-2:]
    assert code == 1
    assert err == ""
    assert "pd>9" not in out
    assert [line.split(": ")[:2] for line in last] == [
        ["fail-if accuracy>=0.1 is met", g] for g in ("blue", "green")
    ]


def test_the_positive_label_is_the_one_that_is_named(cape, tmp_path, scored):
    words = scored.replace(
        {"y": {0: "repaid", 1: "default"}, "yhat": {0: "repaid", 1: "default"}}
    )
    words.to_csv(tmp_path / "words.csv", index=False)
    base = (
        "audit",
        tmp_path / "words.csv",
        "--label",
        "y",
        "--prediction",
        "yhat",
        "--json",
    )
    for positive, options in (("repaid", ()), ("default", ("--positive", "default"))):
        content = json.loads(cape(*base, *options)[1])
        truth = {f["metric"]: f["value"] for f in content["observed"]["cape"]["groups"]}
        assert content["made"]["columns"]["positive"] == positive
        assert truth["prevalence"] == pytest.approx((words["y"] == positive).mean())


@pytest.mark.parametrize(
    ("name", "separator"), [(";", ";"), ("tab", "\t"), ("\\t", "\t"), ("|", "|")]
)
def test_other_separators_and_encodings_are_read(
    cape, tmp_path, base, scored, name, separator
):
    scored.assign(race=scored["race"] + "é").to_csv(
        tmp_path / "other.csv", index=False, sep=separator, encoding="latin-1"
    )
    options = (
        "--group",
        "race",
        "--separator",
        name,
        "--encoding",
        "latin-1",
        "--json",
    )
    code, out, _ = cape(base[0], tmp_path / "other.csv", *base[2:], *options)
    plain = json.loads(
        cape(*base, "--group", "race", "--json")[1]
        .replace("blue", "blueé")
        .replace("green", "greené")
    )
    assert code == 0
    assert "blueé" in out
    assert json.loads(out)["observed"] == plain["observed"]


def test_the_report_says_what_json_says_and_is_replaced_only_by_force(
    cape, refused, tmp_path, base
):
    report, page = tmp_path / "a.json", tmp_path / "a.html"
    base = (*base, "--group", "race")
    _, out, _ = cape(*base, "--report", report, "--json")
    printed, written = json.loads(out), json.loads(report.read_text())
    assert printed["failed"] == printed["left_out"] == []
    assert printed == written
    refused(*base, "--report", report, says=[f"{report} exists already", "--force"])
    code, out, _ = cape(*base, "--report", report, "--level", 0.5, "--force")
    assert code == 0
    assert json.loads(report.read_text())["level"] == 0.5
    assert f"report: {report}" in out.replace("\n", "")
    code, _, _ = cape(*base, "--report", page, "--fail-if", "pd>=0")
    assert code == 1
    assert "<html" in page.read_text()


def test_mistakes_name_what_came_and_what_is_accepted(refused, tmp_path, base):
    start, data = base[:1], base[1]
    refused(
        *start,
        data,
        "--label",
        "why",
        "--prediction",
        "yhat",
        says="has no column 'why'",
    )
    refused(
        *start,
        data,
        "--label",
        "y",
        "--prediction",
        "y_hat",
        says=["no column 'y_hat'", "did you mean 'yhat'?"],
    )
    refused(
        *start,
        data,
        "--label",
        "race",
        "--prediction",
        "yhat",
        says="two values between them, got 4: '0', '1'",
    )
    refused(*base, "--group", "sexe", says="did you mean 'sex'?")
    refused(
        *base, "--positive", "2", says="the positive label must be '0' or '1', got '2'"
    )
    refused(*base, "--level", 2, says="level must be in (0, 1), got 2.0")
    refused(
        *base, "--separator", ";;", says="separator must be one character, got ';;'"
    )
    refused(
        *base, "--encoding", "klingon", says="such as utf-8 or latin-1, got 'klingon'"
    )
    refused(
        *base,
        "--report",
        tmp_path / "no" / "a.html",
        says=["no of a.html does not exist"],
    )
    refused(
        *base,
        "--report",
        tmp_path / "a.txt",
        says="must end in .html or .json, got 'a.txt'",
    )
    refused(*start, tmp_path, *base[2:], says="is a folder: name a file")


def test_a_missing_group_is_counted(refused, tmp_path, base, scored):
    scored.assign(race=scored["race"].where(scored.index >= 7)).to_csv(
        tmp_path / "gaps.csv", index=False
    )
    refused(
        base[0],
        tmp_path / "gaps.csv",
        *base[2:],
        "--group",
        "race",
        says="column 'race': 7 rows have no value",
    )


def test_a_remark_goes_to_the_error_stream_and_leaves_json_alone(
    cape, tmp_path, base, scored
):
    scored.assign(ward=scored.index % 2 + 1.0).to_csv(
        tmp_path / "wards.csv", index=False
    )
    code, out, err = cape(
        base[0], tmp_path / "wards.csv", *base[2:], "--group", "ward", "--json"
    )
    assert code == 0
    assert {f["group"] for f in json.loads(out)["observed"]["cape"]["groups"]} == {
        "1",
        "2",
    }
    assert (
        err == "note: group column 'ward': 1.0 is read as 1, taken as the same group.\n"
    )


def test_the_positive_label_is_named_and_can_be_chosen(cape, base):
    assert "Positive is '1', negative '0'" in cape(*base)[1]
    assert "Positive is '0', negative '1'" in cape(*base, "--positive", "0")[1]


@pytest.fixture
def in_words(tmp_path, scored):
    words = scored.assign(yhat=scored["yhat"].map({1: "high", 0: "low"}))
    words.to_csv(tmp_path / "words.csv", index=False)
    return "audit", tmp_path / "words.csv", "--label", "y", "--prediction", "yhat"


def test_predictions_in_other_words_are_mapped(cape, base, in_words):
    code, _, err = cape(*in_words)
    assert code == 2
    assert "--map high=1 --map low=0" in err
    _, plain, _ = cape(*base, "--group", "race", "--json")
    mapped = ("--map", "high=1", "--map", "low=0")
    code, out, _ = cape(*in_words, "--group", "race", *mapped, "--json")
    assert code == 0
    assert json.loads(out)["observed"] == json.loads(plain)["observed"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--map", "high"], "--map must be PREDICTION=LABEL, such as high=yes"),
        (["--map", "a=1", "--map", "a=0"], "--map names the prediction 'a' twice"),
    ],
)
def test_a_mapping_that_says_nothing_is_refused(cape, in_words, options, message):
    code, _, err = cape(*in_words, *options)
    assert code == 2
    assert message in err


def test_title_author_and_note_are_on_the_page(cape, base, tmp_path):
    words = ("--title", "March", "--author", "A. Person", "--note", "A first look.")
    code, _, _ = cape(*base, *words, "--report", tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text()
    assert code == 0
    assert "<h1>Audit: March</h1>" in page
    assert "By A. Person" in page and "A first look." in page
