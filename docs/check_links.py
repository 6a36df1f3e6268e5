"""Check the links of a built site: each leads somewhere, and nothing is fetched.

Run it on the folder of the site: ``python docs/check_links.py docs/_build/html``.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself. A link that a reader follows may lead elsewhere.
_FETCHED = {"script", "img", "iframe", "source", "video", "audio", "embed", "link"}
_OTHER_SCHEMES = ("mailto", "data", "javascript")


class Page(HTMLParser):
    """The places of a page, and what it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = {"", "top"}
        self.references: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the id of an element, and where it leads."""
        for name, value in attrs:
            if not value:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value)
            if name in ("href", "src"):
                self.references.append((tag, value))


def check_site(folder: Path) -> list[str]:
    """Return a sentence for each reference that is broken or remote.

    Parameters
    ----------
    folder : Path
        The built site.

    Returns
    -------
    list of str
        Empty if there is nothing to mend.
    """
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        # The theme ships a template among its scripts.
        if path.relative_to(folder).parts[0] == "_static":
            continue
        pages[path.resolve()] = Page(path.read_text(encoding="utf-8"))
    faults = []
    for path, page in pages.items():
        for tag, reference in page.references:
            fault = _fault(path, tag, reference, pages)
            if fault:
                faults.append(f"{path.relative_to(folder.resolve())}: {fault}")
    return faults


def _fault(path: Path, tag: str, reference: str, pages: dict[Path, Page]) -> str:
    """Return what is wrong with a reference, or nothing."""
    address = urlsplit(reference)
    if address.scheme in _OTHER_SCHEMES:
        return ""
    if address.scheme or address.netloc:
        if tag in _FETCHED:
            return f"<{tag}> fetches {reference}"
        return ""
    target = path
    if address.path:
        target = (path.parent / unquote(address.path)).resolve()
    if not target.is_file():
        return f"{reference} is not there"
    place = unquote(address.fragment)
    if target in pages and place not in pages[target].places:
        return f"{reference}: the page has no place {place!r}"
    return ""


def main(arguments: list[str]) -> int:
    """Print what is broken, and return the exit code."""
    (folder,) = arguments
    faults = check_site(Path(folder))
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
