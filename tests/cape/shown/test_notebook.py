"""Results in a notebook: a table and a picture, whatever the groups are called."""

import re
import warnings
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import altair
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import (
    Adaptation,
    CapeClassifier,
    Estimate,
    Evidence,
    examination,
    examine,
)
from cape.datasets import make_synthetic
from cape.metrics import audit
from cape.shown._notebook import MOST_ROWS, InNotebook, MissingExtra

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
COUNTS = (30, 10, 10, 50)
_VOID = {"img", "br", "meta", "link", "hr", "input"}


class Reader(HTMLParser):
    """Reads HTML: its tables as text, its elements, and whether all are closed."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.elements = []
        self.rows = []
        self.words = []

    def handle_starttag(self, tag, attributes):
        assert tag not in _VOID, tag
        self.open.append(tag)
        self.elements.append(tag)
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
        return self.title, self.frame, self.notes


def audit_of(counts, n_resamples):
    """Audit groups of so many tp, fp, fn and tn."""
    y, y_pred, z = [], [], []
    for group, cells in counts.items():
        y += np.repeat([1, 0, 1, 0], cells).tolist()
        y_pred += np.repeat([1, 1, 0, 0], cells).tolist()
        z += [group] * sum(cells)
    return audit(y, y_pred, sensitive_features=z, n_resamples=n_resamples)


def table_of(*cells):
    return pd.DataFrame({"value": cells}, index=pd.Index(range(len(cells)), name="g"))


def test_cells_have_three_digits_and_what_is_unknown_is_empty():
    cells = [0.12345, np.nan, None, 7, "a & b", True, np.inf, Estimate(0.5, 0.25, 1.0)]
    cells += [Estimate("too few rows", 0.0, 1.0), Estimate(0.5, np.nan, np.nan)]
    reader = read(Result(table_of(*cells), draw_nothing))
    assert reader.rows[0] == ["g", "value"]
    shown = [row[1] for row in reader.rows[1:]]
    expected = ["0.123", "", "", "7", "a & b", "True", "∞", "0.500 0.250 to 1.000"]
    assert shown == [*expected, "too few rows 0.000 to 1.000", "0.500"]


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


def test_a_failed_picture_does_not_lose_the_table():
    def fail():
        raise ValueError("no <b> mark")

    reader = read(Result(table_of(0.5), fail))
    assert reader.rows[1] == ["0", "0.500"]
    assert "svg" not in reader.elements
    [words] = reader.words[1:]
    assert "could not be drawn" in words and "no <b> mark" in words


def test_who_stops_the_notebook_stops_it():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Result(table_of(0.5), stop)._repr_html_()


@pytest.mark.parametrize(("second", "differ"), [(2, True), (1, False)])
def test_ids_of_two_pictures_differ_unless_the_pictures_are_the_same(second, differ):
    found = []
    for end in (1, second):
        frame = pd.DataFrame({"x": [0, end], "y": [0, 1]})
        line = altair.Chart(frame).mark_line(clip=True).encode(x="x:Q", y="y:Q")
        html = Result(table_of(1), lambda line=line: line)._repr_html_()
        [name] = re.findall(r' id="([^"]*)"', html)
        assert html.count(f"url(#{name})") == html.count("url(#") > 0
        found.append(name)
    assert (found[0] != found[1]) == differ


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
        assert shown["training"] == f"{numbers['training_prevalence']:.3f}"
        interval = f"{numbers['low']:.3f} to {numbers['high']:.3f}"
        assert shown["now"] == f"{numbers['estimate']:.3f} {interval}"
        assert shown["predicted"] == f"{numbers['predicted_prevalence']:.3f}"
        assert shown["PD at most"] == f"{numbers['pd_bound']:.3f}"


def test_an_adaptation_draws_its_numbers(adaptation):
    chart = adaptation.plot().to_dict()
    [rows] = chart["datasets"].values()
    table = adaptation.table()
    assert [row["group"] for row in rows] == ["0", "1"]
    assert [row["now"] for row in rows] == table["estimate"].tolist()
    assert [row["training"] for row in rows] == table["training_prevalence"].tolist()
    assert "95% intervals" in chart["title"]["text"]


def test_with_labels_the_diamond_is_what_was_estimated_without(fitted, batch):
    labels = np.where(batch.z == 0, batch.y, np.nan)
    with_labels = fitted().adapt(batch.X, labels, sensitive_features=batch.z)
    chart = with_labels.plot().to_dict()
    assert chart["title"]["subtitle"][-1] == "diamond: estimated without labels"
    reader = read(with_labels)
    check = with_labels.groups[0]
    assert any(f"labels for all {check.rows} rows" in words for words in reader.words)


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
    audited = audit_of(dict.fromkeys(many.groups, COUNTS), n_resamples=5)
    assert len(audited._repr_html_()) < 60_000


def test_hostile_names_are_text(adaptation):
    reader = read(renamed(adaptation, HOSTILE))
    assert len(reader.rows) == 1 + len(HOSTILE)
    assert "svg" in reader.elements
    audited = audit_of(dict.fromkeys(HOSTILE, COUNTS), n_resamples=5)
    reader = read(audited)
    assert len(reader.rows) == 1 + len(HOSTILE)
    assert HOSTILE[0] in [row[0] for row in reader.rows]
    assert "svg" in reader.elements


def test_an_audit_shows_its_numbers():
    counts = {
        "a": COUNTS,
        "b": (3, 1, 1, 2),
    }
    audited = audit_of(counts, n_resamples=50)
    reader = read(audited)
    table = audited.table()
    heads = {"FPR": "fpr", "predicted": "predicted_prevalence", "PD": "pd"}
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
    assert a["compared"] == table.loc[("a", "prevalence"), "value"]
    assert a["high"] == table.loc[("a", "predicted_prevalence"), "high"]
    # Of a few rows the interval is drawn, and no value.
    assert b["compared"] is None and b["compared_high"] > b["compared_low"]


@pytest.fixture(scope="module")
def results():
    """Every result that a notebook shows, of groups and columns with hostile names."""
    columns = ["<i>V</i>", "U\x00"]
    groups = np.array(["<script>alert(1)</script>", "a\x00b"])
    train = make_synthetic(600, random_state=0)
    new = make_synthetic(300, prevalences=(0.2, 0.8), random_state=3)
    train_X = train.data.set_axis(columns, axis=1)
    # One column in other units, so that there is something to find.
    X = (new.data * [1, 60]).set_axis(columns, axis=1)
    z = groups[new.sensitive_features]
    clf = CapeClassifier(LogisticRegression(), cv=5, random_state=0)
    train_z = groups[train.sensitive_features]
    clf.fit(train_X, train.target, sensitive_features=train_z)
    labels = new.target.where(z == groups[0])
    with warnings.catch_warnings():
        # Columns in other units are what the results are about.
        warnings.simplefilter("ignore")
        seen = examine(clf, X, labels, sensitive_features=z, labels_decide=False)
        adaptation = seen.adaptation
        called = clf.predict(X, sensitive_features=z, adaptation=adaptation)
        evidence = clf.evidence(X, labels, sensitive_features=z)
    audited = audit(new.target, called, sensitive_features=z, n_resamples=20)
    return {
        "Adaptation": adaptation,
        "Audit": audited,
        "ColumnShift": seen.columns,
        "Evidence": evidence,
        "Examination": seen,
        "ExpectedPerformance": seen.expected,
        "LabelChecks": seen.labels,
        "PriorShiftTest": seen.prior_shift,
    }


SHOWN = "Adaptation Audit ColumnShift Examination ExpectedPerformance LabelChecks"


@pytest.mark.parametrize("name", SHOWN.split())
def test_every_result_has_a_table_and_some_a_picture_and_both_as_html(results, name):
    result = results[name]
    assert isinstance(result.table(), pd.DataFrame)
    reader = read(result)
    assert ("svg" in reader.elements) == hasattr(result, "plot")
    if hasattr(result, "plot"):
        # What the marks mean is written above them.
        assert result.plot().to_dict()["title"]["text"]
    assert len(reader.rows) > 1
    assert len(result._repr_html_()) < 100_000


@pytest.mark.parametrize("name", SHOWN.split())
def test_print_shows_the_table_of_the_notebook(results, name):
    """A number, a group or a sentence that one of the two leaves out."""
    text = repr(results[name])
    reader = read(results[name])
    assert max(map(len, text.splitlines())) <= 88
    words = " ".join(text.split())
    # Heads of sentences, which stand below the table, are left out.
    for row in reader.rows[1:]:
        for cell in row:
            value, _, interval = re.sub(r" (\S+ to \S+)$", r"|\1", cell).partition("|")
            written = f"{value} ({interval})" if interval else value
            assert " ".join(written.split()) in words
    for sentence in reader.words:
        assert " ".join(sentence.split()) in words


def test_print_shows_no_control_characters(adaptation):
    text = repr(renamed(adaptation, HOSTILE))
    text.encode()
    assert all(character.isprintable() or character == "\n" for character in text)


# The cell of a number in the HTML, and the same number in the table.
NUMBERS = {
    "Evidence": ("mean score", ["mean_score"]),
    "Examination": ("training", ["training_prevalence"]),
    "PriorShiftTest": ("unexplained", ["effect"]),
    "ExpectedPerformance": ("FNR", ["fnr", "fnr_low", "fnr_high"]),
    "LabelChecks": (
        "without labels",
        ["without_labels", "without_labels_low", "without_labels_high"],
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_the_html_has_the_numbers_of_the_table(results, name):
    head, columns = NUMBERS[name]
    reader = read(results[name])
    place = reader.rows[0].index(head)
    table = results[name].table()
    expected = []
    for value, *ends in table[columns].itertuples(index=False):
        interval = " to ".join(f"{end:.3f}" for end in ends)
        expected.append(f"{value:.3f} {interval}".strip())
    assert [row[place] for row in reader.rows[1:]] == expected


def test_columns_that_moved_come_first(results):
    reader = read(results["ColumnShift"])
    table = results["ColumnShift"].table()
    assert reader.rows[1][1] == "U\\x00"
    assert f"{table['moved'].sum()} of {len(table)}" in reader.words[0]


def test_columns_that_were_not_counted_are_not_drawn():
    reader = read(examination.ColumnShift({"a": ()}))
    assert reader.words == ["Columns were not checked"]
    assert "svg" not in reader.elements


def test_an_examination_draws_what_the_labels_say(results):
    seen = results["Examination"]
    chart = seen.plot().to_dict()
    assert chart["title"]["subtitle"][-1] == "diamond: according to the labels"
    rows = next(rows for rows in chart["datasets"].values() if len(rows) == 1)
    [first, second] = seen.labels.groups.values()
    # Only one group has labels, and only it has a diamond.
    assert second.labels.rows == 0
    assert rows[0]["compared"] == first.labels.estimate
    reader = read(seen.labels)
    place = reader.rows[0].index("by the labels")
    ends = f"{first.estimate.low:.3f} to {first.estimate.high:.3f}"
    said = [f"{first.labels.estimate:.3f} {ends}", ""]
    assert [row[place] for row in reader.rows[1:]] == said


def test_evidence_has_a_table(results):
    evidence = results["Evidence"]
    table = evidence.table()
    assert table["rows"].to_dict() == evidence.rows
    assert table["labelled"].tolist() == [150, 0]
    first = next(iter(evidence.groups.values()))
    assert table["mean_score"].iloc[0] == first.scores.mean
    assert Evidence("x").table().empty
    many = Evidence("x", dict.fromkeys(range(300), first))
    assert len(read(many).rows) == 1 + MOST_ROWS


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_extras_the_table_is_left(adaptation, hide_package, package):
    hide_package(package)
    reader = read(adaptation)
    assert len(reader.rows) == 3 and "svg" not in reader.elements
    assert not any("drawn" in words for words in reader.words)
    # A chart can be made, and shown by altair, without what draws it as SVG.
    if package == "vl_convert":
        adaptation.plot()
        return
    with pytest.raises(ImportError, match=r"plot\(\) needs altair.*cape-fair\[app\]"):
        adaptation.plot()
