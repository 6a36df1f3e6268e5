"""Options of commands, in bundles, and what they stand for.

The help of an option is its entry in the section "Parameters" of a docstring: that of
the command, that of a bundle, or `_SHARED`, which several commands have in common. What
stands before the star of a command is an argument, and what stands behind it an option.

A bundle is a dataclass whose fields are options. A command takes it as a parameter, and
`command` declares its fields in place of the bundle.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import wraps
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from cape.base._errors import ParameterError
from cape.base._io import check_apart
from cape_app.cli._app import app
from cape_app.tables import Dialect, Source, check_outside, source_files
from cape_app.words._terminal import OPTIONS

if TYPE_CHECKING:
    from cape_app.files import TableModel

_SHARED = """
Parameters
----------
model : MODEL
    A model file that cape train wrote.
key_file : FILE
    File with the secret that signs model files; unsigned files are then rejected.
    Default: the environment variable CAPE_KEY, if set.
group : COLUMN
    Column with the group. Repeat the option to combine several columns. Without it, all
    rows are one group.
positive : LABEL
    The label that counts as positive. Default: the greater number, or the later word in
    the alphabet. If the label has more than two values, repeat the option for each
    positive one; the rest are negative.
bins : COLUMN=NUMBERS
    Cut a numeric group column into ranges that start at these numbers: Age=18,65 gives
    'under 18', '18-64' and '65+'. Repeat the option for another column.
missing_labels : NAME
    What to do with rows without a label: drop (the default; a note says how many) or
    error.
force : bool
    Replace files that already exist.
as_json : bool
    Print JSON instead of tables.
verbose : bool
    Print all groups, with every detail.
level
    Confidence level of the intervals.
drift : NAME
    What to do if more than the share of positives changed: cautious (hold the estimate
    back and widen its interval) or ignore. Default: that of the model.
rule : NAME
    What to aim at: {rules}. Default: that of the model.
report : FILE
    Write a page for the browser (.html), or its content (.json).
fail_if : CONDITION
    Exit with code 1 if this condition is met, such as 'pd>0.1'. Repeat the option for
    more conditions.
missing_groups : NAME
    What to do with rows without a group: error, or group (they form the group
    '(missing)'). Default: error.
weight : COLUMN
    Column with the weight of each row: how many members of a population it stands for.
    Shares are then those of the population. Default: that of training, if it is there.
counts : bool
    FILE holds the counts that the SELECT from cape evidence returns, not rows.
"""

_SOURCES = (
    "CSV or JSON lines (also .gz), Parquet, Arrow, a sheet (book.xlsx::May), a table "
    "(data.sqlite::loans), a folder, or a pattern in quotes ('march/*.parquet')."
)

_WRITTEN = ("out", "report", "state")
"""Options that name a file to be written; other files are read. A state is both."""


class _CommandWithNames(TyperCommand):
    """A command whose options may name ``{rules}``, ``{quantifiers}`` and others.

    They are looked up when the help is printed: the tables of the library take
    scikit-learn to import, for which a command that only has to say that a file exists
    already should not wait.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help with the names in it."""
        from cape.quantify import QUANTIFIERS
        from cape.rules import RULES
        from cape_app.files._train import (
            DEFAULT_SETTINGS,
            FILE_LEARNERS,
            PAPER_SETTINGS,
        )

        names = {
            "sources": _SOURCES,
            "rules": ", ".join(RULES),
            "quantifiers": ", ".join(QUANTIFIERS),
            "learners": ", ".join(FILE_LEARNERS),
            "default": DEFAULT_SETTINGS,
            "paper": PAPER_SETTINGS,
        }
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            if text:
                parameter.help = text.format_map(names)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def command(
    name: str | None = None,
    *,
    help_values: Mapping[str, str] | None = None,
    **settings: Any,
) -> Callable[[Any], Any]:
    """Register a command, with the fields of its bundles as options.

    Parameters
    ----------
    name : str, optional
        By default that of the function.
    help_values : mapping from str to str, optional
        What stands in braces in the docstring, which is the help.
    **settings
        Of typer.

    Returns
    -------
    callable
        A decorator that leaves the function as it is.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        parameters = []
        bundles: dict[str, Any] = {}
        for parameter, hint in _parameters(function):
            if is_dataclass(hint):
                bundles[parameter.name] = hint
                for field, hint_of_field in _parameters(hint):
                    field = field.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                    parameters.append(_declared(field, hint_of_field, hint))
            else:
                parameters.append(_declared(parameter, hint, function))

        @wraps(function)
        def call(**given: Any) -> None:
            _check_files(given)
            for name, bundle in bundles.items():
                options = {
                    field.name: given.pop(field.name) for field in fields(bundle)
                }
                given[name] = bundle(**options)
            function(**given)

        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in parameters}
        call.__doc__, _ = _described(function)
        if help_values is not None:
            call.__doc__ = call.__doc__.format(**help_values)
        app.command(name, cls=_CommandWithNames, **settings)(call)
        return function

    return register


