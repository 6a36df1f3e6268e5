"""The options before any command, no command, and the bar that counts rows."""

import io
import json

import pytest
from rich.console import Console

import cape.cli._app as app
from cape import __version__


def test_the_version_is_printed(cape):
    assert cape("--version") == (0, f"cape {__version__}\n", "")


def test_an_unknown_option_before_any_command_is_refused(refused):
    refused("--nope", says=["No such option", "--nope", "cape --help"])


def test_no_arguments_show_the_help_and_no_error(cape):
    code, out, err = cape()
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
