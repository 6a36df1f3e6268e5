"""The command line: parse, call one public function, print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from cape import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    help="Fair classification under prior probability shift.", no_args_is_help=True, pretty_exceptions_enable=False
)
console = Console()


def _show_version(value: bool) -> None:
    if value:
        console.print(f"cape {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")] = False,
) -> None:
    pass


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
        table = run_demo(random_state=seed, on_step=lambda name: status.update(f"training {name}"))
        status.update("drawing")
        picture = save_chart(draw_prevalences(frame_prevalences(table)), out / "cape-demo.png")
    console.print(_demo_table(table))
    console.print(
        "PD: how far the predicted share of positives is from the true one. PE: how far the ratio between groups is "
        "from the true one. Lower is fairer."
    )
    console.print(f"picture: {picture}")


def _demo_table(table: Any) -> Table:
    shown = Table(
        title="Trained at prevalence 0.5 and 0.5, used at 0.2 and 0.8", title_justify="left", box=box.SIMPLE_HEAD
    )
    shown.add_column("classifier", no_wrap=True)
    columns = [
        *((metric, f"{title}\nz={z}", z) for metric, title in _DEMO_COLUMNS.items() for z in (0, 1)),
        ("pe", "PE", "worst pair"),
    ]
    for _, title, _ in columns:
        shown.add_column(title, justify="right", no_wrap=True)
    for name, row in table.iterrows():
        cells = [(row[metric, z], row[metric, z] == table[metric, z].min()) for metric, _, z in columns]
        lower_is_fairer = [metric in ("pd", "pe") for metric, _, _ in columns]
        shown.add_row(
            f"[bold]{name}[/]",
            *(
                f"[green]{v:.3f}[/]" if best and low else f"{v:.3f}"
                for (v, best), low in zip(cells, lower_is_fairer, strict=True)
            ),
        )
    return shown


_DEMO_COLUMNS = {"accuracy": "accuracy", "predicted_prevalence": "predicts", "pd": "PD"}


def main(argv: list[str] | None = None) -> None:
    """Run the command line."""
    app(argv)
