"""A page is one file, needs nothing else, and what it names is text."""

import base64
import hashlib
import html
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cape import examine
from cape_app.pages import to_html, write_report
from cape_app.words import _page as words

KINDS = ["batch", "audit", "ll144", "batches"]
EVIL = (
    "</script><script>alert(1)</script> <!-- <img src=x onerror=alert(2)> &amp; Größe "
    "组 \"double\" 'single' `back` \\ \\u003c {{ 7 * 7 }} {% raw %} \u2028"
)
HOSTILE = ["a\x00b", "\x1b[31mred", "\ud800", "\ufffe", "\u202eabc", "a\nb"]


class Page(HTMLParser):
    """What a browser makes of a page: elements with attributes, texts and scripts."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self.scripts = [], [], []
        self._inside = None
        self.feed(page)
        self.text = "".join(self.texts)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_comment(self, data):
        self.elements.append(("comment", {}))

    def handle_data(self, data):
        (self.scripts if self._inside == "script" else self.texts).append(data)


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_and_loads_nothing(pages, kind):
    page = pages[kind]
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    for tag in ("main", "style", "section", "figure", "table", "svg", "script", "ul"):
        assert len(re.findall(rf"<{tag}\b", page)) == page.count(f"</{tag}>")
    assert "{{" not in page and "{%" not in page and "Undefined" not in page
    addresses = re.findall(r"\b(?:https?:)?//[\w.-]+\.[a-z]+[^\s\"'<)]*", page)
    allowed = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(addresses) <= allowed
    sources = re.findall(r"""(?:src|href|action)\s*=\s*["']([^"']*)""", page)
    assert set(sources + re.findall(r"[^-]url\(([^)#]*)", page)) <= {"data:,"}
    assert not re.search(r"<(?:img|iframe|object|embed|base|form|audio|video)\b", page)
    scripts = r"XMLHttpRequest|WebSocket|sendBeacon|importScripts|fetch\(|@import"
    assert not re.search(rf"{scripts}|\bimport\b\s*[({{'\"]", page)


PARTS = {
    "batch": ["labels", "changes", "expected", "made"],
    "new": ["changes", "expected", "made"],
    "audit": ["observed", "glossary", "made"],
    "ll144": ["about", "made"],
    "batches": ["batches", "made"],
}
SECTIONS = {
    "batch": ["observed", "columns", "criteria"],
    "new": ["columns", "criteria"],
}


@pytest.mark.parametrize("kind", PARTS)
def test_the_parts_come_in_order_folded_and_can_be_linked_to(pages, kind):
    parts = re.findall(r'<details class="part" id="([a-z-]+)">', pages[kind])
    assert parts == PARTS[kind]
    assert pages[kind].count("<summary><h2>") == len(parts)
    sections = re.findall(r'<section id="([a-z-]+)">', pages[kind])
    assert sections == SECTIONS.get(kind, [])


def test_every_picture_has_a_name_and_its_numbers(pages):
    pictures = r'<svg[^>]*role="img"><title>([^<]+)</title>'
    assert len(re.findall(pictures, pages["batch"])) == 2
    assert pages["batch"].count("<summary>The numbers</summary>") == 2


def test_many_groups_are_folded_those_to_act_on_first(summaries):
    summary = summaries["new"]
    names = [f"g{place}" for place in range(20)]
    codes = ["use"] * 12 + ["do_not_use"] * 2 + ["label"] * 6
    many = {
        **summary,
        "histograms": [],
        "columns": {**summary["columns"], "groups": []},
    }
    many["groups"] = [{**summary["groups"][0], "group": name} for name in names]
    for part in ("shift_test", "expected"):
        entry = summary[part]["groups"][0]
        many[part] = {"groups": [{**entry, "group": name} for name in names]}
    reasons = {"use": "consistent", "do_not_use": "refuted", "label": "uncertain"}
    actions = []
    for name, code in zip(names, codes, strict=True):
        action = {"code": code, "reason": reasons[code], "labels": 7, "columns": []}
        action["chance"] = 0.5
        actions.append({"group": name, **action})
        many["groups"][len(actions) - 1]["action"] = action
    many["action"] = {"code": "do_not_use", "labels": 42, "groups": actions}
    many["action"]["tolerance"] = 0.05
    page = to_html(many)
    first, more = page.split('id="more"')[:2]
    shown = re.findall(r'<th scope="row">(g\d+)</th>', first)
    assert shown == ["g12", "g13", "g14", "g15", "g16"]
    assert "15 more groups: 3 to label, 12 to use" in more
    folded = re.findall(r'<th scope="row">(g\d+)</th>', more.split("</details>")[0])
    assert sorted(shown + folded) == sorted(names)


def test_nothing_is_promised_where_too_little_is_known(summaries):
    summary = summaries["new"]
    fine, odd = summary["action"]["groups"]
    for code, reason in (("hold_off", "drift"), ("do_not_use", "refuted")):
        groups = [fine, {**odd, "code": code, "reason": reason}]
        action = {**summary["action"], "code": code, "groups": groups}
        page = to_html({**summary, "action": action})
        expected = page.split('id="expected"')[1].split("</details>")[0]
        ranges = [
            words.interval(group["accuracy_low"], group["accuracy_high"])
            for group in summary["expected"]["groups"]
        ]
        assert ranges[0] in expected and ranges[1] not in expected
        assert "<td>0" not in page.split('"criteria"')[1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_json_is_the_summary_that_the_page_is_made_of(
    tmp_path, summaries, pages, kind
):
    path = write_report(summaries[kind], tmp_path / "r.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content == summaries[kind]
    # Without its pictures, which take their time, in one kind only.
    if kind == "ll144":
        page = write_report(content, tmp_path / "r.html").read_text(encoding="utf-8")
        assert page == pages[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_says_how_it_was_made(summaries, pages, kind):
    made = summaries[kind]["made"]
    part = pages[kind].split('id="made"')[1]
    for file in made["files"]:
        assert f"SHA-256 {file['sha256']}" in part and file["file"] in part
    for name, version in made["versions"].items():
        assert f"{name} {version}" in part
    assert made["date"][:10] in part
    has_model = kind not in ("audit", "ll144")
    assert ("fingerprint" in part) == has_model
    if has_model:
        assert made["fingerprint"] in part
        assert (
            made["training"]["sha256"] in part and "age (number), degree (text)" in part
        )


def made_of(summary, **made):
    """The terms and texts of the last part of a page that was made so."""
    known = {"versions": {"cape": "1.0"}, "date": "2024-03-01T08:30+00:00"}
    page = to_html({**summary, "made": {**known, "columns": {}, **made}})
    part = html.unescape(page.split('id="made"')[1].split("</dl>")[0])
    return re.findall("<dt>([^<]*)</dt><dd>([^<]*)</dd>", part)


@pytest.mark.parametrize("n", [0, 1, 12, 13, 40])
def test_at_most_twelve_files_are_named(summaries, n):
    files = [{"file": f"f{place}.csv", "sha256": "00"} for place in range(n)]
    files[:1] = [{"file": "b.csv", "rows": 1000, "sha256": "11"}] if files else []
    facts = made_of(summaries["audit"], files=files)
    texts = [text for term, text in facts if term == "data"]
    assert len(texts) == min(n, 12) + (n > 12)
    if n:
        assert texts[0] == "b.csv, 1,000 rows, SHA-256 11"
    if n > 12:
        assert texts[1] == "f1.csv, SHA-256 00"
        assert texts[-1] == f"and {n - 12} more files"
    # What is not known is left out.
    rest = facts[len(texts) :]
    assert rest == [("versions", "cape 1.0"), ("date", "2024-03-01 08:30 UTC")]


def test_columns_are_those_of_the_audit_or_of_the_model(summaries):
    columns = {"label": "y", "prediction": "p", "groups": "race, sex"}
    facts = made_of(summaries["audit"], columns=columns)
    assert facts[:3] == list(columns.items())
    model = {
        "label": "y",
        "labels": ["0", "1"],
        "groups": [],
        "features": {"u": "number"},
    }
    facts = dict(made_of(summaries["new"], columns=model))
    assert facts["groups"] == "none" and facts["features"] == "u (number)"
    assert facts["label"] == "y: 1 is positive and 0 is negative"


def test_what_a_page_is_about_stands_below_its_heading(summaries):
    def lede(kind, **changes):
        page = to_html({**summaries[kind], **changes})
        return re.search('<p class="lede">(.*) <small>', page)[1]

    assert lede("audit", rows=1) == "1 row, 2 groups."
    batch = {"rows": 12345, "positive": "y = 1"}
    said = "12,345 rows. Positive means y = 1. Aim: "
    assert lede("new", **batch, rule={"name": "accuracy"}) == f"{said}best accuracy."
    assert lede("new", **batch, rule={"name": "Mine"}) == f"{said}Mine."


@pytest.mark.parametrize("n", [0, 1, 12, 13, 40])
def test_columns_that_are_not_shown_are_counted(summaries, n):
    columns = summaries["new"]["columns"]
    names = ("column", "fault", "effect", "p_adjusted", "what_happened")
    moved = dict(zip(names, ("c", "", 0.1, 0.1, "it moved"), strict=True))

    def said(**changes):
        page = to_html({**summaries["new"], "columns": {**columns, **changes}})
        return page.split('id="columns"')[1].split("</section>")[0]

    part = said(moved=[{"group": "a", **moved}] * n)
    assert ("No column has clearly changed" in part) == (n == 0)
    assert (f"lists {n - 12} more." in part) == (n > 12)
    assert "A broken column" not in part
    broken = said(moved=[{"group": "a", **moved, "fault": "units"}])
    assert "A broken column distorts the scores" in broken
    assert "Columns were not checked" in said(counted=False, moved=[])


# Contents and paths


def test_a_page_of_an_examination_is_that_of_its_summary(
    fitted, batch, summarise, tmp_path
):
    own = batch.z == 0
    groups = {"sensitive_features": batch.z[own]}
    seen = examine(fitted(pool="threshold"), batch.X[own], **groups)
    # With a date of its own, the page would be that of another minute.
    seen.provenance = {"date": "2020-02-29T12:00+00:00", "versions": {"cape": "0.0"}}
    path = write_report(seen, tmp_path / "march.html")
    assert path.read_text(encoding="utf-8") == to_html(summarise(seen))
    path = write_report(seen, tmp_path / "march.json")
    assert json.loads(path.read_text(encoding="utf-8")) == summarise(seen)
    # One group has no pairs, and nothing to aim at.
    page = (tmp_path / "march.html").read_text(encoding="utf-8")
    assert 'id="criteria"' not in page
    named = to_html({**summarise(seen), "title": "March <2024>", "histograms": []})
    assert "<h1>Predictions</h1>" in page
    assert "<h1>Predictions: March &lt;2024&gt;</h1>" in named


@pytest.mark.parametrize("content", [None, "march", ["march"], 3, examine])
def test_other_contents_are_refused_by_name(tmp_path, content):
    with pytest.raises(TypeError, match=f"content must be .* {type(content).__name__}"):
        write_report(content, tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["none", None])
def test_a_summary_of_an_unknown_kind_is_refused(kind):
    with pytest.raises(ValueError, match=r"content\['kind'\] must be one of 'batch'"):
        to_html({"kind": kind})


@pytest.mark.parametrize(
    ("name", "damage"),
    [("r.json", {"rows": float("nan")}), ("r.html", {"rows": None})],
)
def test_a_summary_that_cannot_be_written_leaves_all_as_it_was(
    tmp_path, summaries, name, damage
):
    old = tmp_path / name
    old.write_text("old")
    with pytest.raises((ValueError, TypeError, KeyError)):
        write_report({**summaries["audit"], **damage}, old, overwrite=True)
    assert old.read_text() == "old" and list(tmp_path.iterdir()) == [old]


def test_a_disk_that_fails_leaves_the_old_report_and_nothing_else(
    tmp_path, summaries, monkeypatch
):
    old = write_report(summaries["audit"], tmp_path / "r.json")
    before = old.read_text()

    def half(self, text, **options):
        with self.open("w") as file:
            file.write(text[: len(text) // 2])
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", half)
    with pytest.raises(OSError, match="no space left"):
        write_report({**summaries["audit"], "title": "new"}, old, overwrite=True)
    with pytest.raises(OSError, match="no space left"):
        write_report(summaries["audit"], tmp_path / "other.json")
    assert old.read_text() == before and list(tmp_path.iterdir()) == [old]


def test_overwriting_replaces_and_must_be_asked_for(tmp_path, summaries):
    path = write_report(summaries["audit"], tmp_path / "r.json")
    changed = {**summaries["audit"], "title": "another"}
    with pytest.raises(FileExistsError, match="overwrite=True"):
        write_report(changed, path)
    assert json.loads(path.read_text())["title"] == "a.csv"
    write_report(changed, path, overwrite=True)
    assert json.loads(path.read_text())["title"] == "another"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["none/r.json", "r", "r.txt", "r.html.gz", ".html"])
def test_a_path_that_cannot_be_is_refused_before_anything_is_written(
    tmp_path, summaries, name
):
    with pytest.raises((FileNotFoundError, ValueError), match="must end in|not exist"):
        write_report(summaries["audit"], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_report_does_not_import_files():
    code = "import sys, cape_app.pages; print('cape_app.files' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"


# Names are text


@pytest.fixture(scope="module")
def evil(summaries, renamed):
    """Every kind of page with a name that would do harm as markup."""
    pages = {}
    for kind in KINDS:
        summary = renamed(summaries[kind], "blue", EVIL) | {"title": EVIL}
        pages[kind] = summary, Page(to_html(summary))
    return pages


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_is_read_as_it_was_written_and_makes_no_element(evil, kind):
    _, page = evil[kind]
    tags = {tag for tag, _ in page.elements}
    assert not {"img", "b", "comment", "iframe", "object"} & tags
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
    assert sum(tag == "script" for tag, _ in page.elements) == 1
    (script,) = page.scripts
    assert "alert" not in script
    assert page.text.count(EVIL.replace("\u2028", "\\u2028")) >= 2


def test_no_group_is_called_by_a_rank(pages):
    ranks = "privileged|reference group|protected|majority|minority|baseline|best group"
    for page in pages.values():
        assert not re.search(ranks, Page(page).text.lower())


@pytest.mark.slow
def test_control_characters_do_not_end_the_process(tmp_path, audit_of):
    """In a process of its own: without the escapes it ends by a signal."""
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(audit_of(_counts(HOSTILE))))
    code = (
        "import json, sys; from cape_app.pages import to_html;"
        "page = to_html(json.load(open(sys.argv[1])));"
        "print(page.count('<svg'), page.count('could not be drawn'))"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    n_pictures, n_failures = map(int, done.stdout.split())
    assert n_pictures > 0 and n_failures == 0


def _counts(names):
    return dict.fromkeys(names, (40, 10, 10, 40))


@pytest.mark.parametrize("ending", ["html", "json"])
def test_a_page_of_hostile_names_is_written(tmp_path, audit_of, ending):
    path = write_report(audit_of(_counts(HOSTILE)), tmp_path / f"größe.{ending}")
    text = path.read_text(encoding="utf-8")
    assert text and not set("\x00\x1b\ufffe\u202e") & set(text)


def test_a_failed_picture_says_so_in_its_place(monkeypatch, summaries):
    def fail(spec, kind):
        raise RuntimeError("ValueError: <b>bad</b>")

    monkeypatch.setattr("cape.shown._plot.draw_in_child", fail)
    with pytest.warns(UserWarning, match="could not be drawn"):
        page = to_html(summaries["batches"])
    assert "This picture could not be drawn (ValueError: " in page
    assert "<b>bad" not in page and page.rstrip().endswith("</html>")


def test_an_interrupted_page_stays_interrupted(monkeypatch, summaries):
    def interrupt(spec, kind):
        raise KeyboardInterrupt

    monkeypatch.setattr("cape.shown._plot.draw_in_child", interrupt)
    with pytest.raises(KeyboardInterrupt):
        to_html(summaries["batches"])


# The policy


def hashes_of(page, tag):
    """Hash the texts of all elements without attributes."""
    hashes = []
    for text in re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest())
        hashes.append(f"'sha256-{digest.decode()}'")
    return hashes


def test_the_browser_may_run_the_pages_own_script_and_style_and_nothing_else(pages):
    page = pages["batch"]
    pattern = r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">'
    (content,) = re.findall(pattern, page)
    policy = {}
    for directive in html.unescape(content).split(";"):
        name, *sources = directive.split()
        policy[name] = sources
    assert policy["default-src"] == ["'none'"]
    assert policy["style-src"] == hashes_of(page, "style")
    assert policy["script-src"] == hashes_of(page, "script")
    assert policy["img-src"] == ["data:"]
    assert page.index("Content-Security-Policy") < page.index("<style>")
    # Attributes with style or code would need 'unsafe-inline'.
    body = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"<[^>]*\s(style|on[a-z]+)=", body)
