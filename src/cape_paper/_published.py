"""The numbers that the paper prints."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["published"]


@cache
def published() -> dict[str, Any]:
    """Return the tables of the paper as printed.

    Returns
    -------
    dict
        ``table_synthetic``, ``table_quantifier`` and ``table_results`` (the tables),
        ``dataset_counts`` (rows of the paper's data sets) and ``source``. A value that
        the paper prints as undefined is None.

    Examples
    --------
    >>> published()["table_results"]["compas"]["CAPE-D"]["pd_0"]
    0.024
    """
    # The file holds the tables as printed, the paper's slips included.
    path = files("cape_paper").joinpath("published.json")
    return json.loads(path.read_text(encoding="utf-8"))
