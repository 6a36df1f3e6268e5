"""The paper's experiments, with our numbers beside the printed ones, and real shifts.

- `run_synthetic` is the paper's experiment on synthetic data: Table 1, the figure, and
  Theorem 3.
- `compare_methods` runs CAPE, the baselines and the peers on a `Problem`: on the
  paper's real data (`compas_problem`, `meps_problem`).
- `run_shifts` runs CAPE on real shifts over time, where more than prevalences moved,
  beside QuaPy.
- `run_quantifiers` compares all quantifiers, and `run_small_groups` what small groups
  gain by borrowing.
- `run_logged` takes a model as it is on these shifts: what to expect of its decisions,
  beside NannyML.

All of them return a dict that JSON can hold. `write_results` writes it with a page of
the tables, `write_page` puts runs on a page, and `write_index` lists pages. A page has
a `stamp`, by which a test knows whether its numbers are of today's defaults. The
experiments are cut into cells that are kept in a folder, so a run that was stopped goes
on.

The package uses public names of `cape` alone: it is the library's first user.
"""

from cape_paper._comparison import compare_methods
from cape_paper._logged import run_logged
from cape_paper._pages import write_index, write_page, write_results
from cape_paper._problem import Problem, compas_problem, meps_problem, published
from cape_paper._quantifiers import run_quantifiers
from cape_paper._shifts import run_shifts
from cape_paper._small_groups import run_small_groups
from cape_paper._stamp import defaults_hash, stamp
from cape_paper._synthetic import run_synthetic
from cape_paper._tables import results_tables

__all__ = [
    "Problem",
    "compare_methods",
    "compas_problem",
    "defaults_hash",
    "meps_problem",
    "published",
    "results_tables",
    "run_logged",
    "run_quantifiers",
    "run_shifts",
    "run_small_groups",
    "run_synthetic",
    "stamp",
    "write_index",
    "write_page",
    "write_results",
]
