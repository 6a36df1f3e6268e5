"""The stamp of a page of measurements: which defaults its numbers are of."""

from __future__ import annotations

import datetime
import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path

_ANSWERS = Path(__file__).parents[2] / "tests" / "golden" / "answers.json"
STAMP = r"Measured on \S+ with cape-fair \S+, defaults `\w+`\."
"""Finds the stamps of a page."""

_OF_DEFAULTS = ("paper", "defaults", "labels")


@cache
def defaults_hash(file: Path = _ANSWERS) -> str:
    """Hash the golden answers of the defaults and of the paper's configuration.

    They hold estimates, intervals, tests and verdicts on fixed data, so the hash
    changes with a default parameter, and with any constant that moves a number.

    Parameters
    ----------
    file : Path, optional
        The golden answers; by default those of the checkout.

    Returns
    -------
    str
        Twelve hexadecimal digits, or "unknown" outside of a checkout: a wheel has no
        golden answers.
    """
    if not file.exists():
        return "unknown"
    # Nine digits: a sum in another order is no other default.
    answers = json.loads(
        file.read_text(encoding="utf-8"),
        parse_float=lambda digits: f"{float(digits):.9g}",
    )
    chosen = {name: answers[name] for name in answers if name.startswith(_OF_DEFAULTS)}
    content = json.dumps(chosen, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def stamp(defaults: str | None = None, date: str | None = None) -> str:
    """Say which defaults, version and date the numbers of a page are of.

    A page that says so is compared with the defaults of the day by a test, which fails
    when they have changed since.

    Parameters
    ----------
    defaults : str, default=None
        What `defaults_hash` returned when the numbers were measured; None means now.
    date : str, default=None
        The day of the measurement; None means today.

    Returns
    -------
    str
        One sentence for the page.

    Examples
    --------
    >>> stamp("3f2a1b0c9d8e", "2026-11-18")
    'Measured on 2026-11-18 with cape-fair 0.1.0.dev0, defaults `3f2a1b0c9d8e`.'
    """
    defaults = defaults or defaults_hash()
    date = date or datetime.datetime.now(datetime.UTC).date().isoformat()
    return (
        f"Measured on {date} with cape-fair {version('cape-fair')}, "
        f"defaults `{defaults}`."
    )
