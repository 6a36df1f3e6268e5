"""The frontier: what a criterion costs in a batch."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cape.diagnostics import frontier, frontiers
from cape.diagnostics._chosen_draws import DrawnGroup, ExpectedRates
from cape.diagnostics._frontier import _Search
from cape.rules import CRITERIA, Accuracy, Constrained, make_rule

sys.path.insert(0, str(Path(__file__).parents[1] / "rules"))
from situations import every_choice, invent, metric

RATIO = "demographic_parity_ratio"
EQUAL = "demographic_parity_difference"


class PlainDraws:
    """One draw of a batch: rates and prevalences are what the estimates say."""

    def __init__(self, situations):
        self.situations = situations

    def of_choice(self, members):
        drawn = {}
        for group, member in members.items():
            situation = self.situations[group]
            q = np.array([situation.estimate])
            tpr = situation.tpr[[member]]
            fpr = situation.fpr[[member]]
            right = q * tpr + (1 - q) * (1 - fpr)
            predicted = float(situation.predicted_prevalences[member])
            drawn[group] = DrawnGroup(q, tpr, fpr, right, predicted)
        return drawn

    def expected(self, members):
        expected = {}
        for group, drawn in self.of_choice(members).items():
            fpr, fnr = float(drawn.fpr[0]), float(1 - drawn.tpr[0])
            q = float(drawn.prevalence[0])
            expected[group] = ExpectedRates(q, fpr, fnr)
        return expected

    def cost(self, drawn, *, cost_fp, cost_fn):
        total = 0.0
        for group, rates in drawn.items():
            errors = cost_fn * rates.prevalence * (1 - rates.tpr)
            errors = errors + cost_fp * (1 - rates.prevalence) * rates.fpr
            total = total + self.situations[group].share * errors
        return total


def with_exact_shares(groups):
    """The same groups, in which the observed shares are what the rates say."""
    exact = {}
    for name, group in groups.items():
        q = group.estimate
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
        errors = cost_fn * group.estimate * (1 - group.tpr[members])
        errors += cost_fp * (1 - group.estimate) * group.fpr[members]
        total += group.share * errors
    return total


def does_not_dominate(curve, criterion):
    """Tell whether no point is at least as good as another in both ways."""
    sign = -1 if criterion == RATIO else 1
    for one in curve:
        for other in curve:
            if one is not other:
                more_equal = sign * one.criterion <= sign * other.criterion
                if more_equal and one.cost <= other.cost:
                    return False
    return True


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    criterion=st.sampled_from(sorted(CRITERIA)),
    costs=st.sampled_from([(1.0, 1.0), (1.0, 5.0), (3.0, 0.5)]),
    n_groups=st.sampled_from([2, 3]),
    monotone=st.booleans(),
)
def test_no_choice_is_better_than_a_point(seed, criterion, costs, n_groups, monotone):
    groups = with_exact_shares(invent(seed, n_groups, 7, monotone=monotone))
    search = _Search(PlainDraws(groups), criterion, *costs, level=0.95)
    curve = search.curve(12)
    assert does_not_dominate(curve, criterion)
    choices = every_choice(groups)
    of_choices = metric(criterion, groups, choices)
    total = costs_of_all(groups, choices, *costs)
    sign = -1 if criterion == RATIO else 1
    for point in curve:
        if np.isnan(point.criterion):
            continue
        members = [outcome.member for outcome in point.groups.values()]
        own = int((choices == members).all(axis=1).argmax())
        assert point.cost == pytest.approx(total[own])
        assert point.criterion == pytest.approx(of_choices[own])
        as_equal = sign * of_choices <= sign * point.criterion + 1e-12
        assert point.cost <= total[as_equal].min() + 1e-9


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    criterion=st.sampled_from(sorted(set(CRITERIA) - {"proportional_equality"})),
    costs=st.sampled_from([(1.0, 1.0), (1.0, 5.0)]),
)
def test_the_ends_are_those_of_the_rules(seed, criterion, costs):
    groups = with_exact_shares(invent(seed, 2, 9))
    names = dict(zip(("cost_fp", "cost_fn"), costs, strict=True))
    search = _Search(PlainDraws(groups), criterion, *costs, level=0.95)
    curve = list(search.curve(10))
    if criterion == RATIO:
        curve.reverse()
    best = search.point(None, None, Accuracy(**names).choose(groups))
    assert curve[-1].cost == pytest.approx(best.cost)
    tightest = 1.0 if criterion == RATIO else 0.0
    equal = Constrained(**{criterion: tightest}, **names).choose(groups)
    parity = search.point(None, None, equal)
    assert curve[0].criterion == pytest.approx(parity.criterion)
    assert curve[0].cost == pytest.approx(parity.cost)


@pytest.fixture(scope="module")
def seen(fitted, batch):
    clf = fitted()
    return clf, clf.evidence(batch.X, sensitive_features=batch.z)


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize("pool", ["threshold", "resampled"])
def test_points_go_from_equality_to_accuracy(fitted, batch, criterion, pool):
    clf = fitted(pool=pool)
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    found = frontier(clf, evidence, criterion, n_points=8)
    values = [point.criterion for point in found.curve]
    accuracies = [point.accuracy for point in found.curve]
    assert values == sorted(values)
    assert accuracies == sorted(accuracies, reverse=criterion == RATIO)
    assert does_not_dominate(found.curve, criterion)
    for point in [*found.curve, *found.rules, found.chosen]:
        assert point.cost_low <= point.cost <= point.cost_high
        assert list(point.groups) == list(evidence.groups)


def test_every_rule_is_a_point_once(seen):
    clf, evidence = seen
    found = frontier(clf, evidence)
    names = [point.rule for point in found.rules]
    assert names == [
        "prevalence", "proportional_equality", "demographic_parity",
        "equal_opportunity", "predictive_equality", "equalized_odds", "accuracy",
    ]  # fmt: skip
    for point in found.rules:
        adapted = clf.adapt(evidence=evidence, rule=make_rule(point.rule))
        members = [outcome.member for outcome in point.groups.values()]
        assert members == [group.member for group in adapted.groups.values()]


def test_what_was_chosen_is_a_point(seen):
    clf, evidence = seen
    rule = Constrained(false_positive_rate_difference=0.05)
    adaptation = clf.adapt(evidence=evidence, rule=rule)
    found = frontier(clf, evidence, adaptation=adaptation)
    assert found.chosen.rule == "constrained"
    for group, outcome in found.chosen.groups.items():
        adapted = adaptation.groups[group]
        assert outcome.member == adapted.member
        assert outcome.predicted_prevalence == adapted.predicted_prevalence
        assert outcome.pd == pytest.approx(
            abs(adapted.estimate - adapted.predicted_prevalence)
        )


def test_several_criteria_are_those_one_by_one(seen):
    clf, evidence = seen
    names = [EQUAL, "equalized_odds_difference"]
    together = frontiers(clf, evidence, names, n_points=5)
    for name in names:
        alone = frontier(clf, evidence, name, n_points=5)
        assert together[name].to_dict() == alone.to_dict()


def test_costs_move_the_curve(seen):
    clf, evidence = seen
    found = frontier(clf, evidence, cost_fp=1, cost_fn=5)
    plain = frontier(clf, evidence)
    table = found.table()
    assert list(table.columns) == [
        "rule", "tolerance", EQUAL, "cost", "cost_low", "cost_high",
    ]  # fmt: skip
    assert table["cost"].iloc[0] == pytest.approx(found.curve[0].cost)
    assert (table["cost_low"] <= table["cost"]).all()
    assert (table["cost"] <= table["cost_high"]).all()
    called = [outcome.predicted_prevalence for outcome in ends(found)]
    called_plain = [outcome.predicted_prevalence for outcome in ends(plain)]
    # Where a miss costs five times as much, more rows are called positive.
    assert sum(called) > sum(called_plain)


def ends(found):
    return found.curve[-1].groups.values()


def test_the_table_has_accuracies(seen):
    clf, evidence = seen
    found = frontier(clf, evidence, RATIO)
    table = found.table()
    assert table["rule"].isna().sum() == len(found.curve)
    assert table["accuracy"].tolist() == [
        point.accuracy for point in [*found.curve, *found.rules]
    ]


def test_one_group_has_nothing_to_weigh(fitted, batch):
    clf = fitted()
    own = batch.z == 0
    evidence = clf.evidence(batch.X[own], sensitive_features=batch.z[own])
    found = frontier(clf, evidence, "equal_opportunity_difference")
    [point] = found.curve
    assert np.isnan(point.criterion) and 0 < point.accuracy < 1
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["curve"][0]["criterion"] is None


def test_a_group_with_unknown_rates_is_left_out(few_positives):
    clf, evidence, adaptation = few_positives
    name = "equal_opportunity_difference"
    found = frontier(clf, evidence, name, adaptation=adaptation)
    assert len(found.curve) > 1
    json.dumps(found.to_dict(), allow_nan=False)
    for point in found.curve:
        # c has the paper's member, and only a and b are compared.
        assert point.groups["c"].member == adaptation.groups["c"].member
        fnr = [point.groups[group].fnr for group in "ab"]
        assert point.criterion == pytest.approx(np.ptp(fnr))


def test_labels_correct_the_rates(fitted, batch):
    clf = fitted()
    groups = {"sensitive_features": batch.z}
    plain = clf.evidence(batch.X, **groups)
    labelled = clf.evidence(batch.X, batch.y, **groups)
    without = frontier(clf, plain, n_points=4)
    with_labels = frontier(clf, labelled, n_points=4)
    pd_without = [outcome.pd for outcome in without.rules[0].groups.values()]
    pd_with = [outcome.pd for outcome in with_labels.rules[0].groups.values()]
    assert pd_without != pd_with


def test_it_refuses_what_it_cannot_use(seen, fitted, batch):
    clf, evidence = seen
    with pytest.raises(ValueError, match="criterion must be"):
        frontier(clf, evidence, "accuracy")
    with pytest.raises(ValueError, match="criteria must be"):
        frontiers(clf, evidence, ["tpr"])
    with pytest.raises(ValueError, match="n_points must be"):
        frontier(clf, evidence, n_points=1)
    other = fitted(scores="folds")
    with pytest.raises(ValueError, match="must come from this model"):
        frontier(other, evidence)
    theirs = other.adapt(batch.X, sensitive_features=batch.z)
    with pytest.raises(ValueError, match="adaptation must come from this model"):
        frontier(clf, evidence, adaptation=theirs)


def test_no_rows_have_no_frontier(seen):
    clf, evidence = seen
    nothing = evidence - evidence
    with pytest.raises(ValueError, match="must have rows"):
        frontier(clf, nothing)


def test_it_is_drawn(seen):
    clf, evidence = seen
    chart = frontier(clf, evidence, n_points=5).plot().to_dict()
    titles = {layer["encoding"]["y"]["title"] for layer in chart["layer"]}
    assert titles == {"accuracy"}
    weighed = frontier(clf, evidence, n_points=5, cost_fn=2).plot().to_dict()
    assert {layer["encoding"]["y"]["title"] for layer in weighed["layer"]} == {"cost"}
