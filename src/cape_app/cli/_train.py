"""``cape train``: from a labelled table to a model file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cape.base._errors import ParameterError
from cape.base._io import check_free
from cape_app import files
from cape_app.cli import _app
from cape_app.cli import _options as options
from cape_app.cli._options import command
from cape_app.cli._output import Output
from cape_app.files._notes import Notes


@dataclass(frozen=True)
class Settings:
    """Settings of CAPE. Those that depend on ``--paper`` are None if not given.

    Parameters
    ----------
    paper : bool
        Use the paper's settings.
    pool
        How a group gets a classifier for each prevalence: threshold (one model with
        many thresholds) or resampled (one model for each prevalence). Default:
        {default[pool]}; with --paper: {paper[pool]}.
    quantifier
        How to estimate prevalences: {quantifiers}. Default: {default[quantifier]}; with
        --paper: {paper[quantifier]}.
    scores
        Which models score a batch: folds (those of cross-validation), refit (one model
        trained on all rows) or auto (refit if that is sound). Default:
        {default[scores]}; with --paper: {paper[scores]}.
    cv
        Number of folds of the cross-validation. Default: {default[cv]}; with --paper:
        {paper[cv]}.
    rule
        What to aim at in later files: {rules}. Default: prevalence; with --score:
        unchanged.
    drift
        What to do if more than the share of positives changes in a later file: cautious
        (hold the estimate back and widen its interval) or ignore. Default:
        {default[drift]}; with --paper: {paper[drift]}.
    small_groups
        What to do with small groups: borrow (from the other groups), error, or pooled
        (use the model of all rows). Default: {default[small_groups]}; with --paper:
        {paper[small_groups]}.
    min_group_size
        Number of rows a group needs to get its own model.
    unknown_groups
        What to do with groups in later files that this file does not have: error or
        pooled.
    most
        Train on at most this many rows of each group and label, drawn at random.
    seed
        Random seed: the same seed gives the same model.
    jobs
        Number of models to train at the same time.
    """

    panel = "CAPE settings"

    paper: bool = False
    pool: str | None = None
    quantifier: str | None = None
    scores: str | None = None
    cv: int | None = None
    rule: str | None = None
    drift: str | None = None
    small_groups: str | None = None
    min_group_size: int = 30
    unknown_groups: str = "error"
    most: int = 200_000
    seed: int = 0
    jobs: int = 1

    def chosen(self, costs: options.Costs) -> dict[str, Any]:
        """Return the parameters of `CapeClassifier` that the options ask for."""
        from cape_app.files._train import DEFAULT_SETTINGS, PAPER_SETTINGS

        # A copy: the constants are shared by all calls.
        settings = dict(PAPER_SETTINGS if self.paper else DEFAULT_SETTINGS)
        for name in settings.keys() & asdict(self).keys():
            value = getattr(self, name)
            if name == "rule":
                value = costs.of_rule(value)
            if value is not None:
                settings[name] = value
        return settings | {
            "min_group_size": self.min_group_size,
            "unknown_groups": self.unknown_groups,
            "random_state": self.seed,
        }


@dataclass(frozen=True)
class Labelled:
    """The columns of a labelled table, and what is learned from them.

    Parameters
    ----------
    label : COLUMN
        Column with the label. If it has more than two values, --positive says which
        ones are positive.
    drop : COLUMN
        Column to leave out. Repeat the option to drop several.
    keep : COLUMN
        Column to learn from although cape check would leave it out: dates, identifiers,
        row numbers, constants and free text, which fail in later files, and columns
        that give the answer away. Repeat the option to keep several.
    learner
        What to train: {learners} (auto: the mean of a few learners, or the best one by
        cross-validation). Default: auto; with --paper: boosting.
    score : COLUMN
        Column with the scores of a model you already have. Nothing is trained. FILE
        must hold labelled rows that your model was not trained on.
    decision : COLUMN
        Column with the decisions that were made with these scores.
    positive_decision : VALUE
        The decision that counts as positive, if it is not the positive label, 1, true
        or yes.
    weight : COLUMN
        Column with the weight of each row: how many members of a population it stands
        for. Nothing is learned from it, and later files need it, too.
    """

    label: str
    group: list[str] | None = None
    drop: list[str] | None = None
    keep: list[str] | None = None
    positive: list[str] | None = None
    missing_labels: str = "drop"
    bins: list[str] | None = None
    learner: str | None = None
    score: str | None = None
    decision: str | None = None
    positive_decision: str | None = None
    missing_groups: str = "error"
    weight: str | None = None

    def reading(
        self, csv: options.Csv, own: Settings, costs: options.Costs
    ) -> dict[str, Any]:
        """Return what `cape_app.files.train_file` is told besides the files."""
        if own.jobs == 0:
            raise ParameterError("jobs", "must not be 0.")
        learner = self.learner
        if learner is None:
            learner = "boosting" if own.paper else "auto"
        settings = own.chosen(costs) | {
            "missing_groups": self.missing_groups,
            "n_jobs": own.jobs,
            "verbose": int(_app.aside.is_terminal),
        }
        given = asdict(self)
        del given["missing_groups"]
        return given | {
            "group": self.group or (),
            "drop": self.drop or (),
            "keep": self.keep or (),
            "bins": options.parse_bins(self.bins),
            "learner": learner,
            "settings": settings,
            "dialect": csv.dialect(),
            "most": own.most,
        }


@command(
    epilog="Example: cape train train.csv --label is_recid --group race --group sex "
    "--out model.cape",
)
def train(
    file: Path,
    *,
    out: Path,
    labelled: Labelled,
    own: Settings,
    costs: options.Costs,
    csv: options.Csv,
    key_file: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Train on a labelled table and save a model.

    The model learns from all columns except the label, the groups and those you drop:
    numbers, text, categories and dates; values may be missing. Drop columns that hold
    the answer or were filled in after it was known. Columns that would fail in later
    files are left out, with a note. cape check shows all of this before.

    Parameters
    ----------
    file : FILE
        A labelled table: {sources}
    out : FILE
        The model file to write.
    """
    check_free(out, overwrite=force)
    reading = labelled.reading(csv, own, costs)
    notes = Notes()
    # While learners are trained, the classifier shows a progress bar of its own.
    with _app.progress(stop_at="training") as on_rows:
        model = files.train_file(
            file,
            out,
            overwrite=force,
            key=key_file,
            notes=notes,
            on_rows=on_rows,
            **reading,
        )
    from cape_app.pages._model import model_summary

    content = model.details | {"fingerprint": model.clf.fingerprint_, "out": str(out)}
    summary = model_summary(content, by_default=not labelled.positive)
    Output(as_json=as_json).give("train", summary, notes, written={"model": out})
