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

from cape_paper._cells import Results
from cape_paper._stamp import STAMP, stamp
from cape_paper._tables import headline, results_tables

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
        From any run.
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
    parts += [results_markdown(results) for results in runs]
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
        From any run.

    Returns
    -------
    str
        Markdown.
    """
    title = results["title"]
    settings = results["settings"]
    if settings.get("favourable label") == "negative":
        title += ", AIF360 told that the negative label is the favourable one"
    missing = list(results.get("skipped", []))
    missing += [f"{name} failed: {why}" for name, why in results["failed"].items()]
    reasons = _NOTES["reasons"].get(results["experiment"], [])
    parts = [
        f"## {title}",
        _bullets("Where we differ from print, and why", reasons),
        _bullets("What is missing", missing),
    ]
    for heading, table in results_tables(results).items():
        # Names of groups may hold bars and line breaks.
        escaped = table.replace({r"\|": r"\\|", "\n": " "}, regex=True)
        text = escaped.to_markdown(index=False, disable_numparse=True)
        parts.append(f"### {heading}\n\n{text}")
    versions = ", ".join(f"{name} {text}" for name, text in results["versions"].items())
    made_with = "; ".join(f"{name}: {value}" for name, value in settings.items())
    parts += [
        f"### How it was measured\n\n`{results.get('command', 'cape_paper')}`: "
        f"{results['cells']} cells, {results['seconds']:.0f} s of processor time.\n"
        f"{stamp(results['defaults'], results['date'][:10])}\n"
        f"Versions: {versions}.\nSettings: {made_with}.",
        _bullets(
            "", [*_NOTES.get(results["experiment"], []), *results.get("notes", [])]
        ),
    ]
    # Markdown separates paragraphs by an empty line; parts without content have none.
    return "\n\n".join(part for part in parts if part) + "\n"


def _bullets(title: str, lines: Sequence[str]) -> str:
    """Make a section of bullets; an empty one is left out."""
    bullets = "\n".join(f"- {line}" for line in lines)
    return f"### {title}\n\n{bullets}" if title and lines else bullets
