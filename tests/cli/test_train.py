"""``cape train``, ``info`` and ``explore``: a model file is what Python trains."""

import json

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, persist
from cape.files import DEFAULT_SETTINGS, PAPER_SETTINGS, load_model, train_file
from cape.report import explorer_summary, file_provenance


@pytest.fixture
def table(tmp_path):
    """Two kinds of people by two others; ``x`` and ``w`` tell the outcome, roughly."""
    n = pd.Series(range(240))
    y = (n * 7 % 10 < 4).astype(int)
    frame = pd.DataFrame({"x": (n * 37 % 101) + 25.0 * y, "w": (n * 53 % 89) / 10 - y})
    frame = frame.assign(
        race=n.mod(5).lt(3).map({True: "blue", False: "green"}),
        sex=n.mod(3).map({0: "f"}).fillna("m"),
    )
    frame = frame.assign(outcome=y.map({0: "repaid", 1: "default"}))
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


@pytest.fixture
def base(table, tmp_path):
    options = (
        "--label",
        "outcome",
        "--out",
        tmp_path / "m.cape",
        "--learner",
        "logistic",
        "--cv",
        2,
    )
    return "train", table, *options


def test_the_model_is_the_one_that_python_trains(cape, base, table, tmp_path):
    options = (
        "--group",
        "race",
        "--group",
        "sex",
        "--drop",
        "w",
        "--positive",
        "default",
        "--seed",
        5,
    )
    code, out, err = cape(*base, *options, "--json")
    same = train_file(
        table,
        None,
        label="outcome",
        group=["race", "sex"],
        drop=["w"],
        positive="default",
        learner="logistic",
        settings={"cv": 2, "random_state": 5, "min_group_size": 30},
    )
    content = json.loads(out)
    assert code == 0
    few_rows = (
        "fewer than 25 rows of a class in 'blue, f' (16 rows), "
        "'green, f' (16 rows): intervals of these groups may not hold."
    )
    assert err == f"note: {few_rows}\n"
    assert content["out"] == str(tmp_path / "m.cape")
    assert content["notes"] == [few_rows]
    assert content["columns"] == same.columns.to_dict()
    assert content["columns"]["features"] == {"x": "number"}
    assert content["columns"]["labels"] == ["repaid", "default"]
    assert content["data"] == same.details["data"]
    found = {g["group"]: (g["rows"], g["prevalence"]) for g in content["groups"]}
    assert found == {
        ", ".join(group): (m.size, m.prevalence)
        for group, m in same.clf.models_.items()
    }
    frame = pd.read_csv(table)[["x", "race", "sex"]]
    assert (
        load_model(tmp_path / "m.cape").clf.predict(frame) == same.clf.predict(frame)
    ).all()


def test_table_and_info_show_the_groups_of_the_file(cape, base, tmp_path, read_rows):
    _, out, err = cape(*base, "--group", "race")
    content = json.loads(cape("info", tmp_path / "m.cape", "--json")[1])
    expected = [
        [g["group"], str(g["rows"]), f"{g['prevalence']:.3f}", f"{g['auc']:.3f}"]
        for g in content["groups"]
    ]
    assert err == ""
    assert out.split()[:6] == [
        "240",
        "rows,",
        "3",
        "features,",
        "positive:",
        "repaid",
    ]
    chosen = "Positive is 'repaid', the later of two words in the alphabet, "
    assert f"{chosen}negative 'default'; --positive chooses." in " ".join(out.split())
    assert f"model: {tmp_path / 'm.cape'}" in out.replace("\n", "")
    assert read_rows(out, "blue", "green") == expected
    assert len(expected) == 2
    assert [row[1] for row in expected] == ["144", "96"]
    code, shown, err = cape("info", tmp_path / "m.cape")
    assert code == 0
    assert err == ""
    assert read_rows(shown, "blue", "green") == expected
    facts = dict(line.split(":", 1) for line in shown.splitlines() if ":" in line)
    assert facts["label"].strip() == "outcome: repaid is positive, default negative"
    assert facts["groups"].strip() == "race"
    assert facts["features"].strip() == "x (number), w (number), sex (text)"
    assert (
        facts["trained on"].strip()
        == f"t.csv, 240 rows, sha256 {content['data']['sha256'][:16]}"
    )
    assert (
        facts["fingerprint"].strip()
        == load_model(tmp_path / "m.cape").clf.fingerprint_[:16]
    )
    assert "cv 2" in facts["learner"]
    assert facts["learner"].strip().startswith("logistic; ")
    header = persist.read_header(tmp_path / "m.cape")
    assert content["saved"] == header["saved"]
    assert content["versions"] == header["versions"]


