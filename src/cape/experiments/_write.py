"""Files of a run: the numbers as JSON, and the page that people read, made from the same numbers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cape._newfile import new_file
from cape.experiments._tables import TextTable, comparison_tables, synthetic_tables

__all__ = ["results_markdown", "results_tables", "write_page", "write_results"]


_INTRODUCTION = """# Results

The experiments of A. Biswas and S. Mukherjee, *Ensuring Fairness under Prior Probability Shifts*, run with this
library: our numbers, the printed ones ("print"), and those of the classifiers that people would use instead. The
commands below made the runs, and `cape reproduce page` made this page of them (`make results` does all of it); no
number in it is typed in.
"""


def results_tables(results: dict[str, Any]) -> list[TextTable]:
    """The tables of a run, of whichever experiment."""
    return (
        synthetic_tables(results)
        if results["experiment"] == "synthetic"
        else comparison_tables(results)
    )


def write_results(
    results: dict[str, Any], folder: Path, *, pictures: Sequence[Path] = ()
) -> list[Path]:
    """Write ``results.json`` and ``results.md``; each appears whole or not at all.

    Parameters
    ----------
    results : dict
        From `run_synthetic` or `compare_methods`.
    folder : Path
    pictures : sequence of Path
        Shown in the page; those that are not PNG are linked.

    Returns
    -------
    list of Path
    """
    folder.mkdir(parents=True, exist_ok=True)
    page = results_markdown(results, pictures=[path.name for path in pictures])
    contents = {
        "results.json": json.dumps(results, indent=1) + "\n",
        "results.md": page,
    }
    for name, content in contents.items():
        with new_file(folder / name, overwrite=True) as part:
            part.write_text(content, encoding="utf-8")
    return [folder / name for name in contents]


def write_page(folders: Sequence[Path], page: Path) -> Path:
    """Make one page of several finished runs, their pictures copied to ``images`` beside it.

    Parameters
    ----------
    folders : sequence of Path
        Each with a ``results.json`` of `write_results`.
    page : Path

    Returns
    -------
    Path
    """
    if len({folder.name for folder in folders}) < len(folders):
        raise ValueError(
            f"folders must have distinct names, got {', '.join(map(str, folders))}."
        )
    for folder in folders:
        if not (folder / "results.json").is_file():
            raise FileNotFoundError(
                f"{folder} has no results.json: name folders that cape reproduce has filled."
            )
    images = page.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    parts = [_INTRODUCTION]
    for folder in folders:
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        pictures = sorted(folder.glob(f"{results['experiment']}-*.png"))
        names = [
            f"{folder.name}-{p.name.removeprefix(results['experiment'] + '-')}"
            for p in pictures
        ]
        for picture, name in zip(pictures, names, strict=True):
            shutil.copyfile(picture, images / name)
        parts.append(
            results_markdown(results, pictures=[f"images/{name}" for name in names])
        )
    with new_file(page, overwrite=True) as part:
        part.write_text("\n".join(parts), encoding="utf-8")
    return page


def results_markdown(results: dict[str, Any], *, pictures: Sequence[str] = ()) -> str:
    """The page of a run: how it was made, its verdicts, tables and pictures."""
    parts = [f"## {_heading(results)}", _how(results)]
    parts += ["\n".join(f"- {note}" for note in results.get("notes", []))]
    parts += _verdict_list(results.get("verdicts", []))
    parts += _bullets("Where we differ from print, and why", results.get("reasons", []))
    parts += [_markdown(table) for table in results_tables(results)]
    parts += _warning_list(results.get("rows", []))
    parts += [
        f"![{Path(name).stem}]({name})" for name in pictures if name.endswith(".png")
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(results: dict[str, Any]) -> str:
    turned = results.get("favourable") == "negative"
    return results["title"] + (
        ", AIF360 told that the negative label is the favourable one" if turned else ""
    )


def _how(results: dict[str, Any]) -> str:
    versions = ", ".join(
        f"{name} {found}" for name, found in results["versions"].items()
    )
    cost = f"{results['cells']} cells, {results['cell_seconds']:.0f} s of work"
    lines = [
        f"`{results.get('command', 'cape')}`, {results['date']}; {cost}, {results['cores']} cores, load "
        f"{results['load'][0] if results['load'] else 'unknown'}.",
        f"Versions: {versions}.",
    ]
    if results["experiment"] == "synthetic":
        lines.append(
            f"Learner: {results['learner']}. {results['n_train']} training rows, {results['n_test']} rows a test batch."
        )
    else:
        lines.append(_learner_line(results))
    return "\n".join(lines)


def _learner_line(results: dict[str, Any]) -> str:
    learner = results["learner"]
    tried = ", ".join(
        f"depth {t['max_depth']} x {t['max_iter']} trees {t['log_loss']:.4f}"
        for t in learner.get("scores", [])
    )
    how = (
        f"; log loss by 10-fold cross-validation on the training rows: {tried}"
        if tried
        else ""
    )
    return (
        f"Learner of every method: {learner['repr']}{how}. AIF360 is told that the {results['favourable']} label is "
        "the favourable one. A number in brackets is how many seeds a row is the mean of."
    )


def _verdict_list(found: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"{'yes' if v['holds'] else '**no**'}: {v['claim']} ({v['detail']})"
        for v in found
    ]
    return _bullets("Against print", lines)


def _bullets(title: str, lines: Sequence[str]) -> list[str]:
    return [f"### {title}", "\n".join(f"- {line}" for line in lines)] if lines else []


def _warning_list(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"{row['method']}: {text}" for row in rows for text in row.get("warnings", [])
    ]
    return _bullets("What the methods warned of", lines)


def _markdown(table: TextTable) -> str:
    width = len(table.columns)
    lines = [
        "| " + " | ".join(map(_cell, table.columns)) + " |",
        "|" + "---|" + "---:|" * (width - 1),
    ]
    for row in table.rows:
        cells = [_cell(cell) for cell in row]
        lines.append("| " + " | ".join(cells + [""] * (width - len(cells))) + " |")
    return f"### {table.title}\n\n" + "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
