"""``cape predict``: from a batch to its rows with predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cape._wording._numbers import group_name
from cape._wording._terminal import predicted
from cape.cli._app import give_path, progress
from cape.cli._options import (
    Costs,
    Csv,
    Drift,
    KeyFile,
    Level,
    Model,
    Rule,
    Scheduler,
    argument,
    command,
    option,
    workers,
)
from cape.cli._output import Output

Batch = Annotated[
    Path,
    argument("FILE", "The batch to predict: CSV (also .gz), Parquet or Arrow."),
]
Out = Annotated[
    Path | None,
    option(
        "Write the rows with three more columns: prediction, probability (of a "
        "positive) and estimated_prevalence (of the group).",
        "FILE",
    ),
]

Checked = Annotated[
    Path | None,
    option(
        "A sheet of cape sample whose label column was filled in, for all rows or for "
        "some. Its labels correct the estimates, confirm or refute them, and count for "
        "the decisions. Only cape_key and the label are read.",
        "FILE",
    ),
]


@command(
    epilog="Example: cape predict model.cape march.csv --out predictions.csv --report "
    "march.html",
)
def predict(
    model: Model,
    file: Batch,
    *,
    out: Out = None,
    level: Level = 0.95,
    rule: Rule = None,
    costs: Costs,
    drift: Drift = None,
    checked: Checked = None,
    csv: Csv,
    key_file: KeyFile = None,
    dask: Scheduler = None,
    output: Output,
) -> None:
    """Adapt to a batch and predict it.

    The file is read twice, in parts, and may be larger than memory: first to estimate
    the share of positives of each group, then to predict. If the file has labels,
    estimates and predictions are compared with them, too. What else has moved, such as
    a column in other units, is named before any number.
    """
    # What can be wrong with files is found before the work is done, and before anything
    # that takes long to import.
    inputs = [model, file] if checked is None else [model, file, checked]
    output.check(inputs, [out])
    from cape._tables import table_length
    from cape.files import load_model, predict_file
    from cape.files._notes import Notes
    from cape.report._batch import batch_summary
    from cape.report._made import file_provenance

    aim = costs.of_rule(rule)
    loaded = load_model(model, key=key_file)
    notes = Notes()
    with progress(table_length(file)) as on_rows, workers(dask) as each:
        prediction = predict_file(
            loaded,
            file,
            out,
            level=level,
            dialect=csv.dialect(loaded.dialect),
            rule=aim,
            drift=drift,
            checked=checked,
            overwrite=output.force,
            notes=notes,
            on_rows=on_rows,
            each=each,
        )
    provenance = file_provenance(
        loaded.details,
        [(file.name, prediction.rows, prediction.sha256)],
        fingerprint=loaded.clf.fingerprint_,
    )
    examination = prediction.examination
    examination.provenance = provenance
    came_back = None
    if prediction.checked is not None:
        came_back = []
        for group, found in prediction.checked.items():
            came_back.append({"group": group_name(group), **found._asdict()})
    output.give(
        batch_summary(examination, title=file.name),
        lambda summary: predicted(summary, came_back),
        notes,
        out=None if out is None else str(out),
        checked=came_back,
    )
    if out is not None and not output.as_json:
        give_path("predictions", out)
