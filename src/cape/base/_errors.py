"""Errors that carry more than a sentence."""

from __future__ import annotations


class ParameterError(ValueError):
    """A parameter that is not what it must be.

    Parameters
    ----------
    parameter : str
        Its name, which begins the message: a program that has other words for its
        parameters, such as options, can tell which one it is.
    problem : str
        The rest of the message.

    Examples
    --------
    >>> from cape.base._errors import ParameterError
    >>> error = ParameterError("level", "must be in (0, 1), got 2.")
    >>> error.parameter, str(error)
    ('level', 'level must be in (0, 1), got 2.')
    """

    def __init__(self, parameter: str, problem: str):
        super().__init__(parameter, problem)
        self.parameter = parameter

    def __str__(self) -> str:
        return " ".join(self.args)
