"""``cape train`` and ``cape info``: a model file is what Python trains."""

import io
import json

import pandas as pd
import pytest
from rich.console import Console
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, persist
from cape_app.files import load_model, train_file


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
    options = ("--label", "outcome", "--out", tmp_path / "m.cape")
    return "train", table, *options, "--learner", "logistic", "--cv", 2


def test_the_model_is_the_one_that_python_trains(cape, base, table, tmp_path):
    groups = ("--group", "race", "--group", "sex")
    options = ("--drop", "w", "--positive", "default", "--seed", 5)
    code, out, err = cape(*base, *groups, *options, "--json")
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
    (note,) = content["notes"]
    assert err == f"note: {note}\n"
    assert "min_class_size" not in note
    assert content["out"] == str(tmp_path / "m.cape")
    assert content["columns"] == same.columns.to_dict()
    assert content["columns"]["features"] == {"x": "number"}
    assert content["columns"]["labels"] == ["repaid", "default"]
    assert content["data"] == same.details["data"]
    assert content["groups"] == same.details["groups"]
    frame = pd.read_csv(table)[["x", "race", "sex"]]
    loaded = load_model(tmp_path / "m.cape").clf
    assert (loaded.predict(frame) == same.clf.predict(frame)).all()


def test_table_and_info_show_the_groups_of_the_file(cape, base, tmp_path, read_rows):
    model = tmp_path / "m.cape"
    _, out, err = cape(*base, "--group", "race")
    content = json.loads(cape("info", model, "--json")[1])
    header = persist.read_header(model)
    for name in ("fingerprint", "saved", "versions"):
        assert content[name] == header[name]
    assert header["details"].items() <= content.items()
    expected = []
    for group in content["groups"]:
        numbers = [f"{group['prevalence']:.3f}", f"{group['auc']:.3f}"]
        expected.append([group["group"], str(group["rows"]), *numbers])
    assert err == ""
    assert " ".join(out.split()).startswith("240 rows, 3 features, positive: repaid")
    assert "'repaid' counts as positive because" in " ".join(out.split())
    assert f"model: {model}" in out.replace("\n", "")
    assert read_rows(out, "blue", "green") == expected
    code, shown, err = cape("info", model)
    assert (code, err) == (0, "")
    assert read_rows(shown, "blue", "green") == expected
    # A pipe gets one line a fact.
    facts = dict(line.split(":", 1) for line in shown.splitlines() if ":" in line)
    assert facts["features"].strip() == "x (number), w (number), sex (text)"
    assert facts["fingerprint"].strip() == content["fingerprint"]


def test_a_terminal_gets_lines_that_fit(cape, people_folder, monkeypatch):
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=60)
    monkeypatch.setattr("cape_app.cli._app.console", terminal)
    assert cape("info", people_folder / "m.cape")[0] == 0
    facts = screen.getvalue()[: screen.getvalue().index("group")]
    assert max(len(line) for line in facts.splitlines()) <= 60


def test_the_same_seed_gives_the_same_model_and_force_replaces_it(cape, refused, base):
    fingerprints = [json.loads(cape(*base, "--seed", 3, "--json")[1])["fingerprint"]]
    refused(*base, says=["m.cape already exists", "--force"])
    for seed in (3, 4):
        code, out, _ = cape(*base, "--seed", seed, "--json", "--force")
        assert code == 0
        fingerprints.append(json.loads(out)["fingerprint"])
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]
    assert load_model(base[5]).clf.fingerprint_ == fingerprints[2]


def test_suspicious_columns_are_left_out_unless_kept(
    cape, refused, base, table, tmp_path
):
    frame = pd.read_csv(table)
    frame.to_csv(tmp_path / "new.csv", index=False)
    frame.assign(row=frame.index, day="2013-08-14").to_csv(table, index=False)
    drop = ("--drop", "sex")
    assert cape(*base, *drop, "--drop", "w", "--keep", "row")[0] == 0
    refused("predict", base[5], tmp_path / "new.csv", says=["'row'", "without --keep"])
    code, out, err = cape(*base, *drop, "--json", "--force")
    content = json.loads(out)
    assert code == 0
    assert list(content["columns"]["features"]) == ["x", "w", "race"]
    assert content["suspicious"]["kept"] == []
    lines = [f"note: {note}" for note in content["notes"]]
    assert err.splitlines() == lines
    assert [line.split()[1] for line in lines] == ["left", "left"]
    code, out, _ = cape("predict", base[5], table, "--json")
    assert code == 0
    assert sum(group["rows"] for group in json.loads(out)["groups"]) == 240


