"""The section "What to aim at" in a real browser: it shows what Python computed."""

import pytest

pytestmark = pytest.mark.browser

PAGES = ["batch", "frame", "batch of ten"]


def shown(page):
    """What the section shows."""
    return page.evaluate(
        """() => ({
            name: document.getElementById('aim-name').textContent,
            value: document.getElementById('aim-value').textContent,
            accuracy: document.getElementById('aim-accuracy').textContent,
            pe: document.getElementById('aim-pe').textContent,
            cells: [...document.querySelectorAll('#aim td[data-group]')]
                .map(cell => cell.textContent),
            figures: [...document.querySelectorAll('#aim figure')]
                .map(figure => figure.checkVisibility()),
        })"""
    )


def text(value):
    return "unknown" if value is None else f"{value:.3f}"


def check(page, choice, value):
    """Compare what is shown with a choice of the summary."""
    found = shown(page)
    assert found["value"] == text(value)
    assert found["accuracy"] == text(choice["accuracy"])
    assert found["pe"] == text(choice["pe"])
    cells = [text(x) for outcome in choice["outcomes"] for x in outcome]
    assert found["cells"] == cells
    return found


@pytest.mark.parametrize("name", PAGES)
def test_at_first_it_shows_the_choice_of_the_batch(visit, name):
    page, summary = visit(name)
    shown_at_first = summary["frontiers"]
    first = shown_at_first["curves"][0]
    found = check(page, shown_at_first["rules"][-1], first["rules"][-1])
    assert found["figures"] == [True] + [False] * (len(found["figures"]) - 1)


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_moves_along_the_curve(visit, name):
    page, summary = visit(name)
    points = summary["frontiers"]["curves"][0]["points"]
    slider = page.get_by_role("slider", name="Along the curve")
    slider.focus()
    for point in points[1:]:
        page.keyboard.press("ArrowRight")
        found = check(page, point, point["criterion"])
        assert found["name"] == "a point of the curve"
        assert text(point["criterion"]) in slider.get_attribute("aria-valuetext")
    page.keyboard.press("Home")
    check(page, points[0], points[0]["criterion"])
    page.keyboard.press("End")
    check(page, points[-1], points[-1]["criterion"])


def test_each_criterion_has_its_curve(visit):
    page, summary = visit("batch")
    curves = summary["frontiers"]["curves"]
    for place, curve in enumerate(curves):
        page.get_by_label("Criterion").select_option(str(place))
        page.locator("#aim-slider").focus()
        page.keyboard.press("End")
        last = curve["points"][-1]
        found = check(page, last, last["criterion"])
        assert found["figures"] == [i == place for i in range(len(curves))]
        page.keyboard.press("Home")
        check(page, curve["points"][0], curve["points"][0]["criterion"])


def test_each_rule_can_be_looked_at(visit):
    page, summary = visit("batch")
    curve = summary["frontiers"]["curves"][0]
    for place, rule in enumerate(summary["frontiers"]["rules"]):
        page.get_by_label("Show", exact=True).select_option(str(place))
        found = check(page, rule, curve["rules"][place])
        assert found["name"] == rule["name"]


def ring(page):
    """Where the middle of the ring is, and how far the ends of the frame."""
    return page.evaluate(
        """() => {
            const figure = document.querySelector('#aim figure:not([hidden])');
            const ring = figure.querySelector('circle.here');
            const frame = ring.parentNode.querySelector('.background');
            const middle = box => [box.x + box.width / 2, box.y + box.height / 2];
            const box = frame.getBoundingClientRect();
            return {
                ring: middle(ring.getBoundingClientRect()),
                left: box.x, right: box.x + box.width,
                top: box.y, bottom: box.y + box.height,
            };
        }"""
    )


def test_the_ring_stands_at_the_point(visit):
    page, summary = visit("batch")
    curve = summary["frontiers"]["curves"][0]
    left, right = curve["x_domain"]
    bottom, top = curve["y_domain"]
    page.locator("#aim-slider").focus()
    for key, point in (("End", curve["points"][-1]), ("Home", curve["points"][0])):
        page.keyboard.press(key)
        found = ring(page)
        across = (point["criterion"] - left) / (right - left)
        up = (point["accuracy"] - bottom) / (top - bottom)
        wanted_x = found["left"] + across * (found["right"] - found["left"])
        wanted_y = found["bottom"] - up * (found["bottom"] - found["top"])
        assert found["ring"] == pytest.approx([wanted_x, wanted_y], abs=1)


def test_marks_of_rules_are_where_their_numbers_are(visit):
    """The drawing and the ring share their axes."""
    page, summary = visit("batch")
    curve = summary["frontiers"]["curves"][0]
    drawn = page.locator("#aim figure").first.locator(".mark-symbol path").count()
    inside = 0
    for value, rule in zip(curve["rules"], summary["frontiers"]["rules"], strict=True):
        if value is not None and value <= curve["x_domain"][1]:
            inside += rule["accuracy"] >= curve["y_domain"][0]
    assert drawn == inside


def test_without_javascript_all_curves_and_the_choice_are_there(visit):
    page, summary = visit("batch", java_script_enabled=False)
    shown_without = summary["frontiers"]
    assert page.locator("#aim figure svg").count() == len(shown_without["curves"])
    assert not page.locator("#aim-controls").is_visible()
    for picture in page.locator("#aim figure").all():
        assert picture.is_visible()
    section = page.locator("#aim").inner_text()
    for outcome in shown_without["rules"][-1]["outcomes"]:
        assert text(outcome[0]) in section


def test_it_is_printed_without_controls(visit):
    page, _ = visit("batch")
    page.emulate_media(media="print")
    assert not page.locator("#aim-controls").is_visible()
    assert page.locator("#aim figure").first.is_visible()
