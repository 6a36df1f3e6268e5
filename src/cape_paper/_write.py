"""Files of a run: the numbers as JSON, and a Markdown page made from them.

No number of a page is typed in: the page can be made again from the JSON at any time.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from cape._newfile import new_file
from cape_paper._rows import Results
from cape_paper._shift_tables import shift_tables
from cape_paper._tables import TextTable, comparison_tables, synthetic_tables

__all__ = ["results_markdown", "results_tables", "write_page", "write_results"]

# Experiments that are not comparisons have tables of their own.
_TABLES = {"synthetic": synthetic_tables, "shifts": shift_tables}

_INTRODUCTION = """# Results

The experiments of A. Biswas and S. Mukherjee, *Ensuring Fairness under Prior
Probability Shifts*, run with this library: our numbers, the printed ones ("print"),
and those of the classifiers that people would use instead. The last section has real
shifts over time, which the paper does not have. The commands below made the runs, and
`python -m cape_paper page` made this page of them (`make results` does all of it); no
number in it is typed in.
"""


def results_tables(results: Results) -> list[TextTable]:
    """Make the tables of a run.

    Parameters
    ----------
    results : dict
        From `run_synthetic`, `compare_methods` or `run_shifts`.

    Returns
    -------
    list of TextTable

    Examples
    --------
    >>> from cape_paper import run_synthetic
    >>> options = {"n_train": 500, "n_test": 200, "prevalences": (0.5,)}
    >>> results = run_synthetic(repetitions=1, **options)
    >>> results_tables(results)[2].title
    'Theorem 3 at work in group 1, CAPE-D (means; rho 0 is 0.5)'
    """
    make_tables = _TABLES.get(results["experiment"], comparison_tables)
    return make_tables(results)


def write_results(
    results: Results, folder: Path, *, pictures: Sequence[Path] = ()
) -> list[Path]:
    """Write ``results.json`` and ``results.md``; existing files are replaced.

    Parameters
    ----------
    results : dict
        From `run_synthetic`, `compare_methods` or `run_shifts`.
    folder : Path
        Where to write; it is made if there is none.
    pictures : sequence of Path, default=()
        Pictures of the run in the same folder; the page shows those that are PNG.

    Returns
    -------
    list of Path
        The two files.

    Examples
    --------
    >>> from cape_paper import run_synthetic
    >>> options = {"n_train": 500, "n_test": 200, "prevalences": (0.5,)}
    >>> results = run_synthetic(repetitions=1, **options)
    >>> [path.name for path in write_results(results, folder)]
    ['results.json', 'results.md']
    """
    # Before anything is written: results that make no page leave the old files.
    page = results_markdown(results, pictures=[path.name for path in pictures])
    numbers = json.dumps(results, indent=1) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _write_text(folder / "results.json", numbers),
        _write_text(folder / "results.md", page),
    ]


def write_page(folders: Sequence[Path], page: Path) -> Path:
    """Make one page of several finished runs.

    Parameters
    ----------
    folders : sequence of Path
        Folders with a ``results.json`` of `write_results`, in the order of the page.
    page : Path
        The page; pictures are copied to ``images`` beside it.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ValueError
        If two folders have the same name: their pictures could not be told apart.
    FileNotFoundError
        If a folder has no ``results.json``.

    Examples
    --------
    >>> write_page([folder], folder / "page.md")
    Traceback (most recent call last):
    FileNotFoundError: ... has no results.json: name folders that ...
    """
    _check_folders(folders)
    # Beside the page, so that links work wherever the folder is moved.
    images = page.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    parts = [_INTRODUCTION]
    for folder in folders:
        content = (folder / "results.json").read_text(encoding="utf-8")
        results = json.loads(content)
        names = _copy_pictures(folder, results["experiment"], images)
        links = [f"images/{name}" for name in names]
        parts.append(results_markdown(results, pictures=links))
    return _write_text(page, "\n".join(parts))


def results_markdown(results: Results, *, pictures: Sequence[str] = ()) -> str:
    """Make the page of a run: how it was made, verdicts, tables and pictures.

    Parameters
    ----------
    results : dict
        From `run_synthetic`, `compare_methods` or `run_shifts`.
    pictures : sequence of str, default=()
        Links to pictures; those that are not PNG are left out.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> from cape_paper import run_synthetic
    >>> options = {"n_train": 500, "n_test": 200, "prevalences": (0.5,)}
    >>> results = run_synthetic(repetitions=1, **options)
    >>> results_markdown(results).splitlines()[0]
    '## Synthetic data'
    """
    notes = [f"- {note}" for note in results.get("notes", [])]
    parts = [f"## {_heading(results)}", _provenance(results), "\n".join(notes)]
    parts += _verdict_list(results.get("verdicts", []))
    parts += _bullets("Cases that are missing", _missing_cases(results))
    parts += _bullets("Where we differ from print, and why", results.get("reasons", []))
    parts += [_markdown_table(table) for table in results_tables(results)]
    parts += _warning_list(results.get("rows", []))
    for link in pictures:
        # Pages with a picture that can be explored lie beside the PNG.
        if link.endswith(".png"):
            parts.append(f"![{Path(link).stem}]({link})")
    # Markdown separates paragraphs by an empty line; parts without content have none.
    return "\n\n".join(part for part in parts if part) + "\n"


def _write_text(path: Path, text: str) -> Path:
    """Write a file that appears whole or not at all."""
    with new_file(path, overwrite=True) as part:
        part.write_text(text, encoding="utf-8")
    return path


def _check_folders(folders: Sequence[Path]) -> None:
    """Raise before anything is written."""
    names = {folder.name for folder in folders}
    if len(names) < len(folders):
        came = ", ".join(map(str, folders))
        raise ValueError(f"folders must have distinct names, got {came}.")
    for folder in folders:
        if not (folder / "results.json").is_file():
            raise FileNotFoundError(
                f"{folder} has no results.json: "
                "name folders that python -m cape_paper reproduce has filled."
            )


def _copy_pictures(folder: Path, experiment: str, images: Path) -> list[str]:
    """Copy the PNG files of a run, and return their new names.

    Parameters
    ----------
    folder : Path
        Folder of the run.
    experiment : str
        Beginning of the names of its pictures.
    images : Path
        Where to copy them.
    """
    names = []
    for picture in sorted(folder.glob(f"{experiment}-*.png")):
        # Two runs of one experiment have pictures of one name: the folder tells them
        # apart.
        name = f"{folder.name}-{picture.name.removeprefix(experiment + '-')}"
        shutil.copyfile(picture, images / name)
        names.append(name)
    return names


def _heading(results: Results) -> str:
    """Return the title, with the choice that a second run of AIF360 differs by."""
    if results.get("favourable") == "negative":
        choice = "AIF360 told that the negative label is the favourable one"
        return f"{results['title']}, {choice}"
    return results["title"]


def _provenance(results: Results) -> str:
    """Say how the run was made: command, date, cost, versions and learner.

    The load says whether anything else was running, which the seconds depend on.
    """
    command = results.get("command", "cape")
    cost = f"{results['cells']} cells, {results['cell_seconds']:.0f} s of work"
    load = results["load"][0] if results["load"] else "unknown"
    versions = [f"{name} {version}" for name, version in results["versions"].items()]
    make_line = _LINES.get(results["experiment"], _learner_line)
    return (
        f"`{command}`, {results['date']}; {cost}, {results['cores']} cores, "
        f"load {load}.\n"
        f"Versions: {', '.join(versions)}.\n"
        f"{make_line(results)}"
    )


def _synthetic_line(results: Results) -> str:
    """Say what the synthetic experiment was run with."""
    return (
        f"Learner: {results['learner']}. {results['n_train']} training rows, "
        f"{results['n_test']} rows a test batch."
    )


def _shift_line(results: Results) -> str:
    """Say what the real shifts were run with."""
    return (
        f"Seeds: {results['seeds']}; numbers are means over them. An interval holds if "
        "the true share of positives lies in it."
    )


def _learner_line(results: Results) -> str:
    """Say how the learner of a comparison was chosen.

    All settings that were tried are listed with their loss, not only the best.
    """
    learner = results["learner"]
    # scikit-learn breaks the text of a pipeline into aligned lines.
    text = " ".join(learner["repr"].split())
    tuning = ""
    settings = []
    for score in learner.get("scores", []):
        trees = f"depth {score['max_depth']} x {score['max_iter']} trees"
        settings.append(f"{trees} {score['log_loss']:.4f}")
    if settings:
        tuning = (
            "; log loss by 10-fold cross-validation on the training rows: "
            f"{', '.join(settings)}"
        )
    return (
        f"Learner of every method: {text}{tuning}. AIF360 is told that the "
        f"{results['favourable']} label is the favourable one. A number in brackets is "
        "how many seeds a row is the mean of."
    )


# What the provenance of an experiment that is no comparison ends with.
_LINES = {"synthetic": _synthetic_line, "shifts": _shift_line}


def _missing_cases(results: Results) -> list[str]:
    """List the cases that were skipped and the cells that failed."""
    return [*results.get("skipped", []), *results.get("failed", [])]


def _verdict_list(verdicts: list[Results]) -> list[str]:
    """List the claims, each with yes or no."""
    lines = []
    for verdict in verdicts:
        # In bold, so that a claim which failed is not overlooked.
        answer = "yes" if verdict["holds"] else "**no**"
        lines.append(f"{answer}: {verdict['claim']} ({verdict['detail']})")
    return _bullets("Against print", lines)


def _warning_list(rows: list[Results]) -> list[str]:
    """List the warnings that the methods raised."""
    lines = []
    for row in rows:
        lines += [f"{row['method']}: {text}" for text in row.get("warnings", [])]
    return _bullets("What the methods warned of", lines)


def _bullets(title: str, lines: Sequence[str]) -> list[str]:
    """Make a section of bullets; an empty one is left out."""
    if not lines:
        return []
    bullets = [f"- {line}" for line in lines]
    return [f"### {title}", "\n".join(bullets)]


def _markdown_table(table: TextTable) -> str:
    """Format a table; short rows are filled up, since Markdown wants equal widths."""
    width = len(table.columns)
    rule = "|" + "---|" + "---:|" * (width - 1)
    lines = [_markdown_row(table.columns), rule]
    for row in table.rows:
        filler = [""] * (width - len(row))
        lines.append(_markdown_row([*row, *filler]))
    return f"### {table.title}\n\n" + "\n".join(lines)


def _markdown_row(cells: Sequence[str]) -> str:
    """Format a row; names of groups and errors may hold bars and line breaks."""
    escaped = []
    for cell in cells:
        one_line = cell.replace("\n", " ")
        escaped.append(one_line.replace("|", "\\|"))
    return "| " + " | ".join(escaped) + " |"
