"""``cape compare``, ``cape reproduce page``, ``cape demo`` and the options before any command."""

import functools
import io
import json
import re

import pytest
from rich.console import Console

import cape.cli._app as app
import cape.experiments as experiments
from cape import __version__
from cape._tables import read_table

METHODS = ["CAPE threshold", "Max_Acc"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory, people_folder):
    """A run of two methods: its folder, what it printed, and the same from Python."""
    folder = tmp_path_factory.mktemp("own")
    tables = people_folder / "train.csv", people_folder / "new.csv"
    screen = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cape.cli._results.console", Console(file=screen, width=80))
        options = [
            "--learner",
            "logistic",
            "--seeds",
            "1",
            "--jobs",
            "1",
            "--positive",
            "0",
            "--out",
            str(folder),
        ]
        chosen = [word for name in METHODS for word in ("--method", name)]
        code = app.run(
            [
                "compare",
                *map(str, tables),
                "--label",
                "y",
                "--group",
                "race",
                *options,
                *chosen,
            ]
        )
    problem = experiments.table_problem(
        *map(read_table, tables), label="y", group=["race"], positive=0
    )
    same = experiments.compare_methods(
        problem, methods=METHODS, seeds=1, learner="logistic", n_jobs=1
    )
    return folder, code, screen.getvalue(), same


def test_compare_prints_and_writes_the_numbers_of_the_python_function(compared):
    folder, code, out, same = compared
    results = json.loads((folder / "results.json").read_text())
    assert code == 0 and [row["method"] for row in results["rows"]] == METHODS
    assert [row["mean"] for row in results["rows"]] == [
        row["mean"] for row in same["rows"]
    ]
    assert (
        results["groups"] == ["blue", "green"]
        and "Positive: y = 0. Groups: race." in results["notes"]
    )
    for row in same["rows"]:
        pd_0, pd_1 = (
            f"{row['mean'][name]:.3f}".removeprefix("0") for name in ("pd_0", "pd_1")
        )
        assert re.search(
            rf"{row['method']} .*{re.escape(pd_0)} +{re.escape(pd_1)} ", out
        )
    assert max(map(len, out.splitlines())) <= 80


def test_compare_says_which_files_it_left(compared):
    folder, _, out, _ = compared
    names = out.replace("\n", " ").split(f"files in {folder}: ")[1].split(", ")
    assert {name.strip() for name in names} == {
        path.name for path in folder.iterdir() if path.is_file()
    }
    assert {"results.json", "results.md", "own-methods.png"} <= {
        name.strip() for name in names
    }


def test_mistakes_in_tables_are_found_before_anything_is_run(
    refused, people_folder, tmp_path
):
    train, new = people_folder / "train.csv", people_folder / "new.csv"
    frame = read_table(new)
    end = ("--out", tmp_path / "o")
    refused(
        "compare",
        train,
        new,
        "--label",
        "why",
        "--group",
        "race",
        *end,
        says=["['why']", "'age', 'degree'"],
    )
    refused(
        "compare",
        train,
        new,
        "--label",
        "y",
        *end,
        says=["Missing option '--group'", "cape compare --help"],
    )
    both = ("--label", "y", "--group", "race", *end)
    refused(
        "compare",
        train,
        new,
        *both,
        "--positive",
        "2",
        says=["positive must be one of", "got '2'"],
    )
    refused(
        "compare",
        train,
        new,
        *both,
        "--seeds",
        0,
        says=["'--seeds'", "greater than or equal to 1"],
    )
    refused("compare", train, tmp_path / "none.csv", *both, says="there is no file")
    frame.assign(race="teal").to_csv(tmp_path / "t.csv", index=False)
    refused(
        "compare",
        train,
        tmp_path / "t.csv",
        *both,
        says=["groups of the training table alone", "['teal']"],
    )
    frame.drop(columns="age").to_csv(tmp_path / "t.csv", index=False)
    refused("compare", train, tmp_path / "t.csv", *both, says="got none called ['age']")


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (
            ["--method", "Nope"],
            "methods must be one of 'CAPE-D', 'CAPE-1', 'CAPE threshold'",
        ),
        (
            ["--favourable", "Nope"],
            "favourable must be one of 'positive', 'negative', got 'Nope'",
        ),
        (
            ["--learner", "Nope"],
            "learner must be one of 'boosting', 'logistic', got 'Nope'",
        ),
    ],
)
def test_a_choice_that_is_not_offered_leaves_no_folder(
    cape, people_folder, tmp_path, option, says
):
    tables = people_folder / "train.csv", people_folder / "new.csv"
    code, out, err = cape(
        "compare",
        *tables,
        "--label",
        "y",
        "--group",
        "race",
        "--out",
        tmp_path / "o",
        *option,
    )
    assert (
        code == 2
        and out == ""
        and says in err
        and "got 'Nope'" in err
        and not (tmp_path / "o").exists()
    )


