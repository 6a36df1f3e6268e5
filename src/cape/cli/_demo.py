"""``cape demo``: a first look."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from cape.cli._app import app, console


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Seed of the data and of CAPE.")] = 0,
) -> None:
    """See CAPE at work on the paper's synthetic data.

    Both groups have prevalence 0.5 in training, and 0.2 and 0.8 in the batch to predict.

    Example: cape demo --out pictures
    """
    from cape.experiments import run_demo
    from cape.report import draw_prevalences, frame_prevalences, save_chart

    with console.status("making data") as status:
        table = run_demo(
            random_state=seed, on_step=lambda name: status.update(f"training {name}")
        )
        status.update("drawing")
        picture = save_chart(
            draw_prevalences(frame_prevalences(table)), out / "cape-demo.png"
        )
    console.print(_demo_table(table))
    console.print(
        "PD: how far the predicted share of positives is from the true one. PE: how far the ratio between groups is "
        "from the true one. Lower is fairer."
    )
    console.print(f"picture: {picture}")


_COLUMNS = {"accuracy": "accuracy", "predicted_prevalence": "predicts", "pd": "PD"}


def _demo_table(table: Any) -> Table:
    title = "Trained at prevalence 0.5 and 0.5, used at 0.2 and 0.8"
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    shown.add_column("classifier", no_wrap=True)
    columns: list[tuple[str, Any, str]] = [
        (metric, z, f"{name}\nz={z}")
        for metric, name in _COLUMNS.items()
        for z in (0, 1)
    ]
    columns.append(("pe", "worst pair", "PE"))
    for _, _, name in columns:
        shown.add_column(name, justify="right", no_wrap=True)
    for name, row in table.iterrows():
        cells = []
        for metric, z, _ in columns:
            fairest = (
                metric in ("pd", "pe") and row[metric, z] == table[metric, z].min()
            )
            cells.append(
                f"[green]{row[metric, z]:.3f}[/]"
                if fairest
                else f"{row[metric, z]:.3f}"
            )
        shown.add_row(f"[bold]{name}[/]", *cells)
    return shown
