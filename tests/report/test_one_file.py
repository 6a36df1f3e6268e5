"""A report is one file that needs nothing else, and appears whole or not at all."""

import json
import re

import pytest

from cape.metrics._rates import Confusion
from cape.report import to_html, write_report
from cape.report._audit import audit_summary

KINDS = ["batch", "audit", "monitor", "explorer"]


@pytest.fixture(scope="module")
def summaries(
    people_folder, people_model, batch_of_file, monitor_of_files, explorer_of_model
):
    path = people_folder / "new.csv"
    counts = {"a": Confusion(40, 10, 10, 40, 100), "b": Confusion(20, 10, 5, 65, 100)}
    return {
        "batch": batch_of_file(people_model, path),
        "audit": audit_summary(
            counts,
            level=0.95,
            file="a.csv",
            file_sha256="0" * 64,
            columns={"label": "y"},
        ),
        "monitor": monitor_of_files(people_model, [path]),
        "explorer": explorer_of_model(people_model),
    }


@pytest.fixture(scope="module")
def pages(summaries):
    return {kind: to_html(summary) for kind, summary in summaries.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_names_no_address_but_the_name_of_svg(pages, kind):
    addresses = set(
        re.findall(r"\b(?:https?:)?//[\w.-]+\.[a-z]+[^\s\"'<)]*", pages[kind])
    )
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(
        r"<(?:img|iframe|object|embed|base|form|audio|video)\b", pages[kind]
    )
    assert not re.search(
        r"XMLHttpRequest|WebSocket|sendBeacon|importScripts|\bimport\b\s*[({'\"]",
        pages[kind],
    )
    assert re.findall(r"<link\b[^>]*>", pages[kind]) == [
        '<link rel="icon" href="data:,">'
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole(pages, kind):
    page = pages[kind]
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    for tag in (
        "html",
        "body",
        "main",
        "style",
        "section",
        "figure",
        "table",
        "svg",
        "script",
        "details",
        "ul",
    ):
        assert len(re.findall(rf"<{tag}\b", page)) == page.count(f"</{tag}>")
    assert "{{" not in page and "{%" not in page and "Undefined" not in page


@pytest.mark.parametrize("kind", KINDS)
def test_the_json_is_the_summary_that_the_page_is_made_of(
    tmp_path, summaries, pages, kind
):
    content = json.loads(
        write_report(summaries[kind], tmp_path / "r.json").read_text(encoding="utf-8")
    )
    assert content == summaries[kind]
    assert (
        write_report(content, tmp_path / "r.html").read_text(encoding="utf-8")
        == pages[kind]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_says_how_it_was_made(summaries, pages, kind):
    made = summaries[kind]["made"]
    part = pages[kind].split("<h2>How it was made</h2>")[1]
    for file in made["files"]:
        assert f"SHA-256 {file['sha256']}" in part and file["file"] in part
    assert all(
        f"{name} {version}" in part for name, version in made["versions"].items()
    )
    assert made["date"][:10] in part
    assert ("fingerprint" in part) == (kind != "audit")
    if kind != "audit":
        assert made["fingerprint"] in part and "y: 1 is positive, 0 negative" in part
        assert made["training"]["sha256"] in part and "age, degree, free" in part


def test_more_than_twelve_files_are_counted(summaries):
    files = [{"file": f"f{i}.csv", "rows": 1, "sha256": "0"} for i in range(15)]
    page = to_html(
        {
            **summaries["explorer"],
            "made": {**summaries["explorer"]["made"], "files": files},
        }
    )
    assert "f11.csv" in page and "f12.csv" not in page and "and 3 more files" in page


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("r.json", {"rows": float("nan")}),
        ("r.html", {"rows": None}),
        ("r.html", {"kind": "none"}),
    ],
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
    from pathlib import Path

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
    with pytest.raises(FileExistsError):
        write_report(changed, path)
    assert json.loads(path.read_text())["title"] == "a.csv"
    write_report(changed, path, overwrite=True)
    assert json.loads(path.read_text())["title"] == "another" and list(
        tmp_path.iterdir()
    ) == [path]


def test_a_missing_folder_is_told_and_not_made(tmp_path, summaries):
    with pytest.raises(
        FileNotFoundError, match=r"the folder .*none of r\.json does not exist"
    ):
        write_report(summaries["audit"], tmp_path / "none" / "r.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["r", "r.txt", "r.html.gz", ".html"])
def test_other_endings_are_refused_before_anything_is_written(
    tmp_path, summaries, name
):
    with pytest.raises(ValueError, match=r"a report must end in \.html or \.json"):
        write_report(summaries["audit"], tmp_path / name)
    assert list(tmp_path.iterdir()) == []