def test_a_page_of_two_runs_is_in_the_order_given_and_is_replaced(
    cape, compared, tmp_path
):
    folder, *_ = compared
    results = json.loads((folder / "results.json").read_text())
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(
            json.dumps(results | {"title": f"Run {name}"})
        )
        (tmp_path / name / "own-methods.png").write_bytes(name.encode())
    page = tmp_path / "docs" / "page.md"
    for order in (["two", "one"], ["one", "two"]):
        code, out, err = cape(
            "reproduce", "page", *(tmp_path / name for name in order), "--out", page
        )
        assert code == 0 and out == err == ""
        assert re.findall("## Run (.*)", page.read_text()) == order
    assert "![two-methods](images/two-methods.png)" in page.read_text()
    assert (page.parent / "images" / "two-methods.png").read_bytes() == b"two"
    assert {path.name for path in page.parent.rglob("*")} == {
        "page.md",
        "images",
        "one-methods.png",
        "two-methods.png",
    }


def test_the_demo_prints_the_numbers_of_its_seed(
    cape, tmp_path, monkeypatch, read_rows
):
    small = functools.partial(experiments.run_demo, n_train=1000, n_test=600)
    monkeypatch.setattr(experiments, "run_demo", small)
    code, out, err = cape("demo", "--seed", 7, "--out", tmp_path / "new" / "pictures")
    table = small(random_state=7)
    assert (
        code == 0
        and err == ""
        and [path.name for path in (tmp_path / "new" / "pictures").iterdir()]
        == ["cape-demo.png"]
    )
    for name, row in table.iterrows():
        numbers = [
            row[m, z]
            for m in ("accuracy", "predicted_prevalence", "pd")
            for z in (0, 1)
        ] + [row["pe", "worst pair"]]
        line = next(
            line
            for line in out.splitlines()
            if line.strip().startswith(f"{name} ") and "." in line
        )
        assert re.findall(r"\d+\.\d{3}", line) == [f"{value:.3f}" for value in numbers]


def test_version_and_mistakes_before_any_command(cape, refused):
    assert cape("--version") == (0, f"cape {__version__}\n", "")
    refused("--nope", says=["No such option", "--nope", "cape --help"])
    refused(
        "reproduce", "paper", says=["No such command 'paper'", "cape reproduce --help"]
    )
    refused(
        "reproduce",
        "synthetic",
        "--rows",
        5,
        says=["'--rows'", "greater than or equal to 100"],
    )
    refused("reproduce", "page", says="Missing argument")


def test_a_page_of_what_is_no_run_leaves_nothing(refused, compared, tmp_path):
    folder, *_ = compared
    (tmp_path / "empty").mkdir()
    page = ("--out", tmp_path / "docs" / "page.md")
    refused(
        "reproduce",
        "page",
        folder,
        tmp_path / "empty",
        *page,
        says="empty has no results.json",
    )
    refused(
        "reproduce",
        "page",
        folder,
        folder,
        *page,
        says="folders must have distinct names",
    )


@pytest.mark.parametrize("command", [[], ["reproduce"]])
def test_no_arguments_show_the_help_and_no_error(cape, command):
    code, out, err = cape(*command)
    assert code == 2 and "Usage: cape" in out and err == ""


def test_off_a_terminal_no_bar_is_drawn(refused, people_folder, tmp_path):
    tables = people_folder / "train.csv", people_folder / "new.csv"
    options = ("--label", "y", "--group", "race", "--method", "Nope", "--out", tmp_path)
    refused("compare", *tables, *options, says=["Nope"])


@pytest.mark.parametrize("terminal", [True, False])
def test_audit_counts_rows_on_a_terminal_only(
    cape, scored, tmp_path, monkeypatch, terminal
):
    screen = io.StringIO()
    monkeypatch.setattr(
        app, "aside", Console(file=screen, force_terminal=terminal, width=80)
    )
    code, out, _ = cape(
        "audit",
        tmp_path / "scored.csv",
        "--label",
        "y",
        "--prediction",
        "yhat",
        "--json",
    )
    assert code == 0 and json.loads(out)["rows"] == 240
    assert (
        ("240/" in screen.getvalue() and "counting" in screen.getvalue())
        if terminal
        else screen.getvalue() == ""
    )
