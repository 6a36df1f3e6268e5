"""Summaries and pages: all sections are there, in order, and names are text."""

import json
import re
from types import SimpleNamespace

import pandas as pd
import pytest

from cape import Estimate, _plot
from cape._wording._page import prevalence_sentence
from cape.files import count_file, predict_file
from cape.metrics._rates import Confusion
from cape.report import to_html, write_report
from cape.report._audit import audit_summary
from cape.report._html import _json_for_script
from cape.report._pictures import Picture, frame_moved


def svg_of(chart, title):
    return Picture("", title, chart, None).svg


EVIL = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def batch(people_folder, people_model, batch_of_file):
    return batch_of_file(people_model, people_folder / "new.csv")


@pytest.fixture(scope="module")
def page(batch):
    return to_html(batch)


def adapted(training_prevalence, estimate, low, high):
    """What a sentence needs of the adaptation of a group."""
    return SimpleNamespace(
        training_prevalence=training_prevalence,
        estimate=Estimate(estimate, low, high),
        verdict="consistent",
        labels=SimpleNamespace(verdict=None),
    )


def test_a_sentence_a_group(batch, page):
    assert [g["group"] for g in batch["groups"]] == ["blue", "green"]
    for g in batch["groups"]:
        number = r"[01]\.\d\d"
        sentence = (
            rf"{g['group']}: prevalence was {number} in training, "
            rf"is now {number} \({number} to {number}\)"
        )
        assert re.fullmatch(sentence, g["sentence"])
        assert g["low"] <= g["estimate"] <= g["high"] and g["moved"]
        assert (
            f"<strong>{g['group']}</strong>{g['sentence'][len(g['group']) :]}." in page
        )


def test_a_small_share_keeps_three_digits():
    small = adapted(0.045, 0.004, 0.0, 0.02)
    sentence = "a: prevalence was 0.045 in training, is now 0.004 (0.000 to 0.020)"
    assert prevalence_sentence("a", small) == sentence
    large = adapted(0.5, 0.13, 0.09, 0.17)
    sentence = "a: prevalence was 0.50 in training, is now 0.13 (0.09 to 0.17)"
    assert prevalence_sentence("a", large) == sentence


def test_the_sections_come_in_order(page):
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == [
        "How far has each group moved?",
        "What the labels say of the estimates",
        "Is it a prior shift?",
        "Which columns moved?",
        "What CAPE chose",
        "What to expect of these predictions",
        "What is given up",
        "What to aim at",
        "What the labels say",
        "Observed rates by group",
        "What if the shares were different?",
        "How it was made",
    ]


def test_the_summary_is_json_and_says_how_it_was_made(batch, people_model):
    assert json.loads(json.dumps(batch, allow_nan=False)) == batch
    made = batch["made"]
    assert (
        made["training"] == people_model.details["data"]
        and len(made["files"][0]["sha256"]) == 64
    )
    assert (
        made["fingerprint"] == people_model.clf.fingerprint_
        and made["versions"]["cape"]
        and made["date"]
    )


def test_numbers_agree_with_their_sources(batch, people_folder, people_model):
    prediction = predict_file(people_model, people_folder / "new.csv")
    observed = prediction.examination.observed
    for g in batch["groups"]:
        assert g["estimate"] == prediction.adaptation.groups[g["group"]].estimate.value
    for who, counts in (("cape", observed.cape), ("unadapted", observed.unadapted)):
        for f in batch["observed"][who]["groups"]:
            if f["metric"] == "accuracy":
                assert (
                    f["value"] == counts[f["group"]].accuracy
                    and f["low"] <= f["value"] <= f["high"]
                )
    for entry in batch["histograms"]:
        assert (
            sum(entry["batch"]) == pytest.approx(1, abs=1e-3) == sum(entry["mixture"])
        )


def test_without_labels_expected_rates_are_drawn(
    tmp_path, people_folder, people_model, batch_of_file
):
    frame = pd.read_csv(people_folder / "new.csv").drop(columns="y")
    frame.to_csv(tmp_path / "new.csv", index=False)
    path = tmp_path / "new.csv"
    summary = batch_of_file(people_model, path)
    page = to_html(summary)
    assert summary["observed"] is None and "What the labels say" not in page
    assert "Expected rates by group" in page


def test_nothing_is_fetched(page):
    addresses = re.findall(
        r"""(?:src|href|action)\s*=\s*["']([^"']*)""", page
    ) + re.findall(r"url\(([^)]*)", page)
    assert set(addresses) <= {"data:,"}
    assert "@import" not in page and "fetch(" not in page


def test_every_picture_has_a_name_and_its_numbers(page):
    pictures = re.findall(r'<svg[^>]*role="img"><title>([^<]+)</title>', page)
    assert len(pictures) == 1 + 2 + 1 + 4 + 3
    assert page.count("<summary>The numbers</summary>") == 10
    assert "#0" not in "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))


def renamed(summary, old, new):
    return json.loads(
        json.dumps(summary).replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
    )


