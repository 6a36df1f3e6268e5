"""Quantifiers: estimate the prevalence of a batch from its score histogram."""

from cape.evidence._histogram import ScoreHistogram, edges_for, round_scores
from cape.quantify._base import Quantifier
from cape.quantify._counting import ACC, CC, PCC, SPA
from cape.quantify._likelihood import EMQ, OneStepEMQ
from cape.quantify._matching import DyS, HDy
from cape.quantify._names import QUANTIFIERS, make_quantifier

__all__ = [
    "QUANTIFIERS",
    "Quantifier",
    "ScoreHistogram",
    "edges_for",
    "round_scores",
]
