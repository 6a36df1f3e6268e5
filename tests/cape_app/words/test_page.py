"""Sentences of the pages, from codes and numbers."""

import pytest

from cape.examination import LabelChecks
from cape_app.words._page import (
    labels_head,
)

# What labels say of the estimates


@pytest.fixture
def checks(adapted):
    """Checks of groups with given verdicts; p-values are those of the verdict."""

    def make(changes=None, decide=False, **verdicts):
        p_values = {"refuted": 0.03, "confirmed": 0.8, "not_contradicted": 0.3}
        groups = {}
        for group, verdict in verdicts.items():
            labels = {"rows": 50, "estimate": 0.25, "verdict": verdict}
            labels["p_value"] = p_values.get(verdict, float("nan"))
            groups[group] = adapted(labels={**labels, **(changes or {}).get(group, {})})
        return LabelChecks(groups, decide)

    return make


def test_a_group_that_chance_explains_is_not_refuted(checks):
    """Of twenty good estimates, one is refuted at 5 %."""
    others = dict.fromkeys([f"g{i}" for i in range(19)], "confirmed")
    labels = checks(odd="refuted", **others)
    assert "do not contradict" in labels_head(labels)
    # Labels 0.25, estimate 0.2; where they lie apart, both numbers come first.
    far = {"odd": {"estimate": 0.4, "p_value": 0.3}}
    labels = checks(far, odd="not_contradicted", **others)
    assert labels_head(labels) == "The labels say 40% (not 20%) for odd"
    both = checks({**far, "g0": far["odd"]}, odd="not_contradicted", **others)
    assert labels_head(both).endswith("for odd and 40% (not 20%) for g0")
    alone = labels_head(checks(odd="refuted"))
    assert alone == "The labels contradict the estimates for odd"


@pytest.mark.parametrize(
    ("decide", "verdict", "head"),
    [
        (True, "refuted", "The labels corrected the estimates for a"),
        (
            False,
            "confirmed",
            "Judged by the labels, the estimates are off by at most 0.05",
        ),
        (False, None, "Too few labels to judge the estimates"),
    ],
)
def test_the_headline_of_labels(checks, decide, verdict, head):
    assert labels_head(checks(decide=decide, a=verdict)) == head
