"""``cape info``: what a model file holds."""

from __future__ import annotations

from typing import Any

from cape.cli._app import app, console, give_json, give_line
from cape.cli._options import Json, Model
from cape.cli._rule import described
from cape.cli._show import groups_table

_SHOWN_SETTINGS = (
    "pool",
    "quantifier",
    "scores",
    "cv",
    "rule",
    "drift",
    "small_groups",
    "unknown_groups",
    "random_state",
)


@app.command(epilog="Example: cape info model.cape")
def info(model: Model, as_json: Json = False) -> None:
    """Show what a model was trained on, and how."""
    from cape.files import describe_file

    content = describe_file(model)
    if as_json:
        give_json(content)
        return
    for name, value in _facts(content).items():
        # A terminal shows long facts on several lines; a pipe gets one line a fact.
        give_line(f"{name + ':':<13}{value}", wrap=console.is_terminal)
    console.print(groups_table("", content["groups"]))


def _facts(content: dict[str, Any]) -> dict[str, str]:
    """Return what is printed of a model, a sentence for each name.

    Parameters
    ----------
    content : dict
        From `cape.files.describe_file`.

    Returns
    -------
    dict from str to str
    """
    columns = content["columns"]
    data = content["data"]
    negative, positive = columns["labels"]
    settings = content["settings"]
    # Settings that say how the model was made; the others are in the JSON.
    shown = {name: settings[name] for name in _SHOWN_SETTINGS if name in settings}
    if isinstance(shown.get("rule"), dict):
        shown["rule"] = f"({described(shown['rule'])})"
    features = [f"{name} ({kind})" for name, kind in columns["features"].items()]
    return {
        "trained on": (
            f"{data['file']}, {data['rows']} rows, sha256 {data['sha256'][:16]}"
        ),
        "label": f"{columns['label']}: {positive} is positive, {negative} negative",
        "groups": ", ".join(columns["groups"]) or "none",
        "features": ", ".join(features),
        "learner": f"{content['learner']}; {_listed(shown)}",
        "saved": f"{content['saved']} by {_listed(content['versions'])}",
        "fingerprint": content["fingerprint"][:16],
    }


def _listed(values: dict[str, Any]) -> str:
    """Write names and values in one line."""
    return ", ".join(f"{name} {value}" for name, value in values.items())
