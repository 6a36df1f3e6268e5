"""The audit page: its numbers are those of `cape.metrics.audit`."""

import re

import numpy as np
import pandas as pd
import pytest

from cape.base._numbers import share_text
from cape.metrics import audit
from cape_app.files import count_file
from cape_app.pages import to_html
from cape_app.words._page import interval


def test_an_audit_of_a_file_is_the_audit_of_its_columns(
    tmp_path, people_folder, summaries_of
):
    scored = pd.read_csv(people_folder / "new.csv")
    scored = scored.assign(yhat=(scored["age"] < 35).astype(int))
    scored.to_csv(tmp_path / "scored.csv", index=False)
    columns = {"label": "y", "prediction": "yhat"}
    counts, *_ = count_file(
        tmp_path / "scored.csv", **columns, group=["race"], rows=100
    )
    found = summaries_of.audit(
        counts, level=0.8, file="scored.csv", file_sha256="0", columns=columns
    )
    groups = {"sensitive_features": scored["race"]}
    expected = audit(scored["y"], scored["yhat"], **groups, level=0.8).to_dict()
    assert {name: found["observed"]["cape"][name] for name in expected} == expected
    assert found["rows"] == len(scored) and found["level"] == 0.8


def test_the_page_has_the_rates_and_ends_with_a_glossary(summaries, pages):
    page = pages["audit"]
    assert "as trained" not in page
    assert "CAPE" not in page and "Between groups" in page
    rows = re.findall(r'<th scope="rowgroup">.*?</tr>', page, re.DOTALL)
    for finding in summaries["audit"]["observed"]["cape"]["groups"]:
        row = rows[("blue", "green").index(finding["group"])]
        ends = interval(finding["low"], finding["high"])
        cell = f"<td>{share_text(finding['value'])} <small>{ends}</small></td>"
        assert cell in row
    assert page.index('id="observed"') < page.index('id="glossary"')
    # Without a note there is no empty line for it.
    assert 'class="note"' not in page


def test_title_and_note_are_text(audit_of):
    counts = {"everyone": (10, 5, 5, 30)}
    summary = audit_of(counts, file="<paper>.csv", note="Read <this>.")
    page = to_html(summary)
    for text in ("<h1>Audit: &lt;paper&gt;.csv</h1>", "&lt;this&gt;"):
        assert text in page
    assert "Between groups" not in page


def test_one_person_against_one_person_is_not_compared(audit_of):
    counts = {"many": (10, 5, 5, 30), "more": (10, 15, 5, 20)}
    summary = audit_of({**counts, "<one>": (1, 0, 0, 0), "another": (0, 0, 1, 0)})
    page = to_html(summary)
    assert "100% <small>100" not in page
    # Without negatives an FPR is undefined, and nobody called positive has no
    # precision; all other values have too few rows.
    assert page.count("<td>undefined <small>0–100%</small></td>") == 3
    assert page.count("<td>too few rows <small>") == 2 * 5 + 1
    found = summary["observed"]["cape"]
    assert found["small_groups"] == ["<one>", "another"]
    for pair in found["worst"].values():
        assert {pair["group"], pair["other"]} == {"many", "more"}


def test_where_no_pair_has_enough_rows_the_page_says_so(audit_of):
    summary = audit_of({"a": (1, 1, 1, 1), "b": (9, 9, 9, 9)})
    assert summary["observed"]["cape"]["worst"] == {}
    between = to_html(summary).partition("Between groups")[2]
    assert between.count("<td>too few rows</td>") == 6
    summary = audit_of({"a": (0, 10, 0, 10), "b": (9, 9, 9, 9)})
    assert summary["observed"]["cape"]["left_out"] == ""


def test_the_order_of_groups_does_not_change_what_is_said_of_them(audit_of):
    counts = {"a": (40, 10, 10, 40), "b": (20, 10, 6, 64), "c": (5, 9, 2, 84)}
    said = []
    for order in ("abc", "cab", "bca"):
        found = audit_of({name: counts[name] for name in order})["observed"]["cape"]
        assert list(dict.fromkeys(e["group"] for e in found["groups"])) == list(order)
        values = {}
        for e in found["groups"] + found["pairs"]:
            values[e["group"], e.get("other"), e["metric"]] = e["value"]
        worst = {}
        for metric, pair in found["worst"].items():
            worst[metric] = (pair["group"], pair["other"])
        said.append((values, worst))
    assert said[0] == said[1] == said[2]


@pytest.mark.slow
def test_of_many_equal_groups_the_clearest_is_seldom_called_clear(audit_of):
    """20 equal groups with true predicted shares: 5 % of pages may claim anything."""
    random = np.random.default_rng(0)
    claims = 0
    for _ in range(40):
        cells = random.multinomial(300, [0.3, 0.125, 0.125, 0.45], size=20)
        audit = audit_of(dict(enumerate(cells.tolist())))["observed"]["cape"]
        claims += bool(audit["differences"])
    assert claims <= 5
