"""Numbers and verdicts of a batch are those of the Python API; its page shows them."""

import html
import json
import re
from copy import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from cape import AdaptationWarning, CapeClassifier
from cape.base._numbers import share_text
from cape.examination import examine
from cape.metrics import audit, confusion_by_group
from cape_app.pages import to_html
from cape_app.words import _page as words

LEVEL = 0.9


@pytest.fixture(scope="module")
def frame(people_folder):
    return pd.read_csv(people_folder / "new.csv")


@pytest.fixture(scope="module")
def X(frame):
    """The rows of the file as the classifier takes them."""
    return frame.drop(columns="y")


@pytest.fixture(scope="module")
def seen(people_model, X):
    return examine(people_model.clf, X, level=LEVEL)


@pytest.fixture(scope="module")
def summary(summaries):
    return summaries["batch"]


@pytest.fixture(scope="module")
def tables(pages):
    return tables_of(pages["batch"])


def tables_of(page):
    """The texts of the cells of all tables, by the part in which they stand."""
    found = {}
    for table in re.finditer(r"<table.*?</table>", page, re.DOTALL):
        parts = re.findall(r'<details class="part" id="(.*?)"', page[: table.start()])
        rows = re.findall(
            r"<tr[^>]*>(.*?)</tr>", table[0].split("<tbody>")[1], re.DOTALL
        )
        cells = []
        for row in rows:
            texts = re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
            cells.append([_text(cell) for cell in texts])
        found.setdefault(parts[-1] if parts else "top", []).append(cells)
    return found


def _text(cell):
    text = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<small[^>]*>", " ", cell)))
    return " ".join(text.split())


def within(value, low, high):
    return f"{share_text(value)} {words.interval(low, high)}".strip()


# Numbers


def test_estimates_intervals_choices_and_bounds_are_those_of_adapt(summary, seen):
    adaptation = seen.adaptation
    assert summary["level"] == adaptation.level and summary["rows"] == 700
    # With the reason, the examination may have another verdict.
    fields = [name for name in adaptation.groups["blue"].flat() if name != "verdict"]
    # What labels say is told even where they do not decide.
    fields = [name for name in fields if not name.startswith("label")]
    for entry in summary["groups"]:
        group = entry["group"]
        expected = adaptation.groups[group].flat()
        for name in fields:
            # What is not a number is null in JSON.
            is_nan = isinstance(expected[name], float) and np.isnan(expected[name])
            assert entry[name] == (None if is_nan else expected[name]), name
        moved = seen.moved.groups[group]
        assert (entry["moved"], entry["p_moved"]) == (moved.moved, moved.p_value)


@pytest.mark.parametrize(
    ("part", "attribute"), [("shift_test", "prior_shift"), ("expected", "expected")]
)
def test_tests_and_expectations_are_those_of_the_examination(
    summary, seen, part, attribute
):
    expected = getattr(seen, attribute).to_dict()
    assert {name: summary[part][name] for name in expected} == expected


def test_observed_rates_are_the_audit_of_the_predictions(
    summary, people_model, X, seen, frame
):
    clf = people_model.clf
    truth = {"sensitive_features": frame["race"], "level": LEVEL}
    y_pred = clf.predict(X, adaptation=seen.adaptation) == clf.classes_[1]
    expected = audit(frame["y"], y_pred, **truth).to_dict()
    found = summary["observed"]
    assert {name: found["cape"][name] for name in expected} == expected
    assert found["unadapted"]["groups"] != found["cape"]["groups"]
    for audited in found.values():
        for metric, worst in audited["worst"].items():
            extreme = min if metric.endswith("_ratio") else max
            pairs = [one for one in audited["pairs"] if one["metric"] == metric]
            assert worst["value"] == extreme(pair["value"] for pair in pairs)
    both = seen.compare(frame["y"], y_pred, sensitive_features=frame["race"])
    assert len(summary["compared"]["rates"]) == len(both) == 8
    for rate in summary["compared"]["rates"]:
        row = both.loc[(rate["group"], rate["metric"])]
        assert {name: rate[name] for name in row.index} == row.to_dict()


def test_the_mixture_is_made_of_the_training_classes_at_the_quantifiers_answer(
    summary, people_model
):
    for entry, chosen in zip(summary["histograms"], summary["groups"], strict=True):
        model = people_model.clf.models_[entry["group"]]
        edges = np.rint(np.arange(1, 20) / 20 * 2**32).astype(int)
        classes = (model.positives.merged(edges), model.negatives.merged(edges))
        positives, negatives = (counts / counts.sum() for counts in classes)
        answer = chosen["quantifier_estimate"]
        expected = answer * positives + (1 - answer) * negatives
        assert entry["mixture"] == pytest.approx(expected.tolist(), abs=1e-5)
        assert sum(entry["batch"]) == pytest.approx(1, abs=1e-3)


