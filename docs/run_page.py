"""Run the code of a page in order, and put what it prints into the page.

``python docs/run_page.py docs/tutorial.md`` runs the page in an empty folder and
rewrites the outputs that it shows. The tests run the same pages.

- A ``python`` block is run; a ``text`` block right behind it shows what it printed.
- In a ``console`` block, lines that begin with ``$ cape`` are run, and the lines below
  show what they printed. Other commands, such as ``$ curl``, are shown and not run.
- An output with a line ``...`` is an excerpt, and is left as it is.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cape.datasets._compas import FILE as COMPAS
from cape.datasets._files import data_folder
from cape_app.cli._app import run

BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COLUMNS = 88


@dataclass
class Step:
    """One piece of code on a page, what the page shows, and what happened."""

    code: str
    shown: str
    start: int
    end: int
    printed: str = ""
    exit_code: int = 0

    @property
    def is_command(self) -> bool:
        """Whether it is a command of the command line."""
        return self.code.startswith("cape ")

    @property
    def is_excerpt(self) -> bool:
        """Whether the page shows a part of the output only."""
        return "...\n" in self.shown

    @property
    def expected_exit_code(self) -> int:
        """The exit code that belongs to what the page shows."""
        if "error: " in self.shown:
            return 2
        is_watch = self.code.startswith("cape watch")
        if "fail-if" in self.shown or (is_watch and "Alarm:" in self.shown):
            return 1
        return 0

    def run(self, names: dict) -> None:
        """Run the code, and keep what it prints."""
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            if self.is_command:
                self.exit_code = run(shlex.split(self.code)[1:])
            else:
                exec(compile(self.code, "page", "exec"), names)
        lines = [line.rstrip() for line in stream.getvalue().splitlines()]
        self.printed = "\n".join(lines).strip("\n") + "\n"


def steps_of(text: str) -> list[Step]:
    """Return the pieces of code of a page, in order."""
    steps: list[Step] = []
    end_of_python = None
    for block in BLOCK.finditer(text):
        kind = block.group(1)
        if kind == "python":
            steps.append(Step(block.group(2), "", block.end(), block.end()))
            end_of_python = block.end()
        elif kind == "console":
            steps.extend(_commands(block))
        elif end_of_python is not None:
            follows = not text[end_of_python : block.start()].strip()
            if follows:
                steps[-1].shown = block.group(2)
                steps[-1].start = block.start(2)
                steps[-1].end = block.end(2)
    return steps


def _commands(block: re.Match) -> Iterator[Step]:
    """Yield the commands of a block that are run, with the lines below them."""
    offset = block.start(2)
    for part in re.split(r"^(?=\$ )", block.group(2), flags=re.MULTILINE):
        command = re.match(r"\$ ((?:.*\\\n)*.*)\n", part)
        if command and command.group(1).startswith("cape "):
            yield Step(
                command.group(1).replace("\\\n", " "),
                part[command.end() :],
                offset + command.end(),
                offset + len(part),
            )
        offset += len(part)


def run_page(text: str, folder: Path) -> list[Step]:
    """Run the code of a page in a folder, and return what happened."""
    steps = steps_of(text)
    names: dict = {}
    with contextlib.chdir(folder):
        for step in steps:
            step.run(names)
    return steps


def with_outputs(text: str, steps: list[Step]) -> str:
    """Return the page with the outputs of its steps, but for excerpts."""
    for step in reversed(steps):
        if step.shown and not step.is_excerpt:
            text = text[: step.start] + step.printed + text[step.end :]
    return text


def lay_out_data(text: str, folder: Path) -> bool:
    """Copy the data that a page reads into a folder; False if they are not here."""
    name = Path(COMPAS).name
    source = data_folder() / COMPAS
    if name not in text and "fetch_compas" not in text:
        return True
    if not source.exists():
        return False
    shutil.copy(source, folder / name)
    return True


def main() -> None:
    """Run the pages that are named, and rewrite their outputs."""
    os.environ["COLUMNS"] = str(COLUMNS)
    for name in sys.argv[1:]:
        page = Path(name)
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            if not lay_out_data(text, Path(folder)):
                raise SystemExit(
                    f"{name} needs COMPAS: set CAPE_DATA, or fetch it once"
                )
            steps = run_page(text, Path(folder))
        page.write_text(with_outputs(text, steps), encoding="utf-8")


if __name__ == "__main__":
    main()