def test_the_same_seed_gives_the_same_model_and_force_replaces_it(cape, refused, base):
    fingerprints = [json.loads(cape(*base, "--seed", 3, "--json")[1])["fingerprint"]]
    refused(*base, says=["m.cape exists already", "--force"])
    for seed in (3, 4):
        code, out, _ = cape(*base, "--seed", seed, "--json", "--force")
        assert code == 0
        fingerprints.append(json.loads(out)["fingerprint"])
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]
    assert load_model(base[5]).clf.fingerprint_ == fingerprints[2]


def test_remarks_are_made_beside_the_table(cape, base, table):
    frame = pd.read_csv(table)
    frame.assign(case=[f"case {i}" for i in frame.index]).to_csv(table, index=False)
    code, out, err = cape(*base, "--drop", "sex", "--most", 60)
    assert code == 0
    assert "note" not in out
    assert err.splitlines() == [
        "note: trained on a sample of 100 of 240 rows, at most 60 of each group and "
        "label.",
        "note: identifiers, whose values are new in every file: 'case' (all 100 "
        "values differ). Leave a column out with --drop, all suspicious columns with "
        "--drop-suspicious.",
        "note: the scores do not tell the classes apart in 'everyone' (AUC 0.60): the "
        "95 % interval of the AUC is not above 0.5. The prevalences of these groups "
        "cannot be estimated from such scores.",
    ]


def test_suspicious_columns_are_dropped_on_request(cape, base, table):
    frame = pd.read_csv(table)
    frame.assign(row=frame.index, day="2013-08-14").to_csv(table, index=False)
    code, out, err = cape(*base, "--drop", "sex", "--drop-suspicious", "--json")
    content = json.loads(out)
    assert code == 0
    assert list(content["columns"]["features"]) == ["x", "w", "race"]
    assert content["suspicious"]["dropped"]
    assert content["suspicious"]["findings"] == [
        {"column": "row", "kind": "row number", "why": "counts the rows"},
        {"column": "day", "kind": "date", "why": "holds dates"},
    ]
    assert err.splitlines() == [
        "note: dropped row numbers, which mean nothing in another file: 'row' (counts "
        "the rows).",
        "note: dropped dates, which in later files come after all of training: 'day' "
        "(holds dates).",
    ]
    code, out, _ = cape("predict", base[5], table, "--json")
    assert code == 0
    assert sum(group["rows"] for group in json.loads(out)["groups"]) == 240


def test_small_and_unknown_groups_are_pooled_if_told(
    cape, refused, base, table, tmp_path
):
    frame = pd.read_csv(table)
    frame.loc[:9, "race"] = "teal"
    frame.to_csv(table, index=False)
    refused(*base, "--group", "race", says="teal")
    pooled = (
        "--small-groups",
        "pooled",
        "--unknown-groups",
        "pooled",
        "--min-group-size",
        20,
    )
    code, _, _ = cape(*base, "--group", "race", *pooled)
    frame.assign(race="plum").to_csv(tmp_path / "new.csv", index=False)
    assert code == 0
    code, out, _ = cape("predict", tmp_path / "m.cape", tmp_path / "new.csv", "--json")
    assert code == 0
    assert [(g["group"], g["rows"]) for g in json.loads(out)["groups"]] == [
        ("plum", 240)
    ]


def test_separator_and_encoding_of_the_training_table(cape, base, table):
    pd.read_csv(table).replace("blue", "bleuâtre").to_csv(
        table, index=False, sep=";", encoding="latin-1"
    )
    options = ("--group", "race", "--separator", ";", "--encoding", "latin-1", "--json")
    code, out, _ = cape(*base, *options)
    assert code == 0
    assert {g["group"] for g in json.loads(out)["groups"]} == {
        "bleuâtre",
        "green",
    }


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--label", "outcom"], ["has no column 'outcom'", "did you mean 'outcome'?"]),
        (
            ["--label", "race", "--group", "race"],
            ["'race' cannot be both the label and a group"],
        ),
        (["--label", "x"], ["label column 'x' must hold two values, got"]),
        (
            ["--group", "gender"],
            [
                "has no column 'gender'",
                "its columns are 'x', 'w', 'race', 'sex', 'outcome'",
            ],
        ),
        (["--drop", "z"], ["has no column 'z'"]),
        (
            ["--drop", "outcome"],
            ["'outcome' is the label or a group", "cannot be dropped"],
        ),
        (
            ["--group", "sex", "--group", "sex"],
            ["a column can be a group once, got 'sex', 'sex'"],
        ),
        (
            ["--drop", "x", "--drop", "w", "--drop", "race", "--drop", "sex"],
            ["no column left to learn from"],
        ),
        (
            ["--positive", "1"],
            ["the positive label must be 'default' or 'repaid', got '1'"],
        ),
        (
            ["--learner", "forest"],
            ["learner must be one of 'auto', 'boosting', 'logistic', got 'forest'"],
        ),
        (
            ["--pool", "swimming"],
            ["--pool", "'threshold'", "'resampled'", "got 'swimming'"],
        ),
        (["--quantifier", "x"], ["--quantifier", "'histogram'", "'spa'", "got 'x'"]),
        (["--scores", "x"], ["--scores", "'folds'", "'refit'", "got 'x'"]),
        (["--cv", "1"], ["--cv", "a whole number from 2 on", "got 1"]),
        (["--small-groups", "x"], ["--small-groups", "'pooled'", "'error'", "got 'x'"]),
        (["--most", "0"], ["most must be at least 1, got 0"]),
        (["--seed", "-1"], ["--seed", "got -1"]),
        (["--min-group-size", "97", "--group", "race"], ["green", "97"]),
        (["--separator", ";"], ["separated by a comma", "--separator"]),
        (["--out", "no/such/m.cape"], ["the folder no/such of m.cape does not exist"]),
    ],
)
def test_mistakes_name_what_came_and_leave_no_model(refused, base, options, says):
    refused(*base, *options, says=says)