def percent(share):
    """A share as the first screen writes it: two digits that count."""
    digits = 0 if share >= 0.1 else 1
    return f"{100 * share:.{digits}f}%"


def test_the_first_screen_has_a_row_for_each_group_with_its_action(tables, seen):
    (rows,) = tables["top"]
    for row, (group, adapted) in zip(rows, seen.adaptation.groups.items(), strict=True):
        name, training, now, _, called, _, action, _ = row
        assert name == group and training == percent(adapted.training_prevalence)
        value, low, high = (percent(x) for x in adapted.estimate)
        assert now == f"{value} {low[:-1]}\u2013{high}"
        assert called == percent(adapted.predicted_prevalence)
        assert action.startswith("Use")


def test_the_page_shows_the_verdicts(tables, seen):
    verdicts = []
    for group, test in seen.prior_shift.groups.items():
        numbers = [f"{test.p_adjusted:.3f}", f"{test.effect:.1%}"]
        rows = str(seen.adaptation.groups[group].rows)
        verdicts.append([group, rows, seen.verdict(group).text, *numbers])
    assert tables["changes"][0] == verdicts


def test_the_page_shows_expected_rates_and_the_observed_ones_below(tables, summary):
    compared = {(r["group"], r["metric"]): r for r in summary["compared"]["rates"]}
    rows = tables["expected"][0]
    for row, group in zip(rows, summary["expected"]["groups"], strict=True):
        assert row[0] == group["group"]
        for cell, rate in zip(row[1:], ("fpr", "fnr", "accuracy", "pd"), strict=True):
            seen = compared[group["group"], rate]
            ends = (group[f"{rate}_low"], group[f"{rate}_high"])
            end = "" if seen["inside"] else ", outside"
            observed = f"true {share_text(seen['observed'])}{end}"
            assert cell == f"{within(group[rate], *ends)} {observed}"


