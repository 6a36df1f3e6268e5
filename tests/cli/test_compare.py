"""``cape compare``, ``cape reproduce page``, and the options before any command."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import cape.cli._app as app
import cape.experiments as experiments
from cape import __version__
from cape._tables import read_table
from cape.cli import _compare

METHODS = ["CAPE default", "Max_Acc"]
COLUMNS = ("--label", "y", "--group", "race")


@pytest.fixture(scope="module")
def tables(people_folder):
    return people_folder / "train.csv", people_folder / "new.csv"


@pytest.fixture(scope="module")
def compared(tmp_path_factory, tables):
    """A run of two methods: its folder, its exit code and what it printed."""
    folder = tmp_path_factory.mktemp("own")
    screen = io.StringIO()
    options = (
        *("--learner", "logistic", "--seeds", "1", "--jobs", "1"),
        *("--positive", "0", "--out", str(folder)),
    )
    methods = []
    for name in METHODS:
        methods += ["--method", name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cape.cli._results.console", Console(file=screen, width=80))
        arguments = ["compare", *map(str, tables), *COLUMNS, *options, *methods]
        code = app.run(arguments)
    return folder, code, screen.getvalue()


@pytest.fixture(scope="module")
def from_python(tables):
    """The same comparison from Python."""
    train, new = map(read_table, tables)
    problem = experiments.table_problem(
        train, new, label="y", group=["race"], positive=0
    )
    return experiments.compare_methods(
        problem, methods=METHODS, seeds=1, learner="logistic", n_jobs=1
    )


def test_compare_writes_the_numbers_of_the_python_function(compared, from_python):
    folder, code, _ = compared
    results = json.loads((folder / "results.json").read_text())
    assert code == 0
    assert results["groups"] == ["blue", "green"]
    assert "Positive: y = 0. Groups: race." in results["notes"]
    for row, expected in zip(results["rows"], from_python["rows"], strict=True):
        assert row["method"] == expected["method"]
        assert row["mean"] == expected["mean"]


def test_compare_prints_the_numbers_of_the_python_function(compared, from_python):
    _, _, shown = compared
    for row in from_python["rows"]:
        pd_0 = f"{row['mean']['pd_0']:.3f}".removeprefix("0")
        assert re.search(rf"{row['method']} .*blue .*{re.escape(pd_0)} *\n", shown)
    for place, group in enumerate(("blue", "green")):
        for row in from_python["rows"]:
            pd = f"{row['mean'][f'pd_{place}']:.3f}".removeprefix("0")
            assert re.search(rf" {group} .*{re.escape(pd)} *\n", shown)


def test_what_compare_prints_fits_a_terminal_of_80_columns(compared):
    _, _, shown = compared
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_compare_says_which_files_it_left(compared):
    folder, _, shown = compared
    listed = shown.replace("\n", " ").split(f"files in {folder}: ")[1]
    names = {name.strip() for name in listed.split(", ")}
    assert names == {path.name for path in folder.iterdir() if path.is_file()}
    assert {"results.json", "results.md", "own-methods.png"} <= names


@pytest.fixture
def recorded(monkeypatch):
    """Replace the run, so that only options are looked at."""
    given = {}

    def record(run, out, *, jobs):
        given.update(run.keywords, problem=run.args[0], out=out, jobs=jobs)

    monkeypatch.setattr(_compare, "run_and_show", record)
    return given


def test_defaults_of_compare(cape, tables, recorded):
    code, _, _ = cape("compare", *tables, *COLUMNS)
    assert code == 0
    problem = recorded.pop("problem")
    assert problem.groups == ["blue", "green"]
    assert len(problem.X_test) == 700
    recorded.pop("jobs")
    assert recorded == {
        "learner": "boosting",
        "methods": None,
        "favourable": "positive",
        "seeds": 5,
        "slow_seeds": 1,
        "out": Path("results/own"),
    }


def test_options_of_compare_reach_the_comparison(cape, tables, recorded):
    cape(
        *("compare", *tables, *COLUMNS, "--group", "free", "--seeds", 2),
        *("--slow-seeds", 3, "--favourable", "negative", "--jobs", 4),
        *("--learner", "logistic", "--method", "AD", "--out", "there"),
    )
    problem = recorded.pop("problem")
    assert len(problem.groups) == 4
    assert recorded == {
        "learner": "logistic",
        "methods": ["AD"],
        "favourable": "negative",
        "seeds": 2,
        "slow_seeds": 3,
        "out": Path("there"),
        "jobs": 4,
    }


def test_rows_without_a_group_are_refused(refused, tables, tmp_path):
    out = ("--out", tmp_path / "o")
    says = ["the group columns must name a group in every row", "missing of 900"]
    refused("compare", *tables, *COLUMNS, "--group", "degree", *out, says=says)


def table_of_all_kinds(n_rows, seed):
    """Text, dates, missing values; three groups, labels that are words."""
    random = np.random.default_rng(seed)
    age = random.normal(40, 10, n_rows)
    repaid = age + random.normal(0, 8, n_rows) > 40
    table = pd.DataFrame(
        {
            "age": age,
            "race": random.choice(["x", "y", "z"], n_rows),
            "job": random.choice(["nurse", "teacher", None], n_rows),
            "note": [f"seen {random.integers(100)} times" for _ in range(n_rows)],
            "when": [f"2020-{1 + row % 12:02d}-15" for row in range(n_rows)],
            "outcome": np.where(repaid, "repaid", "default"),
        }
    )
    table.loc[::9, "age"] = np.nan
    return table


def test_compare_on_tables_of_all_kinds_with_a_peer(cape, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["cape", "compare", "train.csv", "a b.csv"])
    paths = []
    for name, seed in (("train", 0), ("test", 1)):
        paths.append(tmp_path / f"{name}.csv")
        table_of_all_kinds(300, seed).to_csv(paths[-1], index=False)
    methods = ("--method", "Max_Acc", "--method", "CEOP-fpr", "--method", "AD")
    code, shown, _ = cape(
        *("compare", *paths, "--label", "outcome", "--group", "race", *methods),
        *("--learner", "logistic", "--seeds", 1, "--jobs", 1),
        *("--out", tmp_path / "out"),
    )
    assert code == 0
    assert "CEOP-fpr" in shown
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["groups"] == ["x", "y", "z"]
    assert [row["status"] for row in results["rows"][:2]] == ["ok", "ok"]
    assert results["rows"][0]["mean"]["accuracy_0"] > 0.6
    assert results["command"] == "cape compare train.csv 'a b.csv'"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--label", "why", "--group", "race"), ["no column 'why'", "'age', 'degree'"]),
        (
            ("--label", "y"),
            ["Missing option '--group'", "cape compare --help"],
        ),
        ((*COLUMNS, "--positive", "2"), ["positive must be one of", "got '2'"]),
        ((*COLUMNS, "--seeds", 0), ["'--seeds'", "1"]),
    ],
)
def test_mistakes_in_options_are_found_before_anything_is_run(
    refused, tables, tmp_path, options, says
):
    refused("compare", *tables, *options, "--out", tmp_path / "o", says=says)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda table: table.assign(race="teal"),
            ["no group that the training table has not", "['teal']"],
        ),
        (lambda table: table.drop(columns="age"), ["got none called ['age']"]),
    ],
)
def test_mistakes_in_tables_are_found_before_anything_is_run(
    refused, tables, tmp_path, change, says
):
    train, new = tables
    change(read_table(new)).to_csv(tmp_path / "t.csv", index=False)
    out = ("--out", tmp_path / "o")
    refused("compare", train, tmp_path / "t.csv", *COLUMNS, *out, says=says)


def test_a_table_that_is_not_there_is_refused(refused, tables, tmp_path):
    missing = tmp_path / "none.csv"
    out = ("--out", tmp_path / "o")
    refused("compare", tables[0], missing, *COLUMNS, *out, says="there is no file")


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--method", "--method must be one of 'CAPE-D', 'CAPE-1', 'CAPE default'"),
        ("--favourable", "favourable must be one of 'positive', 'negative', got"),
        ("--learner", "learner must be one of 'boosting', 'logistic', got"),
    ],
)
def test_a_choice_that_is_not_offered_leaves_no_folder(
    refused, tables, tmp_path, option, says
):
    arguments = (*COLUMNS, "--out", tmp_path / "o", option, "Nope")
    refused("compare", *tables, *arguments, says=[says, "got 'Nope'"])


@pytest.fixture
def two_runs(compared, tmp_path):
    """Folders of two finished runs, each with a picture."""
    folder, *_ = compared
    results = json.loads((folder / "results.json").read_text())
    for name in ("one", "two"):
        run = tmp_path / name
        run.mkdir()
        content = json.dumps({**results, "title": f"Run {name}"})
        (run / "results.json").write_text(content)
        (run / "own-methods.png").write_bytes(name.encode())
    return tmp_path


@pytest.mark.parametrize("order", [("two", "one"), ("one", "two")])
def test_a_page_of_two_runs_is_in_the_order_given(cape, two_runs, order):
    page = two_runs / "docs" / "page.md"
    folders = [two_runs / name for name in order]
    code, out, err = cape("reproduce", "page", *folders, "--out", page)
    assert (code, out, err) == (0, "", "")
    assert tuple(re.findall("## Run (.*)", page.read_text())) == order


def test_a_page_is_replaced_and_has_its_pictures_beside_it(cape, two_runs):
    page = two_runs / "docs" / "page.md"
    for order in (("two", "one"), ("one", "two")):
        folders = [two_runs / name for name in order]
        cape("reproduce", "page", *folders, "--out", page)
    assert "![two-methods](images/two-methods.png)" in page.read_text()
    assert (page.parent / "images" / "two-methods.png").read_bytes() == b"two"
    names = {path.name for path in page.parent.rglob("*")}
    assert names == {"page.md", "images", "one-methods.png", "two-methods.png"}


def test_a_page_of_what_is_no_run_leaves_nothing(refused, compared, tmp_path):
    folder, *_ = compared
    empty = tmp_path / "empty"
    empty.mkdir()
    out = ("--out", tmp_path / "docs" / "page.md")
    says = "empty has no results.json"
    refused("reproduce", "page", folder, empty, *out, says=says)


def test_a_page_of_the_same_run_twice_is_refused(refused, compared, tmp_path):
    folder, *_ = compared
    out = ("--out", tmp_path / "docs" / "page.md")
    says = "folders must have distinct names"
    refused("reproduce", "page", folder, folder, *out, says=says)


def test_the_version_is_printed(cape):
    assert cape("--version") == (0, f"cape {__version__}\n", "")


def test_an_unknown_option_before_any_command_is_refused(refused):
    refused("--nope", says=["No such option", "--nope", "cape --help"])


@pytest.mark.parametrize("command", [[], ["reproduce"]])
def test_no_arguments_show_the_help_and_no_error(cape, command):
    code, out, err = cape(*command)
    assert code == 2
    assert "Usage: cape" in out
    assert err == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_audit_counts_rows_on_a_terminal_only(
    cape, scored, tmp_path, monkeypatch, terminal
):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=80)
    monkeypatch.setattr(app, "aside", console)
    columns = ("--label", "y", "--prediction", "yhat")
    code, out, _ = cape("audit", tmp_path / "scored.csv", *columns, "--json")
    assert code == 0
    assert json.loads(out)["rows"] == 240
    if terminal:
        assert "240/" in screen.getvalue()
        assert "counting" in screen.getvalue()
    else:
        assert screen.getvalue() == ""


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_tables_may_be_parquet_and_feather(cape, tables, tmp_path, recorded, ending):
    paths = []
    for path in tables:
        table = read_table(path)
        paths.append(tmp_path / f"{path.stem}.{ending}")
        getattr(table, f"to_{ending}")(paths[-1])
    code, _, err = cape("compare", *paths, *COLUMNS)
    assert code == 0, err
    problem = recorded["problem"]
    assert len(problem.X_train) == 900
    assert problem.groups == ["blue", "green"]


@pytest.mark.parametrize(
    "option",
    ["--label", "--group", "--positive", "--learner", "--method", "--favourable"],
)
def test_help_names_every_option(cape, option):
    code, out, _ = cape("compare", "--help")
    assert code == 0
    assert option in out


@pytest.fixture
def tables_read(monkeypatch):
    """What `cape compare` reads, and no comparison."""
    read = []

    def keep(train, test, **options):
        read.extend([train, test])
        raise ValueError("enough")

    monkeypatch.setattr("cape.experiments.table_problem", keep)
    return read


def test_compare_reads_files_as_train_does(cape, tmp_path, tables_read):
    text = "größe;race;y;id\n1,5;1;1;x\n2,5;2;0;y\n"
    (tmp_path / "a.csv").write_bytes(text.encode("latin-1"))
    # The numbers of one table are the text of the other, and nobody needs the id.
    text = "größe;race;y\n1,5;1;1\n2,5;unknown;0\n"
    (tmp_path / "b.csv").write_bytes(text.encode("latin-1"))
    dialect = ("--separator", ";", "--encoding", "latin-1", "--decimal", ",")
    files = (tmp_path / "a.csv", tmp_path / "b.csv")
    cape("compare", *files, *COLUMNS, *dialect, "--drop", "id")
    train, test = tables_read
    assert list(train) == list(test) == ["größe", "race", "y"]
    assert train["größe"].tolist() == [1.5, 2.5]
    assert train["race"].tolist() == ["1", "2"]
    assert test["race"].tolist() == ["1", "unknown"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--drop", "nothing"], "has no column 'nothing'; its columns are"),
        (["--group", "rase"], "has no column 'rase'; did you mean 'race'?"),
        (["--label", "z"], "the training table has no column 'z'; its columns are"),
    ],
)
def test_compare_names_the_column_that_is_missing(refused, tables, options, says):
    refused("compare", *tables, *COLUMNS, *options, says=says)
