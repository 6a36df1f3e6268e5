"""A report from a classifier and a data frame: no file is needed, and none is named."""

import json
import re
import subprocess
import sys
from copy import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from cape import AdaptationWarning, CapeClassifier
from cape.examination import examine
from cape.examination._examination import Observed
from cape.metrics import confusion_by_group
from cape.report import to_html, write_report
from cape.report._batch import batch_summary
from cape.report._explorer import Members, explorer_summary, outcomes


@pytest.fixture(scope="module")
def clf(fitted):
    return fitted(pool="threshold")


@pytest.fixture(scope="module")
def seen(clf, batch):
    return examine(clf, batch.X, sensitive_features=batch.z)


@pytest.fixture(scope="module")
def summary(seen):
    return batch_summary(seen)


@pytest.fixture(scope="module")
def page(summary):
    return to_html(summary)


def made_section(page):
    """Terms and texts of the section that says how the page was made."""
    section = page.split("<h2>How it was made</h2>")[1]
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", section))


def test_a_page_of_an_examination_is_that_of_its_summary(seen, summary, tmp_path):
    path = write_report(seen, tmp_path / "march.html")
    date = summary["made"]["date"]
    text = path.read_text(encoding="utf-8")
    today = re.search(r"<dt>date</dt><dd>(.*?)</dd>", text)[1]
    shown = re.search(r"<dt>date</dt><dd>(.*?)</dd>", to_html(summary))[1]
    assert text.replace(today, "") == to_html(summary).replace(shown, "")
    assert date[:10] in shown


def test_its_json_is_the_summary(seen, summary, tmp_path):
    path = write_report(seen, tmp_path / "march.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["made"]["date"] = summary["made"]["date"]
    assert content == summary


def test_a_title_names_the_batch_and_without_one_it_is_not_named_twice(seen, page):
    assert "<h1>Batch report</h1>" in page
    assert "<title>Batch report</title>" in page
    named = to_html(batch_summary(seen, title="March <2024>"))
    assert "<h1>Batch report: March &lt;2024&gt;</h1>" in named


def test_the_sections_are_those_of_a_batch_without_labels(page):
    headings = re.findall(r"<h2>(.*?)</h2>", page)
    assert headings == [
        "How far has each group moved?",
        "Is it a prior shift?",
        "Which columns moved?",
        "What CAPE chose",
        "What to expect of these predictions",
        "What is given up",
        "What to aim at",
        "Expected rates by group, if the assumption is right",
        "What if the shares were different?",
        "How it was made",
    ]


def test_it_says_what_is_known_of_the_classifier_and_nothing_of_files(page, clf):
    made = made_section(page)
    assert list(made) == [
        "classifier",
        "learner",
        "parameters",
        "fingerprint",
        "versions",
        "date",
    ]
    assert made["classifier"] == "CapeClassifier"
    assert made["learner"] == "LogisticRegression()"
    assert made["fingerprint"] == clf.fingerprint_
    for parameter in ("pool threshold", "quantifier onestep", "cv 5", "random_state 0"):
        assert parameter in made["parameters"]
    for word in ("SHA-256", "a model trained on", ".csv", "n_jobs", "verbose"):
        assert word not in page


def test_the_sentence_below_the_heading_names_the_classifier(page):
    assert "200 rows in 2 groups, predicted by a CapeClassifier." in page


def test_the_positive_label_is_named(train, batch):
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0)
    labels = np.where(train.y == 1, "yes", "no")
    clf.fit(train.X, labels, sensitive_features=train.z)
    page = to_html(examine(clf, batch.X, sensitive_features=batch.z))
    assert "Prevalence is the share of positives (label yes)." in page


def test_a_subclass_and_a_default_learner_are_named_as_they_are(train, batch):
    class Ours(CapeClassifier):
        pass

    clf = Ours(
        LogisticRegression(), pool="threshold", cv=3, random_state=0, verbose=0
    ).fit(train.X, train.y, sensitive_features=train.z)
    clf.estimator = None
    made = batch_summary(examine(clf, batch.X, sensitive_features=batch.z))["made"]
    assert made["classifier"] == "Ours"
    assert made["learner"] == "the default learner"