def test_gaps_in_labels_or_groups_are_counted(refused, base, table):
    frame = pd.read_csv(table)
    frame.assign(outcome=frame["outcome"].where(frame.index > 4)).to_csv(
        table, index=False
    )
    refused(*base, says="label column 'outcome': 5 of 240 rows have no label")
    frame.assign(race=frame["race"].where(frame.index > 4)).to_csv(table, index=False)
    refused(
        *base,
        "--group",
        "race",
        says="group column 'race': 5 of 240 rows have no value",
    )


def test_info_and_explore_refuse_what_is_no_model_of_ours(refused, tmp_path, train):
    clf = CapeClassifier(LogisticRegression(), cv=2).fit(train.X, train.y)
    persist.save(clf, tmp_path / "python.cape")
    (tmp_path / "m.zip").write_bytes(b"PK\x03\x04 and no more")
    for command in (("info",), ("explore", "--out", tmp_path / "e.html")):
        refused(
            *command,
            tmp_path / "python.cape",
            says=["was not written by cape train", "cape.persist.load"],
        )
        refused(
            *command,
            tmp_path / "m.zip",
            says=["must be a model file written by cape", "m.zip"],
        )
        refused(
            *command, tmp_path / "none.cape", says=["there is no file", "none.cape"]
        )
        refused(*command, tmp_path, says=["must be a model file", "is a folder"])


def test_explore_writes_a_page_or_its_numbers(
    cape, refused, tmp_path, people_folder, people_model
):
    base = ("explore", people_folder / "m.cape", "--out")
    code, out, err = cape(*base, tmp_path / "e.json")
    provenance = file_provenance(
        people_model.details, [], fingerprint=people_model.clf.fingerprint_
    )
    expected = explorer_summary(
        people_model.clf, title="train.csv", provenance=provenance
    )
    content = json.loads((tmp_path / "e.json").read_text())
    assert code == 0
    assert err == ""
    assert out.replace("\n", "") == f"page: {tmp_path / 'e.json'}"
    assert content["explorer"] == json.loads(json.dumps(expected["explorer"]))
    assert content["title"] == "train.csv"
    refused(*base, tmp_path / "e.json", says=["e.json exists already", "--force"])
    refused(*base, tmp_path / "e.txt", says="must end in .html or .json, got 'e.txt'")
    (tmp_path / "e.html").write_text("mine")
    assert cape(*base, tmp_path / "e.html", "--force")[0] == 0
    assert people_model.clf.fingerprint_[:16] in (tmp_path / "e.html").read_text()


@pytest.mark.parametrize("drift", ["cautious", "ignore"])
def test_drift_is_a_setting_and_a_model_that_ignores_it_counts_no_columns(
    cape, base, tmp_path, drift
):
    code, _, _ = cape(*base, "--group", "race", "--drift", drift)
    assert code == 0
    model = load_model(tmp_path / "m.cape")
    assert model.clf.drift == drift
    for group in model.clf.models_.values():
        assert (group.columns is None) == (drift == "ignore")
    assert f"drift {drift}" in cape("info", tmp_path / "m.cape")[1].replace("\n", " ")


def test_the_paper_ignores_drift():
    assert PAPER_SETTINGS["drift"] == "ignore"
    assert DEFAULT_SETTINGS["drift"] == "cautious"


def test_a_rule_is_a_setting(cape, refused, base, tmp_path):
    assert cape(*base, "--group", "race", "--rule", "equal_opportunity")[0] == 0
    assert load_model(tmp_path / "m.cape").clf.rule == "equal_opportunity"
    shown = cape("info", tmp_path / "m.cape")[1].replace("\n", " ")
    assert "rule equal_opportunity" in shown
    refused(*base, "--rule", "fair", "--force", says="rule")


def test_the_rule_of_the_paper_is_the_default():
    assert PAPER_SETTINGS["rule"] == DEFAULT_SETTINGS["rule"] == "prevalence"
