"""The application: streams, errors, exit codes, progress bars, and what is quick."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from rich.console import Console

from cape import CapeClassifier, __version__
from cape.base._errors import ParameterError
from cape.datasets import make_synthetic
from cape.quantify import QUANTIFIERS

COMMANDS = ["train", "predict", "sample", "audit"]
COMMANDS += ["info", "demo"]


@pytest.fixture
def screen(monkeypatch):
    """A terminal whose error stream can be read."""
    text = io.StringIO()
    terminal = Console(file=text, force_terminal=True, width=80)
    monkeypatch.setattr("cape_app.cli._app.aside", terminal)
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
    assert f": {', '.join(QUANTIFIERS)}." in text
    assert ": auto, boosting, logistic (auto: " in text
    default, paper = CapeClassifier().get_params(), CapeClassifier.paper().get_params()
    for name in ("pool", "quantifier", "scores", "cv"):
        assert f"Default: {default[name]}; with --paper: {paper[name]}." in text


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            ParameterError("level", "must be\n  in (0, 1)."),
            2,
            "--level must be in (0, 1).",
        ),
        (ImportError("needs altair"), 2, "needs altair"),
        (ValueError(), 2, "ValueError"),
        (KeyError("x"), 3, "unexpected KeyError: 'x'. Run again with --debug"),
    ],
)
def test_errors_are_one_line_and_have_an_exit_code(
    cape, monkeypatch, people_folder, error, code, message
):
    def fail(path, key):
        raise error

    monkeypatch.setattr("cape_app.files._model.describe_file", fail)
    exit_code, out, err = cape("info", people_folder / "m.cape")
    assert (exit_code, out) == (code, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


def test_debug_may_stand_anywhere(cape):
    for place in range(3):
        arguments = ["info", "nowhere.cape"]
        arguments.insert(place, "--debug")
        with pytest.raises(FileNotFoundError):
            cape(*arguments)


def test_markup_is_shown_as_it_is_and_tables_fold_names_only(cape, tmp_path, scored):
    _, _, err = cape("info", tmp_path / "[red]m[/red].cape")
    assert "[red]m[/red].cape" in err
    name = "[red]a group[/red] with a very long name " * 4
    path = tmp_path / "scored.csv"
    scored.assign(race=scored["race"].replace("blue", name)).to_csv(path)
    columns = ("--label", "y", "--prediction", "yhat", "--group", "race")
    _, out, _ = cape("audit", path, *columns)
    assert "[red]a group[/red]" in in_one_line(out)
    # Numbers are not folded.
    assert re.search(r"( +0\.\d{3}){3} \(", out)


def test_a_result_is_printed_though_its_page_cannot_be_written(
    cape, people_folder, tmp_path, monkeypatch
):
    def fail(*arguments, **settings):
        raise OSError("no room")

    monkeypatch.setattr("cape_app.pages.write_report", fail)
    files = (people_folder / "m.cape", people_folder / "new.csv")
    code, out, err = cape("predict", *files, "--report", tmp_path / "r.html")
    assert (code, err) == (2, "error: no room\n")
    assert "Use the predictions" in out


def test_commands_show_their_progress_on_a_terminal(screen, cape, people_folder):
    new = people_folder / "new.csv"
    for files, stages in (
        ([new], ["reading", "predicting", "100%"]),
        ([new, new], ["batches", "100%"]),
    ):
        code, out, _ = cape("predict", people_folder / "m.cape", *files, "--json")
        assert code == 0
        assert json.loads(out)["rows"] == 700 * len(files)
        for stage in stages:
            assert stage in screen.getvalue()


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
    (
        TRAIN + "--min-group-size 999 --small-groups error",
        "or use --small-groups borrow",
    ),
    (TRAIN + "--seed -1", "--seed must be"),
    (TRAIN + "--jobs 0", "--jobs must not be 0"),
    (TRAIN + "--decimal x", "--decimal must be"),
    ("train t.csv --out x.cape", "Missing option '--label'. See: cape train --help"),
    ("train t.csv --label y --out taken.cape", "(--force replaces it)"),
    ("audit t.csv --label y --prediction y --level 2", "--level must be"),
    ("predict t.csv t.csv", "MODEL must be a model file"),
    ("info t.csv", "MODEL must be a model file"),
    ("bogus", "See: cape --help"),
]


@pytest.mark.parametrize(("call", "says"), WRONG)
def test_no_error_names_a_parameter_of_python(cape, folder, work_in, call, says):
    work_in(folder)
    code, _, err = cape(*call.split())
    assert code == 2, err
    assert says in err
    assert err.count("\n") == 1
    # Neither name=value, nor a class or function of the library.
    assert "=" not in err.replace("x=", "") and "CapeClassifier" not in err
    assert "cape." not in err.replace(".cape", "") and "[Errno" not in err


CALLS = """
import json, sys
from cape_app.cli import _app
codes, loaded = [], []
for call in sys.argv[1:]:
    codes.append(_app.run(call.split()))
    loaded.append(sorted({name.partition(".")[0] for name in sys.modules}))
