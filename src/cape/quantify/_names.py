"""Quantifiers by name."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from cape.base._validation import check_choice
from cape.quantify._base import Quantifier
from cape.quantify._counting import ACC, CC, PCC, SPA
from cape.quantify._likelihood import EMQ, OneStepEMQ
from cape.quantify._matching import DyS, HDy

QUANTIFIERS: dict[str, type[Quantifier]] = {
    "cc": CC,
    "pcc": PCC,
    "acc": ACC,
    "spa": SPA,
    "hdy": HDy,
    "dys": DyS,
    "emq": EMQ,
    "onestep": OneStepEMQ,
}
"""Quantifiers by their names; ``QUANTIFIERS["emq"]()`` makes one."""


def make_quantifier(quantifier: Any) -> Quantifier:
    """Make an unfitted quantifier from a name or an instance.

    Parameters
    ----------
    quantifier : str or Quantifier
        A name in `QUANTIFIERS`, or an instance of a subclass of `Quantifier`, which is
        cloned.

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
    names = ", ".join(map(repr, QUANTIFIERS))
    raise TypeError(
        f"quantifier must be one of {names} or an instance of a subclass of "
        f"cape.quantify.Quantifier, got {quantifier!r}."
    )
