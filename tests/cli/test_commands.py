"""The command line as a new user meets it: help, results, mistakes, exit codes."""

import json
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from cape.cli._app import run

COMMANDS = ["train", "predict", "monitor", "audit", "explore", "info", "demo"]


def one_line(err, *words):
    assert err.startswith("error: "), err
    assert err.count("\n") == 1, err
    assert err.endswith("\n"), err
    assert "Traceback" not in err
    for word in words:
        assert word in err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(cape, command):
    code, out, _ = cape(command, "--help")
    assert code == 0
    assert f"Example: cape {command}" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_commands_are_listed_in_the_order_of_use(cape):
    _, out, _ = cape("--help")
    places = [out.index(f" {command} ") for command in COMMANDS]
    assert places == sorted(places)


def test_train_predict_info_explore(cape, tmp_path, people_folder):
    model = tmp_path / "m.cape"
    code, out, err = cape(
        "train",
        people_folder / "train.csv",
        "--label",
        "y",
        "--group",
        "race",
        "--learner",
        "logistic",
        "--cv",
        2,
        "--out",
        model,
    )
    assert code == 0
    assert "blue" in out
    assert "AUC" in out
    assert err == ""
    code, out, _ = cape("info", model)
    assert code == 0
    assert "y: 1 is positive, 0 negative" in out
    assert "degree (text)" in out
    code, out, _ = cape("info", model, "--json")
    assert json.loads(out)["columns"]["label"] == "y"
    report, predictions = tmp_path / "r.html", tmp_path / "p.csv"
    code, out, _ = cape(
        "predict",
        model,
        people_folder / "new.csv",
        "--out",
        predictions,
        "--report",
        report,
    )
    assert code == 0
    assert "What the labels say" in out
    assert report.exists()
    assert (
        max(
            len(line)
            for line in out.splitlines()
            if not line.startswith(("predictions:", "report:"))
        )
        <= 80
    )
    assert list(pd.read_csv(predictions))[-3:] == [
        "prediction",
        "probability",
        "estimated_prevalence",
    ]
    code, _, err = cape(
        "predict", model, people_folder / "new.csv", "--out", predictions
    )
    assert code == 2
    one_line(err, "exists already", "--force")
    code, out, _ = cape("explore", model, "--out", tmp_path / "e.html")
    assert code == 0
    assert (tmp_path / "e.html").exists()


def test_the_papers_configuration(cape, tmp_path, people_folder):
    code, out, _ = cape(
        "train",
        people_folder / "train.csv",
        "--label",
        "y",
        "--learner",
        "logistic",
        "--paper",
        "--cv",
        2,
        "--drop",
        "degree",
        "--out",
        tmp_path / "m.cape",
        "--json",
    )
    settings = json.loads(out)["settings"]
    assert code == 0
    assert (settings["pool"], settings["quantifier"], settings["cv"]) == (
        "resampled",
        "spa",
        2,
    )


def test_json_is_json_alone(cape, people_folder):
    model = people_folder / "m.cape"
    code, out, _ = cape("predict", model, people_folder / "new.csv", "--json")
    content = json.loads(out)
    assert code == 0
    assert content["rows"] == 700
    assert content["kind"] == "batch"
    code, out, _ = cape("monitor", model, people_folder / "new.csv", "--json")
    assert code == 0
    assert json.loads(out)["batches"][0]["batch"] == "new.csv"


def test_monitor_takes_files_or_a_folder_and_fails_if_told(
    cape, tmp_path, people_folder
):
    new = pd.read_csv(people_folder / "new.csv").drop(columns="y")
    for i in range(3):
        new.iloc[200 * i : 200 * (i + 1)].to_parquet(tmp_path / f"b{i}.parquet")
    code, out, _ = cape(
        "monitor",
        people_folder / "m.cape",
        tmp_path,
        "--fail-if",
        "moved>0.2",
        "--fail-if",
        "pd<0",
    )
    assert code == 1
    assert out.count("b0.parquet") == 2 + out.count("b0.parquet, ")
    lines = [
        line
        for line in out.splitlines()
        if line.startswith("fail-if moved>0.2 is met: b")
    ]
    assert lines
    assert all(", by 0." in line for line in lines)
    assert max(len(line) for line in out.splitlines() if "fail-if" not in line) <= 80
    code, _, err = cape(
        "monitor", people_folder / "m.cape", tmp_path, "--fail-if", "speed>3"
    )
    assert code == 2
    one_line(err, "'speed>3'", "moved, pd, pe")


def test_audit(cape, tmp_path):
    frame = pd.DataFrame(
        {
            "y": [0, 1] * 50,
            "yhat": [0, 1, 1, 1] * 25,
            "g": ["a"] * 60 + ["[red]b[/red]"] * 40,
        }
    )
    path = tmp_path / "s.csv"
    frame.to_csv(path, index=False)
    base = ("audit", path, "--label", "y", "--prediction", "yhat", "--group", "g")
    code, out, _ = cape(*base, "--report", tmp_path / "a.html")
    assert code == 0
    assert "[red]b[/red]" in out
    assert (tmp_path / "a.html").exists()
    code, out, _ = cape(*base, "--fail-if", "pd>0.1", "--fail-if", "pe>0.2")
    assert code == 1
    assert "fail-if pd>0.1 is met: a: 0.250, by 0.150" in out
    assert "pe>0.2 is met" not in out
    code, out, _ = cape(*base, "--fail-if", "accuracy < .5", "--json")
    assert code == 0
    assert json.loads(out)["failed"] == []
    code, _, err = cape(*base, "--fail-if", "pd is bad")
    assert code == 2
    one_line(err, "such as 'pd>0.1', got 'pd is bad'", "fpr_difference")


