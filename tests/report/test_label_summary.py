"""What the page says of labels: at the top, in the first picture, and in tables."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cape import Estimate, _plot
from cape._adaptation import GroupAdaptation
from cape._labelled import LabelFindings
from cape._wording._page import labels_head, labels_text, rests_sentence
from cape.examination import LabelChecks, examine
from cape.examination._examination import Observed
from cape.metrics import confusion_by_group
from cape.report import to_html
from cape.report._batch import WIDTHS, _mark_of_labels, batch_summary, labels_for_width
from cape.report._pictures import frame_moved

pytestmark = pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
NAN = float("nan")


def _verdict(labels):
    head, text = labels_head(labels), labels_text(labels)
    return {"mark": _mark_of_labels(labels), "head": head, "text": text}


@pytest.fixture(scope="module")
def clf(fitted):
    return fitted(pool="threshold")


@pytest.fixture(scope="module")
def examined(clf, batch):
    """Examine the batch with some labels, once for each setting."""
    known = {}

    def run(y, **options):
        key = (tuple(y), *sorted(options.items()))
        if key not in known:
            known[key] = examine(clf, batch.X, y, sensitive_features=batch.z, **options)
        return known[key]

    return run


@pytest.fixture(scope="module")
def page_of():
    """Write a page once: its pictures take a second."""
    known = {}

    def write(seen):
        if id(seen) not in known:
            known[id(seen)] = seen, to_html(seen)
        return known[id(seen)][1]

    return write


@pytest.fixture(scope="module")
def sampled(batch):
    """Which rows a plain sample has."""
    return np.random.default_rng(0).permutation(len(batch.y)) < 80


def boxes(page):
    """Return class and headline of the boxes at the top."""
    top = page[: page.index("<h2>")]
    return re.findall(r'<div class="verdict ([^"]*)"><p><strong>(.*?)</strong>', top)


def test_labels_that_refute_stand_at_the_top_with_the_true_share(
    page_of, examined, batch
):
    seen = examined(1 - batch.y, labels_decide=False)
    page = page_of(seen)
    (first, second) = boxes(page)
    assert first == ("labels bad", "The labels refute the estimates of 0 and 1")
    # A green box below a red one would say that all is well.
    assert second[0] == "warn"
    top = page[: page.index("<h2>")]
    for group, check in seen.labels.groups.items():
        share = 1 - batch.y[batch.z == group].mean()
        without = (
            f"{check.without_labels.value:.3f} ({check.without_labels.low:.3f} to "
        )
        assert f"in {group}: {share:.3f} according to the labels, {without}" in top
    assert "no test without labels sees" in top
    assert "were not used to estimate it" in page


def test_labels_that_refute_correct_where_they_decide(
    page_of, examined, batch, sampled
):
    labels = np.where(sampled, 1 - batch.y, None)
    page = page_of(examined(labels))
    assert boxes(page)[0] == (
        "labels warn",
        "The labels refute the label-free estimates of 0 and 1",
    )
    assert "The estimates below were corrected by the labels." in page
    assert "estimated without labels, with its interval</li>" in page
    assert "were not used to estimate it" not in page
    assert "rest on labels of a random sample" in page
    assert "if the assumption is right</span></caption>" not in page


def test_labels_that_confirm_are_green(page_of, examined, batch):
    page = page_of(examined(batch.y, labels_decide=False))
    mark, head = boxes(page)[0]
    assert (mark, head) == (
        "labels good",
        "The labels confirm the estimates to within 0.1",
    )


def test_early_outcomes_are_told_and_conclude_nothing(page_of, examined, batch):
    early = np.where(batch.X[:, 0] > np.median(batch.X[:, 0]), batch.y, None)
    for decide in (True, False):
        page = page_of(examined(early, labels_decide=decide))
        mark, head = boxes(page)[0]
        assert mark == "labels open" and head.startswith("The labels cannot tell")
        assert "of 0 and 1 do not look drawn from the batch" in page
        assert "no random sample" in page
        # Labels that cannot be used are in no picture and in no estimate.
        assert 'class="diamond"' not in page
        assert "were not used to estimate it" in page


def test_a_batch_without_labels_says_nothing_of_them(clf, batch):
    seen = examine(clf, batch.X, sensitive_features=batch.z)
    summary = batch_summary(seen)
    assert summary["labels"] is None and summary["compared"] is None
    page = to_html(summary)
    assert "verdict labels" not in page and "What the labels say" not in page
    assert 'class="outside"' not in page


def make_check(rows, labelled, verdict, p_value, sample_p_value):
    """Make what labels say of an estimate of 0.2."""
    return GroupAdaptation(
        rows=rows,
        training_prevalence=0.5,
        estimate=Estimate(0.25, 0.15, 0.35),
        without_labels=Estimate(0.2, 0.1, 0.3),
        quantifier_estimate=Estimate(0.2, 0.1, 0.3),
        mean_score=0.2,
        drift=0.0,
        held_back=0.0,
        verdict="consistent",
        labels=LabelFindings(labelled, 0.25, verdict, p_value, sample_p_value),
        classifier=0,
        made_for=0.2,
        predicted_prevalence=0.2,
        pd_bound=0.2,
    )


def with_labels(check, **changes):
    """Change what the labels say."""
    return replace(check, labels=replace(check.labels, **changes))


def checks(**verdicts):
    """Checks of groups with given verdicts; p-values are those of the verdict."""
    p_values = {"refuted": 0.03, "confirmed": 0.8, "not_contradicted": 0.3, None: NAN}
    found = {}
    for group, verdict in verdicts.items():
        found[group] = make_check(500, 50, verdict, p_values[verdict], NAN)
    return LabelChecks(found, False)


def test_a_group_that_chance_explains_is_no_alarm():
    """Of twenty good estimates, one is refuted at 5 %."""
    others = dict.fromkeys([f"g{i}" for i in range(19)], "confirmed")
    verdict = _verdict(checks(odd="refuted", **others))
    assert verdict["mark"] == "open" and "do not contradict" in verdict["head"]
    assert "By itself, odd would be refuted, but among 20 groups" in verdict["text"]
    alone = _verdict(checks(odd="refuted"))
    assert alone["head"] == "The labels refute the estimates of odd"


def test_what_is_confirmed_beside_what_is_refuted_is_said_of_the_labels():
    both = checks(odd="refuted", even="confirmed")
    clearly = with_labels(both.groups["odd"], p_value=0.001)
    verdict = _verdict(LabelChecks({**both.groups, "odd": clearly}, False))
    assert verdict["head"] == "The labels refute the estimates of odd"
    assert "The labels confirm the estimate of even to within 0.1." in verdict["text"]
    assert "They" not in verdict["text"]


def test_a_small_difference_is_said_and_is_no_alarm():
    close = checks(a="refuted")
    assert _verdict(close)["mark"] == "warn"
    far = with_labels(close.groups["a"], estimate=0.5)
    assert _verdict(LabelChecks({"a": far}, False))["mark"] == "bad"
    # Where labels decide, the estimate is mended.
    assert _verdict(LabelChecks({"a": far}, True))["mark"] == "warn"


def test_every_group_is_named_under_its_verdict():
    found = checks(a="confirmed", b="not_contradicted", c=None)
    groups = {**found.groups, "d": with_labels(found.groups["c"], rows=0)}
    groups["c"] = with_labels(groups["c"], rows=4)
    text = _verdict(LabelChecks(groups, False))["text"]
    assert "confirm that of a to within 0.1" in text
    assert "In b they are no sign against the estimate" in text
    assert "Fewer than 10 rows of c have a label" in text
    assert "No row of d has a label" in text


def test_many_refuted_groups_are_counted():
    found = {}
    for number in range(9):
        one = checks(a="refuted").groups["a"]
        found[f"g{number}"] = with_labels(one, p_value=1e-9)
    text = _verdict(LabelChecks(found, False))["text"]
    assert text.count("Share of positives in") == 6
    assert "3 more groups: see below" in text


def test_the_first_picture_has_a_diamond_where_the_labels_are(page_of, examined, batch):
    seen = examined(1 - batch.y, labels_decide=False)
    summary = batch_summary(seen)
    frame = frame_moved(summary["groups"], summary["labels"])
    truth = [1 - batch.y[batch.z == group].mean() for group in (0, 1)]
    np.testing.assert_allclose(frame["compared"], truth)
    np.testing.assert_allclose(frame["compared_low"], frame["compared_high"])
    estimates = [group["estimate"] for group in summary["groups"]]
    assert frame["now"].tolist() == estimates
    assert '"diamond"' in _plot.moved(frame).to_json()
    assert "according to the labels</li>" in page_of(seen)


def test_where_labels_decide_the_diamond_is_the_label_free_estimate(
    examined, batch, sampled
):
    # Labels of one group only: the other one has nothing to compare with.
    known = sampled & (batch.z == 0)
    summary = batch_summary(examined(np.where(known, batch.y, None)))
    frame = frame_moved(summary["groups"], summary["labels"])
    first = summary["groups"][0]
    assert frame["compared"][0] == first["without_labels"] != first["estimate"]
    assert frame[["compared", "compared_low", "compared_high"]].loc[1].isna().all()
    drawn = _plot.moved(frame).to_dict()
    assert [len(rows) for rows in drawn["datasets"].values()] == [2, 1]
    assert "and hold whatever has moved" in rests_sentence(summary["groups"])
    assert rests_sentence(summary["groups"]).startswith("This rests on the assumption")


def test_the_table_has_both_estimates_and_the_rows_checked(
    page_of, examined, batch, sampled
):
    seen = examined(np.where(sampled, batch.y, None))
    summary = batch_summary(seen)
    section = re.search(r'<section class="checked">.*?</section>', page_of(seen), re.S)
    rows = re.findall(r"<tr>\s*<th scope=.row.*?</tr>", section[0], re.S)
    for row, group in zip(rows, summary["groups"], strict=False):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        name, checked, without, with_labels, verdict = cells
        assert name == group["group"]
        assert checked == f"{group['labelled']} of {group['rows']}"
        assert without.startswith(f"{group['without_labels']:.3f} (")
        assert with_labels.startswith(f"{group['estimate']:.3f} (")
        assert verdict.split(",")[0] in (
            "confirmed to within 0.1",
            "not contradicted",
            "refuted",
        )


@given(st.integers(10, 400), st.integers(20, 5000), st.floats(0.01, 0.9))
def test_labels_for_a_width_follow_the_variance_of_a_finite_batch(m, more, width):
    rows = m + more
    check = make_check(rows, m, "confirmed", 1.0, 1.0)
    needed = labels_for_width(check, width)
    assert 0 < needed <= rows
    assert labels_for_width(check, 0.2) == m
    assume(1 < needed < rows - 1)
    # With that many labels the width is the one asked for, up to rounding.
    widths = []
    for labels in (needed - 0.5, needed + 0.5):
        variance = (1 / labels - 1 / rows) / (1 / m - 1 / rows)
        widths.append(0.2 * np.sqrt(variance))
    assert widths[1] - 1e-9 <= width <= widths[0] + 1e-9


def test_more_labels_are_promised_only_where_they_narrow(examined, batch, sampled):
    summary = batch_summary(examined(np.where(sampled, batch.y, None)))
    assert len(summary["labels"]["needed"]) == 2
    for entry in summary["labels"]["needed"]:
        assert len(entry["needed"]) == len(WIDTHS)
        assert entry["needed"] == sorted(entry["needed"])
    complete = batch_summary(examined(batch.y))
    assert complete["labels"]["needed"] == []
    compared = batch_summary(examined(batch.y, labels_decide=False))
    assert compared["labels"]["needed"] == []


def observed_by(clf, batch, y, known, seen):
    """Count what the predictions are worth by the labels of some rows."""
    y_pred = clf.predict(
        batch.X, sensitive_features=batch.z, adaptation=seen.adaptation
    )
    counts = confusion_by_group(
        y[known], y_pred[known], sensitive_features=batch.z[known], pos_label=1
    )
    seen.observed = Observed(counts, counts)
    return seen


def test_expected_rates_are_compared_where_all_labels_are_known(clf, examined, batch):
    everything = np.ones(len(batch.y), dtype=bool)
    seen = examined(batch.y, labels_decide=False)
    summary = batch_summary(observed_by(clf, batch, batch.y, everything, seen))
    rates = summary["compared"]["rates"]
    assert len(rates) == 8
    inside = sum(rate["inside"] for rate in rates)
    text = summary["compared"]["text"]
    assert text.startswith(f"{inside} of 8 observed rates lie in the interval")
    page = to_html(summary)
    assert text in page
    assert page.count('class="inside"') == inside


def test_rates_outside_their_intervals_are_named(clf, examined, batch):
    everything = np.ones(len(batch.y), dtype=bool)
    seen = examined(1 - batch.y, labels_decide=False)
    summary = batch_summary(observed_by(clf, batch, 1 - batch.y, everything, seen))
    assert "outside: FPR of 0" in summary["compared"]["text"]
    assert to_html(summary).count('<small class="outside">true') >= 6


def test_rates_of_some_rows_are_not_compared(clf, examined, batch, sampled):
    """The intervals are for all rows of a group, and fewer rows have more noise."""
    seen = examined(np.where(sampled, batch.y, None), labels_decide=False)
    partly = observed_by(clf, batch, batch.y, sampled, seen)
    assert partly.expected_and_observed() is None
    known = sampled | (batch.z == 0)
    one_group = observed_by(clf, batch, batch.y, known, seen)
    compared = one_group.expected_and_observed()
    assert set(compared.index.get_level_values("group")) == {0}
    page = to_html(one_group)
    assert page.count('class="inside"') + page.count('class="outside"') == 4
