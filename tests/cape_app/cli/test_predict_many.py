"""``cape predict`` of several files: each a batch, with the numbers of Python."""

import json
import math
import statistics

import numpy as np
import pandas as pd
import pytest

from cape.base._numbers import points
from cape.shown._action import VERDICTS
from cape_app.files import predict_file

OF_GROUP = {
    "pd": "pd_bound",
    "fpr": "fpr",
    "fnr": "fnr",
    "accuracy": "accuracy",
    "unexplained": "unexplained",
}


@pytest.fixture
def months(tmp_path, people_folder):
    """Three batches, without labels."""
    new = pd.read_csv(people_folder / "new.csv").drop(columns="y")
    folder = tmp_path / "months"
    folder.mkdir()
    for i, name in enumerate(("jan.csv", "feb.csv", "mar.csv")):
        new.iloc[200 * i : 200 * (i + 1)].to_csv(folder / name, index=False)
    (folder / ".hidden").write_text("no table")
    return folder


@pytest.fixture
def model(people_folder):
    return people_folder / "m.cape"


@pytest.fixture
def facts_of(people_model, summaries_of):
    """Give what is kept of each of some files that are predicted one by one."""

    def predict(paths, **settings):
        facts = []
        for path in paths:
            examination = predict_file(people_model, path, **settings).examination
            facts.append(summaries_of.facts(examination, path.name))
        return facts

    return predict


def test_json_holds_the_batches_in_the_order_given(cape, model, months, facts_of):
    paths = [months / "mar.csv", months / "jan.csv"]
    code, out, err = cape("predict", model, *paths, "--level", 0.8, "--json")
    content = json.loads(out)
    assert code == 0
    assert err == ""
    assert content["level"] == 0.8
    assert content["rows"] == 400
    batches = facts_of(paths, level=0.8)
    files = [file["file"] for file in content["made"]["files"]]
    assert files == ["mar.csv", "jan.csv"]
    for shown, batch in zip(content["batches"], batches, strict=True):
        assert shown["batch"] == batch["title"]
        assert shown["rows"] == batch["rows"]
        assert shown["expected_pe"] == batch["expected_pe"]
    for entry in content["groups"]:
        for shown, batch in zip(entry["batches"], batches, strict=True):
            (group,) = [g for g in batch["groups"] if g["group"] == entry["group"]]
            for name in set(shown) & set(group):
                assert shown[name] == group[name], name


def row_of(name, group):
    """The cells that the table of a group shows of a batch."""
    moved = points(group["estimate"] - group["training_prevalence"])
    if group["verdict"] in ("uncertain", "fault"):
        moved = "?"
    return [
        name,
        str(group["rows"]),
        f"{group['estimate']:.3f}",
        f"{group['low']:.3f}-{group['high']:.3f}",
        moved,
        f"{group['pd_bound']:.3f}",
        VERDICTS[group["verdict"]].words,
    ]


def test_the_tables_show_the_numbers(cape, model, months, facts_of, read_rows):
    names = ["feb.csv", "jan.csv", "mar.csv"]
    paths = [months / name for name in names]
    code, out, err = cape("predict", model, *paths, "--verbose")
    batches = facts_of(paths)
    expected = []
    for place in range(2):
        for batch in batches:
            expected.append(row_of(batch["title"], batch["groups"][place]))
    assert code == 0
    assert err == ""
    found = [row for row in read_rows(out, *names) if len(row) > 2]
    assert [[*row[:5], *row[6:]] for row in found] == expected
    for group in batches[0]["groups"]:
        assert f"in training: {group['training_prevalence']:.3f}" in out


def values_of(batches):
    """What conditions are checked against: for each metric, where and how much."""
    values = {metric: {} for metric in ("moved", "pe", *OF_GROUP)}
    for batch in batches:
        values["pe"][batch["title"]] = batch["expected_pe"]
        for group in batch["groups"]:
            where = f"{batch['title']}, {group['group']}"
            moved = abs(group["estimate"] - group["training_prevalence"])
            values["moved"][where] = moved if group["moved"] else 0.0
            for metric, key in OF_GROUP.items():
                values[metric][where] = group[key]
    return values


