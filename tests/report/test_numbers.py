"""Numbers of a summary are those of the Python API, and the page shows them."""

import html
import re
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from cape import examine
from cape._histogram import ONE
from cape.examination._result import json_ready
from cape.files import count_file, predict_file
from cape.metrics import audit, confusion_by_group
from cape.metrics._audit import audit_counts
from cape.report import to_html
from cape.report._audit import audit_summary

LEVEL = 0.9
_BOUND = (
    "The classifier of each group; the bound at level 0.9, if the interval of the "
    "prevalence is right"
)


@pytest.fixture(scope="module")
def frame(people_folder):
    return pd.read_csv(people_folder / "new.csv")


@pytest.fixture(scope="module")
def X(frame):
    """The rows of the file as the classifier takes them."""
    return frame.drop(columns="y")


@pytest.fixture(scope="module")
def seen(people_model, X):
    return examine(people_model.clf, X, level=LEVEL)


@pytest.fixture(scope="module")
def adaptation(seen):
    return seen.adaptation


@pytest.fixture(scope="module")
def summary(people_folder, people_model, batch_of_file):
    return batch_of_file(people_model, people_folder / "new.csv", level=LEVEL)


@pytest.fixture(scope="module")
def tables(summary):
    return tables_of(to_html(summary))


def tables_of(page):
    """Captions of a page's tables, with the texts of their cells, row by row."""
    found = {}
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        caption = re.search(r"<caption><span>(.*?)</span>", table)[1]
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table.split("<tbody>")[1], re.DOTALL)
        cells = [
            re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows
        ]
        found[html.unescape(caption)] = [[_text(cell) for cell in row] for row in cells]
    return found


def _text(cell):
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<small[^>]*>", " ", cell)))


def within(value, low, high):
    return f"{value:.3f} {low:.3f}\u2013{high:.3f}"


def test_estimates_intervals_choices_and_bounds_are_those_of_adapt(summary, adaptation):
    assert summary["level"] == adaptation.level and summary["rows"] == 700
    # With the reason, the examination may have another verdict.
    fields = [name for name in adaptation.groups["blue"].flat() if name != "verdict"]
    for entry in summary["groups"]:
        expected = json_ready(adaptation.groups[entry["group"]].flat())
        for name in fields:
            assert entry[name] == expected[name], name


def test_moved_is_that_of_the_examination(summary, seen):
    expected = seen.moved.groups
    for entry in summary["groups"]:
        assert (entry["moved"], entry["p_moved"]) == (
            expected[entry["group"]].moved,
            pytest.approx(expected[entry["group"]].p_value),
        )


def test_the_test_of_the_scores_is_that_of_the_examination(summary, seen):
    expected = seen.prior_shift.to_dict()
    assert {name: summary["shift_test"][name] for name in expected} == expected


def test_expected_rates_are_those_of_the_examination(summary, seen):
    expected = seen.expected.to_dict()
    assert {name: summary["expected"][name] for name in expected} == expected


def test_observed_rates_are_the_audit_of_the_predictions(
    summary, people_model, X, adaptation, frame
):
    y_pred = people_model.clf.predict(X, adaptation=adaptation)
    expected = audit(
        frame["y"],
        y_pred == people_model.clf.classes_[1],
        sensitive_features=frame["race"],
        level=LEVEL,
    ).to_dict()
    assert {name: summary["observed"]["cape"][name] for name in expected} == expected


def test_the_model_as_trained_is_audited_beside_it(
    summary, people_model, people_folder
):
    prediction = predict_file(people_model, people_folder / "new.csv")
    observed = prediction.examination.observed
    assert observed.unadapted != observed.cape
    expected = audit_counts(observed.unadapted, level=LEVEL).to_dict()
    assert {
        name: summary["observed"]["unadapted"][name] for name in expected
    } == expected