def _parameters(thing: Any) -> list[tuple[inspect.Parameter, Any]]:
    """Return the parameters of a command or a bundle, with their types."""
    hints = get_type_hints(thing)
    parameters = inspect.signature(thing).parameters.values()
    return [(parameter, hints[parameter.name]) for parameter in parameters]


def _declared(parameter: inspect.Parameter, hint: Any, owner: Any) -> inspect.Parameter:
    """Return a parameter of a command or a bundle as typer takes it."""
    name = parameter.name
    entries = _described(_SHARED)[1]
    # A bundle has the options of its base, too.
    for described in reversed(getattr(owner, "__mro__", [owner])):
        entries |= _described(described)[1]
    metavar, text = entries.get(name, ("", ""))
    declared: Any
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        # Named, a flag has no opposite ``--no-...``.
        declared = typer.Option(
            OPTIONS[name],
            help=text,
            metavar="" if hint is bool else metavar or None,
            show_default="default" not in text.lower(),
            rich_help_panel=getattr(owner, "panel", None),
        )
    else:
        declared = typer.Argument(metavar=metavar, help=text, show_default=False)
    kind = inspect.Parameter.KEYWORD_ONLY
    return parameter.replace(annotation=Annotated[hint, declared], kind=kind)


def _described(thing: Any) -> tuple[str, dict[str, tuple[str, str]]]:
    """Split a docstring into what it says, and metavar and help of its parameters."""
    docstring = thing if isinstance(thing, str) else thing.__doc__ or ""
    text, _, section = inspect.cleandoc(docstring).partition("Parameters\n----------\n")
    entries = {}
    for entry in re.split(r"\n(?=\S)", section):
        head, _, described = entry.partition("\n")
        name, _, metavar = head.partition(" : ")
        entries[name] = (metavar, " ".join(described.split()))
    return text.strip(), entries


@dataclass(frozen=True)
class Csv:
    """How a CSV is written.

    Parameters
    ----------
    separator : CHARACTER
        Character between the fields of a CSV, or the word tab. Default: a comma; with a
        model, the same as in its training file.
    encoding : NAME
        Encoding of a CSV, such as utf-8 or latin-1. Default: utf-8; with a model, the
        same as in its training file.
    decimal : CHARACTER
        Decimal mark of a CSV: a period or a comma. Default: a period; with a model, the
        same as in its training file.
    marks : SIGNS
        Signs to leave out of numbers: those between thousands, and those before or
        behind, such as ',%'. Default: none; with a model, the same as in its training
        file.
    read_as_missing : WORD
        Word that stands for a missing value, such as n.v. Repeat the option for
        several. Default: none but the common ones; with a model, as in its training
        file.
    """

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    marks: str | None = None
    read_as_missing: list[str] | None = None

    def dialect(self, default: Dialect | None = None) -> Dialect:
        r"""Return the dialect that the options describe.

        Parameters
        ----------
        default : Dialect, optional
            What holds where an option is None; by default a comma, UTF-8 and points.

        Returns
        -------
        Dialect

        Examples
        --------
        >>> dialect = Csv("tab", decimal=",").dialect()
        >>> dialect.separator, dialect.decimal
        ('\t', ',')
        """
        given: dict[str, Any] = {"encoding": self.encoding, "decimal": self.decimal}
        given |= {"separator": self.separator, "marks": self.marks}
        given["missing"] = self.read_as_missing
        if self.separator in ("tab", "\\t"):
            # The tabulator is hard to type in a shell.
            given["separator"] = "\t"
        changes: dict[str, Any] = {
            name: value for name, value in given.items() if value is not None
        }
        return replace(default or Dialect(), **changes)