print(json.dumps([codes, loaded]))
"""


def run_calls(calls, folder):
    """Run calls in one process; what had been imported after each, and errors."""
    call = [sys.executable, "-c", CALLS, *calls]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    return *json.loads(done.stdout.splitlines()[-1]), done.stderr


MISTAKES = [
    "train train.csv --label y --out train.csv --force",
    "train none.csv --label y --out m2.cape",
    "predict m.cape new.csv --out taken.csv",
    "predict m.cape none.csv",
    "predict none.cape new.csv",
    "predict m.cape new.csv --report page.pdf",
    "sample m.cape none.csv --out s.csv",
    "predict m.cape new.csv none.csv",
    "predict m.cape new.csv --report taken.html",
    "audit none.csv --label y --prediction y",
    "info none.cape",
]


def test_errors_about_files_come_before_imports(tmp_path):
    for name in ("train.csv", "new.csv", "m.cape", "taken.csv", "taken.html"):
        (tmp_path / name).write_text("x\n")
    codes, loaded, err = run_calls(MISTAKES, tmp_path)
    assert codes == [2] * len(MISTAKES)
    assert err.count("error: ") == len(MISTAKES)
    heavy = {"sklearn", "scipy", "pandas", "pyarrow", "altair", "jinja2"}
    assert not heavy & set(loaded[-1])


def test_a_command_imports_what_it_needs_and_no_more(people_folder):
    calls = ["info m.cape", "predict m.cape new.csv"]
    codes, loaded, _ = run_calls(calls, people_folder)
    assert codes == [0, 0]
    assert not {"sklearn", "scipy", "altair"} & set(loaded[0])
    assert "altair" not in loaded[1]


def test_a_reader_that_leaves_is_no_error(people_folder):
    read, write = os.pipe()
    os.close(read)
    call = [sys.executable, "-m", "cape_app", "info", "m.cape"]
    streams = {"stdout": write, "stderr": subprocess.PIPE}
    try:
        done = subprocess.run(call, **streams, text=True, cwd=people_folder)
    finally:
        os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        pytest.param("SIGINT", 130, "stopped.", marks=pytest.mark.slow),
        ("SIGTERM", 143, ""),
        pytest.param("SIGHUP", 129, "", marks=pytest.mark.slow),
    ],
)
def test_a_command_that_is_stopped_leaves_nothing_half_written(
    tmp_path, people_folder, sent, code, said
):
    many, out = tmp_path / "many.csv", tmp_path / "out"
    pd.concat([pd.read_csv(people_folder / "new.csv")] * 60).to_csv(many, index=False)
    out.mkdir()
    command = [
        sys.executable,
        "-m",
        "cape_app",
        "predict",
        str(people_folder / "m.cape"),
    ]
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


@pytest.mark.slow
def test_standard_input_is_read_from_a_file_and_refused_from_a_pipe(tmp_path):
    content = "y,x\n" + "1,2\n0,3\n" * 20
    (tmp_path / "t.csv").write_text(content)
    command = [sys.executable, "-m", "cape_app", "audit", "/dev/stdin"]
    command += ["--label", "y", "--prediction", "y", "--json"]
    with (tmp_path / "t.csv").open() as redirected:
        done = subprocess.run(command, stdin=redirected, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(command, input=content, capture_output=True, text=True)
    assert done.returncode == 2
    assert "a pipe or a device" in done.stderr


# What a command might be at when its end comes.
AT_A_LONG_STEP = """
import sys
import numpy as np
from cape_app import cli
from cape.base._io import new_file

def work(argv=None):
    matrix = np.random.default_rng(0).normal(size=(4000, 4000))
    with new_file(sys.argv[1]):
        print("begun", flush=True)
        np.linalg.svd(matrix)

cli.run = work
cli.main()
"""
ARROW_READS_AHEAD = """
import sys
from pyarrow import csv
from cape_app import cli

class Slow:
    closed = False
    def read(self, size):
        sum(range(100_000))
        return b"1,2\\n" * (size // 4)

def work(argv=None):
    global reader
    reader = csv.open_csv(Slow(), csv.ReadOptions(block_size=1 << 16))
    reader.read_next_batch()
    print("an error", file=sys.stderr)
    return 2

cli.run = work
cli.main()
"""


@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_what_python_would_wait_for(tmp_path, sent):
    if signal.getsignal(getattr(signal, sent)) == signal.SIG_IGN:
        pytest.skip("the tests run below nohup, which ignores the signal")
    command = [sys.executable, "-c", AT_A_LONG_STEP, str(tmp_path / "a.txt")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(getattr(signal, sent))
        # The decomposition takes minutes.
        assert process.wait(timeout=20) == 128 + getattr(signal, sent)
    assert list(tmp_path.iterdir()) == []


def test_a_thread_that_reads_ahead_does_not_abort_the_end():
    command = [sys.executable, "-c", ARROW_READS_AHEAD]
    for _ in range(3):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (2, "an error\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk")
@pytest.mark.parametrize("call", ["--help", "info m.cape", "info m.cape --json"])
def test_an_output_that_is_full_is_named(people_folder, call):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cape_app", *call.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=people_folder,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output or ")
    assert done.stderr.count("\n") == 1