def test_mistakes_are_one_line_with_exit_code_2(cape, tmp_path, people_folder):
    model, new = people_folder / "m.cape", pd.read_csv(people_folder / "new.csv")
    bad = tmp_path / "bad.csv"

    def predict(frame=None, text=None, *more):
        if frame is not None:
            frame.to_csv(bad, index=False)
        elif text is not None:
            bad.write_bytes(text)
        code, out, err = cape("predict", model, bad, *more)
        assert code == 2
        assert out == ""
        return err

    one_line(predict(), "there is no file")
    one_line(predict(text=b""), "is empty")
    one_line(predict(new.head(0)), "has a header but no rows")
    one_line(
        predict(new.rename(columns={"degree": "Degrees"})),
        "no column 'degree'; did you mean 'Degrees'?",
    )
    one_line(predict(new.assign(race="teal")), "'teal' (700 rows)", "'blue', 'green'")
    one_line(
        predict(new.assign(y=2)), "expected '0' or '1', got '2' in 700 of 700 rows"
    )
    one_line(predict(new.assign(age="old")), "column 'age': expected numbers, got")
    one_line(
        predict(text="age;race\n1;ü\n".encode()),
        "separated by a semicolon",
        "--separator",
    )
    one_line(
        predict(text="age,race\n1,ü\n".encode("latin-1")),
        "is not utf-8 text",
        "--encoding",
    )
    assert cape("predict", people_folder / "new.csv", bad)[0] == 2
    assert cape("train", bad, "--out", tmp_path / "x.cape")[0] == 2
    one_line(
        cape("train", bad, "--out", tmp_path / "x.cape")[2],
        "Missing option '--label'",
        "cape train --help",
    )
    one_line(cape("trian")[2], "No such command 'trian'. Did you mean 'train'? See: ")


def test_harmless_differences_are_said(cape, tmp_path, people_folder):
    new = pd.read_csv(people_folder / "new.csv")
    new[new.columns[::-1]].assign(extra=1, more=2).to_csv(
        tmp_path / "n.csv", index=False
    )
    code, _, err = cape("predict", people_folder / "m.cape", tmp_path / "n.csv")
    assert code == 0
    assert err == "note: 2 columns not used by the model: 'extra', 'more'.\n"


def test_debug_shows_the_trace_and_bugs_say_so(cape, monkeypatch):
    with pytest.raises(FileNotFoundError):
        run(["info", "nowhere.cape", "--debug"])
    monkeypatch.setattr("cape.files.describe_file", lambda path: 1 / 0)
    code, _, err = cape("info", "nowhere.cape")
    assert code == 3
    one_line(err, "unexpected ZeroDivisionError", "--debug")


@pytest.mark.parametrize(
    "how", [["-c", "from cape.cli import main; main()"], ["-m", "cape"]]
)
def test_the_installed_command_gives_its_exit_code(tmp_path, how):
    command = [sys.executable, *how, "info", str(tmp_path / "nothing.cape")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no file")


@pytest.mark.parametrize(
    ("sent", "code", "said"), [("SIGINT", 130, "stopped."), ("SIGTERM", 143, "")]
)
def test_a_command_that_is_stopped_leaves_nothing_half_written(
    tmp_path, people_folder, sent, code, said
):
    many, out = tmp_path / "many.csv", tmp_path / "out"
    pd.concat([pd.read_csv(people_folder / "new.csv")] * 400).to_csv(many, index=False)
    out.mkdir()
    command = [
        sys.executable,
        "-m",
        "cape",
        "predict",
        str(people_folder / "m.cape"),
        str(many),
    ]
    process = subprocess.Popen(
        [*command, "--out", str(out / "p.csv")], stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not list(out.iterdir()):
        time.sleep(0.01)
    process.send_signal(getattr(signal, sent))
    _, err = process.communicate()
    assert process.returncode == code
    assert err.strip() == said
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("total", [None, 700])
def test_a_terminal_gets_a_bar_for_each_stage(monkeypatch, people_folder, total):
    import io

    from rich.console import Console

    import cape.cli._app as app

    screen = io.StringIO()
    monkeypatch.setattr(
        app, "aside", Console(file=screen, force_terminal=True, width=80)
    )
    monkeypatch.setattr("cape._tables.table_length", lambda path: total)
    assert (
        run(
            [
                "predict",
                str(people_folder / "m.cape"),
                str(people_folder / "new.csv"),
                "--json",
            ]
        )
        == 0
    )
    drawn = screen.getvalue()
    assert "reading" in drawn
    assert "predicting" in drawn
    assert "rows" in drawn
    assert f"700/{total or 700}" in drawn