@dataclass(frozen=True)
class Batch(Csv):
    """How the batch of a model is read, and the model."""

    key_file: Path | None = None
    weight: str | None = None

    def load(self, model: Path) -> TableModel:
        """Load the model."""
        from cape_app.files import load_model

        loaded = load_model(model, key=self.key_file)
        if self.weight is None:
            return loaded
        columns = replace(loaded.columns, weight=self.weight)
        return replace(loaded, columns=columns)

    def to_paste(self, name: str, model: Path, file: Any, **given: Any) -> str:
        """Write a command on the same model and file, to be pasted into a shell."""
        arguments = ["cape", name, model]
        if file is not None:
            arguments.append(file)
        for parameter, value in (asdict(self) | given).items():
            values = value if isinstance(value, list) else [value]
            for one in values:
                if one is not None:
                    arguments += [OPTIONS[parameter], one]
        return shlex.join(map(str, arguments))


@dataclass(frozen=True)
class Costs:
    """Parameters of a rule.

    Parameters
    ----------
    tolerance : NUMBER
        Largest difference between groups that --rule accepts. Default: the smallest
        that costs almost no accuracy.
    cost_fp : NUMBER
        Cost of a false positive, for --rule. Default: 1.
    cost_fn : NUMBER
        Cost of a false negative, for --rule. Default: 1.
    """

    tolerance: float | None = None
    cost_fp: float | None = None
    cost_fn: float | None = None

    def of_rule(self, name: str | None) -> Any:
        """Return what the options ask to aim at.

        Parameters
        ----------
        name : str or None
            Of ``--rule``.

        Returns
        -------
        str, Rule or None
            The name where there are no parameters.

        Raises
        ------
        ValueError
            If there is no such rule, or if the rule does not have a parameter.

        Examples
        --------
        >>> Costs(cost_fn=5).of_rule("accuracy")
        Accuracy(cost_fp=1.0, cost_fn=5)
        """
        options = vars(self).items()
        parameters = {name: value for name, value in options if value is not None}
        if not parameters:
            return name
        from cape.rules import RULES
        from cape.rules._rules import make_rule

        if name is None:
            first = next(iter(parameters))
            raise ParameterError(first, "must be given together with --rule.")
        # Before the parameters: a rule that does not exist has none.
        accepted = [field.name for field in fields(make_rule(name))]  # type: ignore[arg-type]
        for key in parameters:
            if key not in accepted:
                takes = " and ".join(accepted) or "no numbers"
                problem = f"must not be given: --rule {name} takes {takes}."
                raise ParameterError(key, problem)
        return RULES[name](**parameters)


def parse_pairs(texts: list[str] | None, option: str, form: str) -> dict[str, str]:
    """Parse the values of an option that relates one thing to another.

    Parameters
    ----------
    texts : list of str or None
        What the user gave, such as "high=yes".
    option : str
        With both dashes, for messages.
    form : str
        What it must look like, for messages.

    Returns
    -------
    dict from str to str

    Raises
    ------
    ValueError
        If a text has no equals sign, or a thing is named twice.

    Examples
    --------
    >>> parse_pairs(["high=yes", "low=no"], "--map", "PREDICTION=LABEL")
    {'high': 'yes', 'low': 'no'}
    """
    pairs: dict[str, str] = {}
    for text in texts or []:
        name, sign, value = text.partition("=")
        if not sign:
            raise ValueError(f"{option} must be {form}, got {text!r}.")
        if name in pairs:
            raise ValueError(f"{option} names {name!r} twice.")
        pairs[name] = value
    return pairs


def parse_bins(texts: list[str] | None) -> dict[str, list[float]]:
    """Parse the values of ``--bins``.

    Examples
    --------
    >>> parse_bins(["Age=18,65"])
    {'Age': [18.0, 65.0]}
    """
    form = "COLUMN=NUMBERS, such as Age=18,30,50,65"
    bins = {}
    for name, edges in parse_pairs(texts, "--bins", form).items():
        try:
            bins[name] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            raise ValueError(f"--bins must be {form}, got {edges!r}.") from None
    return bins


def _check_files(given: Mapping[str, Any]) -> None:
    """Raise if a file to be read is not there, or would be written over.

    Every command is checked by this one rule before it runs, whatever it is told to
    replace, and before it imports what takes seconds.

    Parameters
    ----------
    given : mapping from str to object
        All options of the command.
    """
    read: list[Path] = []
    tables: list[Source] = [*(given.get("paths") or ())]
    for name, value in given.items():
        if not isinstance(value, Path) or name in _WRITTEN:
            continue
        if name in ("file", "checked"):
            tables.append(value)
        else:
            read.append(value)
    for path in read:
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}.")
    for source in tables:
        read += source_files(source)
    written = [given[name] for name in _WRITTEN if given.get(name) is not None]
    check_apart(written, read)
    for path, source in product(written, tables):
        check_outside(path, source)
