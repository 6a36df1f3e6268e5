"""Quantifiers by name."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from cape._validation import check_choice
from cape.quantify._base import Quantifier
from cape.quantify._counting import ACC, CC, PCC, SPA
from cape.quantify._foreign import QuaPyQuantifier
from cape.quantify._likelihood import EMQ, HistogramPosterior
from cape.quantify._matching import DyS, HDy

__all__ = ["QUANTIFIERS", "make_quantifier"]

QUANTIFIERS: dict[str, type[Quantifier]] = {
    "cc": CC,
    "pcc": PCC,
    "acc": ACC,
    "spa": SPA,
    "hdy": HDy,
    "dys": DyS,
    "emq": EMQ,
    "histogram": HistogramPosterior,
}


def make_quantifier(quantifier: Any) -> Quantifier:
    """An unfitted quantifier from a name, from one of ours, or from one of QuaPy's.

    Examples
    --------
    >>> make_quantifier("spa")
    SPA()
    """
    if isinstance(quantifier, str):
        check_choice("quantifier", quantifier, tuple(QUANTIFIERS))
        return QUANTIFIERS[quantifier]()
    if hasattr(quantifier, "aggregation_fit"):
        return QuaPyQuantifier(quantifier)
    if all(
        callable(getattr(quantifier, method, None))
        for method in ("fit", "estimate", "interval")
    ):
        return clone(quantifier, safe=False)
    raise TypeError(
        f"quantifier must be one of {', '.join(map(repr, QUANTIFIERS))}, a cape.quantify.Quantifier or an aggregative "
        f"quantifier of QuaPy, got {quantifier!r}."
    )