def test_what_the_model_as_trained_would_do_follows_from_its_two_rates(
    summary, people_model
):
    predicted, estimates = {}, {}
    for entry, chosen in zip(
        summary["expected"]["unadapted"]["groups"], summary["groups"], strict=True
    ):
        tpr, fpr = people_model.clf.models_[entry["group"]].unadapted_rates()
        rho = estimates[entry["group"]] = chosen["estimate"]
        predicted[entry["group"]] = rho * tpr + (1 - rho) * fpr
        assert entry["predicted"] == pytest.approx(predicted[entry["group"]], abs=2e-6)
        assert entry["accuracy"] == pytest.approx(
            rho * tpr + (1 - rho) * (1 - fpr), abs=2e-6
        )
        assert (entry["fpr"], entry["fnr"]) == (
            pytest.approx(fpr, abs=1e-6),
            pytest.approx(1 - tpr, abs=1e-6),
        )
    pe = max(
        abs(estimates[a] / estimates[b] - predicted[a] / predicted[b])
        for a, b in permutations(predicted, 2)
    )
    assert summary["expected"]["unadapted"]["pe"] == pytest.approx(pe, abs=1e-4)


def test_worst_pairs_are_the_greatest_of_both_orders(summary):
    for found in summary["observed"].values():
        for metric, worst in found["worst"].items():
            extreme = min if metric.endswith("_ratio") else max
            assert worst["value"] == extreme(
                pair["value"] for pair in found["pairs"] if pair["metric"] == metric
            )
        assert set(found["worst"]) == {pair["metric"] for pair in found["pairs"]}


def test_the_mixture_is_made_of_the_training_classes_at_the_quantifiers_answer(
    summary, people_model
):
    for entry, chosen in zip(summary["histograms"], summary["groups"], strict=True):
        model = people_model.clf.models_[entry["group"]]
        edges = np.rint(np.arange(1, 20) / 20 * ONE).astype(int)
        parts = [
            h.merged(edges) / h.merged(edges).sum()
            for h in (model.positives, model.negatives)
        ]
        answer = chosen["quantifier_estimate"]
        expected = answer * parts[0] + (1 - answer) * parts[1]
        assert entry["mixture"] == pytest.approx(expected.tolist(), abs=1e-5)


def test_the_page_shows_what_was_chosen(tables, adaptation):
    assert tables[_BOUND] == [
        [
            group,
            f"{a.made_for:.3f}",
            f"{a.predicted_prevalence:.3f}",
            f"{a.pd_bound:.3f}",
        ]
        for group, a in adaptation.groups.items()
    ]


def test_the_page_shows_the_verdicts(tables, seen):
    (rows,) = [
        rows for caption, rows in tables.items() if caption.startswith("Verdicts at")
    ]
    assert rows == [
        [
            group,
            "consistent with a prior shift",
            f"{t.p_adjusted:.3f}",
            f"{t.effect:.1%}",
        ]
        for group, t in seen.prior_shift.groups.items()
    ]


def test_the_page_shows_expected_rates_with_their_intervals(tables, summary):
    caption = "Expected rates of CAPE, with their intervals, if the assumption is right"
    rows = tables[f"{caption}; below them what the labels show"]
    compared = {(r["group"], r["metric"]): r for r in summary["compared"]["rates"]}
    for row, group in zip(rows, summary["expected"]["groups"], strict=True):
        assert row[0] == group["group"]
        for cell, rate in zip(row[1:], ("fpr", "fnr", "accuracy", "pd"), strict=True):
            seen = compared[group["group"], rate]
            ends = (group[f"{rate}_low"], group[f"{rate}_high"])
            end = "" if seen["inside"] else ", outside"
            observed = f"true {seen['observed']:.3f}{end}"
            assert cell == f"{within(group[rate], *ends)} {observed}"


def test_compared_rates_are_those_of_the_examination(
    summary, people_model, X, seen, frame
):
    clf = people_model.clf
    y_pred = clf.predict(X, adaptation=seen.adaptation) == clf.classes_[1]
    both = seen.compare(frame["y"], y_pred, sensitive_features=frame["race"])
    for rate in summary["compared"]["rates"]:
        row = both.loc[(rate["group"], rate["metric"])]
        assert {name: rate[name] for name in row.index} == row.to_dict()
    assert len(summary["compared"]["rates"]) == len(both) == 8


