"""Counts of the columns of a table, which add up as counts of scores do.

Training cuts every column into a few cells, and counts them for each group and class.
A batch is counted in the same cells. Under prior shift each column of a batch is a
mixture of its two class histograms, all columns at the same prevalence; a column that
is not tells what else has moved.

A histogram gives no single person away: a level of a text column is named if at least
30 training rows have it, and the outer edges of a number are its tenth smallest and its
tenth largest value.
"""

from cape._columns._cells import FIRST as FIRST
from cape._columns._cells import FOREIGN as FOREIGN
from cape._columns._cells import MISSING as MISSING
from cape._columns._cells import UNITS as UNITS
from cape._columns._cells import ColumnCells
from cape._columns._cells import unit_window as unit_window
from cape._columns._table import ColumnCounts, TableCells

__all__ = ["ColumnCells", "ColumnCounts", "TableCells"]
