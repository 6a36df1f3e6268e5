"""``cape info``: what a model file is."""

from __future__ import annotations

from typing import Any

from cape._groups import group_name
from cape.cli._app import app, console, give_json
from cape.cli._options import Json, Model
from cape.cli._show import number, table_of

__all__ = ["describe", "groups_of"]


@app.command(epilog="Example: cape info model.cape")
def info(model: Model, as_json: Json = False) -> None:
    """Show what a model was trained on, and how."""
    from cape.files import load_model
    from cape.persist import read_header

    loaded = load_model(model)
    content = describe(loaded) | {
        "saved": (header := read_header(model))["saved"],
        "versions": header["versions"],
    }
    if as_json:
        give_json(content)
        return
    columns, data = loaded.columns, content["data"]
    settings = ", ".join(
        f"{name} {value}"
        for name, value in content["settings"].items()
        if name in _SHOWN
    )
    facts = [
        (
            "trained on",
            f"{data['file']}, {data['rows']} rows, sha256 {data['sha256'][:16]}",
        ),
        (
            "label",
            f"{columns.label}: {columns.labels[1]} is positive, {columns.labels[0]} negative",
        ),
        ("groups", ", ".join(columns.groups) or "none"),
        (
            "features",
            ", ".join(f"{name} ({kind})" for name, kind in columns.features.items()),
        ),
        ("learner", f"{content['learner']}; {settings}"),
        (
            "saved",
            f"{content['saved']} by "
            + ", ".join(f"{k} {v}" for k, v in content["versions"].items()),
        ),
        ("fingerprint", content["fingerprint"][:16]),
    ]
    for name, value in facts:
        console.print(
            f"{name + ':':<13}{value}",
            markup=False,
            highlight=False,
            soft_wrap=not console.is_terminal,
        )
    rows = [
        [g["group"], g["rows"], number(g["prevalence"]), number(g["auc"])]
        for g in content["groups"]
    ]
    console.print(table_of("", ["group", "rows", "prevalence", "AUC"], rows))


_SHOWN = (
    "pool",
    "quantifier",
    "scores",
    "cv",
    "small_groups",
    "unknown_groups",
    "random_state",
)


def describe(model: Any) -> dict[str, Any]:
    """All of it as JSON can hold it."""
    return {
        **model.details,
        "fingerprint": model.clf.fingerprint_,
        "groups": groups_of(model),
    }


def groups_of(model: Any) -> list[dict[str, Any]]:
    """Of each group the training rows and prevalence, and how well its classes are told apart."""
    from cape.files._train import separation

    return [
        {
            "group": group_name(group),
            "rows": m.size,
            "prevalence": m.prevalence,
            "auc": separation(m),
        }
        for group, m in model.clf.models_.items()
    ]
