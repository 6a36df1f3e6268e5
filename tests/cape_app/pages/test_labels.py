"""What the page has of labels: at the top, in the first picture, and in tables."""

import re

import numpy as np
import pytest

from cape.base._numbers import share_text
from cape.examination import LabelChecks, examine
from cape.metrics import confusion_by_group
from cape_app.pages import to_html
from cape_app.pages._batch import _mark_of_labels

pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")


@pytest.fixture(scope="module")
def examined(fitted, batch):
    """Examine the batch with some labels."""

    def run(y, **options):
        clf = fitted(pool="threshold")
        return examine(clf, batch.X, y, sensitive_features=batch.z, **options)

    return run


@pytest.fixture(scope="module")
def sampled(batch):
    """Which rows a plain sample has."""
    return np.random.default_rng(0).permutation(len(batch.y)) < 80


@pytest.fixture(scope="module")
def refuted(examined, batch, refuting, summarise, observe):
    """The summary of a batch whose labels refute its estimates."""
    seen = examined(refuting, labels_decide=False)
    everything = np.ones(len(batch.y), dtype=bool)
    observe(seen, refuting, everything)
    return summarise(seen)


@pytest.fixture(scope="module")
def observe(batch, observed):
    """Count what the predictions are worth by the labels of some rows."""

    def count(seen, y, known):
        groups = {"sensitive_features": batch.z}
        y_pred = seen.clf.predict(batch.X, **groups, adaptation=seen.adaptation)
        counts = confusion_by_group(
            y[known], y_pred[known], sensitive_features=batch.z[known], pos_label=1
        )
        seen.observed = observed(counts, counts)

    return count


def test_labels_that_refute_stand_at_the_top_with_the_true_share(
    refuted, batch, refuting
):
    page = to_html(refuted)
    assert refuted["action"]["code"] == "do_not_use"
    top = page[: page.index('<details class="part"')]
    # A green box below a red one would say that all is well.
    assert re.findall(r'<div class="verdict ([^"]*)">', page) == ["bad"]
    assert refuted["labels"]["verdict"]["head"] in top
    for check in refuted["labels"]["groups"]:
        share = refuting[batch.z == int(check["group"])].mean()
        assert check["label_estimate"] == pytest.approx(share)
        assert f"{100 * share:.0f}%" in top
    # A mark beside the head of its column, and one in each row.
    assert top.count('class="diamond"') == 1 + len(refuted["groups"])
    outside = sum(not rate["inside"] for rate in refuted["compared"]["rates"])
    assert outside >= 6


def test_labels_that_refute_correct_where_they_decide(
    examined, sampled, summarise, refuting
):
    summary = summarise(examined(np.where(sampled, refuting, None)))
    page = to_html(summary)
    assert summary["labels"]["verdict"]["mark"] == "warn"
    part = re.search(r'<details class="part" id="labels">.*?</details>', page, re.S)
    rows = re.findall(r"<tr>\s*<th scope=.row.*?</tr>", part[0], re.S)
    for row, group in zip(rows, summary["groups"], strict=False):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        name, checked, without, with_labels, _ = cells
        assert name == group["group"]
        assert checked == f"{group['labelled']} of {group['rows']}"
        assert without.startswith(share_text(group["without_labels"]))
        assert with_labels.startswith(share_text(group["estimate"]))


def test_labels_that_confirm_are_green_and_rates_are_compared(
    examined, batch, summarise, observe
):
    seen = examined(batch.y, labels_decide=False)
    observe(seen, batch.y, np.ones(len(batch.y), dtype=bool))
    summary = summarise(seen)
    assert summary["labels"]["verdict"]["mark"] == "good"
    assert len(summary["compared"]["rates"]) == 8


@pytest.mark.parametrize("decide", [True, False])
def test_early_outcomes_conclude_nothing(examined, batch, summarise, decide):
    early = np.where(batch.X[:, 0] > np.median(batch.X[:, 0]), batch.y, None)
    summary = summarise(examined(early, labels_decide=decide))
    labels = summary["labels"]
    assert labels["verdict"]["mark"] == "open" and not labels["used"]
    assert [check["label_verdict"] for check in labels["groups"]] == [None, None]
    if decide:
        # Labels that cannot be used are in no picture.
        assert 'class="diamond"' not in to_html(summary)


def test_rates_of_some_rows_are_not_compared(
    examined, batch, sampled, summarise, observe
):
    """The intervals are for all rows of a group, and fewer rows have more noise."""
    seen = examined(np.where(sampled, batch.y, None), labels_decide=False)
    observe(seen, batch.y, sampled)
    assert summarise(seen)["compared"] is None
    observe(seen, batch.y, sampled | (batch.z == 0))
    rates = summarise(seen)["compared"]["rates"]
    assert [rate["group"] for rate in rates] == ["0"] * 4


@pytest.mark.parametrize(
    ("estimate", "decide", "mark"),
    # Where labels decide, the estimate is mended.
    [(0.25, False, "warn"), (0.5, False, "bad"), (0.5, True, "warn")],
)
def test_a_small_difference_is_said_and_is_no_alarm(adapted, estimate, decide, mark):
    labels = {"rows": 50, "estimate": estimate, "verdict": "refuted", "p_value": 0.03}
    checks = LabelChecks({"a": adapted(labels=labels)}, decide)
    assert _mark_of_labels(checks) == mark
