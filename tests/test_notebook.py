"""Results in a notebook: a table and a picture, whatever the groups are called."""

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cape import plot
from cape._extras import MissingExtra
from cape._notebook import MOST_ROWS, Estimate, InNotebook, Shown
from cape.adaptation import Adaptation
from cape.metrics import Confusion, audit_counts

HOSTILE = [
    "<script>alert(1)</script>",
    "a\x00b",
    "\x1b[31mred",
    "\ud800",
    "\u202eabc",
    "a\nb",
    "' onload='x",
    '"><img src=x onerror=y>',
    "]]>&lt;",
]
COUNTS = Confusion(tp=30, fp=10, fn=10, tn=50, rows=100)
_VOID = {"img", "br", "meta", "link", "hr", "input"}


class Reader(HTMLParser):
    """Reads HTML: its tables as text, its elements, and whether all are closed."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.elements = []
        self.rows = []
        self.words = []
        self.ids = []

    def handle_starttag(self, tag, attributes):
        assert tag not in _VOID, tag
        self.open.append(tag)
        self.elements.append(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        for name, value in attributes:
            assert not name.startswith("on")
            is_link = name in ("href", "src", "xlink:href")
            assert not is_link or value.startswith("#"), value
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "small":
            self.rows[-1][-1] += " "

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        elif self.open[-1] == "p":
            self.words.append(data)


def read(result):
    """Read the HTML form of a result, which must be well-formed and without script."""
    html = result._repr_html_()
    # It can be written to a file: no half of a surrogate pair is left.
    html.encode()
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    assert not {"script", "link", "iframe", "foreignobject"} & set(reader.elements)
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", html)
    assert "@import" not in html
    return reader


@dataclass
class Result(InNotebook):
    """A result with any table and any picture."""

    frame: pd.DataFrame
    draw: object = None
    title: str = "Any result"
    notes: tuple = ()

    def plot(self):
        return self.draw()

    def _shown(self):
        return Shown(self.title, self.frame, self.notes)


def table_of(*cells):
    return pd.DataFrame({"value": cells}, index=pd.Index(range(len(cells)), name="g"))


def test_cells_have_three_digits_and_what_is_unknown_is_empty():
    cells = [0.12345, np.nan, None, 7, "a & b", True, np.inf, Estimate(0.5, 0.25, 1.0)]
    reader = read(Result(table_of(*cells), draw_nothing))
    assert reader.rows[0] == ["g", "value"]
    shown = [row[1] for row in reader.rows[1:]]
    expected = ["0.123", "", "", "7", "a & b", "True", "∞", "0.500 0.250 to 1.000"]
    assert shown == expected


def test_an_estimate_may_have_words_or_no_interval():
    cells = [Estimate("too few rows", 0.0, 1.0), Estimate(0.5, np.nan, np.nan)]
    reader = read(Result(table_of(*cells), draw_nothing))
    assert [row[1] for row in reader.rows[1:]] == [
        "too few rows 0.000 to 1.000",
        "0.500",
    ]


def test_a_long_table_is_cut_and_says_so():
    whole = read(Result(table_of(*range(MOST_ROWS)), draw_nothing))
    assert len(whole.rows) == 1 + MOST_ROWS
    assert whole.words == ["Any result"]
    cut = read(Result(table_of(*range(300)), draw_nothing))
    assert len(cut.rows) == 1 + MOST_ROWS
    assert cut.words[1] == "The first 20 of 300 rows; table() has all of them."


def test_a_table_without_rows_has_no_picture():
    reader = read(Result(table_of(), draw=None, notes=("Nothing.",)))
    assert reader.rows == [["g", "value"]]
    assert reader.words == ["Any result", "Nothing."]


class Panic(BaseException):
    """The libraries that draw raise errors that are no Exception."""


@pytest.mark.parametrize("error", [ValueError("no <b> mark"), Panic("at line 1")])
def test_a_failed_picture_does_not_lose_the_table(error):
    def fail():
        raise error

    reader = read(Result(table_of(0.5), fail))
    assert reader.rows[1] == ["0", "0.500"]
    assert "svg" not in reader.elements
    [words] = reader.words[1:]
    assert "could not be drawn" in words and str(error) in words


def test_who_stops_the_notebook_stops_it():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Result(table_of(0.5), stop)._repr_html_()


def test_ids_of_two_pictures_differ():
    one = read(Result(table_of(1), lambda: plot.frontier(curve(0.5), criterion="x")))
    other = read(Result(table_of(1), lambda: plot.frontier(curve(0.6), criterion="x")))
    assert not set(one.ids) & set(other.ids)


def curve(accuracy):
    ends = {"accuracy_low": accuracy - 0.1, "accuracy_high": accuracy + 0.1}
    points = {"rule": None, "x": [0.0, 0.1], "accuracy": accuracy}
    return pd.DataFrame({**points, **ends})


def draw_nothing():
    raise MissingExtra


@given(st.text(min_size=1, max_size=12))
def test_no_text_of_the_data_is_markup(name):
    frame = pd.DataFrame({name: [name]}, index=pd.Index([name], name="g"))
    reader = read(Result(frame, draw_nothing, title=name, notes=(name,)))
    assert reader.elements.count("td") == 2
    assert reader.elements.count("p") == 2


@pytest.fixture(scope="module")
def adaptation(fitted, batch):
    return fitted().adapt(batch.X, sensitive_features=batch.z)


def renamed(adaptation, names):
    """The same adaptation, of groups by other names."""
    [first, *_] = adaptation.groups.values()
    groups = dict.fromkeys(names, first)
    return replace(adaptation, groups=groups)


def test_an_adaptation_shows_its_numbers(adaptation):
    reader = read(adaptation)
    assert "svg" in reader.elements
    table = adaptation.table()
    assert [row[0] for row in reader.rows[1:]] == ["0", "1"]
    for row, (_, numbers) in zip(reader.rows[1:], table.iterrows(), strict=True):
        shown = dict(zip(reader.rows[0], row, strict=True))
        assert shown["rows"] == str(numbers["rows"])
        assert shown["in training"] == f"{numbers['training_prevalence']:.3f}"
        interval = f"{numbers['low']:.3f} to {numbers['high']:.3f}"
        assert shown["now"] == f"{numbers['estimate']:.3f} {interval}"
        assert shown["called positive"] == f"{numbers['predicted_prevalence']:.3f}"
        assert shown["PD at most"] == f"{numbers['pd_bound']:.3f}"


def test_an_adaptation_draws_its_numbers(adaptation):
    chart = adaptation.plot().to_dict()
    [rows] = chart["datasets"].values()
    table = adaptation.table()
    assert [row["group"] for row in rows] == ["0", "1"]
    assert [row["now"] for row in rows] == table["estimate"].tolist()
    assert [row["training"] for row in rows] == table["training_prevalence"].tolist()
    assert "95 % intervals" in chart["title"]["text"]


def test_with_labels_the_diamond_is_what_was_estimated_without(fitted, batch):
    labels = np.where(batch.z == 0, batch.y, np.nan)
    with_labels = fitted().adapt(batch.X, labels, sensitive_features=batch.z)
    chart = with_labels.plot().to_dict()
    assert chart["title"]["subtitle"][-1] == "diamond: estimated without labels"
    reader = read(with_labels)
    check = with_labels.groups[0]
    assert any(f"labels of all {check.rows} rows" in words for words in reader.words)


def test_without_intervals_none_are_promised(adaptation):
    plain = replace(adaptation, level=np.nan)
    assert "interval" not in plain.plot().to_dict()["title"]["text"]
    assert all("interval" not in words for words in read(plain).words)


def test_an_adaptation_to_no_rows_says_so():
    reader = read(Adaptation("x", {}))
    assert reader.elements.count("tr") == 1


@pytest.mark.parametrize("n_groups", [1, 300])
def test_a_picture_of_many_groups_stays_small(adaptation, n_groups):
    many = renamed(adaptation, [f"g{i}" for i in range(n_groups)])
    html = many._repr_html_()
    assert len(html) < 60_000
    height = re.search(r'<svg[^>]* height="(\d+)"', html)
    assert int(height[1]) < 1000
    audited = audit_counts(dict.fromkeys(many.groups, COUNTS), n_resamples=5)
    assert len(audited._repr_html_()) < 60_000


def test_hostile_names_are_text(adaptation):
    reader = read(renamed(adaptation, HOSTILE))
    assert len(reader.rows) == 1 + len(HOSTILE)
    assert "svg" in reader.elements
    audited = audit_counts(dict.fromkeys(HOSTILE, COUNTS), n_resamples=5)
    reader = read(audited)
    assert len(reader.rows) == 1 + len(HOSTILE)
    assert reader.rows[1][0] == HOSTILE[0]
    assert "svg" in reader.elements


def test_an_audit_shows_its_numbers():
    counts = {
        "a": COUNTS,
        "b": Confusion(tp=3, fp=1, fn=1, tn=2, rows=7),
    }
    audited = audit_counts(counts, n_resamples=50)
    reader = read(audited)
    table = audited.table()
    heads = {"FPR": "fpr", "called positive": "predicted_prevalence", "PD": "pd"}
    for row in reader.rows[1:]:
        shown = dict(zip(reader.rows[0], row, strict=True))
        for head, metric in heads.items():
            numbers = table.loc[(row[0], metric)]
            value = f"{numbers['value']:.3f}"
            if not numbers["enough"]:
                value = "too few rows"
            interval = f"{numbers['low']:.3f} to {numbers['high']:.3f}"
            assert shown[head] == f"{value} {interval}"
    [rows] = audited.plot().to_dict()["datasets"].values()
    [a, b] = rows
    assert a["true"] == table.loc[("a", "prevalence"), "value"]
    assert a["predicted_high"] == table.loc[("a", "predicted_prevalence"), "high"]
    # Of a few rows the interval is drawn, and no value.
    assert b["true"] is None and b["true_high"] > b["true_low"]


WITHOUT_PICTURES = """
from cape.metrics import Confusion, audit_counts
counts = Confusion(tp=30, fp=10, fn=10, tn=50, rows=100)
audited = audit_counts({"a": counts, "b": counts}, n_resamples=5)
html = audited._repr_html_()
print("<table" in html, "svg" in html.split("</style>")[1], "drawn" in html)
audited.plot().to_dict()
"""


@pytest.mark.parametrize("hidden", ["altair", "vl_convert", "jinja2"])
def test_without_extras_the_table_is_left(run_without, hidden):
    result = run_without([hidden], WITHOUT_PICTURES)
    assert result.stdout == "True False False\n", result.stderr
    # A chart can be made, and shown by altair, without what draws it as SVG.
    if hidden == "vl_convert":
        assert result.stderr == ""
        return
    last_line = result.stderr.strip().splitlines()[-1]
    assert last_line == (
        f"cape._extras.MissingExtra: cape.plot needs {hidden}, which is not "
        'installed: pip install "cape-fair[app]".'
    )
