"""Files of a run: the numbers as JSON, and a Markdown page made from them.

No number of a page is typed in: the page can be made again from the JSON at any time.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pandas as pd

from cape_paper._cells import Results
from cape_paper._sentences import headline
from cape_paper._stamp import STAMP, stamp
from cape_paper._tables import results_tables

_NOTES = tomllib.loads(files("cape_paper").joinpath("notes.toml").read_text("utf-8"))
_INDEX = """# Results

What was measured, with the first sentence of each page. `make results`,
`make results-peers` and `make bench` write these pages; no number is typed in.
"""


def write_results(results: Results, folder: Path) -> list[Path]:
    """Write ``results.json`` and ``results.md``.

    Existing files are replaced.

    Parameters
    ----------
    results : dict
        From `run_synthetic`, `compare_methods` or `run_shifts`.
    folder : Path
        Where to write; it is made if there is none.

    Returns
    -------
    list of Path
        The files.
    """
    # Before anything is written: results that make no page leave the old files.
    numbers = json.dumps(results, indent=1, allow_nan=False) + "\n"
    texts = {"results.json": numbers, "results.md": results_markdown(results)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def write_page(
    folders: Sequence[Path], page: Path, *, title: str | None = None
) -> Path:
    """Make one page of one or several finished runs, with what they found first.

    Parameters
    ----------
    folders : sequence of Path
        Folders with a ``results.json`` of `write_results`, in the order of the page.
    page : Path
        The page.
    title : str, default=None
        Title of the page; None is that of the first run.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileNotFoundError
        If a folder has no ``results.json``.

    Examples
    --------
    >>> write_page([folder], folder / "page.md")
    Traceback (most recent call last):
    FileNotFoundError: ... has no results.json: name folders of finished runs.
    """
    runs = []
    for folder in folders:
        if not (folder / "results.json").is_file():
            raise FileNotFoundError(
                f"{folder} has no results.json: name folders of finished runs."
            )
        content = (folder / "results.json").read_text(encoding="utf-8")
        runs.append(json.loads(content))
    sentences = [headline(results) for results in runs]
    found = " ".join(sentence for sentence in sentences if sentence)
    parts = [f"# {title or runs[0]['title']}", f"**{found}**"]
    for results in runs:
        section = results_markdown(results)
        if len(runs) == 1:
            # The title of the run is that of the page, and its sections go up.
            section = section.partition("\n\n")[2]
            section = re.sub("^#(?=##)", "", section, flags=re.MULTILINE)
        parts.append(section)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n\n".join(parts), encoding="utf-8")
    return page


def write_index(pages: Sequence[Path], index: Path) -> Path:
    r"""List pages, each with its first sentence and its stamp.

    Parameters
    ----------
    pages : sequence of Path
        Pages that begin with a title and a paragraph in bold, as `write_page` makes
        them; of other pages the title alone is shown.
    index : Path
        The page that lists them, in the same folder.

    Returns
    -------
    Path
        The index.

    Examples
    --------
    >>> page = folder / "speed.md"
    >>> _ = page.write_text("# Speed\n\n**Fast enough.**\n", encoding="utf-8")
    >>> print(write_index([page], folder / "results.md").read_text().splitlines()[-1])
    - [Speed](speed.md). Fast enough.
    """
    lines = [_INDEX, "```{toctree}", ":hidden:", ""]
    # Pages of another name have their place in the site already.
    lines += [page.stem for page in pages if page.stem.startswith(f"{index.stem}-")]
    lines += ["```", ""]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        title, _, content = text.removeprefix("# ").partition("\n")
        line = f"- [{title}]({page.name})."
        sentence = re.match(r"\s*\*\*(.+?)\*\*", content, flags=re.DOTALL)
        if sentence:
            line += f" {sentence[1]}"
        stamps = dict.fromkeys(re.findall(STAMP, content))
        if stamps:
            line += f" {' '.join(stamps)}"
        lines.append(line)
    index.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return index


def results_markdown(results: Results) -> str:
    """Make the section of a run: tables, and how they were measured.

    Parameters
    ----------
    results : dict
        From any of the runs.

    Returns
    -------
    str
        Markdown.
    """
    title = results["title"]
    if results.get("favourable") == "negative":
        title += ", AIF360 told that the negative label is the favourable one"
    parts = [f"## {title}"]
    reasons = _NOTES["reasons"].get(results["experiment"], [])
    if results.get("chosen_by_print"):
        reasons = _NOTES["reasons"]["wide"]
    parts.append(_bullets("Where we differ from print, and why", reasons))
    parts.append(_bullets("What is missing", what_is_missing(results)))
    for heading, table in results_tables(results).items():
        parts.append(f"### {heading}\n\n{_markdown(table)}")
    notes = [*_NOTES.get(results["experiment"], []), *results.get("notes", [])]
    parts += ["### How it was measured", _provenance(results)]
    parts.append("\n".join(f"- {note}" for note in notes))
    warned = []
    for row in results.get("rows", []):
        warned += [f"{row['method']}: {text}" for text in row.get("warnings", [])]
    parts.append(_bullets("What the methods warned of", warned))
    # Markdown separates paragraphs by an empty line; parts without content have none.
    return "\n\n".join(part for part in parts if part) + "\n"


def what_is_missing(results: Results) -> list[str]:
    """List the cases that were skipped, and the cells and methods that failed."""
    sentences = [*results.get("skipped", []), *results.get("failed", [])]
    for row in results.get("rows", []):
        if row["status"] != "ok":
            sentences.append(f"{row['method']} {row['status']}")
    return sentences


def _bullets(title: str, lines: Sequence[str]) -> str:
    """Make a section of bullets; an empty one is left out."""
    if not lines:
        return ""
    return "\n".join([f"### {title}", "", *[f"- {line}" for line in lines]])


def _markdown(table: pd.DataFrame) -> str:
    """Format a table; names of groups and errors may hold bars and line breaks."""
    escaped = table.replace({r"\|": r"\\|", "\n": " "}, regex=True)
    names = [str(name).replace("|", "\\|") for name in table]
    aligned = ["left"] + ["right"] * (table.shape[1] - 1)
    return escaped.set_axis(names, axis=1).to_markdown(
        index=False, disable_numparse=True, colalign=aligned
    )


def _provenance(results: Results) -> str:
    """Say how the run was made: command, date, cost, versions and learner.

    The load says whether anything else was running, which the seconds depend on.
    """
    command = results.get("command", "cape_paper")
    cost = (
        f"{results['cells']} cells, {results['cell_seconds']:.0f} s of processor time"
    )
    load = "unknown" if results["load"] is None else results["load"]
    versions = [f"{name} {version}" for name, version in results["versions"].items()]
    return (
        f"`{command}`, {results['date']}; {cost}, {results['cores']} cores, "
        f"load {load}.\n"
        f"{stamp(results['defaults'], results['date'][:10])}\n"
        f"Versions: {', '.join(versions)}.\n"
        f"{_settings(results)}"
    )


def _settings(results: Results) -> str:
    """Say what a run was made with.

    Of a comparison all settings of the learner that were tried are listed with their
    loss, not only the best.
    """
    if results["experiment"] == "synthetic":
        return (
            f"Learner: {results['learner']}. {results['n_train']} training rows, "
            f"{results['n_test']} rows a test batch."
        )
    if results["experiment"] == "logged":
        return (
            f"Seeds: {results['seeds']}, each with other halves of the training rows."
        )
    if "records" in results:
        return f"Seeds: {results['seeds']}; batches of each size: {results['draws']}."
    learner = results["learner"]
    # scikit-learn breaks the text of a pipeline into aligned lines.
    text = " ".join(learner["repr"].split())
    tried = []
    for score in learner.get("scores", []):
        trees = f"depth {score['max_depth']} x {score['max_iter']} trees"
        tried.append(f"{trees} {score['log_loss']:.4f}")
    if tried:
        text += (
            "; log loss by 10-fold cross-validation on the training rows: "
            f"{', '.join(tried)}"
        )
    return (
        f"Learner ({learner['kind']}) of the methods that take one: {text}. The "
        f"last table names the learner of each. AIF360 is told that the "
        f"{results['favourable']} label is the favourable one. A number in brackets is "
        "how many seeds a row is the mean of."
    )
