"""The rule that ``--rule``, ``--tolerance`` and the costs describe."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

from cape.cli._options import option

__all__ = ["CostFn", "CostFp", "Tolerance", "described", "rule_of"]

Tolerance = Annotated[
    float | None,
    option(
        "Greatest difference between groups that --rule may leave. Default: the least "
        "that costs no accuracy to speak of.",
        "NUMBER",
    ),
]
CostFp = Annotated[
    float | None, option("What a false positive costs --rule. Default: 1.", "NUMBER")
]
CostFn = Annotated[
    float | None, option("What a false negative costs --rule. Default: 1.", "NUMBER")
]


def described(rule: dict[str, Any]) -> str:
    """Write the name of a rule and the parameters that it has.

    Examples
    --------
    >>> described({"name": "accuracy", "cost_fp": 1.0, "cost_fn": 5.0})
    'accuracy, cost_fp 1, cost_fn 5'
    """
    parameters = []
    for name, value in rule.items():
        if name != "name" and value is not None:
            parameters.append(f"{name} {value:g}")
    if not parameters:
        return rule["name"]
    return f"{rule['name']}, {', '.join(parameters)}"


def rule_of(
    name: str | None,
    *,
    tolerance: float | None,
    cost_fp: float | None,
    cost_fn: float | None,
) -> Any:
    """Return what the options ask to aim at.

    Parameters
    ----------
    name : str or None
        Of ``--rule``.
    tolerance, cost_fp, cost_fn : float or None
        Parameters of the rule; None was not given.

    Returns
    -------
    str, Rule or None
        The name where there are no parameters.

    Raises
    ------
    ValueError
        If there is no such rule, or if the rule does not have a parameter.

    Examples
    --------
    >>> rule_of("accuracy", tolerance=None, cost_fp=None, cost_fn=5)
    Accuracy(cost_fp=1.0, cost_fn=5)
    """
    given = {"tolerance": tolerance, "cost_fp": cost_fp, "cost_fn": cost_fn}
    parameters = {key: value for key, value in given.items() if value is not None}
    if not parameters:
        return name
    from cape.rules import RULES, make_rule

    first = next(iter(parameters))
    if name is None:
        raise ValueError(f"{first} must be given together with --rule.")
    # Before the parameters: a rule that does not exist has none.
    accepted = [field.name for field in fields(make_rule(name))]  # type: ignore[arg-type]
    for key in parameters:
        if key not in accepted:
            takes = " and ".join(accepted) or "no numbers"
            raise ValueError(f"{key} must not be given: --rule {name} takes {takes}.")
    return RULES[name](**parameters)
