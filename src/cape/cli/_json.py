"""What ``--json`` prints: the fields that ``schema.json`` names, and no others.

A page needs sentences and pictures; a program needs codes and numbers. The schema says
which, and every answer has its name and version. So what is documented is what is
printed. A version may gain fields; a field that goes or changes makes a new version.
"""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

import typer


def give_json(name: str, content: dict[str, Any]) -> None:
    """Print one object of strict JSON and nothing else.

    Parameters
    ----------
    name : str
        The definition in ``schema.json``, which is called as the command is.
    content : dict
        May hold more than the schema names. Numbers that are not finite become null.
    """
    text = files("cape.cli").joinpath("schema.json").read_text(encoding="utf-8")
    definitions = json.loads(text)["$defs"]
    version = definitions[name]["properties"]["schema"]["const"]
    answer = _named({"schema": version, **content}, definitions[name], definitions)
    # Not by rich, which wraps lines at the width of the terminal.
    typer.echo(json.dumps(answer, indent=1, allow_nan=False, ensure_ascii=False))


def _named(content: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """Return the part of the content that a schema names."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if isinstance(content, dict) and "properties" in schema:
        part = {}
        for name, field in schema["properties"].items():
            if name in content:
                part[name] = _named(content[name], field, definitions)
        return part
    if isinstance(content, dict):
        # Names of the user, such as columns.
        field = schema.get("additionalProperties", {})
        return {
            name: _named(value, field, definitions) for name, value in content.items()
        }
    if isinstance(content, (list, tuple)):
        field = schema.get("items", {})
        return [_named(value, field, definitions) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content
