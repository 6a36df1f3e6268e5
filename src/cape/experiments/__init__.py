"""The paper's experiments, our numbers beside its printed ones."""

from cape.experiments._comparison import compare_methods
from cape.experiments._demo import run_demo
from cape.experiments._problem import (
    Problem,
    compas_problem,
    meps_problem,
    table_problem,
)
from cape.experiments._published import published
from cape.experiments._synthetic import run_synthetic
from cape.experiments._tables import TextTable
from cape.experiments._write import (
    results_markdown,
    results_tables,
    write_page,
    write_results,
)

__all__ = [
    "Problem",
    "TextTable",
    "compare_methods",
    "compas_problem",
    "meps_problem",
    "published",
    "results_markdown",
    "results_tables",
    "run_demo",
    "run_synthetic",
    "table_problem",
    "write_page",
    "write_results",
]
