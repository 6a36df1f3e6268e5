"""Write ``docs/api.md``: every public name with the first line of its docstring. Run it after adding a name."""

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
    "cape.pool": "Pools",
    "cape.rules": "Rules",
    "cape.quantify": "Quantifiers",
    "cape.metrics": "Metrics",
    "cape.sampling": "Sampling",
    "cape.datasets": "Datasets",
    "cape.diagnostics": "Diagnostics",
    "cape.persist": "Saving and loading",
    "cape.stream": "Streams",
    "cape.scale": "Clusters",
    "cape.files": "From files to files",
    "cape.compare": "Other classifiers",
    "cape.experiments": "The paper's experiments",
    "cape.report": "Pictures and pages",
    "cape.cli": "Command line",
}


def public_names() -> dict[str, list[str]]:
    """Names in ``__all__`` of each public module, in the order of the page; modules without a title come last."""
    import cape

    modules = [
        m.name
        for m in pkgutil.iter_modules(cape.__path__)
        if not m.name.startswith("_")
    ]
    public = ["cape", *(f"cape.{name}" for name in modules)]
    ordered = sorted(
        public,
        key=lambda name: list(TITLES).index(name) if name in TITLES else len(TITLES),
    )
    return {name: list(importlib.import_module(name).__all__) for name in ordered}


def render() -> str:
    """The whole page."""
    lines = [
        "# API",
        "",
        "Every public name; `help()` in Python tells the rest, with an example that runs.",
        "",
    ]
    for module, names in public_names().items():
        lines += [f"## {TITLES.get(module, module)}", "", f"`{module}`", ""]
        for name in names:
            lines.append(
                f"- `{name}`{_summary(getattr(importlib.import_module(module), name))}"
            )
        lines.append("")
    return "\n".join(lines)


def _summary(thing: object) -> str:
    documented = inspect.isclass(thing) or inspect.isroutine(thing)
    first = (inspect.getdoc(thing) or "").partition("\n\n")[0] if documented else ""
    plain = " ".join(first.split()).replace(" [1]_", "").replace("``", "`")
    return f": {plain}" if plain else ""


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