def test_small_and_unknown_groups_are_pooled_if_told(
    cape, refused, base, table, tmp_path
):
    frame = pd.read_csv(table)
    frame.loc[:9, "race"] = "teal"
    frame.to_csv(table, index=False)
    refused(*base, "--group", "race", "--small-groups", "error", says="teal")
    assert cape(*base, "--group", "race", "--force")[0] == 0
    pooled = ("--small-groups", "pooled", "--unknown-groups", "pooled")
    code, _, _ = cape(*base, "--group", "race", *pooled, "--force")
    frame.assign(race="plum").to_csv(tmp_path / "new.csv", index=False)
    assert code == 0
    code, out, _ = cape("predict", tmp_path / "m.cape", tmp_path / "new.csv", "--json")
    groups = json.loads(out)["groups"]
    assert [(group["group"], group["rows"]) for group in groups] == [("plum", 240)]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--label", "outcom"], ["has no column 'outcom'", "did you mean 'outcome'?"]),
        (["--label", "x"], ["label column 'x' must hold two values, got"]),
        (["--drop", "outcome"], ["'outcome' is the label or a group"]),
        (["--positive", "1"], ["no value '1'", "'repaid' (144 rows), 'default'"]),
        (["--quantifier", "x"], ["--quantifier", "'onestep'", "'spa'", "got 'x'"]),
        (["--scores", "x"], ["--scores", "'folds'", "'refit'", "got 'x'"]),
        (["--most", "0"], ["--most must be at least 1, got 0"]),
        (
            ["--min-group-size", "97", "--small-groups", "error", "--group", "race"],
            ["green", "97"],
        ),
        (["--out", "no/such/m.cape"], ["the folder no/such of m.cape does not exist"]),
    ],
)
def test_mistakes_name_what_came_and_leave_no_model(refused, base, options, says):
    refused(*base, *options, says=says)


def test_info_refuses_what_is_no_model_of_ours(refused, tmp_path, train):
    clf = CapeClassifier(LogisticRegression(), cv=2).fit(train.X, train.y)
    persist.save(clf, tmp_path / "python.cape")
    (tmp_path / "m.zip").write_bytes(b"PK\x03\x04 and no more")
    says = ["has no columns of a table", "cape.load"]
    refused("info", tmp_path / "python.cape", says=says)
    refused("info", tmp_path / "m.zip", says=["must be a model file", "m.zip"])
    refused("info", tmp_path / "none.cape", says="there is no file")
    refused("info", tmp_path, says=["must be a model file", "is a folder"])


def test_settings_start_from_the_paper_and_options_win(cape, base, tmp_path):
    rule = ("--rule", "equal_opportunity", "--tolerance", 0.1)
    options = (*rule, "--quantifier", "emq", "--pool", "threshold")
    code, out, _ = cape(*base, "--group", "race", "--paper", *options, "--json")
    assert code == 0
    settings = json.loads(out)["settings"]
    given = {"quantifier": "emq", "pool": "threshold", "cv": 2}
    expected = CapeClassifier.paper(**given).get_params()
    for name in settings.keys() - {"rule", "n_jobs", "verbose", "random_state"}:
        assert settings[name] == expected[name], name
    clf = load_model(tmp_path / "m.cape").clf
    assert (clf.drift, clf.rule.tolerance) == (expected["drift"], 0.1)
    shown = cape("info", tmp_path / "m.cape")[1].replace("\n", " ")
    assert f"drift {clf.drift}" in shown
    assert "rule (" in shown and "tolerance 0.1" in shown


def test_a_model_that_you_have_is_used_as_it_is(cape, table, tmp_path):
    frame = pd.read_csv(table)
    frame["p"] = frame["x"] / 200
    frame["held"] = (frame["p"] > 0.3).map({True: "default", False: "repaid"})
    frame.to_csv(table, index=False)
    model = tmp_path / "watch.cape"
    roles = ("--label", "outcome", "--group", "race", "--positive", "default")
    logged = ("--score", "p", "--decision", "held")
    code, out, _ = cape("train", table, *roles, *logged, "--out", model, "--json")
    assert code == 0
    content = json.loads(out)
    assert (content["learner"], content["settings"]["rule"]) == ("scores", "unchanged")
    code, out, _ = cape("predict", model, table, "--out", tmp_path / "p.csv", "--json")
    assert code == 0
    assert json.loads(out)["rule"]["name"] == "unchanged"
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert (predicted["prediction"] == predicted["held"]).all()


def test_columns_of_a_model_that_you_have_are_checked(refused, base, table):
    refused(*base, "--decision", "w", says="score must")
    refused(*base, "--score", "x", says="--learner")
    base = base[: base.index("--learner")]
    refused(*base, "--score", "nowhere", says="nowhere")
    wrong = ("--score", "x", "--decision", "sex", "--positive-decision", "maybe")
    refused(*base, *wrong, "--positive", "default", says=["'maybe'", "'f'", "'m'"])


@pytest.mark.parametrize(("groups", "size"), [(300, 1), (300, 5), (1200, 12)])
def test_identifiers_make_no_groups(refused, tmp_path, groups, size):
    rows = groups * size
    frame = pd.DataFrame({"y": [i % 2 for i in range(rows)], "x": range(rows)})
    frame["person"] = [f"p{i % groups}" for i in range(rows)]
    frame["half"] = frame["person"].str[-1]
    frame.to_csv(tmp_path / "t.csv", index=False)
    base = ("train", tmp_path / "t.csv", "--label", "y", "--out", tmp_path / "m.cape")
    says = [f"{groups:,} groups in {rows:,} rows", "identifier", "--bins"]
    refused(*base, "--group", "person", says=says)
    refused(
        *base,
        "--group",
        "person",
        "--group",
        "half",
        says=["'person' and 'half'", *says],
    )


def test_many_groups_with_rows_enough_are_trained_on(cape, tmp_path):
    frame = pd.DataFrame({"y": [i // 110 % 2 for i in range(1100)]})
    frame["x"] = [i * 7919 % 101 + 30 * y for i, y in enumerate(frame["y"])]
    frame["county"] = [f"c{i % 110}" for i in range(1100)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, _, err = cape(
        "train", tmp_path / "t.csv", "--label", "y", "--group", "county",
        "--learner", "logistic", "--cv", 2, "--out", tmp_path / "m.cape",
    )  # fmt: skip
    assert code == 0, err
