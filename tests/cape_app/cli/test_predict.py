"""``cape predict``: what is printed and written is what Python gives."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cape.metrics import audit
from cape.shown._action import chance_text
from cape_app.files import predict_file


@pytest.fixture
def base(people_folder):
    return "predict", people_folder / "m.cape", people_folder / "new.csv"


@pytest.fixture
def changed(base, tmp_path):
    """The command on the batch with other columns."""

    def write(drop=(), **columns):
        frame = pd.read_csv(base[2]).drop(columns=list(drop)).assign(**columns)
        frame.to_csv(tmp_path / "n.csv", index=False)
        return (*base[:2], tmp_path / "n.csv")

    return write


def test_the_file_holds_the_predictions_of_the_classifier_beside_the_rows_as_they_came(
    cape, base, tmp_path, people_model
):
    code, out, err = cape(*base, "--out", tmp_path / "p.csv")
    X = pd.read_csv(base[2]).drop(columns="y").astype({"free": float})
    written = pd.read_csv(tmp_path / "p.csv")
    assert (code, err) == (0, "")
    assert f"predictions: {tmp_path / 'p.csv'}" in out.replace("\n", "")
    assert max(map(len, out.splitlines()[:-1])) <= 80
    assert written["prediction"].tolist() == people_model.clf.predict(X).tolist()
    probability = people_model.clf.predict_proba(X)[:, 1]
    np.testing.assert_allclose(written["probability"], probability, atol=1e-9)
    pd.testing.assert_frame_equal(written.iloc[:, :-3], pd.read_csv(base[2]))


@pytest.mark.parametrize("level", [0.5])
def test_json_and_table_hold_what_the_python_function_finds(
    cape, base, people_model, read_rows, level
):
    examination = predict_file(people_model, base[2], level=level).examination
    found = examination.adaptation
    content = json.loads(cape(*base, "--level", level, "--json")[1])
    _, out, _ = cape(*base, "--level", level)
    shown = {name: cells for name, *cells in read_rows(out, "blue", "green")}
    assert content["level"] == level
    assert f"{level:.0%}" in out
    assert [g["group"] for g in content["groups"]] == list(found.groups) == list(shown)
    for group in content["groups"]:
        one = found.groups[group["group"]]
        check = examination.labels.groups[group["group"]]
        assert group["pd_bound"] == one.pd_bound
        assert group["made_for"] == one.made_for
        low, high = one.estimate.low, one.estimate.high
        shown_as = (group["estimate"], group["low"], group["high"])
        assert shown_as == (one.estimate.value, low, high)
        chance, reason = group["action"]["chance"], group["action"]["reason"]
        assert shown[group["group"]] == [
            f"{one.training_prevalence:.3f}",
            f"{one.estimate.value:.3f} ({low:.3f}-{high:.3f})",
            # The file has its labels: what they say stands beside the estimate.
            f"{check.labels.estimate:.3f}",
            f"{one.predicted_prevalence:.3f}",
            shown[group["group"]][4],
            # Labels that back an estimate without deciding are not in the chance.
            *([chance_text(chance)] if reason != "labels" else []),
        ]
        action = examination.action.groups[group["group"]].code.replace("_", " ")
        assert shown[group["group"]][4].lower().startswith(action)
    assert content["action"] == examination.action.to_dict()
    assert len(out.splitlines()) <= 18


def test_of_many_groups_those_to_act_on_come_first_and_the_rest_is_counted(
    cape, tmp_path, read_rows
):
    random = np.random.default_rng(0)
    frames = []
    for place in range(15):
        n = 12 if place % 7 == 6 else 150
        y = random.integers(0, 2, n)
        x = random.normal(2 * y)
        frames.append(pd.DataFrame({"x": x, "y": y, "a": place % 3, "b": place // 3}))
    frame = pd.concat(frames).sample(frac=1, random_state=0)
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.cape"
    groups = ("--group", "a", "--group", "b")
    cape("train", tmp_path / "t.csv", "--label", "y", *groups, "--out", model)
    new = tmp_path / "new.csv"
    frame.drop(columns="y").to_csv(new, index=False)
    content = json.loads(cape("predict", model, new, "--json")[1])
    actions = content["action"]["groups"]
    names = [f"{place % 3} · {place // 3}" for place in range(15)]
    code, out, _ = cape("predict", model, new)
    shown = [cells[4].split(" ")[0].lower() for cells in read_rows(out, *names)]
    gravest_first = sorted(
        (action["code"] for action in actions),
        key=["do_not_use", "label", "hold_off", "use"].index,
    )
    assert code == 0 and "use" in gravest_first and gravest_first[0] != "use"
    first_words = {"do_not_use": "do", "hold_off": "hold"}
    assert shown == [first_words.get(code, code) for code in gravest_first[:5]]
    assert "a · b" in out and "10 more groups: " in out
    assert len(out.splitlines()) < 24
    _, out, _ = cape("predict", model, new, "--verbose")
    assert len(read_rows(out, *names)) == 15


def test_a_year_is_left_out_in_training_and_later_files_say_what_to_do_if_kept(
    cape, tmp_path
):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 600)
    frame = pd.DataFrame({"x": random.normal(2 * y), "year": 2012 + np.arange(600) % 5})
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    base = ("train", tmp_path / "t.csv", "--label", "y", "--learner", "logistic")
    _, _, notes = cape(*base, "--out", tmp_path / "without.cape")
    assert "'year' (looks like years, 2012 to 2016)" in notes and "--keep" in notes
    cape(*base, "--keep", "year", "--out", tmp_path / "m.cape")
    for year, said in {
        2017: "predictions: fix `year`, or train again with `--drop year`",
        2016: "predictions: fix `year`",
    }.items():
        new = tmp_path / f"{year}.csv"
        frame.assign(year=year).to_csv(new, index=False)
        _, out, _ = cape("predict", tmp_path / "m.cape", new)
        out = " ".join(out.split())
        assert said in out and "2016.0001" not in out
    _, out, _ = cape("predict", tmp_path / "without.cape", new)
    assert out.startswith("Use the predictions")


def test_the_command_that_draws_rows_to_label_can_be_pasted(cape, tmp_path):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 2000)
    frame = pd.DataFrame({"x": random.normal(0.15 * y), "y": y})
    train, new = tmp_path / "t.csv", tmp_path / "a new file.csv"
    frame.to_csv(train, index=False, sep=";")
    frame[["x"]].to_csv(new, index=False, sep=";")
    model = tmp_path / "m.cape"
    semicolon = ("--separator", ";")
    cape("train", train, "--label", "y", "--out", model, *semicolon)
    _, out, _ = cape("predict", model, new, *semicolon)
    assert out.startswith("Label ")
    arguments = shlex.split(out.splitlines()[1])
    assert arguments[:2] == ["cape", "sample"]
    sheet = tmp_path / "to_label.csv"
    code, out, _ = cape(*arguments[1:-1], sheet)
    assert code == 0
    action = json.loads(cape("predict", model, new, *semicolon, "--json")[1])["action"]
    rows = pd.read_csv(sheet, sep=";")
    assert len(rows) == action["labels"]
    rows.assign(y=y[rows["cape_row"] - 1]).to_csv(sheet, index=False, sep=";")
    arguments = shlex.split(out.splitlines()[-2])
    code, out, _ = cape(*arguments[1:-1], tmp_path / "p.csv")
    assert code == 0 and out.startswith("Use ")


def test_whatever_fails_predictions_are_written(cape, base, changed, tmp_path):
    out = tmp_path / "p.csv"
    code, printed, _ = cape(*base, "--fail-if", "moved>=0", "--out", out, "--json")
    content = json.loads(printed)
    assert code == 1 and content["breaches"]
    assert content["out"] == str(out)
    # Whatever fails, what was written is said.
    broken = changed(age=pd.read_csv(base[2])["age"] * 365)
    report = ("--report", tmp_path / "p.html", "--force", "--out", out)
    code, printed, _ = cape(*broken, "--fail-if", "fault", *report)
    assert code == 1
    assert "fail-if fault is met" in printed
    assert f"predictions: {out}" in printed.replace("\n", "")
    assert (
        "<li>fail-if fault is met: n.csv, `age` in "
        in (tmp_path / "p.html").read_text()
    )
    assert cape(*base, "--fail-if", "fault")[0] == 0
    assert cape(*broken, "--fail-if", "do_not_use")[0] == 1
    assert cape(*base, "--fail-if", "do_not_use")[0] == 0


def test_what_the_labels_say_is_the_audit_of_the_predictions_written(
    cape, base, tmp_path, read_rows
):
    content = json.loads(cape(*base, "--out", tmp_path / "p.csv", "--json")[1])
    p = pd.read_csv(tmp_path / "p.csv")
    expected = audit(p["y"], p["prediction"], sensitive_features=p["race"])
    assert content["out"] == str(tmp_path / "p.csv")
    assert content["notes"] == []
    observed = content["observed"]
    assert observed["cape"]["groups"] == expected.to_dict()["groups"]
    _, out, _ = cape(*base, "--verbose")
    value = expected.table()["value"]
    for name, count in p["race"].value_counts().items():
        (cells,) = [
            line
            for line in out.splitlines()
            if line.startswith(name) and " CAPE " in line
        ]
        for metric in ("fpr", "fnr", "accuracy", "prevalence"):
            assert f"{value[name, metric]:.3f}" in cells
        assert str(count)
    pairs = [observed[who]["worst"]["pe"]["value"] for who in ("cape", "unadapted")]
    right = (p["y"] == p["prediction"]).mean()
    _, out, _ = cape(*base)
    assert f"accuracy {right:.3f} (" in out
    assert f"PE {pairs[0]:.3f} ({pairs[1]:.3f} as" in out


def test_without_labels_nothing_is_said_of_them(cape, changed):
    command = changed(drop=["y"])
    code, out, err = cape(*command)
    assert (code, err) == (0, "")
    assert "by labels" not in out
    assert "as trained" not in out
    assert "drawn rows" not in out
    content = json.loads(cape(*command, "--json")[1])
    assert content["observed"] is content["checked"] is None


@pytest.mark.parametrize("name", ["p.csv.gz", "p.arrow", "p.tsv"])
def test_the_name_tells_the_format(cape, base, tmp_path, name):
    assert cape(*base, "--out", tmp_path / name)[0] == 0
    content = (tmp_path / name).read_bytes()
    starts = {"gz": b"\x1f\x8b", "parquet": b"PAR1", "arrow": b"ARROW1"}
    assert content.startswith(starts.get(name.split(".")[-1], b"age\tdegree"))


def test_notes_are_beside_the_result_and_in_the_json(cape, changed):
    command = changed(extra=1)
    _, out, err = cape(*command, "--json")
    (note,) = json.loads(out)["notes"]
    assert "'extra'" in note
    assert err == f"note: {note}\n"
    _, out, err = cape(*command)
    assert note in err and note not in out


def test_force_replaces_predictions_and_report(cape, refused, base, tmp_path):
    out, report = tmp_path / "p.csv", tmp_path / "r.json"
    files = ("--out", out, "--report", report)
    out.write_text("mine")
    refused(*base, *files, says=[f"{out} already exists", "--force"])
    report.write_text("mine")
    code, printed, _ = cape(*base, *files, "--force", "--json")
    printed = json.loads(printed)
    assert code == 0
    assert len(pd.read_csv(out)) == 700
    assert printed["out"] == str(out)
    assert printed["checked"] is None
    written = json.loads(report.read_text())
    assert written["criteria"] == printed["criteria"]
    # A program needs neither the numbers of pictures nor sentences.
    assert "histograms" in written and "histograms" not in printed


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--out", "p.xls"], ["p.xls must end in one of .csv", ".parquet"]),
        (["--out", "no/p.csv"], ["no of p.csv does not exist"]),
        (["--report", "r.txt"], ["a report must end in .html or .json, got 'r.txt'"]),
        (["--level", "0"], ["--level must be in (0, 1), got 0.0"]),
        (["--drift", "brave"], ["--drift must be 'cautious' or 'ignore'"]),
        (["--rule", "fair"], ["--rule must be one of 'prevalence'"]),
        (["--tolerance", "0.1"], ["--tolerance must be given together with --rule."]),
        (["--rule", "prevalence", "--cost-fn", "2"], ["prevalence takes no numbers."]),
        (["--rule", "accuracy", "--cost-fp", "-1"], ["--cost-fp must be"]),
        (["--ouput", "p.csv"], ["No such option", "--ouput", "cape predict --help"]),
    ],
)
def test_mistakes_are_one_line_that_names_the_option(refused, base, options, says):
    refused(*base, *options, says=says)


def test_mistakes_in_the_batch_leave_no_file(refused, changed, base, tmp_path):
    out, new = ("--out", tmp_path / "p.csv"), pd.read_csv(base[2])
    some = new.index > 3
    command = changed(race=new["race"].where(some))
    refused(
        *command,
        *out,
        says="4 of the first 700 rows have no value in 'race', so no group",
    )
    command = changed(race=new["race"].where(some, "teal"))
    refused(*command, *out, says=["'teal'", "knows 'blue', 'green'"])
    command = changed(y=new["y"].where(some, 7))
    refused(*command, *out, says="expected '0' or '1', got '7' in 4 of 700 rows")
    command = changed(drop=["degree"], Degrees=new["degree"])
    refused(*command, *out, says="no column 'degree'; did you mean 'Degrees'?")


def test_no_input_is_replaced(refused, base, tmp_path):
    """Neither the batch nor the model, under whatever name and however forced."""
    table = tmp_path / "t.csv"
    table.write_bytes(Path(base[2]).read_bytes())
    model = tmp_path / "m.json"
    model.write_bytes(Path(base[1]).read_bytes())
    command = [base[0], model, table]
    (tmp_path / "link.csv").symlink_to(table)
    (tmp_path / "hard.csv").hardlink_to(table)
    for name in ("t.csv", "link.csv", "hard.csv"):
        refused(
            *command, "--out", tmp_path / name, "--force", says="which is being read"
        )
    refused(*command, "--report", model, "--force", says="which is being read")
    twice = tmp_path / "new.json"
    refused(*command, "--out", twice, "--report", twice, says="twice")
    # The next time it would be read with the others.
    for source in (tmp_path, tmp_path / "*.csv"):
        command = [base[0], model, source]
        refused(*command, "--out", tmp_path / "new.csv", says="would be part of")


def test_a_fault_stands_before_any_number_and_other_columns_below(cape, changed, base):
    degree = pd.read_csv(base[2])["degree"]
    recoded = degree.map({"F": "felony", "M": "misdemeanour"})
    command = changed(drop=["y"], degree=recoded, age=33.0)
    page = command[2].with_suffix(".html")
    code, out, err = cape(*command, "--report", page)
    assert (code, err) == (0, "")
    # The page explains every column to fix, too.
    named = re.findall('<p class="fault">`(.*?)` in ', page.read_text())
    assert {"degree", "age"} <= set(named)
    code, out, err = cape(*changed(drop=["y"], degree=recoded))
    assert (code, err) == (0, "")
    assert out.startswith("Do not use")
    assert out.splitlines()[1].startswith("`degree` in ")
    # Nothing is promised of predictions that are not to be used.
    assert "Expect" not in out
    some = np.random.default_rng(0).random(len(degree)) < 0.5
    command = changed(drop=["y"], degree=degree.where(some, "M"))
    _, out, _ = cape(*command, "--verbose")
    assert not out.startswith("Do not use")
    assert "\ndegree " in out


def test_drift_is_passed_on(cape, changed, people_model):
    command = changed(drop=["y"], age=33.0)
    content = json.loads(cape(*command, "--drift", "ignore", "--json")[1])
    expected = predict_file(people_model, command[2], drift="ignore").adaptation
    assert content["drift"] == "ignore"
    for group in content["groups"]:
        assert group["estimate"] == expected.groups[group["group"]].estimate.value
        assert group["held_back"] == 0


def test_a_rule_and_its_numbers_are_passed_on(cape, base):
    content = json.loads(cape(*base, "--rule", "demographic_parity", "--json")[1])
    assert content["rule"]["name"] == "demographic_parity"
    shares = [group["predicted_prevalence"] for group in content["groups"]]
    assert max(shares) - min(shares) < 0.05
    options = ("--rule", "accuracy", "--cost-fp", 2, "--cost-fn", 3)
    content = json.loads(cape(*base, *options, "--json")[1])
    assert content["rule"] == {"name": "accuracy", "cost_fp": 2.0, "cost_fn": 3.0}
    said = " ".join(cape(*base, *options)[1].split())
    assert "Aim: best accuracy, cost_fp 2, cost_fn 3." in said
    assert "Aim:" not in cape(*base)[1]


def test_a_rule_says_with_which_probability_its_bound_is_met(cape, base, tmp_path):
    report = tmp_path / "r.json"
    _, out, _ = cape(*base, "--rule", "equal_opportunity", "--report", report)
    [sentence] = json.loads(report.read_text())["aims"]
    assert " ".join(sentence.split()) in " ".join(out.split())


def test_the_training_file_is_noticed_by_its_bytes(cape, people_folder, tmp_path):
    model = people_folder / "m.cape"
    copy = tmp_path / "copy.csv"
    copy.write_bytes((people_folder / "train.csv").read_bytes())
    said = f"note: {copy} is the file the model was trained on"
    assert said in cape("predict", model, copy)[2]
    assert said in cape("predict", model, people_folder / "new.csv", copy)[2]
    copy.write_bytes(copy.read_bytes().rstrip())
    assert "was trained on" not in cape("predict", model, copy)[2]


def test_the_labels_of_all_rows_decide_where_the_file_is_named_again(
    cape, base, refused, tmp_path
):
    content = json.loads(cape(*base, "--checked", base[2], "--json")[1])
    shares = pd.read_csv(base[2]).groupby("race")["y"].mean()
    assert content["labels"]["decide"]
    found = {group["group"]: group["estimate"] for group in content["groups"]}
    assert found == pytest.approx(shares.to_dict())
    pd.read_csv(base[2]).drop(columns="y").to_csv(tmp_path / "n.csv", index=False)
    refused(*base[:2], tmp_path / "n.csv", "--checked", tmp_path / "n.csv", says="'y'")


def test_weights_are_a_column(cape, tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=300), "w": random.random(300) + 0.5})
    frame["y"] = (frame["a"] + random.normal(size=300) > 0).astype(int)
    frame.to_csv(tmp_path / "t.csv", index=False)
    arguments = [tmp_path / "t.csv", "--label", "y", "--learner", "logistic"]
    model = tmp_path / "m.cape"
    assert cape("train", *arguments, "--drop", "w", "--out", model)[0] == 0
    code, _, said = cape("predict", model, tmp_path / "t.csv", "--weight", "w")
    assert code == 0
    assert "are worth" in said
    code, _, said = cape("predict", model, tmp_path / "t.csv", "--weight", "v")
    assert code == 2
    assert "no column 'v'" in said
    code, _, said = cape("predict", model, tmp_path / "t.csv", "--weight", "a")
    assert code == 2
    assert "--weight must be at least 0 in every row" in said
