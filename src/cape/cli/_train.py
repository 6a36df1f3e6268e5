"""``cape train``: from a labelled table to a model file."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from cape.cli._app import (
    app,
    aside,
    console,
    give_json,
    give_notes,
    give_path,
    progress,
)
from cape.cli._options import Encoding, Force, Json, Separator, dialect_of, trainers
from cape.cli._show import number, table_of

_CAPE = "What CAPE is made of"


@app.command(
    epilog="Example: cape train train.csv --label is_recid --group race --group sex --out model.cape"
)
def train(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Labelled table: CSV (also .gz), Parquet, Arrow.",
            show_default=False,
        ),
    ],
    label: Annotated[
        str,
        typer.Option(
            help="Column with the label; it holds two values.", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Where to save the model.", show_default=False)
    ],
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="Column with the group; give several for combinations.",
            show_default=False,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Column not to learn from.", show_default=False),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            help="The positive label; else the greater one.", show_default=False
        ),
    ] = None,
    learner: Annotated[str, typer.Option(help="boosting or logistic.")] = "boosting",
    paper: Annotated[
        bool,
        typer.Option(
            "--paper", help="The paper's configuration.", rich_help_panel=_CAPE
        ),
    ] = False,
    pool: Annotated[
        str | None,
        typer.Option(
            help="threshold (default) or resampled.",
            rich_help_panel=_CAPE,
            show_default=False,
        ),
    ] = None,
    quantifier: Annotated[
        str | None,
        typer.Option(
            help="histogram (default), spa, acc, cc, pcc, hdy, dys or emq.",
            rich_help_panel=_CAPE,
            show_default=False,
        ),
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option(
            help="Who scores a batch: folds (default; the test of the assumption needs it) or refit (faster).",
            rich_help_panel=_CAPE,
            show_default=False,
        ),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(
            help="Folds (default 5).", rich_help_panel=_CAPE, show_default=False
        ),
    ] = None,
    min_group_size: Annotated[
        int, typer.Option(help="Least rows of a group.", rich_help_panel=_CAPE)
    ] = 30,
    small_groups: Annotated[
        str,
        typer.Option(
            help="Groups with fewer: error, or pooled with all others.",
            rich_help_panel=_CAPE,
        ),
    ] = "error",
    unknown_groups: Annotated[
        str,
        typer.Option(
            help="Groups in later files that are not in this one: error or pooled.",
            rich_help_panel=_CAPE,
        ),
    ] = "error",
    most: Annotated[
        int,
        typer.Option(
            help="Most rows of each group and label; of more, a sample.",
            rich_help_panel=_CAPE,
        ),
    ] = 200_000,
    seed: Annotated[
        int, typer.Option(help="Same seed, same model.", rich_help_panel=_CAPE)
    ] = 0,
    jobs: Annotated[
        int, typer.Option(help="Trainings at the same time.", rich_help_panel=_CAPE)
    ] = 1,
    dask: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler whose workers do the trainings, as many as there are.",
            rich_help_panel=_CAPE,
            show_default=False,
        ),
    ] = None,
    separator: Separator = ",",
    encoding: Encoding = "utf-8",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train on a labelled table and save a model.

    All columns but the label, the groups and those dropped are learnt from: numbers, text, categories, dates, with
    values missing or not. Columns that tell the answer, or came after it, must be dropped.
    """
    from cape._tables import table_length
    from cape.files import Notes, train_file
    from cape.files._train import FOR_PEOPLE, THE_PAPERS

    chosen = {"pool": pool, "quantifier": quantifier, "scores": scores, "cv": cv}
    settings: dict[str, Any] = (THE_PAPERS if paper else FOR_PEOPLE) | {
        k: v for k, v in chosen.items() if v is not None
    }
    settings |= {
        "min_group_size": min_group_size,
        "small_groups": small_groups,
        "unknown_groups": unknown_groups,
    }
    settings |= {
        "random_state": seed,
        "n_jobs": jobs if dask is None else None,
        "verbose": int(aside.is_terminal),
    }
    notes = Notes()
    with trainers(dask), ExitStack() as bars:
        show = bars.enter_context(progress(table_length(file)))

        def on_rows(stage: str, done: int) -> None:
            show(
                stage, done
            ) if stage == "reading" else bars.close()  # training has a bar of its own

        model = train_file(
            file,
            out,
            label=label,
            group=group or [],
            drop=drop or [],
            positive=positive,
            learner=learner,
            settings=settings,
            dialect=dialect_of(separator, encoding),
            most=most,
            overwrite=force,
            notes=notes,
            on_rows=on_rows,
        )
    give_notes(notes)
    from cape.cli._info import describe, groups_of

    if as_json:
        give_json(describe(model) | {"out": str(out), "notes": list(notes)})
        return
    _, positive_label = model.columns.labels
    title = f"{model.details['data']['rows']} rows, {len(model.columns.features)} features, positive: {positive_label}"
    rows = [
        [g["group"], g["rows"], number(g["prevalence"]), number(g["auc"])]
        for g in groups_of(model)
    ]
    console.print(table_of(title, ["group", "rows", "prevalence", "AUC"], rows))
    console.print(
        "AUC: how well out-of-fold scores tell the classes apart, 0.5 not at all, 1 fully.",
        highlight=False,
    )
    give_path("model", out)
