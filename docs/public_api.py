"""The public names of cape, and the pages of the site that list them.

A name that is not listed here is private, whatever it is called. All else on the pages
follows from the code and its docstrings.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

API = {
    "cape": (
        "Classifier, examination and what they return",
        "Adaptation AdaptationWarning Audit Backtest CapeClassifier Constrained "
        "Estimate Evidence Examination FrozenCape GroupSituation QUANTIFIERS "
        "Quantifier RULES RollingCape Rule Scores Watch audit backtest check examine "
        "load make_fairness_scorer "
        "make_synthetic pp_sampling prevalence_difference proportional_equality "
        "rows_needed rows_to_label save",
    ),
    "cape.rules": (
        "Rules: what to aim at",
        "CRITERIA Constrained GroupAdaptation GroupSituation RULES Rule",
    ),
    "cape.drift": ("What was learned from the past", "Past"),
    "cape.quantify": (
        "Quantifiers: scores to prevalence",
        "QUANTIFIERS Quantifier ScoreHistogram edges_for round_scores",
    ),
    "cape.metrics": (
        "Metrics and audits",
        "Audit PARITY audit confusion_by_group fairness_table "
        "make_fairness_scorer prevalence_difference proportional_equality "
        "proportional_equality_matrix",
    ),
    "cape.examination": (
        "The parts of an examination, and help before there is a batch",
        "Backtest Check ColumnShift Examination ExpectedCriteria ExpectedPerformance "
        "LabelChecks PrevalenceMoved PriorShiftTest ScoredExamination backtest check "
        "examine rows_needed rows_to_label",
    ),
    "cape.persist": ("Saving and loading", "TRUSTED load read_header save"),
    "cape.watch": ("Streams and looks", "RollingCape Watch"),
    "cape.elsewhere.dask": ("Dask", "evidence predict"),
    "cape.elsewhere.sql": ("Evidence by SQL", "evidence query"),
    "cape.training": ("Sampling", "pp_sampling"),
    "cape.datasets": ("Datasets", "fetch_compas make_synthetic"),
}
"""Every public name, by module, with the title of its page. A test compares this list
with what the public modules offer. Rules and quantifiers are rows of `RULES` and
`QUANTIFIERS`, and no public names."""

FOR_THE_APP = {
    "cape": "__version__",
    "cape.base": "_numbers",
    "cape.base._errors": "ParameterError",
    "cape.base._groups": (
        "EVERYONE Group Groups MISSING_GROUP check_groups combined_columns "
        "group_labels group_name unique_names"
    ),
    "cape.base._io": (
        "NO_ROOM check_apart check_free check_report locked new_file remove_unfinished"
    ),
    "cape.base._json_fields": "strict_json",
    "cape.base._limits": "ONE_CLASS",
    "cape.base._numbers": (
        "KINDS counted either first_of group_name joined listed points "
        "quoted short_names shortened unique_names"
    ),
    "cape.base._packages": "MissingExtra lazily package_versions require_extra",
    "cape.base._table": (
        "MISSING TrainedTable as_kind dotted_dates in_bins kind_of "
        "plain_text plain_value words_for_missing"
    ),
    "cape.base._validation": "check_choice check_drift check_fitted_cape check_weights",
    "cape.drift._find": "with_usual_values",
    "cape.evidence._columns": "take_column",
    "cape.examination._backtest": "in_order",
    "cape.examination._examination": "Observed",
    "cape.examination._needed": "LabelPlan",
    "cape.labels": "_draw _sample _use",
    "cape.metrics._audit": "audit_counts",
    "cape.metrics._rates": "Confusion FEWEST_ROWS",
    "cape.rules._deciding": "adapt decide",
    "cape.rules._rules": "bounds_of describe_rule make_rule rule_of",
    "cape.shown": "_action _audit _backtest _check _plot _render _results _watch",
    "cape.training._choice": "LEARNERS make_learner",
    "cape.training._group_model": "own_auc",
    "cape.training._reading": "KnownLabels Reading batch_of read_batch",
    "cape.training._threads": "available_threads blas_in_one_thread in_threads",
    "cape.watch._tracks": "OF_LABELS Question",
    "cape.watch._watch": "DEFAULT_QUESTIONS",
}
"""What the app takes from the library besides public names, by module. Nobody else may
rely on it; a test compares it with the imports of ``cape_app``."""

TITLES = {module: title for module, (title, _) in API.items()}

_FIRST_PAGE = """\
API
===

Every public name, with what its docstring says. ``help()`` in Python says the same.

.. toctree::
   :hidden:

{toctree}

.. list-table::
   :widths: 30 70

