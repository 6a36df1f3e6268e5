"""The documentation site in a real browser, from files: quiet, alone, accessible."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = [
    "index.html",
    "tutorial.html",
    "verdicts.html",
    "what_to_aim_at.html",
    "glossary.html",
    "method.html",
    "gallery/index.html",
    "gallery/plot_02_adaptation.html",
    "api/index.html",
    "api/cape.metrics.html",
    "api/generated/cape.CapeClassifier.html",
    "search.html",
]


@pytest.fixture
def open_page(chromium):
    """Open a page of the site; nothing may go wrong in it, nor leave it."""
    if not SITE.is_dir():
        pytest.skip("make docs builds the site")
    troubles, contexts = [], []

    def note_error(message):
        if message.type == "error":
            troubles.append(message.text)

    def note_request(request):
        if not request.url.startswith(("file:", "data:")):
            troubles.append(request.url)

    def go(name, width=1200, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", note_error)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", note_request)
        address, _, query = name.partition("?")
        page.goto((SITE / address).as_uri() + (query and f"?{query}"))
        return page

    yield go
    for context in contexts:
        context.close()
    assert troubles == []


OFF = [
    # Tables of pandas and of Markdown have an empty corner above the names of the rows.
    "empty-table-header",
]


def violations(page, axe):
    """Return what axe finds; it need not fetch style sheets, which files may not."""
    page.evaluate(axe)
    rules = {rule: {"enabled": False} for rule in OFF}
    return page.evaluate(
        """options => axe.run(options).then(result => result.violations.map(
            violation => violation.id + ': ' + violation.nodes[0].html
        ))""",
        {"rules": rules, "preload": False},
    )


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation(open_page, axe, name):
    page = open_page(name, color_scheme="light")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert violations(page, axe) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_dark_phone_has_no_violation_and_no_sideways_scrolling(open_page, axe, name):
    page = open_page(name, 390, color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page, axe) == []


def test_pictures_of_the_gallery_are_there(open_page):
    page = open_page("gallery/index.html")
    pictures = page.locator(".sphx-glr-thumbcontainer img")
    assert pictures.count() >= 8
    widths = pictures.evaluate_all("images => images.map(i => i.naturalWidth)")
    assert min(widths) > 0


def test_search_finds_a_class(open_page):
    page = open_page("search.html?q=CapeClassifier")
    page.locator("#search-results li").first.wait_for()
    links = page.locator("#search-results li a").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    assert any("cape.CapeClassifier" in link for link in links)


def test_a_card_of_the_first_page_leads_to_its_page(open_page):
    page = open_page("index.html")
    page.locator(".sd-card", has_text="What to aim at").click()
    page.wait_for_load_state()
    assert page.inner_text("h1").startswith("What to aim at")
