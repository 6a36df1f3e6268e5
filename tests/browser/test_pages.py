"""The pages in a real browser: quiet, alone and accessible."""

import pytest

pytestmark = pytest.mark.browser

BATCHES = ("batch", "fault", "drift", "frame", "labels", "refuted")
PAGES = [
    kind + size
    for kind in (*BATCHES, "audit", "batches", "watch")
    for size in ("", " of ten")
]


def violations(page, axe):
    page.evaluate(axe)
    return page.evaluate(
        "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))"
    )


def test_axe_would_find_one(visit, axe):
    page, _ = visit("batch")
    page.evaluate("document.title = ''")
    assert any(found.startswith("document-title: ") for found in violations(page, axe))


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation(visit, axe, name):
    for options in ({"color_scheme": "light"}, {"color_scheme": "dark", "width": 375}):
        page, _ = visit(name, **options)
        page.evaluate("document.querySelectorAll('.part').forEach(d => d.open = true)")
        assert violations(page, axe) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_needs_no_sideways_scrolling(visit, name):
    page, _ = visit(name, width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    texts = page.locator("svg text").all()[:20]
    assert all(
        text.bounding_box()["height"] >= 8 for text in texts if text.is_visible()
    )


@pytest.mark.parametrize("name", ["labels", "refuted", "audit", "batches"])
def test_a_phone_says_which_tables_move_sideways(visit, name):
    page, _ = visit(name, width=390)
    silent = page.evaluate(
        """[...document.querySelectorAll('.scroll:not(.wide)')]
            .filter(e => e.scrollWidth > e.clientWidth + 4)
            .map(e => e.getAttribute('aria-label'))"""
    )
    assert silent == []


@pytest.mark.parametrize("name", ["batch", "frame", "audit", "batches"])
def test_a_group_called_script_shows_as_text(visit, name):
    page, _ = visit(name)
    assert "<script>alert(1)</script>" in page.inner_text("body")


def open_parts(page):
    """Return the ids of the parts that are open."""
    return page.evaluate("[...document.querySelectorAll('.part[open]')].map(d => d.id)")


@pytest.mark.parametrize("name", ["fault", "refuted", "refuted of ten"])
def test_what_must_not_be_used_is_red_and_on_the_first_screen(visit, name):
    page, summary = visit(name)
    box = page.locator(".verdict")
    assert box.count() == 1 and box.bounding_box()["y"] < 200
    colour = box.evaluate("e => getComputedStyle(e).borderLeftColor")
    assert colour == "rgb(179, 38, 30)"
    assert summary["labels"]["verdict"]["head"] in box.inner_text()
    if name == "fault":
        (fault,) = summary["verdict"]["faults"]
        assert fault["what_happened"] in box.inner_text()
        assert page.locator(".first .do .good").count() == 0


@pytest.mark.parametrize("name", BATCHES)
def test_the_action_and_all_groups_fit_one_screen(visit, name):
    page, summary = visit(name, width=1200)
    rows = page.locator(".first").first.locator("tbody tr")
    assert rows.count() == len(summary["groups"])
    # Of many groups, five are shown and the others folded.
    page, summary = visit(name + " of ten", width=1200)
    rows = page.locator(".first tbody tr")
    assert rows.count() == len(summary["groups"]) == 10
    assert sum(row.is_visible() for row in rows.all()) == 5


MOST_WORDS = 150
MORE_OF_A_WATCH = 25
"""A watch has a column for every question, and the rates behind its alarms."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_one_screen_of_few_words(visit, name):
    page, _ = visit(name, width=1200)
    # Numbers count as words, and so does what is written in pictures; a name counts as
    # one, however long it is.
    text = page.inner_text("body").replace("a group with a rather long name,", "")
    is_watch = name.startswith("watch")
    assert len(text.split()) <= MOST_WORDS + MORE_OF_A_WATCH * is_watch
    most = 900 + 100 * is_watch
    assert page.evaluate("document.documentElement.scrollHeight") <= most
    # Three swipes on a phone.
    page, _ = visit(name, width=390, height=844)
    assert page.evaluate("document.documentElement.scrollHeight") <= 4 * 844


@pytest.mark.parametrize(
    ("name", "mark", "of_key", "of_path"),
    [
        # What was estimated before labels decided is hollow.
        ("labels", "hollow", "borderTopColor", "stroke"),
        ("refuted", "diamond", "backgroundColor", "fill"),
    ],
)
def test_a_mark_in_the_picture_is_in_the_colour_of_the_head_of_its_column(
    visit, name, mark, of_key, of_path
):
    for scheme in ("light", "dark"):
        page, summary = visit(name, color_scheme=scheme)
        key = page.locator(f".first thead .{mark}")
        wanted = key.evaluate(f"e => getComputedStyle(e).{of_key}")
        colours = page.locator(f".line .{mark} path").evaluate_all(
            f"paths => paths.map(p => getComputedStyle(p).{of_path})"
        )
        judged = [one for one in summary["groups"] if one["label_verdict"]]
        assert colours == [wanted] * len(judged) and judged


def test_parts_are_folded_stay_open_and_can_be_linked_to(visit):
    page, _ = visit("batch")
    assert open_parts(page) == []
    page.locator("#changes > summary").click()
    assert page.url.endswith("#changes")
    page.goto(page.url.partition("#")[0])
    assert open_parts(page) == ["changes"]
    page.locator("#changes > summary").focus()
    page.keyboard.press("Enter")
    # What is open is kept once the browser has told of it.
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    page.reload()
    assert open_parts(page) == []
    page.goto(f"{page.url.partition('#')[0]}#made")
    page.wait_for_function("document.getElementById('made').open")


@pytest.mark.parametrize("scripts", [True, False])
def test_paper_has_all_parts(visit, scripts):
    page, _ = visit("batch", java_script_enabled=scripts)
    if scripts:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    for part in page.locator(".part").all():
        inside = part.locator("p, table, dl").first
        assert inside.bounding_box()["height"] > 0
    if scripts:
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert open_parts(page) == []


def test_the_browser_runs_nothing_that_is_not_of_the_page(chromium, pages):
    path, _ = pages["batch"]
    evil = "<script>document.title = 'evil'</script><b onclick='1'>x</b>"
    page = chromium.new_page()
    refusals = []
    page.on("console", lambda message: refusals.append(message.text))
    page.goto(path.as_uri())
    honest = page.title()
    planted = path.read_text(encoding="utf-8").replace("<main>", f"<main>{evil}")
    page.set_content(planted)
    assert page.title() == honest
    assert any("Content Security Policy" in text for text in refusals)
    page.close()


def test_without_javascript_all_is_there(visit):
    page, summary = visit("batch", java_script_enabled=False)
    rows = page.locator(".first").first.locator("tbody tr")
    assert rows.count() == len(summary["groups"])
    page.locator("#changes > summary").click()
    assert summary["groups"][0]["verdict_text"] in page.locator("#changes").inner_text()


def test_it_prints_in_the_colours_of_paper(visit):
    page, _ = visit("batch", color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert (
        page.evaluate("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert page.pdf(format="A4").startswith(b"%PDF")
