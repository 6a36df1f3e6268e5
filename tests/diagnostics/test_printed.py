"""What `print` shows of results that hold many numbers: a line for each finding."""

import pytest

from cape.diagnostics import expected_criteria, expected_performance, frontier
from cape.rules import DemographicParity


@pytest.fixture(scope="module")
def seen(fitted, batch):
    clf = fitted()
    evidence = clf.evidence(batch.X, sensitive_features=batch.z)
    rule = DemographicParity(tolerance=0.1)
    return clf, evidence, clf.adapt(evidence=evidence, rule=rule)


def test_expected_rates_have_a_line_for_each_group(seen):
    expected = expected_performance(*seen, n_draws=50)
    head, *lines, end = repr(expected).splitlines()
    assert (head, end) == ("ExpectedPerformance(level=0.95", ")")
    for line, (group, rates) in zip(lines, expected.groups.items(), strict=True):
        assert line.startswith(f"  {group}: fpr {rates.fpr:.3f} ({rates.fpr_low:.3f}")


def test_criteria_have_a_line_each_and_say_what_was_asked_for(seen):
    expected = expected_criteria(*seen, n_draws=50)
    lines = repr(expected).splitlines()[1:-1]
    assert len(lines) == len(expected.table())
    asked = [line for line in lines if "asked for 0.1, met with probability" in line]
    assert len(asked) == 1 and "demographic_parity_difference" in asked[0]


@pytest.mark.parametrize(("cost_fn", "value"), [(1, "accuracy"), (5, "cost")])
def test_a_frontier_has_a_line_for_each_rule(seen, cost_fn, value):
    clf, evidence, _ = seen
    drawn = frontier(clf, evidence, cost_fn=cost_fn, n_points=4, n_draws=20)
    head, *lines, _ = repr(drawn).splitlines()
    assert head.startswith(f"Frontier({len(drawn.curve)} points")
    assert len(lines) == len(drawn.rules)
    rules = drawn.table().dropna(subset="rule").set_index("rule")
    for line in lines:
        name = line.strip().partition(":")[0]
        assert line.endswith(f"{value} {rules.loc[name, value]:.3f}")
