"""Messages of the library in the words of the command line.

The library names its parameters (``small_groups='pooled'``, ``rule must be ...``); who
calls a command knows options (``--small-groups pooled``, ``--rule must be ...``). Every
error and note passes through `in_options`, so that the library needs no second text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import typer

__all__ = ["in_options"]

# Parameters whose option has another name.
_OTHER_NAMES = {
    "cases": "--case",
    "estimator": "--learner",
    "group_columns": "--group",
    "methods": "--method",
    "n": "--rows",
    "n_jobs": "--jobs",
    "overwrite": "--force",
    "path": "MODEL",
    "pos_label": "--positive",
    "random_state": "--seed",
    "sensitive_features": "--group",
}

# What only a user of Python can do, and what a user of the command line does instead.
_PHRASES = {
    r"min_class_size=(\d+)": r"\1",
    r"cape\.examination\.rows_needed computes": "cape rows-needed computes",
    r" cape\.examine\(\.\.\.\)\.columns has the details\.": "",
    r", or give each row once with its number as sample_weight": "",
    r"\bFit with (?=--)": "Train with ",
    r"^Seed must be": "--seed must be",
    r"--jobs == 0 in Parallel has no meaning": "--jobs must not be 0.",
    r"^n_splits=\d+ cannot be greater than the number of members in each class": (
        "--cv must not be greater than the number of rows of each class"
    ),
    r"(--[a-z-]+) or \1\b": r"\1",
}

# What scikit-learn admits that cannot be typed, and how it says the rest.
_OF_SCIKIT_LEARN = {
    r"(?:,| or) an (?:object implementing|instance of) '\S+'(?:(?:,| and) '\S+')*": "",
    r", an iterable or None or a str among \{'auto', 'prefit'\}": "",
    r" or None(?=[. ])": "",
    r"\ban int in the range \[(\d+), inf\)": r"a whole number from \1 on",
    r"\ban int in the range \[(\d+), (\d+)\]": r"a whole number from \1 to \2",
    r"\. Got (.*) instead\.$": r", got \1.",
}

# A word in quotes is a value of the user, and so is a part of a path.
_NOT_WITHIN = r"(?<![\w'\"/.-])"
_NOT_BEFORE = r"(?![\w'\"/-]|\.\w)"
_SUBJECT = r"(?:(?<=^)|(?<=: )|(?<=\. )|(?<=of )|(?<=and )|(?<=or ))"
_MUST = r"(?=(?: (?:and|or) [\w-]+)* must (?:not )?be\b)"


def in_options(message: str) -> str:
    """Name options where a message names parameters.

    Parameters
    ----------
    message : str
        An error or a note of the library.

    Returns
    -------
    str

    Examples
    --------
    >>> import cape.cli
    >>> in_options("Lower min_group_size, or use small_groups='pooled'.")
    'Lower --min-group-size, or use --small-groups pooled.'
    >>> in_options("rule must be one of 'prevalence', 'accuracy', got 'rule'.")
    "--rule must be one of 'prevalence', 'accuracy', got 'rule'."
    """
    if re.match(r"The '\w+' parameter of \w+ must be", message):
        message = _replaced(message, _OF_SCIKIT_LEARN)
        message = re.sub(r"a str among \{([^}]*)\}", _one_of, message)
    return _replaced(_translated(message, _options()), _PHRASES)


def _replaced(message: str, words: Mapping[str, str]) -> str:
    """Replace every pattern by its words, in their order."""
    for pattern, replacement in words.items():
        message = re.sub(pattern, replacement, message)
    return message


def _one_of(found: re.Match[str]) -> str:
    """List the members of a set, which scikit-learn lists in any order."""
    return f"one of {', '.join(sorted(found[1].split(', ')))}"


def _translated(message: str, options: Mapping[str, str]) -> str:
    """Replace parameters by options."""

    def with_value(found: re.Match[str]) -> str:
        option = options[found[1]]
        if found[2] == "True":
            return option
        return f"{option} {found[2].strip(_QUOTES)}"

    def alone(found: re.Match[str]) -> str:
        return options[found[1]]

    every = "|".join(sorted(options, key=len, reverse=True))
    # Names such as "level" are English words, too, unless something must be so.
    no_words = "|".join(name for name in options if "_" in name)
    value = r"""('[^']*'|"[^"]*"|True|[\d.]*\d)"""
    message = re.sub(rf"The '({every})' parameter of \w+(?= must be)", alone, message)
    message = re.sub(rf"{_NOT_WITHIN}({every})={value}", with_value, message)
    message = re.sub(rf"{_SUBJECT}({every}){_MUST}", alone, message)
    return re.sub(rf"{_NOT_WITHIN}({no_words}){_NOT_BEFORE}", alone, message)


_QUOTES = "'\""


@cache
def _options() -> dict[str, str]:
    """Return the option of each parameter, of all commands together."""
    # Imported here: the application says its errors in these words.
    from cape.cli._app import app

    options = {}
    for parameter in _parameters(typer.main.get_command(app)):
        for name in parameter.opts:
            if name.startswith("--"):
                options[parameter.name] = name
    return options | _OTHER_NAMES


def _parameters(command: Any) -> Iterator[Any]:
    """Yield the parameters of a command and of the commands below it."""
    yield from command.params
    for below in getattr(command, "commands", {}).values():
        yield from _parameters(below)