@pytest.mark.parametrize("names", [["jan.csv"], ["jan.csv", "feb.csv"]])
def test_fail_if_finds_just_what_is_beyond_the_limit(
    cape, model, months, facts_of, names
):
    paths = [months / name for name in names]
    options = []
    expected = {}
    for metric, values in values_of(facts_of(paths)).items():
        limit = math.floor(statistics.median_high(values.values()) * 1e4) / 1e4
        beyond = {where: value for where, value in values.items() if value >= limit}
        expected[f"{metric}>={limit:g}"] = beyond
        options += ["--fail-if", f"{metric}>={limit:.4f}"]
        options += ["--fail-if", f"{metric}>{max(values.values()) + 1e-3:.4f}"]
    code, out, _ = cape("predict", model, *paths, "--json", *options)
    assert code == 1
    found = {}
    for breach in json.loads(out)["breaches"]:
        places = found.setdefault(breach["condition"], {})
        places[breach["where"]] = breach["value"]
    assert found == expected


def test_a_report_is_written_though_a_condition_is_met(
    cape, refused, model, months, tmp_path
):
    report = tmp_path / "r.json"
    base = ("predict", model, *sorted(months.glob("*.csv")), "--report", report)
    code, out, _ = cape(*base, "--fail-if", "moved>=0")
    assert code == 1
    # Where a share may be anything, nobody can say how far it has moved.
    assert 0 < out.count("fail-if moved>=0 is met: ") <= 6
    assert [b["batch"] for b in json.loads(report.read_text())["batches"]] == [
        "feb.csv",
        "jan.csv",
        "mar.csv",
    ]
    refused(*base, says=[f"{report} already exists", "--force"])
    code, out, _ = cape(*base, "--force", "--level", 0.5, "--json")
    printed = json.loads(out)
    assert code == 0
    assert printed["breaches"] == printed["left_out"] == []
    written = json.loads(report.read_text())
    assert written["breaches"] == written["left_out"] == []
    for entry, shown in zip(written["batches"], printed["batches"], strict=True):
        assert shown["expected_pe"] == entry["expected_pe"]
    code, out, _ = cape(*base[:-1], tmp_path / "r.html")
    assert code == 0
    assert "<html" in (tmp_path / "r.html").read_text()
    assert f"report: {tmp_path}" in out.replace("\n", "")


def test_one_bad_batch_is_named_and_no_report_is_left(refused, model, months, tmp_path):
    report = ("--report", tmp_path / "r.html")
    bad = months / "zzz.csv"
    month = months / "jan.csv"

    def refuse(*paths, says):
        refused("predict", model, *paths, *report, says=says)

    refuse(month, months / "nix.csv", says="there is no file")
    pd.read_csv(month).drop(columns="race").to_csv(bad, index=False)
    refuse(bad, says=["zzz.csv has no column 'race'", "'age', 'degree', 'free'"])
    refuse(month, "--level", 1, says="--level must be in (0, 1), got 1.0")
    refuse(month, "--drift", "brave", says="--drift must be 'cautious' or 'ignore'")
    refuse(month, "--rule", "fair", says="--rule must be")
    says = ["got 'pd>'", "moved, pd, pe, fpr, fnr, accuracy"]
    refuse(month, "--fail-if", "pd>", says=says)
    both = (month, months / "feb.csv")
    refuse(*both, "--out", tmp_path / "p.csv", says=["--out must be a folder", "p.csv"])
    refuse(*both, "--checked", month, says=["--checked", "single FILE"])
    refuse(*both, "--out", months, says="jan.csv, which is being read")
    refuse(month, month, "--out", tmp_path, says="would be written twice")