{rows}
"""


def public_names() -> dict[str, list[str]]:
    """Return the public names of each module, in the order of the site."""
    return {module: names.split() for module, (_, names) in API.items()}


def is_constant(thing: object) -> bool:
    """Tell whether a public thing is neither a class nor a function."""
    return not (inspect.isclass(thing) or inspect.isroutine(thing))


def constant_text(module: str, name: str) -> str:
    """Return the string below the assignment of a constant.

    Python keeps no docstring of a constant, so its source is read: that of the module,
    or of the private module in which it is defined.
    """
    from sphinx.pycode import ModuleAnalyzer

    package = module.partition(".")[0]
    for home in sorted(sys.modules):
        if home.partition(".")[0] != package or home == f"{package}.__main__":
            continue
        same = getattr(sys.modules[home], name, None)
        if same is not getattr(sys.modules[module], name):
            continue
        analyzer = ModuleAnalyzer.for_module(home)
        analyzer.analyze()
        text = analyzer.attr_docs.get(("", name))
        if text:
            return " ".join(" ".join(text).split())
    return ""


def first_homes() -> dict[int, str]:
    """Return the first full name of each class and function, by its identity.

    ``cape.classifier.CapeClassifier`` is ``cape.CapeClassifier``: one page is enough.
    """
    homes: dict[int, str] = {}
    for module_name, names in public_names().items():
        module = importlib.import_module(module_name)
        for name in names:
            homes.setdefault(id(getattr(module, name)), f"{module_name}.{name}")
    return homes


def short_names() -> dict[str, str]:
    """Return the full name of each public name that stands for one thing alone."""
    things: dict[str, set[int]] = {}
    full_names: dict[str, str] = {}
    for module_name, names in public_names().items():
        module = importlib.import_module(module_name)
        for name in names:
            things.setdefault(name, set()).add(id(getattr(module, name)))
            full_names.setdefault(name, f"{module_name}.{name}")
    return {name: full_names[name] for name in things if len(things[name]) == 1}


def write_api(folder: Path) -> None:
    """Write the first page of the API and a page for each module.

    Parameters
    ----------
    folder : Path
        Made if need be. Pages that would not change are left alone, so that Sphinx
        need not read them again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    modules = public_names()
    homes = first_homes()
    toctree = "\n".join(f"   {module}" for module in modules)
    rows = "\n".join(_row(module) for module in modules)
    first = _FIRST_PAGE.format(toctree=toctree, rows=rows)
    _write(folder / "index.rst", first)
    for module, names in modules.items():
        _write(folder / f"{module}.rst", _module_page(module, names, homes))


def file_names() -> dict[str, str]:
    """Return other file names for functions that differ from a class in case alone.

    ``cape.metrics.audit`` and ``cape.metrics.Audit`` would overwrite each other on a
    disk that does not tell upper from lower case.
    """
    full_names = set(first_homes().values())
    lower_names = [name.lower() for name in full_names]
    return {
        name: f"{name}-function"
        for name in full_names
        if lower_names.count(name.lower()) > 1 and name.rpartition(".")[2].islower()
    }


def _row(module: str) -> str:
    """Return the line of a module on the first page."""
    return f"   * - :doc:`{module}`\n     - {TITLES.get(module, module)}"


def _module_page(module_name: str, names: list[str], homes: dict[int, str]) -> str:
    """Return the page of a module: its docstring and its names by kind."""
    module = importlib.import_module(module_name)
    kinds: dict[str, list[str]] = {"Classes": [], "Functions": []}
    elsewhere = []
    constants = []
    for name in names:
        thing = getattr(module, name)
        if is_constant(thing):
            constants.append(name)
        elif homes[id(thing)] != f"{module_name}.{name}":
            elsewhere.append(homes[id(thing)])
        elif inspect.isclass(thing):
            kinds["Classes"].append(name)
        else:
            kinds["Functions"].append(name)
    lines = [module_name, "=" * len(module_name), "", f".. automodule:: {module_name}"]
    lines += ["", f".. currentmodule:: {module_name}", ""]
    for heading, listed in kinds.items():
        if listed:
            lines += _summary(heading, listed, ["   :toctree: generated", ""])
    if elsewhere:
        lines += _summary("Also here", [f"~{name}" for name in elsewhere], [""])
    if constants:
        lines += [".. rubric:: Constants", ""]
    for name in constants:
        lines += [f".. py:data:: {name}", ""]
        lines += [f"   {constant_text(module_name, name)}", ""]
    return "\n".join(lines)


def _summary(heading: str, names: list[str], options: list[str]) -> list[str]:
    """Return the lines of a table of names with their first sentences."""
    lines = [f".. rubric:: {heading}", "", ".. autosummary::", "   :nosignatures:"]
    lines += options
    lines += [f"   {name}" for name in names]
    return [*lines, ""]


def _write(path: Path, text: str) -> None:
    """Write a page, unless it is there already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