def test_the_page_shows_observed_rates_of_both_classifiers_and_the_worst_pairs(
    tables, summary
):
    *_, rows, pairs = tables["labels"]
    metrics = ("fpr", "fnr", "accuracy", "prevalence", "predicted_prevalence", "pd")
    names = [f"{g['group']} {g['rows']:,} rows" for g in summary["groups"]]
    assert [row[0] for row in rows[::2]] == names
    for place, row in enumerate(rows):
        group, who = ("blue", "green")[place // 2], ("cape", "unadapted")[place % 2]
        found = {}
        for f in summary["observed"][who]["groups"]:
            if f["group"] == group:
                found[f["metric"]] = within(f["value"], f["low"], f["high"])
        assert row[-6:] == [found[metric] for metric in metrics]
    assert len(pairs) == 6
    for cell, who in zip(pairs[0][1:], ("cape", "unadapted"), strict=True):
        pe = summary["observed"][who]["worst"]["pe"]
        number = f"{pe['value']:.3f} {pe['low']:.3f}\u2013{pe['high']:.3f}"
        assert cell == f"{number} {pe['group']} to {pe['other']}"


def test_every_group_gets_the_same_sections(summary):
    parts = [summary["groups"], summary["histograms"]]
    parts += [summary[name]["groups"] for name in ("shift_test", "columns", "expected")]
    for part in parts:
        assert [entry["group"] for entry in part] == ["blue", "green"]


def test_a_summary_computes_nothing_anew(seen, summarise, monkeypatch):
    """All estimates, tests and expectations come from the examination."""
    from cape.quantify import Quantifier

    def refuse(*arguments, **options):
        raise AssertionError("computed twice")

    monkeypatch.setattr(Quantifier, "estimate", refuse)
    monkeypatch.setattr(Quantifier, "interval", refuse)
    assert summarise(seen)["rows"] == 700


# Where it comes from


def made_section(page):
    """Terms and texts of the section that says how the page was made."""
    section = page.split('id="made"')[1]
    return dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", section))


@pytest.fixture(scope="module")
def plain(fitted, batch):
    """An examination of rows that come from no file."""
    return examine(fitted(pool="threshold"), batch.X, sensitive_features=batch.z)


def test_it_says_what_is_known_of_the_classifier_and_nothing_of_files(plain, summarise):
    page = to_html({**summarise(plain), "notes": ["column <age> is ignored."]})
    made = made_section(page)
    terms = ["classifier", "learner", "parameters", "fingerprint", "versions", "date"]
    assert list(made) == terms
    assert made["classifier"] == "CapeClassifier"
    assert made["learner"] == "LogisticRegression()"
    assert made["fingerprint"] == plain.clf.fingerprint_
    for parameter in ("pool threshold", "quantifier onestep", "cv 5", "random_state 0"):
        assert parameter in made["parameters"]
    for word in ("SHA-256", "a model trained on", ".csv", "n_jobs", "verbose"):
        assert word not in page
    notes = page.split('id="notes"')[1].split("</details>")[0]
    assert "column &lt;age&gt; is ignored." in notes


def test_settings_that_json_cannot_hold_are_written_as_text(train, batch, summarise):
    class Ours(CapeClassifier):
        pass

    settings = {"cv": StratifiedKFold(3), "prevalences": np.array([0.25, 0.75])}
    clf = Ours(LogisticRegression(C=0.5), pool="threshold", random_state=0, **settings)
    labels = np.where(train.y == 1, "yes", "no")
    clf.fit(train.X, labels, sensitive_features=train.z)
    summary = summarise(examine(clf, batch.X, sensitive_features=batch.z))
    assert summary["positive"] == "label yes"
    made = summary["made"]
    assert json.loads(json.dumps(made)) == made
    assert made["settings"]["cv"].startswith("StratifiedKFold(n_splits=3")
    assert made["settings"]["prevalences"] == "array([0.25, 0.75])"
    assert made["learner"] == "LogisticRegression(C=0.5)"
    assert made["classifier"] == "Ours"


def test_provenance_is_told_as_it_was_given(plain, summarise):
    of_file = copy(plain)
    columns = {"label": "paid", "labels": ["yes", "no"], "groups": [], "features": []}
    given = {"columns": columns, "date": "2020-02-29T12:00+00:00"}
    of_file.provenance = {**given, "versions": {"cape": "0.0"}}
    summary = summarise(of_file)
    assert summary["positive"] == "paid = no"
    fingerprint = {"fingerprint": plain.clf.fingerprint_}
    assert summary["made"] == {**fingerprint, **of_file.provenance}


def test_labels_that_came_later_are_audited(plain, batch, summarise, observed):
    y_pred = plain.clf.predict(
        batch.X, sensitive_features=batch.z, adaptation=plain.adaptation
    )
    counts = confusion_by_group(batch.y, y_pred, sensitive_features=batch.z)
    labelled = copy(plain)
    labelled.observed = observed(cape=counts, unadapted=counts)
    for finding in summarise(labelled)["observed"]["cape"]["groups"]:
        if finding["metric"] == "accuracy":
            assert finding["value"] == counts[int(finding["group"])].accuracy
    labelled.observed = observed(cape={}, unadapted={})
    assert summarise(labelled)["observed"] is None


def test_one_group_has_no_pairs(plain, batch, summarise):
    own = batch.z == 0
    groups = {"sensitive_features": batch.z[own]}
    summary = summarise(examine(plain.clf, batch.X[own], **groups))
    assert summary["expected"]["pairs"] == []


# Verdicts


def test_a_batch_like_training_but_for_its_shares_can_be_used(summaries, pages):
    summary, page = summaries["new"], pages["new"]
    assert summary["action"]["code"] == "use"
    assert summary["verdict"] == {"word": "consistent", "faults": []}
    assert '<div class="verdict good">' in page
    assert all(group["moved"] for group in summary["groups"])
    assert summary["columns"]["moved"] == [] and "cape sample" not in page
    for part in ("observed", "labels", "compared"):
        assert summary[part] is None
    assert 'class="outside"' not in page


def test_rows_to_label_come_with_the_command_that_draws_them(summaries):
    labels = {"code": "label", "reason": "uncertain", "labels": 40, "columns": []}
    summary = summaries["new"]
    action = {"code": "label", "tolerance": 0.05, "labels": 80}
    action["groups"] = [{"group": name, **labels} for name in ("blue", "green")]
    page = to_html({**summary, "action": action, "title": "March 1.csv"})
    assert "cape sample model.cape &#39;March 1.csv&#39; --out" in page
    given = {"sample": "cape sample m.cape a.csv --sep x", "action": action}
    assert given["sample"] in to_html({**summary, **given})
    # Who has a data frame and no file gets the call.
    made = {name: summary["made"][name] for name in ("versions", "date")}
    page = to_html({**summary, "action": action, "made": made})
    assert "rows_to_label(clf, X" in page and "cape sample" not in page


@pytest.fixture(scope="module")
def changed(people_folder, people_model, tmp_path_factory, batch_of_file):
    """Summarise the new rows, changed."""

    def make(change):
        path = tmp_path_factory.mktemp("words") / "b.csv"
        change(pd.read_csv(people_folder / "new.csv")).to_csv(path, index=False)
        return batch_of_file(people_model, path)

    return make


FAULTS = {
    "recoded": lambda frame: frame.assign(
        degree=frame["degree"].map({"F": "felony", "M": "misdemeanour"})
    ),
    "in other units": lambda frame: frame.assign(age=frame["age"] * 365),
    "all missing": lambda frame: frame.assign(age=np.nan),
    "all alike": lambda frame: frame.assign(age=33.0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_red_and_names_its_groups(changed, fault):
    summary = changed(FAULTS[fault])
    assert summary["verdict"]["word"] == "fault"
    assert summary["action"]["code"] == "do_not_use"
    (entry,) = summary["verdict"]["faults"]
    assert sorted(entry["groups"]) == ["blue", "green"]


def test_a_fault_stands_before_any_number(changed):
    def fault(frame):
        return frame.assign(age=frame["age"].where(frame["race"] == "green", 33.0))

    summary = changed(fault)
    assert [group["verdict"] for group in summary["groups"]] == ["fault", "consistent"]
    (entry,) = summary["verdict"]["faults"]
    assert entry["groups"] == ["blue"]
    page = to_html(summary)
    assert re.findall(r'class="verdict ([^"]*)"', page) == ["bad"]
    assert page.index(html.escape(entry["what_happened"])) < page.index("<table")
    (rows,) = tables_of(page)["top"]
    assert [row[-2].split()[0] for row in rows] == ["Do", "Use"]


def test_a_column_that_moved_is_in_the_table(changed):
    random = np.random.default_rng(0)

    def half(frame):
        some = random.random(len(frame)) < 0.5
        return frame.assign(degree=frame["degree"].where(some, "M"))

    summary = changed(half)
    moved = summary["columns"]["moved"]
    assert "degree" in {entry["column"] for entry in moved}
    effects = [entry["effect"] for entry in moved]
    assert effects == sorted(effects, reverse=True)
    page = to_html(summary)
    for entry in moved:
        assert f"<td>{entry['what_happened']}</td>" in html.unescape(page)


def test_drift_that_is_ignored_is_named_and_never_green(people_model, X, summarise):
    odd = FAULTS["all alike"](X)
    with pytest.warns(AdaptationWarning, match="Look at the scores"):
        seen = examine(people_model.clf, odd, drift="ignore")
    summary = summarise(seen)
    assert summary["drift"] == "ignore" and summary["action"]["code"] != "use"


def test_four_rows_are_too_few_to_tell(changed):
    summary = changed(lambda frame: frame.groupby("race").head(2).drop(columns="y"))
    assert summary["verdict"]["word"] == "uncertain"
    assert summary["action"]["code"] == "hold_off" and summary["rows"] == 4
    assert not any(test["tested"] for test in summary["shift_test"]["groups"])


def test_untested_scores_are_said_to_be(train, batch, summarise):
    learner = HistGradientBoostingClassifier(max_iter=3)
    clf = CapeClassifier(learner, scores="refit", cv=2, random_state=0)
    clf.fit(train.X, train.y, sensitive_features=train.z)
    with pytest.warns(AdaptationWarning, match="not tested"):
        seen = examine(clf, batch.X, sensitive_features=batch.z)
    summary = summarise(seen)
    assert not any(test["sound"] for test in summary["shift_test"]["groups"])
    assert to_html(summary).count("<td>not tested</td>") == len(summary["groups"])


@pytest.mark.filterwarnings("ignore::cape.AdaptationWarning")
def test_groups_of_two_columns_are_named_by_their_columns(draw_people, summarise):
    people = draw_people(1200).assign(Sex=lambda frame: np.arange(len(frame)) % 2)
    people = people[["age", "race", "Sex", "y"]].dropna()
    clf = CapeClassifier(
        LogisticRegression(),
        group_columns=["race", "Sex"],
        pool="threshold",
        cv=2,
        random_state=0,
    )
    X = people.drop(columns="y")
    seen = examine(clf.fit(X, people["y"]), X.head(600))
    names = [f"race {race} · Sex {sex}" for race in ("blue", "green") for sex in (0, 1)]
    assert list(seen.names.values()) == names
    summary = summarise(seen)
    for part in ("shift_test", "columns", "expected"):
        assert [entry["group"] for entry in summary[part]["groups"]] == names
    for result in (seen, seen.prior_shift, seen.columns, seen.expected):
        assert names[0] in repr(result)
    assert names[0] in repr(seen.adaptation)
    assert names[0] in seen.expected._repr_html_()
    with pytest.warns(AdaptationWarning, match=f"'{names[0]}'"):
        clf.adapt(X.head(5))
