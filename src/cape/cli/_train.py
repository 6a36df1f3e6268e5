"""``cape train``: from a labelled table to a model file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cape._wording._terminal import trained
from cape.cli import _options as options
from cape.cli._app import aside, give, give_json, give_notes, give_path, progress
from cape.cli._options import argument, check_files, command, flag, option

_PANEL = "Settings of CAPE"


def _setting(text: str, name: str | None = None) -> Any:
    """Make an option of the panel with the settings of CAPE.

    Parameters
    ----------
    text : str
        What the option does.
    name : str, optional
        The setting whose default the help must name: it depends on ``--paper``, so that
        the option itself has no default.

    Returns
    -------
    typer.Option
    """
    if name is None:
        return typer.Option(help=text, rich_help_panel=_PANEL)
    return typer.Option(
        help=f"{text} Default: {{default[{name}]}}; with --paper: {{paper[{name}]}}.",
        rich_help_panel=_PANEL,
        show_default=False,
    )


File = Annotated[Path | None, argument("FILE", f"A labelled table: {options.SOURCES}")]
Out = Annotated[Path, option("The model file to write.", "FILE")]
Drop = Annotated[
    list[str] | None,
    option("Column not to learn from. Repeat the option to drop several.", "COLUMN"),
]
DropSuspicious = Annotated[
    bool,
    flag(
        "--drop-suspicious",
        "Do not learn from columns that will fail in later files (dates, identifiers, "
        "row numbers) or that give the answer away. Without it, a note names them.",
    ),
]
Learner = Annotated[
    str | None,
    typer.Option(
        help="What to train: {learners} (auto: the mean of a few "
        "learners, or the best by cross-validation). Default: auto; with --paper: "
        "boosting.",
        show_default=False,
    ),
]
Score = Annotated[
    str | None,
    option(
        "Column with the scores of a model you have: nothing is trained, and FILE has "
        "labelled rows that the model was not trained on.",
        "COLUMN",
    ),
]
Decision = Annotated[
    str | None,
    option("Column with the decisions that were made with these scores.", "COLUMN"),
]
PositiveDecision = Annotated[
    str | None,
    option(
        "The decision that predicts a positive, if neither the positive label nor 1, "
        "true or yes.",
        "VALUE",
    ),
]
Paper = Annotated[
    bool, flag("--paper", "Use the paper's settings.", rich_help_panel=_PANEL)
]
Pool = Annotated[
    str | None,
    _setting(
        "How a group gets a classifier for each prevalence: threshold (one model, many "
        "thresholds) or resampled (one model for each prevalence).",
        "pool",
    ),
]
Quantifier = Annotated[
    str | None,
    _setting("How to estimate prevalences: {quantifiers}.", "quantifier"),
]
Scores = Annotated[
    str | None,
    _setting(
        "Which models score a batch: folds (those of cross-validation), refit (one "
        "trained on all rows) or auto (refit where it is sound).",
        "scores",
    ),
]
Drift = Annotated[
    str | None,
    _setting(
        "If more than the share of positives changes in a later file: cautious (hold "
        "the estimate back and widen its interval) or ignore.",
        "drift",
    ),
]
Rule = Annotated[
    str | None,
    _setting(
        "What to aim at in later files: {rules}. Default: prevalence; with --score: "
        "unchanged."
    ),
]
Folds = Annotated[int | None, _setting("Folds of the cross-validation.", "cv")]
MinGroupSize = Annotated[
    int, _setting("How many rows a group needs for a model entirely its own.")
]
SmallGroups = Annotated[
    str | None,
    _setting(
        "Small groups: borrow (from the other groups), error, or pooled (they get the "
        "model of all rows).",
        "small_groups",
    ),
]
UnknownGroups = Annotated[
    str,
    _setting("Groups in later files that this file does not have: error or pooled."),
]
Most = Annotated[
    int,
    _setting(
        "Most rows of each group and label to train on; beyond that, a random sample."
    ),
]
Seed = Annotated[int, _setting("Random seed: the same seed gives the same model.")]
Jobs = Annotated[int, _setting("How many models to train at the same time.")]


@dataclass(frozen=True)
class Settings:
    """Settings of CAPE that depend on ``--paper``: None was not given."""

    pool: Pool = None
    quantifier: Quantifier = None
    scores: Scores = None
    cv: Folds = None
    rule: Rule = None
    drift: Drift = None
    small_groups: SmallGroups = None

    def chosen(self, paper: bool, costs: options.Costs) -> dict[str, Any]:
        """Return the settings that the options ask for.

        Parameters
        ----------
        paper : bool
            Whether to start from those of the paper.
        costs : Costs
            Parameters of the rule.

        Returns
        -------
        dict
        """
        from cape.files._train import DEFAULT_SETTINGS, PAPER_SETTINGS

        # A copy: the constants are shared by all calls.
        settings = dict(PAPER_SETTINGS if paper else DEFAULT_SETTINGS)
        for name, value in asdict(self).items():
            if name == "rule":
                value = costs.of_rule(value)
            if value is not None:
                settings[name] = value
        return settings


@command(
    epilog="Example: cape train train.csv --label is_recid --group race --group sex "
    "--out model.cape",
)
def train(
    file: File = None,
    *,
    label: options.Label,
    out: Out,
    group: options.Group = None,
    drop: Drop = None,
    drop_suspicious: DropSuspicious = False,
    positive: options.Positive = None,
    missing_labels: options.MissingLabels = "drop",
    bins: options.Bins = None,
    learner: Learner = None,
    score: Score = None,
    decision: Decision = None,
    positive_decision: PositiveDecision = None,
    paper: Paper = False,
    own: Settings,
    costs: options.Costs,
    min_group_size: MinGroupSize = 30,
    unknown_groups: UnknownGroups = "error",
    missing_groups: options.MissingGroups = None,
    most: Most = 200_000,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: options.Scheduler = None,
    csv: options.Csv,
    key_file: options.KeyFile = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Train on a labelled table and save a model.

    The model learns from all columns except the label, the groups and those you drop:
    numbers, text, categories and dates; values may be missing. Drop columns that hold
    the answer or were filled in after it was known: notes name suspicious ones, and
    --drop-suspicious drops them.
    """
    source = csv.source(file)
    check_files([source], [out], overwrite=force)
    from cape.files import train_file
    from cape.files._notes import Notes

    settings = own.chosen(paper, costs) | {
        "min_group_size": min_group_size,
        "unknown_groups": unknown_groups,
        "missing_groups": missing_groups or "error",
        "random_state": seed,
        "n_jobs": jobs if dask is None else None,
        "verbose": int(aside.is_terminal),
    }
    if learner is None:
        learner = "boosting" if paper else "auto"
    notes = Notes()
    # While learners are trained, the classifier shows a progress bar of its own.
    bar = progress(stop_at="training")
    with options.trainers(dask), bar as on_rows:
        model = train_file(
            source,
            out,
            label=label,
            group=options.group_columns(source, csv.dialect(), group),
            drop=drop or [],
            drop_suspicious=drop_suspicious,
            positive=positive,
            missing_labels=missing_labels,
            bins=options.parse_bins(bins),
            learner=learner,
            score=score,
            decision=decision,
            positive_decision=positive_decision,
            settings=settings,
            dialect=csv.dialect(),
            most=most,
            overwrite=force,
            key=key_file,
            notes=notes,
            on_rows=on_rows,
        )
    said = give_notes(notes)
    content = model.details | {"fingerprint": model.clf.fingerprint_}
    if as_json:
        give_json("train", content | {"out": str(out), "notes": said})
        return
    give(trained(content, by_default=not positive))
    give_path("model", out)
