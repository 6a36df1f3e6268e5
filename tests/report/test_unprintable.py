"""Names with control characters are drawn, and a failed picture loses no page."""

import subprocess
import sys

import pytest

from cape.metrics._rates import Confusion
from cape.report import to_html, write_report
from cape.report._audit import audit_summary
from cape.report._pictures import Picture

HOSTILE = ["a\x00b", "\x1b[31mred", "\ud800", "\ufffe", "\u202eabc", "a\nb"]

# In a process of its own: without the escapes it ends by a signal.
_DRAW_HOSTILE_NAMES = """
import sys
from cape.metrics import Confusion
from cape.report import to_html
from cape.report._audit import audit_summary

names = eval(sys.argv[1])
counts = {name: Confusion(40, 10, 10, 40, 100) for name in names}
columns = {"label": names[0], "prediction": names[1]}
summary = audit_summary(
    counts, level=0.95, file=names[0], file_sha256="0", columns=columns
)
page = to_html(summary)
print(page.count("<svg"), page.encode().count(b"could not be drawn"))
"""


def audit_of(names):
    """Summarise an audit of groups with these names."""
    counts = {name: Confusion(40, 10, 10, 40, 100) for name in names}
    return audit_summary(counts, level=0.95, file="f.csv", file_sha256="0", columns={})


@pytest.mark.slow
def test_control_characters_do_not_end_the_process():
    command = [sys.executable, "-c", _DRAW_HOSTILE_NAMES, repr(HOSTILE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    n_pictures, n_failures = map(int, done.stdout.split())
    assert n_pictures > 0 and n_failures == 0


@pytest.mark.parametrize("ending", ["html", "json"])
def test_a_page_of_hostile_names_is_written(tmp_path, ending):
    path = write_report(audit_of(HOSTILE), tmp_path / f"page.{ending}")
    text = path.read_text(encoding="utf-8")
    assert text and not set("\x00\x1b\ufffe\u202e") & set(text)


class _Broken:
    """A chart that cannot be drawn."""

    def __init__(self, error):
        self._error = error

    def to_dict(self):
        raise self._error


class _Panic(BaseException):
    """As Rust's panics come to Python."""


@pytest.mark.parametrize("error", [ValueError("<b>bad</b>"), _Panic("lost")])
def test_a_failed_picture_says_so_in_its_place(monkeypatch, error):
    def no_pictures(summary):
        return [Picture("heading", "title", _Broken(error), _frame())]

    monkeypatch.setattr("cape.report._pictures.rate_pictures", no_pictures)
    page = to_html(audit_of(["a", "b"]))
    assert f"This picture could not be drawn ({type(error).__name__}: " in page
    assert "<b>bad" not in page
    assert page.rstrip().endswith("</html>")


def _frame():
    import pandas as pd

    return pd.DataFrame({"x": [1]})


def test_an_interrupted_page_stays_interrupted():
    picture = Picture("heading", "title", _Broken(KeyboardInterrupt()), _frame())
    with pytest.raises(KeyboardInterrupt):
        _ = picture.svg
