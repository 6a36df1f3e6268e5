"""Pages of measurements say what is stored, which was drawn often enough."""

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import performance
import rules
import study
import trust
import watch
import watch_series

DOCS = Path(__file__).parents[1] / "docs"


def text_of(page):
    """Return a page without the note that its numbers are of earlier defaults."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.sub(r"\n\*[^*]*earlier defaults[^*]*\*\n", "", text)


def stored(name):
    if not (DOCS / "data" / f"{name}.json").exists():
        return study.load(name)
    content = json.loads(text_of(f"data/{name}.json"))
    return content["about"], content["records"]


def test_blocks_of_pages_have_the_stored_figures():
    figures = {name: stored(name) for name in trust.STUDIES}
    for name, text in trust.blocks(figures).items():
        page = text_of(trust.PAGES.get(name, "trust.md"))
        assert f"<!-- {name} -->\n\n{text}\n\n<!-- end of {name} -->" in page


@pytest.mark.parametrize("page", ["rules_compared", "watch_compared"])
def test_pages_that_programs_write_whole_have_the_stored_figures(page):
    module = {"rules_compared": rules, "watch_compared": watch}[page]
    text = module.page_text(*stored(module.STUDY.name))
    if module is watch:
        text += watch_series.section(*stored("watch_series"))
    assert text_of(f"{page}.md") == text


def test_the_pages_of_speed_have_the_stored_figures():
    figures = stored("performance")
    assert text_of("performance.md") == performance.page_text(*figures)
    assert performance.latencies(*figures) in text_of("production.md")


@pytest.mark.parametrize("name", sorted(set(trust.STUDIES) - {"rules", "watch_series"}))
def test_every_cell_has_500_draws(name):
    _, records = stored(name)
    # Those that work with rows take long; the page says how many they are.
    slow = (watch.PREDICT, watch.NANNYML)
    draws = [r["draws"] for r in records if r.get("question") not in slow]
    assert min(draws, default=500) >= 500


def draw_seed(seed, setting):
    yield ("cell",), (float(seed),)


def test_a_study_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    drawn = []

    def settings(sizes):
        return [({"size": size}, 3) for size in sizes]

    def run(sizes):
        simulated = study.Study("s", draw_seed, settings(sizes), ("name",), ("value",))
        study.run(simulated, 1, folder=tmp_path)
        drawn.append([record["size"] for record in study.load("s", tmp_path)[1]])

    run([1])
    (first,) = study.load("s", tmp_path)[1]
    assert (first["value"], first["draws"]) == (1.0, 3)
    run([2, 1])
    run([2])
    assert drawn == [[1], [2, 1], [2, 1]]
    # Figures of other defaults are made anew.
    monkeypatch.setattr(study, "defaults_hash", lambda: "others")
    assert study.load("s", tmp_path)[1] == []
