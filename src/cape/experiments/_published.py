"""The numbers that the paper prints."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["published"]


@cache
def published() -> dict[str, Any]:
    """Tables of the paper as printed: synthetic data, quantifier, results and counts of rows.

    Returns
    -------
    dict
        ``table_synthetic``, ``table_quantifier``, ``table_results``, ``dataset_counts`` and their ``source``.

    Examples
    --------
    >>> published()["table_results"]["compas"]["CAPE-D"]["pd_0"]
    0.024
    """
    return json.loads(
        files("cape.experiments").joinpath("published.json").read_text(encoding="utf-8")
    )
