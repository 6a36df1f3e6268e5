"""Names of groups, columns and files are text on every page, never markup."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from cape.files import count_file, train_file
from cape.metrics._rates import Confusion
from cape.report import to_html, write_report
from cape.report._audit import audit_summary

NAMES = [
    "</script><script>alert(1)</script>",
    "<!-- <img src=x onerror=alert(2)> &amp; Größe 组",
    "\"double\" 'single' `back` \\ \\u003c {{ 7 * 7 }} {% raw %}",
    "long " * 60 + "end",
]
FILE = "<svg onload=alert(3)> & \"é\" 'x'.csv"


class Page(HTMLParser):
    """What a browser makes of a page: elements with attributes, texts and scripts."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self.scripts = [], [], []
        self._inside = None
        self.feed(page)
        self.text = "".join(self.texts)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_comment(self, data):
        self.elements.append(("comment", {}))

    def handle_data(self, data):
        (self.scripts if self._inside == "script" else self.texts).append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, people_folder):
    folder = tmp_path_factory.mktemp("names")
    for old, new in (("train.csv", "train.csv"), ("new.csv", FILE)):
        people = pd.read_csv(people_folder / old)
        people["race"] = np.array(NAMES)[np.arange(len(people)) % len(NAMES)]
        people.assign(yhat=1 - people["y"]).to_csv(folder / new, index=False)
    return folder


@pytest.fixture(scope="module")
def summaries(folder, batch_of_file, monitor_of_files, explorer_of_model):
    path = folder / FILE
    settings = {
        "label": "y",
        "group": ["race"],
        "drop": ["yhat"],
        "learner": "logistic",
        "settings": {"cv": 2},
    }
    model = train_file(folder / "train.csv", None, **settings)
    counts, *_ = count_file(path, label="y", prediction="yhat", group=["race"])
    columns = {"label": NAMES[0], "prediction": NAMES[2]}
    return {
        "batch": batch_of_file(model, path),
        "audit": audit_summary(
            counts, level=0.95, file=path, file_sha256="0", columns=columns
        ),
        "monitor": monitor_of_files(model, [path]),
        "explorer": explorer_of_model(model) | {"title": FILE},
    }


@pytest.fixture(scope="module")
def pages(summaries):
    return {kind: Page(to_html(summary)) for kind, summary in summaries.items()}


@pytest.mark.parametrize("kind", ["batch", "audit", "monitor", "explorer"])
def test_a_name_makes_no_element_and_no_attribute(pages, kind):
    elements = pages[kind].elements
    assert not {"img", "b", "comment", "iframe", "object"} & {
        tag for tag, _ in elements
    }
    assert not [
        name
        for _, attributes in elements
        for name in attributes
        if name.startswith("on")
    ]
    scripts = sum(tag == "script" for tag, _ in elements)
    # Data and script of the explorer; a batch has those of the frontiers, too.
    expected = {"batch": 4, "explorer": 2, "audit": 0, "monitor": 0}[kind]
    assert scripts == expected == len(pages[kind].scripts)


@pytest.mark.parametrize("kind", ["batch", "audit", "monitor"])
def test_a_name_is_read_as_it_was_written(pages, kind):
    for name in NAMES:
        assert pages[kind].text.count(name) >= 2
    assert (
        pages[kind].text.count(FILE) >= 3
    )  # in the title, the heading and where data is named


@pytest.mark.parametrize("kind", ["batch", "explorer"])
def test_the_explorer_gets_names_as_data(pages, kind, summaries):
    data = pages[kind].scripts[-2]
    assert sorted(group["name"] for group in json.loads(data)["groups"]) == sorted(
        NAMES
    )
    assert json.loads(data) == summaries[kind]["explorer"]
    for script in pages[kind].scripts:
        is_data = script.lstrip().startswith(("{", "["))
        assert not is_data or not set("<>&") & set(script)
        assert is_data or "alert" not in script


def test_a_table_of_a_name_is_labelled_by_text(pages):
    labels = [
        attributes["aria-label"]
        for _, attributes in pages["batch"].elements
        if "aria-label" in attributes
    ]
    for name in NAMES:
        mixture = "and the best mixture of the training classes"
        assert f"Scores of {name} in the batch, {mixture}" in labels


def test_names_of_columns_are_text(pages):
    assert NAMES[2] in pages["audit"].text.split("How it was made")[1]


@pytest.mark.parametrize("ending", ["json", "html"])
def test_names_survive_the_file(tmp_path, summaries, ending):
    text = write_report(summaries["audit"], tmp_path / f"größe.{ending}").read_text(
        encoding="utf-8"
    )
    if ending == "json":
        assert json.loads(text) == summaries["audit"]
    else:
        assert Page(text).text.count(NAMES[1]) >= 2 and '<meta charset="utf-8">' in text


def test_groups_of_several_columns_are_read_with_a_comma():
    counts = {
        ("<a>", "x"): Confusion(8, 2, 2, 8, 20),
        ("<a>", "y"): Confusion(8, 2, 2, 8, 20),
    }
    page = Page(
        to_html(
            audit_summary(counts, level=0.95, file="a.csv", file_sha256="0", columns={})
        )
    )
    assert "<a>, x20 rows" in page.text and "<a>, x to <a>, y" in page.text


def test_no_group_is_called_by_a_rank(pages):
    ranks = (
        "privileged",
        "reference group",
        "protected",
        "majority",
        "minority",
        "baseline",
        "best group",
    )
    for page in pages.values():
        text = page.text.lower()
        for name in NAMES:
            text = text.replace(name.lower(), "")
        assert not [rank for rank in ranks if rank in text]


def test_every_group_gets_the_same_sections(summaries):
    batch = summaries["batch"]
    for part in (
        batch["groups"],
        batch["shift_test"]["groups"],
        batch["columns"]["groups"],
        batch["expected"]["groups"],
        batch["histograms"],
    ):
        assert sorted(entry["group"] for entry in part) == sorted(NAMES)
    pairs = {(pair["group"], pair["other"]) for pair in batch["expected"]["pairs"]}
    assert len(pairs) == len(NAMES) * (len(NAMES) - 1) and all(
        (b, a) in pairs for a, b in pairs
    )


def test_the_order_of_groups_does_not_change_what_is_said_of_them():
    counts = {
        "a": Confusion(40, 10, 10, 40, 100),
        "b": Confusion(20, 10, 6, 64, 100),
        "c": Confusion(5, 9, 2, 84, 100),
    }
    said = []
    for order in ("abc", "cab", "bca"):
        given = {name: counts[name] for name in order}
        found = audit_summary(given, level=0.95, file="a", file_sha256="0", columns={})[
            "observed"
        ]["cape"]
        assert list(dict.fromkeys(entry["group"] for entry in found["groups"])) == list(
            order
        )
        values = {
            (e["group"], e.get("other"), e["metric"]): e["value"]
            for e in found["groups"] + found["pairs"]
        }
        worst = {
            metric: (pair["group"], pair["other"])
            for metric, pair in found["worst"].items()
        }
        said.append((values, worst))
    assert said[0] == said[1] == said[2]
