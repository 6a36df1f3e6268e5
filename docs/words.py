"""List every sentence that cape prints, for a reader with ten minutes.

``python docs/words.py`` writes ``docs/words.md`` from the modules of words and the
templates of pages, and so does every build of the site.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
SRC = HERE.parent / "src"
MODULES = ("cape/shown/_[a-z]*.py", "cape_app/words/_[a-z]*.py")
TEMPLATES = "cape_app/pages/page/*.html"
FEWEST_WORDS = 3
NOT_PROSE = (
    "_PHRASES",
    "_OF_SCIKIT_LEARN",
    "_SAME_NAMES",
)
"""Errors of other libraries with what takes their place, names, and a command."""

HEAD = """# Words

Every sentence, heading and caption that cape prints or puts on a page. Names in braces
are filled in.
"""


def text_of(node: ast.AST) -> str:
    """Return a text as it stands in the source, with names for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        value = node.value.func if isinstance(node.value, ast.Call) else node.value
        names = re.findall(r"[A-Za-z]\w*", ast.unparse(value))
        return f"{{{names[-1]}}}" if names else "{n}"
    text = getattr(node, "value", None)
    return re.sub(r"\{(\w+)[!:][^}]*\}", r"{\1}", text) if isinstance(text, str) else ""


def texts_in(node: ast.AST) -> Iterator[str]:
    """Yield the texts below a node in the order of the source, without docstrings."""
    if isinstance(node, ast.JoinedStr | ast.Constant):
        yield from text_of(node).strip().splitlines()
    for child in parts_in(node):
        yield from texts_in(child)


def parts_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that may hold prose."""
    # What a text is looked up by or compared with is a name.
    if isinstance(node, ast.Compare | ast.Subscript | ast.JoinedStr):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in NOT_PROSE:
        return
    yield from node.values if isinstance(node, ast.Dict) else ast.iter_child_nodes(node)


def texts_of_template(source: str) -> Iterator[str]:
    """Yield the texts of a template, without its elements and what it computes."""
    source = re.sub("{#.*?#}", "", source, flags=re.DOTALL)
    for code in re.findall("{%.*?%}|{{.*?}}", source, flags=re.DOTALL):
        yield from re.findall(r'"([^"<]*)"', code)
    source = re.sub("<(?:style|script)>.*?</|{%.*?%}", "\n", source, flags=re.DOTALL)
    source = re.sub(r"{{ (?:\w+\.)*(\w+).*?}}", r"{\1}", source)
    source = re.sub("{{.*?}}", "{n}", source)
    for text in re.split("<[^>]*>|\n", source):
        yield text.strip(" .")


def is_sentence(text: str) -> bool:
    """Tell prose from names, formats and patterns."""
    prose = re.sub(r"\{[^}]*\}|\S*\w_\w\S*", " ", text)
    words = [word for word in prose.split() if re.search("[A-Za-z]", word)]
    is_pattern = re.search(r"[\\^]", text)
    return len(words) >= FEWEST_WORDS and not is_pattern


def write_words(path: Path) -> None:
    """Write the page."""
    parts = [HEAD]
    for pattern in (*MODULES, TEMPLATES):
        for file in sorted(SRC.glob(pattern)):
            source = file.read_text(encoding="utf-8")
            texts = texts_of_template(source)
            if file.suffix == ".py":
                texts = texts_in(ast.parse(source))
            sentences = dict.fromkeys(filter(is_sentence, texts))
            if sentences:
                name = file.relative_to(SRC).with_suffix("")
                parts.append(f"## {name}\n")
                parts.append("\n".join(f"- {one}" for one in sentences) + "\n")
    path.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    write_words(HERE / "words.md")
