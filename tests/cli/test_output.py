"""How a summary is handed over: page, JSON or tables, each where it belongs."""

import json

import pytest
import typer

from cape.cli._fail_if import Breach, Condition, Finding
from cape.cli._output import Output

SUMMARY = {"kind": "audit", "rows": 3}
NOTED = {**SUMMARY, "notes": ["look."]}


def show(summary):
    from cape.cli._app import give_line

    give_line(f"{summary['rows']} rows")


def give(output, **changes):
    given = {"show": show, "notes": ["look."], "more": {"failed": []}, **changes}
    output.give(SUMMARY, **given)


def test_tables_are_printed_and_notes_go_to_the_error_stream(capsys):
    give(Output(None, False, False))
    out, err = capsys.readouterr()
    assert out == "3 rows\n"
    assert err == "note: look.\n"


def test_json_holds_the_summary_and_more(capsys):
    give(Output(None, False, True), more={"failed": ["x"]})
    out, err = capsys.readouterr()
    assert json.loads(out) == {**NOTED, "failed": ["x"]}
    assert err == "note: look.\n"


@pytest.mark.parametrize("as_json", [True, False])
def test_the_report_holds_the_summary_and_the_notes(tmp_path, capsys, as_json):
    report = tmp_path / "r.json"
    give(Output(report, False, as_json))
    assert json.loads(report.read_text()) == NOTED
    printed = f"report: {report}" in capsys.readouterr().out
    assert printed is not as_json


def test_without_a_report_nothing_is_checked_or_written(tmp_path):
    Output(None, False, False).check()
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_exists_is_refused_unless_it_may_be_replaced(tmp_path):
    report = tmp_path / "r.json"
    report.write_text("mine")
    with pytest.raises(FileExistsError, match="--force"):
        Output(report, False, False).check()
    Output(report, True, False).check()
    assert report.read_text() == "mine"
    give(Output(report, True, False))
    assert json.loads(report.read_text()) == NOTED


def test_a_report_of_another_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.html or \.json"):
        Output(tmp_path / "r.pdf", False, False).check()


@pytest.mark.parametrize("as_json", [True, False])
def test_a_breach_is_handed_over_before_the_command_fails(capsys, as_json):
    conditions = [Condition("pd", ">", 0.5)]
    findings = [Finding("pd", "a", 0.75), Finding("pd", "b", None, "too few rows")]
    breach = Breach("pd>0.5", "a", 0.75, 0.25)
    output = Output(None, False, as_json)
    with pytest.raises(typer.Exit) as stop:
        output.give_and_judge(
            SUMMARY, conditions, findings, "failed", show=show, notes=[]
        )
    assert stop.value.exit_code == 1
    out = capsys.readouterr().out
    if as_json:
        content = json.loads(out)
        assert content.pop("failed") == [breach.to_dict()]
        assert [left["where"] for left in content.pop("left_out")] == ["b"]
        assert content == {**SUMMARY, "notes": []}
    else:
        left_out = "fail-if pd>0.5 left out, too few rows: b"
        assert out == f"3 rows\n{left_out}\n{breach}\n"


def test_without_a_breach_the_command_goes_on(capsys):
    output = Output(None, False, True)
    output.give_and_judge(SUMMARY, [], [], "failed", show=show, notes=[])
    more = {"failed": [], "left_out": [], "notes": []}
    assert json.loads(capsys.readouterr().out) == {**SUMMARY, **more}
