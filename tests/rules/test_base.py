"""What a rule sees of a group, and what it takes to write one."""

from dataclasses import replace

import numpy as np
import pytest

from cape import Estimate
from cape._group_model import MemberRates
from cape.rules import GroupSituation, Prevalence, Rule


@pytest.fixture
def situation():
    positives = np.array([100.0, 100.0, 5.0])
    negatives = np.array([200.0, 9.0, 200.0])
    return GroupSituation(
        share=0.25,
        estimate=Estimate(0.3, 0.2, 0.4),
        thetas=np.array([0.2, 0.5, 0.8]),
        predicted_prevalences=np.array([0.1, 0.4, 0.7]),
        rates=MemberRates(positives * 0.5, positives, negatives * 0.1, negatives),
    )


def test_rates_are_those_of_the_members_and_unknown_below_ten_rows(situation):
    np.testing.assert_allclose(situation.tpr, [0.5, 0.5, np.nan])
    np.testing.assert_allclose(situation.fpr, [0.1, np.nan, 0.1])


def test_a_situation_cannot_be_changed(situation):
    with pytest.raises(AttributeError):
        situation.estimate = 0.5


def test_a_rule_must_choose():
    with pytest.raises(TypeError, match="abstract"):
        Rule()

    class Undecided(Rule):
        pass

    with pytest.raises(TypeError, match="choose"):
        Undecided()


class EqualPredictedPrevalence(Rule):
    """Bring the predicted prevalences of all groups near their common mean."""

    def choose(self, groups):
        goal = sum(group.share * group.estimate.value for group in groups.values())
        chosen = {}
        for name, group in groups.items():
            distance = np.abs(group.predicted_prevalences - goal)
            chosen[name] = int(distance.argmin())
        return chosen


def test_a_rule_may_look_at_all_groups_together(situation):
    other = replace(situation, share=0.75, estimate=Estimate(0.8))
    groups = {"a": situation, "b": other}
    # The common goal is 0.25 x 0.3 + 0.75 x 0.8 = 0.675.
    assert EqualPredictedPrevalence().choose(groups) == {"a": 2, "b": 2}
    assert Prevalence().choose(groups) == {"a": 1, "b": 2}
