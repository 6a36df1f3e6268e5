"""The application: what goes to which stream, how it fails, and its progress bars."""

import io
import json

import pytest
from rich.console import Console

import cape
import cape.cli._app as app
from cape.cli._train import _settings
from cape.files import DEFAULT_SETTINGS, FILE_LEARNERS, PAPER_SETTINGS
from cape.quantify import QUANTIFIERS


@pytest.fixture
def screen(monkeypatch):
    """A terminal whose error stream can be read."""
    text = io.StringIO()
    terminal = Console(file=text, force_terminal=True, width=80)
    monkeypatch.setattr(app, "aside", terminal)
    return text


def test_the_version_is_that_of_the_package(cape):
    from cape import __version__

    code, out, err = cape("--version")
    assert code == 0
    assert out == f"cape {__version__}\n"
    assert err == ""


def test_without_arguments_the_help_is_shown(cape):
    code, out, err = cape()
    assert code == 2
    assert "Usage: cape" in out + err
    assert "error" not in err


def test_a_mistake_before_the_command_points_to_the_help_of_all(cape):
    code, out, err = cape("--nonsense")
    assert code == 2
    assert out == ""
    assert err.endswith("See: cape --help\n")


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
    cape, monkeypatch, error, code, message
):
    def fail(path):
        raise error

    monkeypatch.setattr("cape.files.describe_file", fail)
    exit_code, out, err = cape("info", "m.cape")
    assert exit_code == code
    assert out == ""
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_may_stand_anywhere(monkeypatch, place):
    arguments = ["info", "nowhere.cape"]
    arguments.insert(place, "--debug")
    with pytest.raises(FileNotFoundError):
        app.run(arguments)


def test_markup_in_an_error_is_shown_as_it_is(cape, tmp_path):
    _, _, err = cape("info", tmp_path / "[red]m[/red].cape")
    assert "[red]m[/red].cape" in err


def test_json_keeps_letters_and_refuses_nan(capsys):
    app.give_json({"group": "größer"})
    out = capsys.readouterr().out
    assert "größer" in out
    assert json.loads(out) == {"group": "größer"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        app.give_json({"pd": float("nan")})


def test_a_path_is_one_line_however_long(capsys):
    path = "/".join(["folder"] * 40)
    app.give_path("report", path)
    assert capsys.readouterr().out == f"report: {path}\n"


def test_a_line_is_wrapped_unless_told(capsys):
    text = "word " * 40
    app.give_line(text.strip())
    assert capsys.readouterr().out.count("\n") > 1
    app.give_line(text.strip(), wrap=False)
    assert capsys.readouterr().out.count("\n") == 1


def test_notes_are_lines_on_the_error_stream(capsys):
    app.give_notes(["one [b]", "two"])
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "note: one [b]\nnote: two\n"


def test_without_a_terminal_no_progress_is_shown(capsys):
    with app.progress(10) as advance:
        advance("reading", 5)
    assert capsys.readouterr() == ("", "")


def test_each_stage_has_a_bar(screen):
    with app.progress(10) as advance:
        advance("reading", 4)
        advance("reading", 6)
        advance("predicting", 10)
    drawn = screen.getvalue()
    assert "reading" in drawn
    assert "predicting" in drawn
    assert "10/10" in drawn


def test_the_second_stage_is_as_long_as_the_first_turned_out(screen):
    with app.progress(None) as advance:
        advance("reading", 7)
        advance("predicting", 7)
    assert "7/7" in screen.getvalue()


def test_the_bar_ends_when_another_begins(screen):
    with app.progress(10, stop_at="training") as advance:
        advance("reading", 10)
        advance("training", 0)
        drawn = screen.getvalue()
        advance("training", 0)
        assert screen.getvalue() == drawn
    assert "training" not in screen.getvalue()


def test_bars_count_other_things_than_rows(screen):
    with app.progress(3, "batches") as advance:
        advance("batches", 3)
    assert "rows" not in screen.getvalue()
    assert "3/3" in screen.getvalue()


def in_one_line(text):
    return " ".join(text.replace("│", " ").split())


def test_the_help_of_train_lists_every_quantifier_and_learner(cape):
    _, out, _ = cape("train", "--help")
    text = in_one_line(out)
    assert f"How prevalences are estimated: {', '.join(QUANTIFIERS)}." in text
    assert f"What is trained: {', '.join(FILE_LEARNERS)} (auto: " in text


@pytest.mark.parametrize("name", ["pool", "quantifier", "scores", "cv"])
def test_the_help_of_train_names_both_defaults(cape, name):
    _, out, _ = cape("train", "--help")
    default = DEFAULT_SETTINGS[name]
    in_paper = PAPER_SETTINGS[name]
    assert f"Default: {default}; with --paper: {in_paper}." in in_one_line(out)


@pytest.mark.parametrize("command", ["train", "predict", "monitor", "audit", "info"])
def test_flags_take_no_value(cape, command):
    _, out, _ = cape(command, "--help")
    flag = next(line for line in out.splitlines() if "--json" in line)
    assert "bool" not in flag


def test_the_help_of_predict_names_the_columns_it_adds(cape):
    _, out, _ = cape("predict", "--help")
    text = in_one_line(out)
    for column in ("prediction", "probability", "estimated_prevalence"):
        assert column in text


def test_settings_start_from_the_default_or_the_paper():
    nothing = {"pool": None, "cv": None}
    assert _settings(False, nothing) == DEFAULT_SETTINGS
    assert _settings(True, nothing) == PAPER_SETTINGS


def test_an_option_wins_over_both():
    assert _settings(True, {"cv": 3}) == {**PAPER_SETTINGS, "cv": 3}
    assert _settings(False, {"pool": "resampled"})["pool"] == "resampled"
    assert DEFAULT_SETTINGS["pool"] == "threshold"


def test_every_default_is_a_parameter_of_the_classifier():
    parameters = cape.CapeClassifier().get_params()
    assert set(DEFAULT_SETTINGS) <= set(parameters)
    assert set(PAPER_SETTINGS) <= set(parameters)
