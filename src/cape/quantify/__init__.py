"""Quantifiers: from the score histogram of a batch to its prevalence, with an interval."""

from cape.quantify._base import Quantifier
from cape.quantify._counting import ACC, CC, PCC, SPA
from cape.quantify._foreign import QuaPyQuantifier
from cape.quantify._likelihood import EMQ, HistogramPosterior
from cape.quantify._matching import DyS, HDy
from cape.quantify._names import QUANTIFIERS, make_quantifier

__all__ = [
    "ACC",
    "CC",
    "EMQ",
    "PCC",
    "QUANTIFIERS",
    "SPA",
    "DyS",
    "HDy",
    "HistogramPosterior",
    "QuaPyQuantifier",
    "Quantifier",
    "make_quantifier",
]
