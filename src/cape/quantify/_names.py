"""The table of quantifiers, and quantifiers by name."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from cape._validation import check_choice
from cape.quantify._base import Quantifier
from cape.quantify._counting import ACC, CC, PCC, SPA
from cape.quantify._likelihood import EMQ, HistogramPosterior
from cape.quantify._matching import DyS, HDy
from cape.quantify._one_step import OneStepEMQ
from cape.quantify._quapy import QuaPyQuantifier

__all__ = ["QUANTIFIERS", "make_quantifier"]

QUANTIFIERS: dict[str, type[Quantifier]] = {
    "cc": CC,
    "pcc": PCC,
    "acc": ACC,
    "spa": SPA,
    "hdy": HDy,
    "dys": DyS,
    "emq": EMQ,
    "onestep": OneStepEMQ,
    "histogram": HistogramPosterior,
}
"""Names of the quantifiers. Everything that lists quantifiers is derived from this."""


def make_quantifier(quantifier: Any) -> Quantifier:
    """Make an unfitted quantifier from a name or an instance.

    Parameters
    ----------
    quantifier : str, Quantifier or quapy.method.aggregative.AggregativeQuantifier
        A name in `QUANTIFIERS`, an instance of a subclass of `Quantifier`, which is
        cloned, or an aggregative quantifier of QuaPy.

    Returns
    -------
    Quantifier

    Raises
    ------
    ValueError
        If there is no quantifier of this name.
    TypeError
        If ``quantifier`` is anything else, such as an object that has ``fit``,
        ``estimate`` and ``interval`` but is no `Quantifier`.

    Examples
    --------
    >>> make_quantifier("spa")
    SPA()
    """
    if isinstance(quantifier, str):
        check_choice("quantifier", quantifier, tuple(QUANTIFIERS))
        return QUANTIFIERS[quantifier]()
    if isinstance(quantifier, Quantifier):
        return clone(quantifier)
    is_instance = not isinstance(quantifier, type)
    if is_instance and hasattr(quantifier, "aggregation_fit"):
        return QuaPyQuantifier(quantifier)
    names = ", ".join(map(repr, QUANTIFIERS))
    raise TypeError(
        f"quantifier must be one of {names}, an instance of a subclass of "
        "cape.quantify.Quantifier or an aggregative quantifier of QuaPy, "
        f"got {quantifier!r}."
    )