def test_the_page_shows_observed_rates_of_both_classifiers_with_their_intervals(
    tables, summary
):
    note = "as trained: the same model cut at 1/2, without CAPE"
    rows = tables[f"Each rate with its 90 % interval; {note}"]
    metrics = ("fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence", "pd")
    assert [row[0] for row in rows[::2]] == [
        f"{g['group']} {g['rows']:,} rows" for g in summary["groups"]
    ]
    assert [row[-7] for row in rows] == ["CAPE", "as trained"] * 2
    for place, row in enumerate(rows):
        group, who = ("blue", "green")[place // 2], ("cape", "unadapted")[place % 2]
        found = {
            f["metric"]: f
            for f in summary["observed"][who]["groups"]
            if f["group"] == group
        }
        assert row[-6:] == [
            within(*(found[m][end] for end in ("value", "low", "high")))
            for m in metrics
        ]


def test_the_page_shows_the_worst_pairs_with_their_names(tables, summary):
    rows = tables["Between groups: the worst pair of each kind"]
    assert len(rows) == 6
    for cell, who in zip(rows[0][1:], ("cape", "unadapted"), strict=True):
        pe = summary["observed"][who]["worst"]["pe"]
        number = within(pe["value"], pe["low"], pe["high"])
        assert cell == f"{number} {pe['group']} to {pe['other']}"


def test_an_audit_of_a_file_is_the_audit_of_its_columns(tmp_path, frame):
    scored = frame.assign(yhat=(frame["age"] < 35).astype(int))
    scored.to_csv(tmp_path / "scored.csv", index=False)
    counts, *_ = count_file(
        tmp_path / "scored.csv", label="y", prediction="yhat", group=["race"], rows=100
    )
    found = audit_summary(
        counts, level=LEVEL, file="scored.csv", file_sha256="0", columns={"label": "y"}
    )
    expected = audit(
        scored["y"], scored["yhat"], sensitive_features=scored["race"], level=LEVEL
    ).to_dict()
    assert {name: found["observed"]["cape"][name] for name in expected} == expected
    assert found["rows"] == len(frame) and found["level"] == LEVEL
    truth = confusion_by_group(
        scored["y"], scored["yhat"], sensitive_features=scored["race"]
    )
    page = to_html(found)
    assert "the predictions" in page and "CAPE" not in page
    (rows,) = [
        t for c, t in tables_of(page).items() if c == "Each rate with its 90 % interval"
    ]
    assert [row[3].split()[0] for row in rows] == [
        f"{truth[group].accuracy:.3f}" for group in ("blue", "green")
    ]


def test_a_monitored_batch_has_the_numbers_of_a_batch_alone(
    people_folder, people_model, summary, monitor_of_files
):
    paths = [people_folder / "train.csv", people_folder / "new.csv"]
    found = monitor_of_files(people_model, paths, level=LEVEL)
    assert found["title"] == "train.csv to new.csv" and found["rows"] == 1600
    same = (
        "rows",
        "estimate",
        "low",
        "high",
        "predicted_prevalence",
        "pd_bound",
        "moved",
    )
    for alone, group, rates in zip(
        summary["groups"], found["groups"], summary["expected"]["groups"], strict=True
    ):
        last = group["batches"][-1]
        assert (last["batch"], last["place"], last["verdict"]) == (
            "new.csv",
            2,
            "consistent",
        )
        assert {name: last[name] for name in same} == {
            name: alone[name] for name in same
        }
        assert [last[rate] for rate in ("fpr", "accuracy")] == [
            rates[rate] for rate in ("fpr", "accuracy")
        ]
        assert group["training"] == alone["training_prevalence"]
        assert last["theta"] == alone["made_for"]
    assert found["batches"][1]["expected_pe"] == max(
        pair["pe"] for pair in summary["expected"]["pairs"]
    )
    rows = re.findall(r'<tr><th scope="row">new.csv</th>(.*?)</tr>', to_html(found))
    for row, alone in zip(rows, summary["groups"], strict=True):
        assert re.findall(r"<td>(.*?)</td>", row) == [
            str(alone["rows"]),
            f"{alone['estimate']:.3f}",
            f"{alone['low']:.3f}\u2013{alone['high']:.3f}",
            f"{alone['estimate'] - alone['training_prevalence']:+.3f}",
            "yes",
            f"{alone['pd_bound']:.3f}",
            "consistent",
        ]