def test_a_name_is_text_and_never_markup(batch):
    page = to_html(renamed(batch, "blue", EVIL))
    assert "<script>alert" not in page
    assert page.count("<script") == 4 and page.count("</script>") == 4
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in page
    embedded = re.search(
        r'<script type="application/json" id="explorer-data">(.*?)</script>',
        page,
        re.DOTALL,
    )[1]
    assert json.loads(embedded)["groups"][0]["name"] == EVIL
    embedded = re.search(r'id="frontier-data">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(embedded)["groups"][0] == EVIL


def test_json_in_a_script_cannot_end_it():
    content = {"a": "<!--</script>&\u2028\u2029"}
    text = _json_for_script(content)
    assert not set(text) & set("<>&\u2028\u2029") and json.loads(text) == content


def test_a_name_in_a_picture_is_text():
    groups = [
        {
            "group": EVIL,
            "training_prevalence": 0.3,
            "estimate": 0.5,
            "low": 0.4,
            "high": 0.6,
        }
    ]
    svg = svg_of(_plot.moved(frame_moved(groups)), f"Picture of {EVIL}")
    assert "<script" not in svg and "currentColor" in svg and "var(--now)" in svg


def test_many_groups_fit_the_page(batch):
    many = {
        **batch,
        "groups": [{**batch["groups"][0], "group": f"g{i}"} for i in range(30)],
    }
    test = batch["shift_test"]["groups"][0]
    many["shift_test"] = {"groups": [{**test, "group": f"g{i}"} for i in range(30)]}
    many["labels"] = many["compared"] = None
    many["histograms"] = [
        {**batch["histograms"][0], "group": f"g{i}"} for i in range(30)
    ]
    assert "18 more groups with fewer rows" in to_html(many)


def test_audit_page(tmp_path, people_folder):
    frame = pd.read_csv(people_folder / "new.csv").assign(
        yhat=lambda f: (f["age"] < 35).astype(int)
    )
    frame.to_csv(tmp_path / "scored.csv", index=False)
    counts, labels, _ = count_file(
        tmp_path / "scored.csv", label="y", prediction="yhat", group=["race"], rows=100
    )
    summary = audit_summary(
        counts,
        level=0.9,
        file="scored.csv",
        file_sha256="0" * 64,
        columns={"label": "y"},
    )
    page = to_html(summary)
    assert (
        labels == ("0", "1")
        and "Each rate with its 90 % interval" in page
        and "Between groups" in page
    )
    assert "explorer-data" not in page and "as trained" not in page
    worst = summary["observed"]["cape"]["worst"]["pe"]
    assert worst["value"] == max(
        p["value"] for p in summary["observed"]["cape"]["pairs"] if p["metric"] == "pe"
    )


def test_one_group_has_no_pairs():
    counts = {"everyone": Confusion(tp=10, fp=5, fn=5, tn=30, rows=50)}
    summary = audit_summary(
        counts, level=0.95, file="a.csv", file_sha256="0", columns={}
    )
    assert "Between groups" not in to_html(summary)


def test_one_person_against_one_person_is_not_compared_on_the_page():
    many = Confusion(tp=10, fp=5, fn=5, tn=30, rows=50)
    more = Confusion(tp=10, fp=15, fn=5, tn=20, rows=50)
    one = Confusion(tp=1, fp=0, fn=0, tn=0, rows=1)
    another = Confusion(tp=0, fp=0, fn=1, tn=0, rows=1)
    counts = {"many": many, "more": more, "<one>": one, "another": another}
    facts = {"level": 0.95, "file": "a.csv", "file_sha256": "0", "columns": {}}
    summary = audit_summary(counts, **facts)
    page = to_html(summary)
    assert "1.000<small>1.000" not in page
    # Without negatives an FPR is undefined, and nobody called positive has no
    # precision; all other values have too few rows.
    assert page.count("<td>undefined<small>0.000–1.000</small></td>") == 3
    assert page.count("<td>too few rows<small>") == 2 * 5 + 1
    for pair in summary["observed"]["cape"]["worst"].values():
        assert {pair["group"], pair["other"]} == {"many", "more"}
    sentence = "Pairs with &lt;one&gt; and another are left out: a group of fewer than "
    assert f"{sentence}10 rows says too little." in page


def test_where_no_pair_has_enough_rows_the_page_says_so():
    few = Confusion(tp=1, fp=1, fn=1, tn=1, rows=4)
    counts = {"a": few, "b": Confusion(tp=9, fp=9, fn=9, tn=9, rows=36)}
    facts = {"level": 0.95, "file": "a.csv", "file_sha256": "0", "columns": {}}
    summary = audit_summary(counts, **facts)
    page = to_html(summary)
    assert summary["observed"]["cape"]["worst"] == {}
    between = page.partition("Between groups")[2]
    assert between.count("<td>too few rows</td>") == 6
    counts["a"] = Confusion(tp=0, fp=10, fn=0, tn=10, rows=20)
    page = to_html(audit_summary(counts, **facts))
    assert "left out" not in page


def test_monitor_page(people_folder, people_model, monitor_of_files):
    paths = [people_folder / "new.csv", people_folder / "train.csv"]
    summary = monitor_of_files(people_model, paths)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert [b["moved"] for b in summary["groups"][0]["batches"]] == [True, False]
    page = to_html(summary)
    assert "blue and green moved in at least one batch" in page
    assert "is that of a group by itself" in page
    assert (
        re.findall(r'<th scope="row">(.*?)</th>', page) == ["new.csv", "train.csv"] * 2
    )
    summary["groups"][0]["batches"][0]["verdict"] = "drifted"
    assert "var(--bad)" in to_html(summary)


def test_explorer_page(people_model, explorer_of_model):
    page = to_html(explorer_of_model(people_model))
    assert re.findall(r"<h2>(.*?)</h2>", page) == [
        "Move the shares of positives",
        "How it was made",
    ]
    assert len(page) < 60_000


def test_reports_are_written_whole_and_never_over_another(tmp_path, batch):
    path = write_report(batch, tmp_path / "r.json")
    assert json.loads(path.read_text()) == batch
    with pytest.raises(FileExistsError, match="--force"):
        write_report(batch, path)
    write_report(batch, tmp_path / "r.html")
    with pytest.raises(
        ValueError, match=r"a report must end in \.html or \.json, got 'r\.pdf'"
    ):
        write_report(batch, tmp_path / "r.pdf")