def test_each_file_is_written_as_if_it_were_alone(cape, model, months, tmp_path):
    for folder in ("alone", "together"):
        (tmp_path / folder).mkdir()
    names = ("jan.csv", "feb.csv")
    paths = [months / name for name in names]
    for path in paths:
        cape("predict", model, path, "--out", tmp_path / "alone" / path.name)
    together = tmp_path / "together"
    code, out, err = cape("predict", model, *paths, "--out", together)
    assert (code, err) == (0, "")
    assert f"predictions: {together}" in out.replace("\n", "")
    for name in names:
        alone = (tmp_path / "alone" / name).read_bytes()
        assert (together / name).read_bytes() == alone


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_there(
    cape, model, months, tmp_path
):
    bad = tmp_path / "bad.csv"
    pd.read_csv(months / "jan.csv").drop(columns="race").to_csv(bad, index=False)
    infinite = tmp_path / "infinite.csv"
    pd.read_csv(months / "jan.csv").assign(age=np.inf).to_csv(infinite, index=False)
    files = (months / "jan.csv", bad, infinite, months / "feb.csv")
    page = tmp_path / "r.html"
    # Code 2 is told from that of a condition that is met.
    condition = ("--fail-if", "moved>=0")
    code, out, err = cape("predict", model, *files, "--report", page, *condition)
    assert code == 2
    assert "jan.csv" in out and "feb.csv" in out
    for name in ("bad.csv has no column 'race'", "infinite.csv, column 'age', line 2"):
        assert name in " ".join(err.split())
        assert name.split()[0] in page.read_text()
    code, out, _ = cape("predict", model, *files, "--json")
    assert code == 2
    assert sum("bad.csv" in note for note in json.loads(out)["notes"]) == 1


@pytest.fixture
def broken(months):
    """A month whose ages are in days."""
    frame = pd.read_csv(months / "jan.csv")
    path = months / "odd.csv"
    frame.assign(age=frame["age"] * 365).to_csv(path, index=False)
    return path


def test_a_fault_is_named_before_any_number(cape, model, months, broken):
    code, out, err = cape("predict", model, months / "jan.csv", broken)
    assert code == 0
    assert err == ""
    first, second = out.splitlines()[:2]
    assert first == "2 of 2 batches need action"
    assert second.startswith("`age` in odd.csv: ")


def test_a_group_has_one_line_with_its_last_batch_and_its_action(
    cape, model, months, facts_of, read_rows
):
    paths = sorted(months.glob("*.csv"))
    _, out, _ = cape("predict", model, *paths)
    batches = facts_of(paths)
    rows = read_rows(out, "blue", "green")
    for cells, group in zip(rows, batches[-1]["groups"], strict=True):
        moved = sum(
            g["moved"] for b in batches for g in b["groups"] if g["group"] == cells[0]
        )
        shown = [group["training_prevalence"], group["estimate"]]
        assert [cells[1], cells[2][:5]] == [f"{share:.3f}" for share in shown]
        assert cells[3:5] == [f"{group['predicted_prevalence']:.3f}", f"{moved} of 3"]
    assert len(out.splitlines()) <= 20


@pytest.mark.parametrize("verdict", ["fault", "drifted", "uncertain"])
def test_fail_if_takes_a_verdict(cape, model, months, broken, verdict):
    condition = ("--fail-if", verdict)
    met = verdict == "uncertain"
    assert cape("predict", model, months / "jan.csv", *condition)[0] == met
    code, out, _ = cape("predict", model, broken, *condition)
    assert code == 1
    # Once, whatever the number of groups.
    (line,) = [line for line in out.splitlines() if line.startswith("fail-if ")]
    assert line.startswith(f"fail-if {verdict} is met: odd.csv, `age` in ")
    assert "`age` in blue, green: " in line


