"""Quantifiers: estimate the prevalence of a batch from its score histogram."""

from cape.quantify._base import Quantifier
from cape.quantify._counting import ACC, CC, PCC, SPA
from cape.quantify._likelihood import EMQ, HistogramPosterior
from cape.quantify._matching import DyS, HDy
from cape.quantify._moments import Moments, moment_interval
from cape.quantify._names import QUANTIFIERS, make_quantifier
from cape.quantify._one_step import OneStepEMQ
from cape.quantify._quapy import QuaPyQuantifier

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
    "Moments",
    "OneStepEMQ",
    "QuaPyQuantifier",
    "Quantifier",
    "make_quantifier",
    "moment_interval",
]
