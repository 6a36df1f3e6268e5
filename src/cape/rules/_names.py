"""The table of rules: by name, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cape._validation import check_choice
from cape.rules._base import Prevalence, Rule
from cape.rules._bounded import (
    Accuracy,
    BoundedRule,
    Constrained,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    ProportionalEquality,
)

RULES: dict[str, type[Rule]] = {
    "prevalence": Prevalence,
    "proportional_equality": ProportionalEquality,
    "demographic_parity": DemographicParity,
    "equal_opportunity": EqualOpportunity,
    "predictive_equality": PredictiveEquality,
    "equalized_odds": EqualizedOdds,
    "accuracy": Accuracy,
    # Fairlearn's names of two of them.
    "true_positive_rate_parity": EqualOpportunity,
    "false_positive_rate_parity": PredictiveEquality,
}
"""Names of the rules. Everything that lists rules is derived from this."""

# It has no name for the classifier: its bounds have to be given.
_DESCRIBED: dict[str, type[Rule]] = {**RULES, "constrained": Constrained}


def make_rule(rule: Any) -> Rule:
    """Make a rule from a name, an instance or a description.

    Parameters
    ----------
    rule : str, Rule or mapping
        A name in `RULES`, an instance of a subclass of `Rule`, which is returned, or
        what `describe_rule` has returned for one of cape's rules.

    Returns
    -------
    Rule

    Raises
    ------
    ValueError
        If there is no rule of this name.
    TypeError
        If ``rule`` is anything else, such as a class.

    Examples
    --------
    >>> from cape.rules._names import make_rule
    >>> make_rule("prevalence")
    Prevalence()
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str):
        check_choice("rule", rule, tuple(RULES))
        return RULES[rule]()
    if isinstance(rule, Mapping) and "name" in rule:
        return _from_description(rule)
    names = ", ".join(map(repr, RULES))
    raise TypeError(
        f"rule must be one of {names}, or an instance of a subclass of "
        f"cape.rules.Rule, got {rule!r}."
    )


def describe_rule(rule: Rule) -> dict[str, Any]:
    """Describe a rule in a form that JSON can hold.

    Parameters
    ----------
    rule : Rule

    Returns
    -------
    dict
        The name and the parameters, which `make_rule` understands. Of a rule of your
        own it is the name of its class alone.

    Examples
    --------
    >>> from cape.rules import Accuracy
    >>> from cape.rules._names import describe_rule
    >>> describe_rule(Accuracy(cost_fn=5))
    {'name': 'accuracy', 'cost_fp': 1.0, 'cost_fn': 5.0}
    """
    for name, kind in _DESCRIBED.items():
        if type(rule) is kind:
            return {"name": name, **_parameters(rule)}
    return {"name": type(rule).__name__}


def bounds_of(description: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the bounds that a rule keeps, by the names of `CRITERIA`.

    Parameters
    ----------
    description : mapping
        What `describe_rule` has returned.

    Returns
    -------
    dict from str to float or None
        None for a criterion that the rule brings as near to parity as a coin would.
        Empty for a rule that bounds none, such as the paper's, and for a rule of your
        own.

    Examples
    --------
    >>> from cape.rules import DemographicParity
    >>> from cape.rules._names import describe_rule
    >>> from cape.rules._names import bounds_of
    >>> bounds_of(describe_rule(DemographicParity(ratio=0.8)))
    {'demographic_parity_ratio': 0.8}
    """
    if description["name"] not in _DESCRIBED:
        return {}
    rule = _from_description(description)
    return rule.bounds if isinstance(rule, BoundedRule) else {}


def _parameters(rule: Any) -> dict[str, float | None]:
    """Return the parameters of a rule as JSON can hold them."""
    parameters = {}
    for name, value in asdict(rule).items():
        # A number may be one of numpy's, which JSON refuses.
        parameters[name] = None if value is None else float(value)
    return parameters


def _from_description(description: Mapping[str, Any]) -> Rule:
    """Make the rule that `describe_rule` has described."""
    parameters = dict(description)
    name = parameters.pop("name")
    check_choice("rule", name, tuple(_DESCRIBED))
    return _DESCRIBED[name](**parameters)