def test_fail_if_label_is_met_wherever_labels_are_asked_for(
    cape, model, months, people_folder
):
    later = pd.read_csv(people_folder / "new.csv").drop(columns="y")
    later.assign(age=later["age"] + 20).to_csv(months / "apr.csv", index=False)
    later[:1].to_csv(months / "one.csv", index=False)
    conditions = ("--fail-if", "label", "--fail-if", "not_use", "--json")
    code, out, _ = cape("predict", model, *months.glob("*.csv"), *conditions)
    content = json.loads(out)
    asked = {"label": set(), "not_use": set()}
    for group in content["groups"]:
        for batch in group["batches"]:
            where = f"{batch['batch']}, {group['group']}"
            if batch["action"]["labels"]:
                asked["label"].add(where)
            if batch["action"]["code"] != "use":
                asked["not_use"].add(where)
    assert asked["label"] and asked["not_use"] - asked["label"]
    met = {"label": set(), "not_use": set()}
    for breach in content["breaches"]:
        met[breach["condition"]].add(breach["where"])
    assert code == 1 and met == asked


def test_groups_of_few_rows_are_left_out(cape, model, months):
    few = months / "few.csv"
    pd.read_csv(months / "jan.csv").groupby("race").head(9).to_csv(few, index=False)
    code, out, _ = cape("predict", model, few, "--json", "--fail-if", "moved>=0")
    content = json.loads(out)
    assert code == 0
    assert content["breaches"] == []
    assert [left["why"] for left in content["left_out"]] == ["too few rows"] * 2


def test_failed_conditions_are_on_the_page(cape, model, months, tmp_path):
    report = tmp_path / "page.html"
    conditions = ("--fail-if", "moved_clearly", "--fail-if", "pd>0.0001")
    files = sorted(months.glob("*.csv"))
    code, out, _ = cape("predict", model, *files, "--report", report, *conditions)
    page = report.read_text()
    met = [line for line in out.splitlines() if line.startswith("fail-if")]
    assert code == 1
    assert "Failed: moved_clearly, pd&gt;0.0001" in page
    assert f"Checks that failed ({len(met)})" in page
    assert "<li>fail-if pd&gt;0.0001 is met: feb.csv, blue: 0." in page
    clearly = out.count("fail-if moved_clearly is met")
    assert page.count("<li>fail-if moved_clearly is met: ") == clearly > 0


def test_weak_scores_are_the_reason_and_not_a_column_that_moved(cape, tmp_path):
    """Nothing moved but a column that tells nothing."""
    random = np.random.default_rng(0)
    n = 2000
    y = random.integers(0, 2, n)
    frame = pd.DataFrame({"a": random.normal(0.15 * y), "b": random.normal(size=n)})
    frame.assign(y=y).to_csv(tmp_path / "train.csv", index=False)
    frame.assign(b=frame["b"] + 1)[:30].to_csv(tmp_path / "new.csv", index=False)
    files = (tmp_path / "train.csv", "--label", "y", "--out", tmp_path / "m.cape")
    _, _, notes = cape("train", *files, "--learner", "logistic")
    assert "97 random rows" in notes
    conditions = ("--fail-if", "uncertain", "--fail-if", "moved>0.1", "--json")
    model = tmp_path / "m.cape"
    code, out, _ = cape("predict", model, tmp_path / "new.csv", *conditions)
    content = json.loads(out)
    (entry,) = content["groups"]
    assert code == 1 and not entry["moved"]
    (breach,) = content["breaches"]
    assert entry["verdict"] == "uncertain"
    assert "AUC" in breach["where"] and "`b`" not in breach["where"]
    assert [one["why"] for one in content["left_out"]] == ["cannot be told"]


def test_terminal_and_page_draw_rows_of_the_same_file(cape, model, months, tmp_path):
    for name in ("few.csv", "last.csv"):
        pd.read_csv(months / "jan.csv").head(40).to_csv(tmp_path / name, index=False)
    files = (tmp_path / "few.csv", tmp_path / "last.csv")
    _, out, _ = cape("predict", model, *files, "--report", tmp_path / "page.html")
    (command,) = [line for line in out.splitlines() if line.startswith("  cape sample")]
    assert str(tmp_path / "last.csv") in command
    page = (tmp_path / "page.html").read_text()
    assert f"<code>{command.strip()}</code>" in page
