"""The pages in a real browser: quiet, alone, accessible, and right to three digits."""

from itertools import permutations

import numpy as np
import pytest

pytestmark = pytest.mark.browser

BATCHES = ("batch", "fault", "drift", "frame", "labels", "refuted")
PAGES = [
    kind + size
    for kind in (*BATCHES, "explorer", "audit", "monitor", "watch")
    for size in ("", " of ten")
]
EXPLORERS = ["explorer", "explorer of ten"]
COLUMNS = ("predicted", "fpr", "fnr", "accuracy", "pd")


def violations(page, axe):
    page.evaluate(axe)
    return page.evaluate(
        "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))"
    )


def test_axe_would_find_one(visit, axe):
    page, _ = visit("explorer")
    page.evaluate("document.querySelector('#explorer h2 label').remove()")
    assert any(found.startswith("label: ") for found in violations(page, axe))


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


@pytest.mark.parametrize("name", ["labels", "refuted", "audit", "monitor"])
def test_a_phone_says_which_tables_move_sideways(visit, name):
    page, _ = visit(name, width=390)
    silent = page.evaluate(
        """[...document.querySelectorAll('.scroll:not(.wide)')]
            .filter(e => e.scrollWidth > e.clientWidth + 4)
            .map(e => e.getAttribute('aria-label'))"""
    )
    assert silent == []


@pytest.mark.parametrize(
    "name", ["batch", "frame", "audit", "monitor", "explorer of ten"]
)
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


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_one_screen_of_few_words(visit, name):
    page, _ = visit(name, width=1200)
    # Numbers count as words, and so does what is written in pictures; a name counts as
    # one, however long it is.
    text = page.inner_text("body").replace("a group with a rather long name,", "")
    assert len(text.split()) <= MOST_WORDS
    assert page.evaluate("document.documentElement.scrollHeight") <= 900
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
        assert colours == [wanted] * len(summary["groups"])


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


def outcomes(group, rho):
    """Rates of the member nearest to each prevalence; ties go to the nearest theta."""
    theta, tpr, fpr = (np.array(group[name]) for name in ("theta", "tpr", "fpr"))
    rho = np.asarray(rho, dtype=float)
    by_member = rho[..., None] * tpr + (1 - rho[..., None]) * fpr
    away = np.round(np.abs(by_member - rho[..., None]), 9)
    ties = np.round(np.abs(theta - rho[..., None]), 9)
    picked = np.lexsort((np.broadcast_to(theta, away.shape), ties, away))[..., 0]
    tpr, fpr = tpr[picked], fpr[picked]
    predicted = rho * tpr + (1 - rho) * fpr
    return {
        "theta": theta[picked],
        "predicted": predicted,
        "fpr": fpr,
        "fnr": 1 - tpr,
        "accuracy": rho * tpr + (1 - rho) * (1 - fpr),
        "pd": np.abs(rho - predicted),
    }


def worst_pe(prevalences, predicted):
    """The greatest PE of two groups, or NaN if it is defined for none."""
    found = []
    pairs = zip(prevalences, predicted, strict=True)
    for (p, q), (p_other, q_other) in permutations(pairs, 2):
        if p_other > 0 and q_other > 0:
            found.append(abs(p / p_other - q / q_other))
    return max(found, default=np.nan)


def expected(summary, prevalences):
    """Rates of all groups and PE, by classifier, for sliders at these prevalences."""
    result = {}
    for who in ("cape", "unadapted"):
        rows = []
        for group, rho in zip(summary["explorer"]["groups"], prevalences, strict=True):
            values = outcomes(group[who], rho)
            rows.append({name: float(value) for name, value in values.items()})
        predicted = [row["predicted"] for row in rows]
        result[who] = rows, worst_pe(prevalences, predicted)
    return result


def shown(page):
    """What the page shows."""
    return page.evaluate(
        """() => ({
            rho: [...document.querySelectorAll('#explorer input')]
                .map(i => Number(i.dataset.rho)),
            cells: [...document.querySelectorAll('#explorer .group')]
                .map(g => Object.fromEntries(
                [...g.querySelectorAll('td[data-who]')]
                    .map(c => [c.dataset.who + ' ' + c.dataset.what, c.textContent]))),
            pe: ['cape', 'unadapted']
                .map(w => document.getElementById('pe-' + w).textContent),
        })"""
    )


