"""Pages of measurements are of today's defaults."""

import json
import re
from pathlib import Path

import pytest

from cape_paper import defaults_hash, stamp

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.name for path in DOCS.glob("results*.md")}
PAGES |= {"a_hundred_labels.md", "nannyml.md", "performance.md", "production.md"}
PAGES |= {"trust.md", "watch_compared.md"}


def stamps_of(page):
    return re.findall(r"defaults `(\w+)`", (DOCS / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_pages_are_of_the_defaults_of_today_or_say_so(page):
    found = stamps_of(page)
    assert found, f"docs/{page} has no stamp: see cape_paper.stamp."
    # Whoever reads older numbers is told so.
    text = (DOCS / page).read_text(encoding="utf-8")
    is_told = "earlier defaults" in text
    assert set(found) == {defaults_hash()} or is_told, f"docs/{page} must be made anew."


def test_the_hash_changes_with_an_answer_of_the_defaults(tmp_path):
    golden = DOCS.parent / "tests" / "golden" / "answers.json"
    answers = json.loads(golden.read_text(encoding="utf-8"))

    def hash_of(name, key):
        answers[name][key] = "changed"
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(answers), encoding="utf-8")
        return defaults_hash(file)

    assert hash_of("quantifier hdy", "estimate") == defaults_hash()
    assert hash_of("defaults", "blue: estimate") != defaults_hash()
    assert f"`{defaults_hash()}`" in stamp()
    assert defaults_hash(tmp_path / "none.json") == "unknown"
