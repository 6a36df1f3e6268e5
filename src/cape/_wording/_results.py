"""What is said of results: adaptations, rules and examinations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from cape._wording._numbers import group_name


def rates_are_unknown(groups: Sequence[Hashable], fewest_rows: int) -> str:
    """Say by what the members of groups were picked whose error rates are unknown."""
    return (
        f"the error rates of {_named(groups)} are unknown (fewer than {fewest_rows} "
        "unseen rows of a class): its member was picked by predicted prevalence, as "
        "near to the estimate as possible."
    )


def criterion_is_undefined(criterion: str, groups: Sequence[Hashable]) -> str:
    """Say for which groups a criterion of a rule is undefined."""
    return f"{criterion} is undefined for {_named(groups)} and does not count it."


def bound_is_missed(criterion: str, measured: float, bound: float | None) -> str:
    """Say how near a rule comes to a bound that no choice of members meets."""
    if bound is None:
        return (
            "no members make the groups equal: the nearest have "
            f"{criterion} {measured:.4g}."
        )
    return (
        f"no members meet all bounds: the nearest have {criterion} {measured:.4g}, and "
        f"{bound:g} was asked for."
    )


def _named(groups: Sequence[Hashable]) -> str:
    return ", ".join(repr(group_name(group)) for group in groups)
