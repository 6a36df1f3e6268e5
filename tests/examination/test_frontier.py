"""The frontier: what a criterion costs in a batch."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape import examine
from cape.examination._draws import BatchDraws, ExpectedRates
from cape.examination._frontier import _Search
from cape.rules import CRITERIA, Accuracy, Constrained

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))
from situations import every_choice, invent, metric

RATIO = "demographic_parity_ratio"
EQUAL = "demographic_parity_difference"


class PlainDraws(BatchDraws):
    """One draw of a batch: rates and prevalences are what the estimates say."""

    def __init__(self, situations):
        self.situations = situations
        self.level = 0.95

    def expected(self, members):
        expected = {}
        for group, member in members.items():
            situation = self.situations[group]
            rates = float(situation.fpr[member]), 1 - float(situation.tpr[member])
            expected[group] = ExpectedRates(situation.estimate.value, *rates)
        return expected

    def expected_pe(self, members):
        return float("nan")

    def cost(self, members, expected, *, cost_fp, cost_fn):
        total = 0.0
        for group, rates in expected.items():
            errors = cost_fn * rates.false_negatives + cost_fp * rates.false_positives
            total += self.situations[group].share * errors
        return total, np.array([total])


def with_exact_shares(groups):
    """The same groups, in which the observed shares are what the rates say."""
    exact = {}
    for name, group in groups.items():
        q = group.estimate.value
        fields = {**group.__dict__}
        fields["predicted_prevalences"] = q * group.tpr + (1 - q) * group.fpr
        for cached in ("tpr", "fpr"):
            fields.pop(cached, None)
        exact[name] = type(group)(**fields)
    return exact


def costs_of_all(groups, choices, cost_fp, cost_fn):
    """The cost of every choice from its definition."""
    total = np.zeros(len(choices))
    for place, group in enumerate(groups.values()):
        members = choices[:, place]
        errors = cost_fn * group.estimate.value * (1 - group.tpr[members])
        errors += cost_fp * (1 - group.estimate.value) * group.fpr[members]
        total += group.share * errors
    return total


def does_not_dominate(curve, criterion):
    """Tell whether no point is at least as good as another in both ways."""
    sign = -1 if criterion == RATIO else 1
    for one in curve:
        for other in curve:
            if one is not other:
                more_equal = sign * one.criterion <= sign * other.criterion
                if more_equal and one.cost.value <= other.cost.value:
                    return False
    return True


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    criterion=st.sampled_from(sorted(CRITERIA)),
    costs=st.sampled_from([(1.0, 1.0), (1.0, 5.0), (3.0, 0.5)]),
    n_groups=st.sampled_from([2, 3]),
    monotone=st.booleans(),
)
def test_no_choice_is_better_than_a_point(seed, criterion, costs, n_groups, monotone):
    groups = with_exact_shares(invent(seed, n_groups, 7, monotone=monotone))
    names = dict(zip(("cost_fp", "cost_fn"), costs, strict=True))
    search = _Search(PlainDraws(groups), criterion, names)
    curve = search.curve(12, Accuracy(**names).choose(groups))
    assert does_not_dominate(curve, criterion)
    choices = every_choice(groups)
    of_choices = metric(criterion, groups, choices)
    total = costs_of_all(groups, choices, *costs)
    sign = -1 if criterion == RATIO else 1
    for point in curve:
        if np.isnan(point.criterion):
            continue
        members = [outcome["member"] for outcome in point.groups.values()]
        own = int((choices == members).all(axis=1).argmax())
        assert point.cost.value == pytest.approx(total[own])
        assert point.criterion == pytest.approx(of_choices[own])
        as_equal = sign * of_choices <= sign * point.criterion + 1e-12
        assert point.cost.value <= total[as_equal].min() + 1e-9


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    criterion=st.sampled_from(sorted(set(CRITERIA) - {"proportional_equality"})),
    costs=st.sampled_from([(1.0, 1.0), (1.0, 5.0)]),
)
def test_the_ends_are_those_of_the_rules(seed, criterion, costs):
    groups = with_exact_shares(invent(seed, 2, 9))
    names = dict(zip(("cost_fp", "cost_fn"), costs, strict=True))
    search = _Search(PlainDraws(groups), criterion, names)
    free = Accuracy(**names).choose(groups)
    curve = list(search.curve(10, free))
    if criterion == RATIO:
        curve.reverse()
    best = search.point(None, None, free)
    assert curve[-1].cost == pytest.approx(best.cost)
    tightest = 1.0 if criterion == RATIO else 0.0
    equal = Constrained(**{criterion: tightest}, **names).choose(groups)
    parity = search.point(None, None, equal)
    assert curve[0].criterion == pytest.approx(parity.criterion)
    assert curve[0].cost == pytest.approx(parity.cost)


@pytest.fixture(scope="module")
def seen(fitted, batch):
    return examine(fitted(), batch.X, sensitive_features=batch.z)


def frontier(seen, criterion=EQUAL, **options):
    return seen.frontiers([criterion], **options)[criterion]


@pytest.mark.parametrize(
    ("criterion", "pool"),
    [*[(name, "threshold") for name in CRITERIA], (EQUAL, "resampled")],
)
def test_points_go_from_equality_to_accuracy(fitted, batch, criterion, pool):
    seen = examine(fitted(pool=pool), batch.X, sensitive_features=batch.z, n_draws=500)
    found = frontier(seen, criterion, n_points=8)
    values = [point.criterion for point in found.curve]
    accuracies = [point.accuracy.value for point in found.curve]
    assert values == sorted(values)
    assert accuracies == sorted(accuracies, reverse=criterion == RATIO)
    assert does_not_dominate(found.curve, criterion)
    for point in [*found.curve, *found.rules, found.chosen]:
        assert point.cost.low <= point.cost.value <= point.cost.high
        assert list(point.groups) == list(seen.evidence.groups)


def test_every_rule_is_a_point_once(seen):
    found = frontier(seen, n_points=2)
    names = [point.rule for point in found.rules]
    assert names == [
        "prevalence", "proportional_equality", "demographic_parity",
        "equal_opportunity", "predictive_equality", "equalized_odds", "accuracy",
    ]  # fmt: skip
    for point in found.rules:
        adapted = seen.clf.adapt(evidence=seen.evidence, rule=point.rule)
        members = [outcome["member"] for outcome in point.groups.values()]
        assert members == [group.classifier for group in adapted.groups.values()]


def test_what_was_chosen_is_a_point(seen):
    rule = Constrained(false_positive_rate_difference=0.05)
    bounded = examine(seen.clf, evidence=seen.evidence, rule=rule)
    found = frontier(bounded, n_points=2)
    assert found.chosen.rule == "constrained"
    for group, outcome in found.chosen.groups.items():
        adapted = bounded.adaptation.groups[group]
        assert outcome["member"] == adapted.classifier
        assert outcome["predicted_prevalence"] == adapted.predicted_prevalence
        assert outcome["pd"] == bounded.expected.groups[group].pd.value


def test_several_criteria_are_those_one_by_one(seen):
    names = [EQUAL, "equalized_odds_difference"]
    together = seen.frontiers(names, n_points=5)
    for name in names:
        alone = frontier(seen, name, n_points=5)
        assert together[name].to_dict() == alone.to_dict()


def test_costs_move_the_curve(seen):
    found = frontier(seen, cost_fp=1, cost_fn=5, n_points=6)
    plain = frontier(seen, n_points=6)
    table = found.table()
    assert list(table.columns) == [
        "rule", "tolerance", EQUAL, "cost", "cost_low", "cost_high",
    ]  # fmt: skip
    assert table["cost"].iloc[0] == found.curve[0].cost.value
    assert table["cost"].between(table["cost_low"], table["cost_high"]).all()
    called = [
        sum(
            outcome["predicted_prevalence"] for outcome in one.curve[-1].groups.values()
        )
        for one in (found, plain)
    ]
    # Where a miss costs five times as much, more rows are called positive.
    assert called[0] > called[1]


def test_the_table_has_accuracies(seen):
    found = frontier(seen, RATIO, n_points=4)
    table = found.table()
    assert table["rule"].isna().sum() == len(found.curve)
    points = [*found.curve, *found.rules]
    assert table["accuracy"].tolist() == [point.accuracy.value for point in points]


def test_one_group_has_nothing_to_weigh(fitted, batch):
    own = batch.z == 0
    seen = examine(fitted(), batch.X[own], sensitive_features=batch.z[own])
    found = frontier(seen, "equal_opportunity_difference")
    [point] = found.curve
    assert np.isnan(point.criterion) and 0 < point.accuracy.value < 1
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["curve"][0]["criterion"] is None


def test_a_group_with_unknown_rates_is_left_out(few_positives):
    found = frontier(few_positives, "equal_opportunity_difference")
    assert len(found.curve) > 1
    json.dumps(found.to_dict(), allow_nan=False)
    for point in found.curve:
        # c has the paper's member, and only a and b are compared.
        member = few_positives.adaptation.groups["c"].classifier
        assert point.groups["c"]["member"] == member
        fnr = [point.groups[group]["fnr"] for group in "ab"]
        assert point.criterion == pytest.approx(np.ptp(fnr))


def test_labels_correct_the_rates(seen, batch):
    labelled = examine(seen.clf, batch.X, batch.y, sensitive_features=batch.z)
    differences = []
    for one in (seen, labelled):
        rule = frontier(one, n_points=4).rules[0]
        differences.append([outcome["pd"] for outcome in rule.groups.values()])
    assert differences[0] != differences[1]


def test_it_refuses_what_it_cannot_use(seen):
    with pytest.raises(ValueError, match="criteria must be"):
        seen.frontiers(["accuracy"])
    with pytest.raises(ValueError, match="n_points must be"):
        frontier(seen, n_points=1)
    nothing = examine(seen.clf, evidence=seen.evidence - seen.evidence)
    with pytest.raises(ValueError, match="must have rows"):
        frontier(nothing)