def test_settings_that_json_cannot_hold_are_written_as_text(train, batch):
    from sklearn.model_selection import StratifiedKFold

    clf = CapeClassifier(
        LogisticRegression(C=0.5),
        pool="threshold",
        cv=StratifiedKFold(3),
        prevalences=np.array([0.25, 0.75]),
        random_state=0,
    )
    clf.fit(train.X, train.y, sensitive_features=train.z)
    made = batch_summary(examine(clf, batch.X, sensitive_features=batch.z))["made"]
    assert json.loads(json.dumps(made)) == made
    assert made["settings"]["cv"].startswith("StratifiedKFold(n_splits=3")
    assert made["settings"]["prevalences"] == "array([0.25, 0.75])"
    assert made["learner"] == "LogisticRegression(C=0.5)"


def test_labels_that_came_later_are_shown_beside_the_expectation(seen, batch, clf):
    y_pred = clf.predict(
        batch.X, sensitive_features=batch.z, adaptation=seen.adaptation
    )
    counts = confusion_by_group(batch.y, y_pred, sensitive_features=batch.z)
    plain = (batch.X[:, 0] > batch.X[:, 0].mean()).astype(int)
    others = confusion_by_group(batch.y, plain, sensitive_features=batch.z)
    labelled = copy(seen)
    labelled.observed = Observed(cape=counts, unadapted=others)
    summary = batch_summary(labelled)
    page = to_html(summary)
    assert "What the labels say" in page and "Observed rates by group" in page
    for finding in summary["observed"]["cape"]["groups"]:
        if finding["metric"] == "accuracy":
            group = int(finding["group"])
            assert finding["value"] == counts[group].accuracy


def test_labels_of_no_row_are_no_labels(seen):
    unlabelled = copy(seen)
    unlabelled.observed = Observed(cape={}, unadapted={})
    assert batch_summary(unlabelled)["observed"] is None


def test_one_group_has_a_page_without_pairs(train, batch):
    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0)
    clf.fit(train.X, train.y)
    summary = batch_summary(examine(clf, batch.X))
    page = to_html(summary)
    assert "200 rows in 1 group, predicted by a CapeClassifier." in page
    assert "Expected PE" not in page
    assert summary["expected"]["unadapted"]["pe"] is None
    assert summary["expected"]["pairs"] == []


def test_groups_of_several_columns_have_names_with_commas(train, batch):
    def combined(data):
        side = np.where(np.arange(len(data.z)) % 2, "left", "right")
        return pd.DataFrame({"z": data.z, "side": side})

    clf = CapeClassifier(LogisticRegression(), pool="threshold", cv=3, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=combined(train))
    seen = examine(clf, batch.X, sensitive_features=combined(batch))
    summary = batch_summary(seen)
    names = ["0, left", "0, right", "1, left", "1, right"]
    assert [group["group"] for group in summary["groups"]] == names
    page = to_html(summary)
    for name in names:
        assert f"<strong>{name}</strong>" in page