def compare(page, summary):
    found = shown(page)
    wanted = expected(summary, found["rho"])
    for place, cells in enumerate(found["cells"]):
        for who, (rows, _) in wanted.items():
            for column in COLUMNS:
                assert float(cells[f"{who} {column}"]) == pytest.approx(
                    rows[place][column], abs=5.01e-4
                )
    for text, (_, pe) in zip(found["pe"], wanted.values(), strict=True):
        if np.isnan(pe):
            assert text == "undefined"
        else:
            assert float(text) == pytest.approx(pe, abs=5.01e-4)
    return found


@pytest.mark.parametrize("name", EXPLORERS)
def test_numbers_equal_pythons_to_three_digits(visit, name):
    page, summary = visit(name)
    compare(page, summary)
    sliders = page.locator("#explorer input").count()
    random = np.random.default_rng(0)
    for values in [
        *random.integers(0, 101, (25, sliders)) / 100,
        np.zeros(sliders),
        np.ones(sliders),
    ]:
        page.evaluate(
            """values => {
                const sliders = document.querySelectorAll('#explorer input');
                sliders.forEach((slider, i) => {
                    slider.value = values[i];
                    slider.dispatchEvent(new Event('input'));
                });
            }""",
            values.tolist(),
        )
        assert compare(page, summary)["rho"] == pytest.approx(values.tolist())


@pytest.mark.parametrize("name", EXPLORERS)
def test_keyboard_mouse_and_touch_move_the_numbers(visit, name):
    page, summary = visit(name, has_touch=True)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    last = page.locator("#explorer input").last
    before = compare(page, summary)
    last.focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight" if before["rho"][-1] < 0.5 else "ArrowLeft")
    by_keyboard = compare(page, summary)
    # The start may lie between two steps of the slider.
    moved = abs(by_keyboard["rho"][-1] - before["rho"][-1])
    assert moved == pytest.approx(0.07, abs=0.0051)
    assert by_keyboard["cells"][-1] != before["cells"][-1]
    box = last.bounding_box()
    last.click(position={"x": box["width"] * 0.25, "y": box["height"] / 2})
    by_mouse = compare(page, summary)
    assert by_mouse["rho"][-1] == pytest.approx(0.25, abs=0.03)
    last.tap(position={"x": box["width"] * 0.75, "y": box["height"] / 2})
    assert compare(page, summary)["rho"][-1] == pytest.approx(0.75, abs=0.03)
    page.get_by_role("button", name="Back to the start").click()
    assert compare(page, summary)["rho"] == before["rho"]


def test_curves_are_pythons_at_every_prevalence(visit):
    page, summary = visit("explorer")
    for what in ("pd", "predicted", "fpr", "fnr", "accuracy"):
        page.select_option("#curve", what)
        for who in ("cape", "unadapted"):
            path = page.locator(f"#explorer .group path.{who}").first.get_attribute("d")
            heights = [
                float(point.split()[1])
                for point in path.replace("M", "L").split("L")[1:]
            ]
            group = summary["explorer"]["groups"][0]
            values = outcomes(group[who], np.linspace(0, 1, 101))[what]
            np.testing.assert_allclose(heights, 8 + (1 - values) * 104, atol=0.06)


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


def test_each_slider_has_a_name_and_a_spoken_value(visit):
    page, summary = visit("explorer of ten")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    for group in summary["explorer"]["groups"]:
        slider = page.get_by_role("slider", name=group["name"], exact=True)
        digits = 3 if group["now"] < 0.1 else 2
        spoken = f"share of positives {group['now']:.{digits}f}"
        assert slider.get_attribute("aria-valuetext") == spoken


def test_without_javascript_all_but_the_sliders_is_there(visit):
    page, summary = visit("batch", java_script_enabled=False)
    rows = page.locator(".first").first.locator("tbody tr")
    assert rows.count() == len(summary["groups"])
    page.locator("#changes > summary").click()
    assert summary["groups"][0]["verdict_text"] in page.locator("#changes").inner_text()
    page, _ = visit("explorer", java_script_enabled=False)
    assert page.locator("noscript p").is_visible()


def test_it_prints_in_the_colours_of_paper(visit):
    page, _ = visit("batch", color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert (
        page.evaluate("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert page.pdf(format="A4").startswith(b"%PDF")
