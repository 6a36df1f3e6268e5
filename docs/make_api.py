"""Write ``docs/api.md``: every public name with the first line of its docstring.

Run it after adding a name.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

PAGE = Path(__file__).with_name("api.md")

TITLES = {
    "cape": "Estimator, evidence and adaptation",
    "cape.classifier": "The classifier",
    "cape.adaptation": "Adaptations",
    "cape.evidence": "Evidence",
    "cape.histogram": "Score histograms",
    "cape.columns": "Counts of columns",
    "cape.pool": "Pools",
    "cape.rules": "Rules",
    "cape.quantify": "Quantifiers",
    "cape.metrics": "Metrics",
    "cape.sampling": "Sampling",
    "cape.datasets": "Datasets",
    "cape.diagnostics": "Diagnostics",
    "cape.persist": "Saving and loading",
    "cape.stream": "Streams",
    "cape.frozen": "Models that no longer adapt",
    "cape.scale": "Clusters",
    "cape.files": "From files to files",
    "cape.compare": "Other classifiers",
    "cape.experiments": "Experiments",
    "cape.plot": "Pictures of results",
    "cape.report": "Pictures and pages",
    "cape.cli": "Command line",
}


def public_names() -> dict[str, list[str]]:
    """Return the names in ``__all__`` of each public module.

    Returns
    -------
    dict from module name to list of str
        In the order of the page. Modules without a title come last.
    """
    import cape

    modules = ["cape"]
    for module in pkgutil.iter_modules(cape.__path__):
        if not module.name.startswith("_"):
            modules.append(f"cape.{module.name}")
    titled = list(TITLES)

    def place(module: str) -> int:
        return titled.index(module) if module in TITLES else len(titled)

    names = {}
    for name in sorted(modules, key=place):
        names[name] = list(importlib.import_module(name).__all__)
    return names


def render() -> str:
    """Return the whole page."""
    lines = [
        "# API",
        "",
        "Every public name; `help()` in Python tells the rest, with an example that "
        "runs.",
        "",
    ]
    for module_name, names in public_names().items():
        module = importlib.import_module(module_name)
        lines += [f"## {TITLES.get(module_name, module_name)}", ""]
        lines += [f"`{module_name}`", ""]
        for name in names:
            lines.append(f"- `{name}`{_summary(getattr(module, name))}")
        lines.append("")
    return "\n".join(lines)


def _summary(thing: object) -> str:
    """Return a colon and the first sentence of a docstring; nothing for a constant."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        # The docstring of a constant is that of its type.
        return ""
    docstring = inspect.getdoc(thing) or ""
    first, _, _ = docstring.partition("\n\n")
    plain = " ".join(first.split()).replace(" [1]_", "").replace("``", "`")
    return f": {plain}" if plain else ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