def test_untested_scores_are_said_to_be_and_get_no_green_mark(train, batch):
    learner = HistGradientBoostingClassifier(max_iter=3)
    clf = CapeClassifier(learner, scores="refit", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    with pytest.warns(AdaptationWarning, match="not tested"):
        seen = examine(clf, batch.X, sensitive_features=batch.z)
    summary = batch_summary(seen)
    assert summary["verdict"]["mark"] != "good"
    for group in summary["groups"]:
        if group["verdict"] == "consistent":
            assert group["verdict_text"].endswith("the scores were not tested")
    assert to_html(seen).count("<td>not tested</td>") == len(summary["groups"])


def test_the_level_is_shown_on_the_page(clf, batch):
    seen = examine(clf, batch.X, sensitive_features=batch.z, level=0.8)
    page = to_html(seen)
    assert "now, with its 80 % interval" in page
    assert "the bound at level 0.8, if the interval of the prevalence is right" in page


def test_provenance_is_told_as_it_was_given(seen):
    provenance = {
        "files": [{"file": "march.csv", "rows": 200, "sha256": "ab" * 32}],
        "training": {"file": "last year.csv", "rows": 600, "sha256": "cd" * 32},
        "columns": {
            "label": "default",
            "labels": ["repaid", "default"],
            "groups": ["race"],
            "features": ["u", "v"],
        },
        "learner": "logistic",
        "settings": {"cv": 5},
    }
    of_file = copy(seen)
    of_file.provenance = provenance
    summary = batch_summary(of_file)
    page = to_html(summary)
    made = made_section(page)
    assert made["data"] == f"march.csv, 200 rows, SHA-256 {'ab' * 32}"
    assert made["trained on"] == f"last year.csv, 600 rows, SHA-256 {'cd' * 32}"
    assert made["label"] == "default: default is positive, repaid negative"
    assert made["fingerprint"] == seen.clf.fingerprint_
    assert summary["positive"] == "default = default"
    assert "predicted by a model trained on last year.csv." in page


def test_a_date_and_versions_that_are_given_are_kept(seen):
    provenance = {"date": "2020-02-29T12:00+00:00", "versions": {"cape": "0.0"}}
    of_file = copy(seen)
    of_file.provenance = provenance
    made = batch_summary(of_file)["made"]
    assert made["date"] == "2020-02-29T12:00+00:00"
    assert made["versions"] == {"cape": "0.0"}


def test_the_explorer_page_needs_no_file_either(clf):
    page = to_html(explorer_summary(clf))
    assert "<h1>Explorer: Model</h1>" in page
    sentence = "What a CapeClassifier would do if the shares of positives were"
    assert sentence in page
    assert made_section(page)["classifier"] == "CapeClassifier"


@pytest.mark.parametrize("content", [None, "march", ["march"], 3, examine])
def test_other_contents_are_refused_by_name(tmp_path, content):
    kind = type(content).__name__
    message = rf"content must be an Examination or a summary \(dict\), got {kind}"
    with pytest.raises(TypeError, match=message):
        write_report(content, tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["none", None])
def test_a_summary_of_an_unknown_kind_is_refused(kind):
    message = "content\\['kind'\\] must be one of 'batch', 'audit', 'monitor'"
    with pytest.raises(ValueError, match=message):
        to_html({"kind": kind})


def test_the_report_does_not_import_files():
    code = "import sys, cape.report; print('cape.files' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"


def test_a_summary_computes_nothing_anew(seen, monkeypatch):
    """All estimates, tests and expectations come from the examination."""
    from cape._drift import _mixture
    from cape.quantify import Quantifier

    def refuse(*arguments, **options):
        raise AssertionError("computed twice")

    monkeypatch.setattr(Quantifier, "estimate", refuse)
    monkeypatch.setattr(Quantifier, "interval", refuse)
    monkeypatch.setattr(_mixture, "fit_mixture", refuse)
    assert batch_summary(seen)["rows"] == 200


@pytest.mark.parametrize("every", [None, 4, 1])
def test_the_sliders_start_at_the_numbers_that_are_expected(clf, batch, every):
    """The explorer, the expected rates and the frontier say the same of one batch."""
    labels = None
    if every is not None:
        labels = np.where(np.arange(len(batch.y)) % every, np.nan, batch.y)
    summary = batch_summary(examine(clf, batch.X, labels, sensitive_features=batch.z))
    for place, group in enumerate(summary["explorer"]["groups"]):
        rates = [np.array(group["cape"][name]) for name in ("theta", "tpr", "fpr")]
        members = Members(*rates)
        start = outcomes(members, group["now"])
        expected = summary["expected"]["groups"][place]
        chosen = summary["frontiers"]["rules"][-1]["outcomes"][place]
        for name, outcome in zip(("fpr", "fnr", "accuracy"), chosen[1:4], strict=True):
            assert float(start[name]) == pytest.approx(expected[name], abs=2e-6)
            assert outcome == pytest.approx(expected[name], abs=1e-4)


def test_labels_are_mentioned_only_where_there_are_labels(clf, batch, page):
    sentence = "The labels of this batch were not used"
    assert sentence not in page
    seen = examine(
        clf, batch.X, batch.y, sensitive_features=batch.z, labels_decide=False
    )
    assert sentence in to_html(seen)


def test_notes_stand_below_the_verdict(summary):
    noted = to_html({**summary, "notes": ["column <age> is ignored."]})
    place = noted.index("column &lt;age&gt; is ignored.")
    assert noted.index(summary["verdict"]["head"]) < place
    assert place < noted.index("How far has each group moved?")
