"""``cape demo``: CAPE and Max_Acc on the paper's synthetic data.

It takes no input, prints a table and leaves a picture: a first look at what CAPE does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cape.base._io import check_free, new_file
from cape.shown import _plot, _render
from cape_app.cli._app import app, console, give, give_notes, give_path
from cape_app.files._notes import Note
from cape_app.words._page import number
from cape_app.words._terminal import TextTable

if TYPE_CHECKING:
    import pandas as pd

Out = Annotated[Path, typer.Option(help="Folder for the picture.")]
Seed = Annotated[int, typer.Option(help="Seed of the data and of CAPE.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace a picture that exists.", metavar="")
]


@app.command()
def demo(out: Out = Path("demo"), seed: Seed = 0, force: Force = False) -> None:
    """See CAPE at work on the paper's synthetic data.

    In training, the share of positives is 0.5 in both groups. In the batch it is 0.2
    and 0.8.

    Example: cape demo --out pictures
    """
    out.mkdir(parents=True, exist_ok=True)
    picture = check_free(out / "cape-demo.png", overwrite=force)
    # The demo takes some seconds: say what is being done.
    with console.status("making data") as status:
        table = run_demo(
            random_state=seed, on_step=lambda name: status.update(f"training {name}")
        )
        status.update("drawing")
        chart = draw_prevalences(table).to_dict()
        content = b""
        try:
            # Twice the pixels, for screens that have them.
            content = _render.draw(chart, "png", scale=2)
        except RuntimeError as error:
            text = f"A picture could not be drawn ({error})."
            give_notes([Note("warning", {"text": text})])
        if content:
            with new_file(picture, overwrite=force) as temporary:
                temporary.write_bytes(content)
    give([_demo_table(table)])
    console.print(
        "PD: how far the predicted share of positives is from the true one. "
        "PE: how far the ratio between groups is from the true one. Lower is fairer."
    )
    if content:
        give_path("picture", picture)


def run_demo(
    *,
    prevalences: Sequence[float] = (0.2, 0.8),
    n_train: int = 50_000,
    n_test: int = 10_000,
    random_state: int = 0,
    on_step: Callable[[str], None] = lambda name: None,
) -> pd.DataFrame:
    """Compare Max_Acc and CAPE on a batch whose prevalences have moved.

    In training both groups have a prevalence of 0.5.

    Parameters
    ----------
    prevalences : sequence of float, default=(0.2, 0.8)
        Prevalence of each group in the test batch.
    n_train, n_test : int, default=50_000 and 10_000
        Number of training rows and of test rows.
    random_state : int, default=0
        Seed of the data and of CAPE.
    on_step : callable, optional
        Called with the name of each classifier before it is trained.

    Returns
    -------
    DataFrame
        One row of `fairness_table` for each classifier.

    Examples
    --------
    >>> table = run_demo(n_train=2000, n_test=2000)
    >>> bool(table.loc["CAPE", ("pd", 0)] < table.loc["Max_Acc", ("pd", 0)])
    True
    """
    import pandas as pd
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression

    from cape import CapeClassifier
    from cape.datasets import make_synthetic
    from cape.metrics import fairness_table

    train = make_synthetic(n_train, random_state=random_state)
    # Another seed, or the test rows would be rows of the training data.
    test = make_synthetic(
        n_test, prevalences=prevalences, random_state=random_state + 1
    )
    # The paper's learner for this data, and its baseline: one classifier on all rows,
    # the group among its features.
    learner = LogisticRegression()
    on_step("Max_Acc")
    max_acc = clone(learner).fit(train.frame[["U", "V", "z"]], train.target)
    predictions = {"Max_Acc": max_acc.predict(test.frame[["U", "V", "z"]])}
    classifiers = {
        "CAPE, paper": CapeClassifier.paper(
            estimator=learner, random_state=random_state
        ),
        "CAPE": CapeClassifier(random_state=random_state),
    }
    for name, classifier in classifiers.items():
        on_step(name)
        groups = train.sensitive_features
        classifier.fit(train.data, train.target, sensitive_features=groups)
        groups = test.sensitive_features
        predictions[name] = classifier.predict(test.data, sensitive_features=groups)
    # Labels of the test rows are for the table alone.
    rows = {}
    for name, y_pred in predictions.items():
        rows[name] = fairness_table(test.target, y_pred, sensitive_features=groups)
    return pd.DataFrame(rows).T


# The colours of Okabe and Ito, which readers with any colour vision can tell apart.
_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]


def draw_prevalences(table: pd.DataFrame) -> Any:
    """Draw predicted prevalences as dots and true ones as ticks; the gap between is PD.

    Parameters
    ----------
    table : DataFrame
        From `run_demo`.

    Returns
    -------
    altair.LayerChart
    """
    import pandas as pd

    alt = _plot.import_altair()
    names = {"prevalence": "true prevalence"}
    names["predicted_prevalence"] = "predicted prevalence"
    frame = pd.DataFrame(table[list(names)].stack(level=1, future_stack=True))
    frame = frame.rename(columns=names).rename_axis(["classifier", "group"])
    frame = frame.reset_index()
    frame = frame.assign(group="group " + frame["group"].astype(str))
    # In the order of the table, not of the alphabet.
    axis = alt.Axis(labelLimit=220)
    y = alt.Y("classifier:N", sort=list(table.index), title=None, axis=axis)
    colour = alt.Color("group:N", title=None, scale=alt.Scale(range=_COLOURS))
    scale = alt.Scale(domain=[0, 1])
    base = alt.Chart(frame).encode(y=y, color=colour)
    gap = base.mark_rule(strokeWidth=3, opacity=0.45)
    layers = [gap.encode(x="true prevalence:Q", x2="predicted prevalence:Q")]
    tick = base.mark_tick(thickness=3, size=26)
    dot = base.mark_circle(size=130, opacity=1)
    for mark, share in ((tick, "true"), (dot, "predicted")):
        x = alt.X(f"{share} prevalence:Q", scale=scale, title="share of positives")
        layers.append(mark.encode(x=x))
    title = alt.TitleParams(
        "Predicted (dot) and true (tick) share of positives",
        subtitle="Half of each group was positive in training. The line from dot to "
        "tick is the prevalence difference.",
        anchor="start",
    )
    chart = alt.layer(*layers)
    return chart.properties(width=520, height=60 * len(table), title=title)


# The columns of the paper's Table 1, and what PD is computed from.
_COLUMNS = {
    ("accuracy", 0): "accuracy\nz=0",
    ("accuracy", 1): "accuracy\nz=1",
    ("predicted_prevalence", 0): "predicts\nz=0",
    ("predicted_prevalence", 1): "predicts\nz=1",
    ("pd", 0): "PD\nz=0",
    ("pd", 1): "PD\nz=1",
    ("pe", "worst pair"): "PE",
}


def _demo_table(table: Any) -> TextTable:
    """Show the classifiers, with what the paper's Table 1 shows of each.

    Parameters
    ----------
    table : DataFrame
        From `run_demo`.

    Returns
    -------
    TextTable
    """
    title = "Trained at prevalence 0.5 and 0.5, used at 0.2 and 0.8"
    rows = []
    for name, row in table.iterrows():
        rows.append([name, *(number(row[column]) for column in _COLUMNS)])
    return TextTable(title, ["classifier", *_COLUMNS.values()], rows)
