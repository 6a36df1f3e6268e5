"""The application: streams, errors, exit codes, progress bars, and what is quick."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
import typer
from rich.console import Console

import cape.cli._app as app
from cape import __version__
from cape._tables import Dialect
from cape._wording._terminal import TextTable
from cape.cli._fail_if import Condition, Finding
from cape.cli._options import Csv, trainers, workers
from cape.cli._output import Output
from cape.datasets import make_synthetic
from cape.files._notes import Notes
from cape.files._train import DEFAULT_SETTINGS, FILE_LEARNERS, PAPER_SETTINGS
from cape.quantify import QUANTIFIERS

COMMANDS = ["train", "predict", "rows-needed", "sample", "monitor", "audit", "explore"]
COMMANDS += ["info", "demo"]


@pytest.fixture
def screen(monkeypatch):
    """A terminal whose error stream can be read."""
    text = io.StringIO()
    terminal = Console(file=text, force_terminal=True, width=80)
    monkeypatch.setattr(app, "aside", terminal)
    return text


def in_one_line(text):
    return " ".join(text.replace("│", " ").split())


def test_what_stands_before_any_command(cape, refused):
    assert cape("--version") == (0, f"cape {__version__}\n", "")
    refused("--nope", says=["No such option", "--nope", "cape --help"])
    refused("trian", says=["No such command 'trian'. Did you mean 'train'? See: "])
    code, out, err = cape()
    assert (code, err) == (2, "")
    assert "Usage: cape" in out


def test_the_commands_are_listed_in_the_order_of_use(cape):
    _, out, _ = cape("--help")
    places = [out.index(f" {command} ") for command in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_flags_take_no_value(cape, command):
    code, out, _ = cape(command, "--help")
    assert code == 0
    assert f"Example: cape {command}" in out
    assert max(map(len, out.splitlines())) <= 80
    for line in out.splitlines():
        assert not ("--json" in line and "bool" in line)


def test_the_help_of_train_names_every_choice_and_both_defaults(cape):
    text = in_one_line(cape("train", "--help")[1])
    assert f"How prevalences are estimated: {', '.join(QUANTIFIERS)}." in text
    assert f"What is trained: {', '.join(FILE_LEARNERS)} (auto: " in text
    for name in ("pool", "quantifier", "scores", "cv"):
        default, in_paper = DEFAULT_SETTINGS[name], PAPER_SETTINGS[name]
        assert f"Default: {default}; with --paper: {in_paper}." in text


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("level must be\n  in (0, 1)."), 2, "--level must be in (0, 1)."),
        (OSError("disk full"), 2, "disk full"),
        (ImportError("needs Dask"), 2, "needs Dask"),
        (ValueError(), 2, "ValueError"),
        (KeyError("x"), 3, "unexpected KeyError: 'x'. Run again with --debug"),
    ],
)
def test_errors_are_one_line_and_have_an_exit_code(
    cape, monkeypatch, people_folder, error, code, message
):
    def fail(path, key):
        raise error

    monkeypatch.setattr("cape.files._model.describe_file", fail)
    exit_code, out, err = cape("info", people_folder / "m.cape")
    assert (exit_code, out) == (code, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_may_stand_anywhere(place):
    arguments = ["info", "nowhere.cape"]
    arguments.insert(place, "--debug")
    with pytest.raises(FileNotFoundError):
        app.run(arguments)


def test_markup_is_shown_as_it_is_and_tables_fold_names_only(capsys, cape, tmp_path):
    _, _, err = cape("info", tmp_path / "[red]m[/red].cape")
    assert "[red]m[/red].cape" in err
    name = "[red]a group[/red] with a very long name " * 4
    app.give([TextTable("", ["group", "PD"], [[name, "0.100-0.200"]])])
    out = capsys.readouterr().out
    assert "[red]a group[/red]" in in_one_line(out)
    assert "0.100-0.200" in out
    assert max(map(len, out.splitlines())) <= 80


def test_json_keeps_letters_and_refuses_nan(capsys):
    app.give_json({"group": "größer"})
    assert "größer" in capsys.readouterr().out
    with pytest.raises(ValueError, match="not JSON compliant"):
        app.give_json({"pd": float("nan")})


def test_lines_are_wrapped_and_paths_are_not(capsys):
    text = " ".join(["word"] * 40)
    app.give_line(text)
    assert capsys.readouterr().out.count("\n") > 1
    app.give_path("report", text)
    assert capsys.readouterr().out == f"report: {text}\n"


def test_without_a_terminal_no_progress_is_shown(capsys):
    with app.progress(10) as advance:
        advance("reading", 5)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("total", [10, None])
def test_each_stage_has_a_bar_and_ends_when_another_begins(screen, total):
    with app.progress(total, stop_at="training") as advance:
        advance("reading", 4)
        advance("reading", 6)
        advance("predicting", 10)
        advance("training", 0)
        drawn = screen.getvalue()
        advance("training", 0)
        assert screen.getvalue() == drawn
    assert "reading" in drawn and "predicting" in drawn
    assert "10/10" in drawn
    assert "training" not in drawn


def test_commands_show_their_progress_on_a_terminal(screen, cape, people_folder):
    files = (people_folder / "m.cape", people_folder / "new.csv")
    for command, stages in (
        ("predict", ["reading", "predicting", "700/700"]),
        ("monitor", ["batches", "1/1"]),
    ):
        code, out, _ = cape(command, *files, "--json")
        assert code == 0
        assert json.loads(out)["rows"] == 700
        for stage in stages:
            assert stage in screen.getvalue()


SUMMARY = {"kind": "audit", "rows": 3}


def show(summary):
    yield f"{summary['rows']} rows"


@pytest.fixture
def notes():
    notes = Notes()
    notes.say("warning", text="look, use n_jobs=2.")
    return notes


@pytest.mark.parametrize("as_json", [True, False])
def test_a_result_is_on_the_page_and_printed_with_its_notes(
    tmp_path, capsys, notes, as_json
):
    report = tmp_path / "r.json"
    output = Output(report, False, as_json)
    output.check()
    output.give(SUMMARY, show, notes, failed=["x"])
    out, err = capsys.readouterr()
    noted = {**SUMMARY, "notes": ["look, use --jobs 2."]}
    assert err == "note: look, use --jobs 2.\n"
    assert json.loads(report.read_text()) == noted
    if as_json:
        assert json.loads(out) == {**noted, "failed": ["x"]}
    else:
        assert out == f"3 rows\nreport: {report}\n"
    with pytest.raises(FileExistsError, match="--force"):
        output.check()
    Output(report, True, as_json).check()


def test_a_result_is_printed_though_its_page_cannot_be_written(tmp_path, capsys, notes):
    folder = tmp_path / "gone"
    with pytest.raises(FileNotFoundError):
        Output(folder / "r.json").give(SUMMARY, show, notes)
    assert capsys.readouterr().out == "3 rows\n"
    with pytest.raises(ValueError, match=r"must end in \.html or \.json"):
        Output(tmp_path / "r.pdf").check()


@pytest.mark.parametrize("as_json", [True, False])
def test_a_breach_is_handed_over_before_the_command_fails(capsys, as_json):
    findings = [Finding("pd", "a", 0.75), Finding("pd", "b", None, "too few rows")]
    asked = {"findings": findings, "key": "failed"}
    output = Output(None, False, as_json)
    with pytest.raises(typer.Exit) as stop:
        conditions = [Condition("pd", ">", 0.5)]
        output.give_and_judge(SUMMARY, show, [], conditions=conditions, **asked)
    assert stop.value.exit_code == 1
    out = capsys.readouterr().out
    if as_json:
        content = json.loads(out)
        assert [breach["by"] for breach in content["failed"]] == [0.25]
        assert [left["where"] for left in content["left_out"]] == ["b"]
    else:
        assert [line.split()[0] for line in out.splitlines()] == ["3", *["fail-if"] * 2]
    output.give_and_judge(SUMMARY, show, [], conditions=[], **asked)


@pytest.mark.parametrize(
    ("csv", "separator"),
    [(Csv("tab"), "\t"), (Csv("\\t"), "\t"), (Csv(";"), ";"), (Csv(), ",")],
)
def test_separators_can_be_named(csv, separator):
    assert csv.dialect().separator == separator


def test_what_is_not_given_is_as_in_the_file_of_training():
    trained = Dialect(";", "latin-1", ",")
    assert Csv().dialect(trained) == trained
    assert Csv(",", decimal=".").dialect(trained) == Dialect(",", "latin-1")
    with pytest.raises(ValueError, match="separator must be one character"):
        Csv("").dialect()


@pytest.mark.parametrize("who", [workers, trainers])
def test_who_does_the_work(monkeypatch, who):
    with who(None) as each:
        assert each is None
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = r"--dask needs Dask: pip install 'cape-fair\[dask\]'"
    with pytest.raises(ImportError, match=message), who("tcp://127.0.0.1:1"):
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong")
    make_synthetic(300, random_state=0).frame.to_csv(folder / "t.csv", index=False)
    (folder / "taken.cape").touch()
    return folder


TRAIN = "train t.csv --label y --group z --learner logistic --out x.cape "
WRONG = [
    (TRAIN + "--small-groups x", "--small-groups must be one of"),
    (TRAIN + "--cv 1", "--cv must be"),
    (TRAIN + "--pool x", "--pool must be one of"),
    (TRAIN + "--rule x", "--rule must be one of"),
    (TRAIN + "--learner x", "--learner must be one of"),
    (TRAIN + "--min-group-size 0", "--min-group-size must be"),
    (TRAIN + "--min-group-size 999", "or use --small-groups pooled"),
    (TRAIN + "--seed -1", "--seed must be"),
    (TRAIN + "--jobs 0", "--jobs must not be 0"),
    (TRAIN + "--decimal x", "--decimal must be"),
    ("train t.csv --out x.cape", "Missing option '--label'. See: cape train --help"),
    ("train t.csv --label y --out taken.cape", "(--force replaces it)"),
    ("audit t.csv --label y --prediction y --level 2", "--level must be"),
    ("predict t.csv t.csv", "MODEL must be a model file"),
    ("demo --out t.csv", "t.csv"),
    ("bogus", "See: cape --help"),
]


@pytest.mark.parametrize(("call", "says"), WRONG)
def test_no_error_names_a_parameter_of_python(cape, folder, monkeypatch, call, says):
    monkeypatch.chdir(folder)
    code, _, err = cape(*call.split())
    assert code == 2, err
    assert says in err
    assert err.count("\n") == 1
    # Neither name=value, nor a class or function of the library.
    assert "=" not in err.replace("x=", "") and "CapeClassifier" not in err
    assert "cape." not in err.replace(".cape", "") and "[Errno" not in err


LOADED = """
import json, sys
from cape.cli import _app
code = _app.run(sys.argv[1:])
heavy = {"sklearn", "scipy", "pandas", "pyarrow", "altair", "jinja2"}
loaded = {name.partition(".")[0] for name in sys.modules}
print(json.dumps([code, sorted(loaded & heavy)]))
"""


def loaded_by(folder, *arguments):
    """Run a command in a process of its own; give its code, and what it imported."""
    call = [sys.executable, "-c", LOADED, *arguments]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    code, loaded = json.loads(done.stdout.splitlines()[-1])
    return code, loaded, done.stderr


MISTAKES = [
    "train train.csv --label y --out taken.csv",
    "train train.csv --label y --out train.csv --force",
    "train none.csv --label y --out m2.cape",
    "predict m.cape new.csv --out taken.csv",
    "predict m.cape none.csv",
    "predict none.cape new.csv",
    "predict m.cape new.csv --report page.pdf",
    "rows-needed none.cape",
    "sample m.cape none.csv --out s.csv",
    "monitor m.cape new.csv none.csv",
    "monitor m.cape new.csv --report taken.html",
    "audit none.csv --label y --prediction y",
    "explore none.cape --out e.html",
    "info none.cape",
]


def test_errors_about_files_come_before_imports(tmp_path, monkeypatch):
    """One process for all: nothing heavy may be there after the last."""
    for name in ("train.csv", "new.csv", "m.cape", "taken.csv", "taken.html"):
        (tmp_path / name).write_text("x\n")
    program = LOADED.replace(
        "code = _app.run(sys.argv[1:])",
        "code = [_app.run(call.split()) for call in sys.argv[1:]]",
    )
    call = [sys.executable, "-c", program, *MISTAKES]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    codes, loaded = json.loads(done.stdout.splitlines()[-1])
    assert codes == [2] * len(MISTAKES)
    assert done.stderr.count("error: ") == len(MISTAKES)
    assert loaded == []


def test_a_command_imports_what_it_needs_and_no_more(people_folder):
    code, loaded, _ = loaded_by(people_folder, "info", "m.cape")
    assert code == 0
    assert not {"sklearn", "scipy", "altair"} & set(loaded)
    code, loaded, _ = loaded_by(people_folder, "predict", "m.cape", "new.csv")
    assert code == 0
    assert "altair" not in loaded


@pytest.mark.parametrize("arguments", ["info --help", "info m.cape"])
def test_a_reader_that_leaves_is_no_error(people_folder, arguments):
    read, write = os.pipe()
    os.close(read)
    call = [sys.executable, "-m", "cape", *arguments.split()]
    streams = {"stdout": write, "stderr": subprocess.PIPE}
    try:
        done = subprocess.run(call, **streams, text=True, cwd=people_folder)
    finally:
        os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("sent", "code", "said"), [("SIGINT", 130, "stopped."), ("SIGTERM", 143, "")]
)
def test_a_command_that_is_stopped_leaves_nothing_half_written(
    tmp_path, people_folder, sent, code, said
):
    many, out = tmp_path / "many.csv", tmp_path / "out"
    pd.concat([pd.read_csv(people_folder / "new.csv")] * 400).to_csv(many, index=False)
    out.mkdir()
    command = [sys.executable, "-m", "cape", "predict", str(people_folder / "m.cape")]
    process = subprocess.Popen(
        [*command, str(many), "--out", str(out / "p.csv")],
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not list(out.iterdir()):
        time.sleep(0.01)
    process.send_signal(getattr(signal, sent))
    _, err = process.communicate()
    assert process.returncode == code
    assert err.strip() == said
    assert list(out.iterdir()) == []


AUDIT = """
import sys
from cape.cli._app import run
sys.exit(run(["audit", "/dev/stdin", "--label", "y", "--prediction", "y", "--json"]))
"""


def test_standard_input_is_read_from_a_file_and_refused_from_a_pipe(tmp_path):
    content = "y,x\n" + "1,2\n0,3\n" * 20
    (tmp_path / "t.csv").write_text(content)
    command = [sys.executable, "-c", AUDIT]
    with (tmp_path / "t.csv").open() as redirected:
        done = subprocess.run(command, stdin=redirected, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(command, input=content, capture_output=True, text=True)
    assert done.returncode == 2
    assert "a pipe or a device" in done.stderr
