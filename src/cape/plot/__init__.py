"""Pictures of data frames, one function for each picture.

A picture takes the frame with its numbers and returns an altair chart. Results have a
method ``plot`` that draws one, and the pages of `cape.report` show the same pictures.
Charts have no background and no colours of text of their own, so that a theme of altair
decides them; the colours of the marks can be seen on white and on dark grounds.

Altair is imported when a picture is drawn, and not before.
"""

from cape.plot._audit import audit
from cape.plot._columns import columns
from cape.plot._frontier import frontier
from cape.plot._moved import moved
from cape.plot._rates import rates
from cape.plot._recommendation import recommendation
from cape.plot._scores import scores
from cape.plot._unexplained import unexplained

__all__ = [
    "audit",
    "columns",
    "frontier",
    "moved",
    "rates",
    "recommendation",
    "scores",
    "unexplained",
]
