"""``cape watch``: a look at new rows, with its state in a file."""

import json
import os
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest


def draw(random, rows, shares):
    group = random.choice(["a", 'b "2"'], rows)
    y = (random.random(rows) < np.where(group == "a", *shares)).astype(int)
    p = 1 / (1 + np.exp(0.72 - 1.2 * random.normal(1.2 * y)))
    approved = np.where(p > 0.5, "yes", "no")
    return pd.DataFrame({"g": group, "p": p, "approved": approved, "y": y})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A reference, its model, and six days; group a moves on the third."""
    from cape_app.files import train_file

    folder = tmp_path_factory.mktemp("watch")
    random = np.random.default_rng(0)
    draw(random, 4000, (0.3, 0.4)).to_csv(folder / "reference.csv", index=False)
    train_file(
        folder / "reference.csv",
        folder / "model.cape",
        label="y",
        group=["g"],
        score="p",
        decision="approved",
    )
    for day in range(1, 7):
        shares = (0.3 if day < 3 else 0.65, 0.4)
        frame = draw(random, 800, shares).drop(columns="y")
        frame.to_csv(folder / f"2026-05-0{day}.csv", index=False)
    return folder


def test_days_are_looked_at_until_an_alarm_is_acknowledged(cape, folder, tmp_path):
    state = ("--state", tmp_path / "watch.json")
    codes = []
    for day in range(1, 7):
        file = folder / f"2026-05-0{day}.csv"
        code, out, _ = cape("watch", folder / "model.cape", file, *state, "--json")
        codes.append(code)
    assert codes[:2] == [0, 0] and codes[-1] == 1
    content = json.loads(out)
    assert content["look"] == "2026-05-06" and content["number"] == 6
    alarm, gap = content["alarms"]
    assert (alarm["question"], alarm["groups"]) == ("moved>0.05", ["a"])
    assert gap["question"] == "parity>0.1"
    assert content["acknowledge"].endswith("--acknowledge 'moved>0.05:a'")
    assert alarm["since"] in ("2026-05-02", "2026-05-03", "2026-05-04")

    shown = ("watch", folder / "model.cape", *state, "--acknowledge", "moved:a")
    code, out, _ = cape(*shown)
    assert code == 1 and out.count("Alarm: ") == 1
    code, out, _ = cape(*shown[:-1], 'parity:a,b "2"')
    assert code == 0 and "ALARM" not in out
    assert cape(*shown)[0] == 2


def test_labels_of_a_file_count_if_asked_to(cape, folder, tmp_path):
    widths = []
    for options in ([], ["--labels"]):
        state = tmp_path / f"{len(options)}.json"
        file = folder / "reference.csv"
        _, out, _ = cape(
            "watch", folder / "model.cape", file, "--state", state, *options, "--json"
        )
        share = json.loads(out)["groups"][0]["share"]
        widths.append(share["high"] - share["low"])
    assert widths[1] < 0.8 * widths[0]


def test_one_screen_has_a_line_a_group(cape, folder, tmp_path):
    options = ("--state", tmp_path / "w.json", "--ask", "broken", "--ask", "parity")
    file = folder / "2026-05-01.csv"
    code, out, _ = cape("watch", folder / "model.cape", file, *options)
    assert code == 0
    assert len([line for line in out.splitlines() if line.strip()]) <= 11


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["2026-05-01.csv", "--name", "other"], "evidence"),
        (["2026-05-02.csv", "--name", "2026-05-01"], "--name"),
        (["2026-05-02.csv", "--ask", "changed"], "--ask"),
        (["2026-05-02.csv", "--labels"], "labels"),
        (["2026-05-02.csv", "--fail-if", "mood"], "question"),
        ([], "FILE"),
        (["--acknowledge", "moved:z"], "group"),
    ],
)
def test_mistakes_are_told_and_count_nothing(cape, folder, tmp_path, options, words):
    state = tmp_path / "watch.json"
    first = ("watch", folder / "model.cape", folder / "2026-05-01.csv")
    assert cape(*first, "--state", state)[0] == 0
    before = state.read_text()
    if options and options[0].endswith(".csv"):
        options = [folder / options[0], *options[1:]]
    code, _, err = cape("watch", folder / "model.cape", *options, "--state", state)
    assert code == 2 and words in err
    assert state.read_text() == before


def test_what_is_odd_about_dates_is_said(cape, folder, tmp_path):
    state = ("--state", tmp_path / "watch.json")
    said = []
    for number, date in enumerate(("03", "04", "04", "06", "02"), 1):
        number -= number > 2
        file = folder / f"2026-05-0{number}.csv"
        _, out, _ = cape(
            *("watch", folder / "model.cape", file, *state, "--json"),
            *("--name", f"2026-{date}"),
        )
        said.append(" ".join(json.loads(out)["notes"]))
    assert said[:2] == ["", ""]
    assert "taken before" in said[2] and "2026-05" in said[3]
    assert "2026-02 comes after 2026-06" in said[4]


def test_counts_of_a_database_are_a_look_like_any_other(cape, folder, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    model, file = folder / "model.cape", folder / "2026-05-04.csv"
    code, statement, _ = cape("evidence", model, "--table", "loans")
    assert code == 0
    with duckdb.connect() as database:
        database.register("loans", pd.read_csv(file))
        database.sql(statement).write_parquet(str(tmp_path / "counts.parquet"))
    states = []
    for source in ([file], [tmp_path / "counts.parquet", "--counts"]):
        state = tmp_path / f"{len(states)}.json"
        code, _, err = cape(
            "watch", model, *source, "--state", state, "--name", "today"
        )
        assert code in (0, 1), err
        states.append(json.loads(state.read_text()))
    assert states[0] == states[1]


def run_limited(limit, *arguments):
    """Run the command line in a process of its own, below a limit of its shell."""
    words = [sys.executable, "-m", "cape_app", *map(str, arguments)]
    return subprocess.run(
        ["sh", "-c", f"{limit}; exec {shlex.join(words)}"],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def test_a_picture_that_cannot_be_drawn_costs_neither_the_page_nor_the_look(
    folder, tmp_path
):
    look = ("watch", folder / "model.cape", folder / "2026-05-01.csv")
    page = tmp_path / "w.html"
    files = ("--state", tmp_path / "w.json", "--report", page)
    # V8 ends its process where it may not reserve some tens of gigabytes.
    done = run_limited("ulimit -v 8000000", *look, *files)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("could not be drawn") == 1
    assert "could not be drawn" in page.read_text() and "<svg" not in page.read_text()
    assert len(json.loads((tmp_path / "w.json").read_text())["state"]["looks"]) == 1


def test_a_look_whose_page_cannot_be_written_can_be_repeated(cape, folder, tmp_path):
    look = ("watch", folder / "model.cape", folder / "2026-05-01.csv")
    look += ("--state", tmp_path / "w.json", "--report", tmp_path / "w.html")
    done = run_limited("ulimit -f 40", *look)
    assert done.returncode == 2 and f"{tmp_path / 'w.html'}: File too" in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert cape(*look)[0] == 0


def test_two_watches_at_once_lose_no_look(folder, tmp_path):
    state = tmp_path / "w.json"
    running = []
    for day in (1, 2):
        file = folder / f"2026-05-0{day}.csv"
        command = [
            sys.executable,
            "-m",
            "cape_app",
            "watch",
            folder / "model.cape",
            file,
        ]
        running.append(
            subprocess.Popen(
                [*command, "--state", state],
                stdout=subprocess.DEVNULL,
            )
        )
    assert {process.wait() for process in running} <= {0, 1}
    looks = json.loads(state.read_text())["state"]["looks"]
    assert {look["name"] for look in looks} == {"2026-05-01", "2026-05-02"}
    assert sorted(tmp_path.iterdir()) == [state]
