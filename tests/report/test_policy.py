"""Pages tell the browser to run their own script and style, and nothing else."""

import base64
import hashlib
import html
import re

import pytest

from cape.report import to_html


def policy_of(page):
    """Read the policy of a page as a dict from directive to sources."""
    pattern = r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">'
    (content,) = re.findall(pattern, page)
    directives = {}
    for directive in html.unescape(content).split(";"):
        name, *sources = directive.split()
        directives[name] = sources
    return directives


def hashes_of(page, tag):
    """Hash the texts of all elements without attributes."""
    hashes = []
    for text in re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest())
        hashes.append(f"'sha256-{digest.decode()}'")
    return hashes


@pytest.fixture(scope="module")
def page(people_folder, people_model, batch_of_file):
    return to_html(batch_of_file(people_model, people_folder / "new.csv"))


def test_the_policy_names_the_style_and_the_script_of_the_page(page):
    policy = policy_of(page)
    assert policy["default-src"] == ["'none'"]
    assert policy["style-src"] == hashes_of(page, "style")
    assert policy["script-src"] == hashes_of(page, "script")
    assert policy["img-src"] == ["data:"]


def test_the_policy_stands_before_what_it_rules(page):
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_nothing_on_the_page_needs_more_than_the_policy_allows(page):
    """Attributes with style or code would need 'unsafe-inline'."""
    body = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"<[^>]*\sstyle=", body)
    assert not re.search(r"<[^>]*\son[a-z]+=", body)
