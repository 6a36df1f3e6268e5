"""Entries for the defaults: drift, labels, examinations, audits, rules, files, ..."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import chdir
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from golden_results import (
    MOVED,
    TESTED,
    of_adaptation,
    of_audit,
    of_batch,
    of_columns,
    of_counts,
    of_criteria,
    of_decisions,
    of_examination,
    of_expected,
    of_findings,
    of_groups,
    of_monitored,
    of_page,
    of_predictions,
    of_probabilities,
    of_rows_to_label,
    of_suspicious,
    of_table,
    plain,
    short_hash,
    under,
)
from sklearn.linear_model import LogisticRegression

from cape import Adaptation, CapeClassifier, Evidence, examine
from cape.rules import DemographicParity
from cape.training._choice import make_learner

# Data ----------------------------------------------------------------------------


def people(n, prevalences, seed, drift=0.0) -> pd.DataFrame:
    """Draw a table of numbers, text, flags and gaps; ages may drift."""
    random = np.random.default_rng(seed)
    group = random.choice(["blue", "green"], size=n, p=[0.6, 0.4])
    share = np.where(group == "blue", prevalences[0], prevalences[1])
    y = random.random(n) < share
    age = np.round(random.normal(40 + drift - 12 * y, 10))
    of_positives = random.choice(["felony", "misdemeanour"], n, p=[0.8, 0.2])
    of_negatives = random.choice(["felony", "misdemeanour"], n)
    frame = pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, age),
            "income": np.round(random.lognormal(10 - 0.4 * y, 0.5)),
            "degree": np.where(y, of_positives, of_negatives),
            "city": random.choice(["Bonn", "Ulm", "Trier"], n, p=[0.5, 0.3, 0.2]),
            "free": random.random(n) < 0.5,
            "group": group,
            "y": y.astype(int),
        }
    )
    frame.loc[frame.index % 11 == 0, "degree"] = None
    return frame


@cache
def training_table() -> pd.DataFrame:
    return people(800, (0.3, 0.5), seed=10)


@cache
def new_table() -> pd.DataFrame:
    return people(600, (0.65, 0.25), seed=11)


@cache
def drifted_table() -> pd.DataFrame:
    """Draw a batch in which ages moved by more than the prevalence explains."""
    return people(600, (0.5, 0.5), seed=12, drift=6.0)


def features(table) -> pd.DataFrame:
    return table.drop(columns="y")


def numbers(table) -> pd.DataFrame:
    """Return the columns that a logistic regression reads without encoders."""
    age = table["age"].fillna(40)
    income = np.log(table["income"])
    felony = (table["degree"] == "felony").astype(float)
    return pd.DataFrame({"age": age, "income": income, "felony": felony})


def some_labels(table, rows) -> np.ndarray:
    """Return the labels of some rows, None elsewhere."""
    labels = np.full(len(table), None, dtype=object)
    labels[rows] = table["y"].to_numpy()[rows]
    return labels


@cache
def default_model() -> CapeClassifier:
    """Fit the defaults with our logistic regression for tables."""
    # Encoders are fitted once, as for the default learner.
    clf = CapeClassifier(
        make_learner("logistic"),
        preprocessing="once",
        group_columns="group",
        random_state=0,
    )
    table = training_table()
    return clf.fit(features(table), table["y"])


@cache
def numeric_model() -> CapeClassifier:
    """Fit the defaults with a plain logistic regression of numbers."""
    table = training_table()
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    return clf.fit(numbers(table), table["y"], sensitive_features=table["group"])


# Defaults ------------------------------------------------------------------------


def defaults() -> dict:
    return of_batch(default_model(), features(new_table()))


def defaults_with_drift() -> dict:
    clf = default_model()
    X = features(drifted_table())
    answers = of_batch(clf, X)
    answers |= of_columns(examine(clf, X).columns.to_dict())
    return answers | under("ignored", of_adaptation(clf.adapt(X, drift="ignore")))


def defaults_with_a_fault() -> dict:
    """A column in other units, one missing, and one with unseen values."""
    clf = default_model()
    X = features(new_table())
    X = X.assign(income=X["income"] / 1000, city="Kiel")
    X.loc[X["group"] == "green", "age"] = np.nan
    return of_batch(clf, X) | of_columns(examine(clf, X).columns.to_dict())


def default_learner() -> dict:
    """Nothing is set but the seed: the mean of three learners, with encoders."""
    table = training_table().iloc[:400]
    clf = CapeClassifier(group_columns="group", random_state=0)
    clf.fit(features(table), table["y"])
    return of_batch(clf, features(new_table()))


def four_groups() -> dict:
    """Groups by two columns; one is too small, and one is new."""
    table = training_table()
    columns = ["group", "city"]
    rare = (table["city"] == "Trier") & (table["group"] == "green")
    table = table[~rare]
    clf = CapeClassifier(
        LogisticRegression(),
        min_group_size=90,
        small_groups="pooled",
        unknown_groups="pooled",
        random_state=0,
    )
    clf.fit(numbers(table), table["y"], sensitive_features=table[columns])
    new = new_table()
    return of_batch(clf, numbers(new), sensitive_features=new[columns])


def at_another_level() -> dict:
    return of_adaptation(default_model().adapt(features(new_table()), level=0.8))


# Labels --------------------------------------------------------------------------


def plain_labels() -> dict:
    random = np.random.default_rng(0)
    answers = {}
    for name, table in {"new": new_table(), "drifted": drifted_table()}.items():
        rows = random.choice(len(table), 120, replace=False)
        y = some_labels(table, rows)
        answers |= under(name, of_batch(default_model(), features(table), y=y))
    return answers


def drawn_labels() -> dict:
    from cape.examination import rows_to_label

    answers = {}
    clf = default_model()
    ways = {
        "80 rows": (new_table(), {"n": 80}),
        "proportional": (new_table(), {"n": 90, "spread": "proportional"}),
        "width": (new_table(), {"width": 0.2}),
        "drifted": (drifted_table(), {"width": 0.2}),
    }
    for name, (table, how) in ways.items():
        X = features(table)
        drawn = rows_to_label(clf, X, random_state=0, **how)
        y = some_labels(table, drawn.rows)
        probability = drawn.inclusion_probability
        adaptation = clf.adapt(X, y, inclusion_probability=probability)
        answers |= under(f"{name}, drawn", of_rows_to_label(drawn))
        answers |= under(name, of_adaptation(adaptation))
    return answers


def labels_that_are_no_sample() -> dict:
    """Labels of positives mostly, and labels of all rows."""
    table = new_table()
    few = np.flatnonzero(table["y"] == 1)[:100]
    first = np.concatenate([few, np.flatnonzero(table["y"] == 0)[:10]])
    X = features(table)
    clf = default_model()
    of_some = clf.adapt(X, some_labels(table, first))
    of_all = clf.adapt(X, table["y"])
    return under("some", of_adaptation(of_some)) | under("all", of_adaptation(of_all))


# Examinations --------------------------------------------------------------------


def examined() -> dict:
    return of_examination(examine(default_model(), features(new_table())))


def examined_drift() -> dict:
    return of_examination(examine(default_model(), features(drifted_table())))


def examined_with_labels() -> dict:
    table = new_table()
    y = some_labels(table, np.random.default_rng(1).choice(600, 150, replace=False))
    clf = default_model()
    X = features(table)
    decide = examine(clf, X, y, rule="equal_opportunity", level=0.9)
    check = examine(clf, X, table["y"], labels_decide=False)
    return {
        **under("decide", of_examination(decide)),
        **under("check", of_examination(check)),
    }


def parts_of_an_examination() -> dict:
    """The parts one by one."""
    clf = default_model()
    table = drifted_table()
    X = features(table)
    seen = examine(clf, X, rule=DemographicParity(tolerance=0.1))
    y_pred = clf.predict(X, adaptation=seen.adaptation)
    beside = seen.compare(table["y"], y_pred, sensitive_features=table["group"])
    return {
        **under("scores", of_groups(seen.prior_shift.to_dict(), TESTED)),
        **under("moved", of_groups(seen.moved.to_dict(), MOVED)),
        **under("expected", of_expected(seen.expected.to_dict())),
        **under("criteria", of_criteria(seen.criteria.to_dict()["criteria"])),
        **under("observed", of_table(beside)),
    }


def needed() -> dict:
    from cape.examination import rows_needed

    clf = default_model()
    seen = examine(clf, features(new_table()))
    answers = {}
    tables = {
        "rows, 0.1": rows_needed(clf, 0.1),
        "rows, 0.3": rows_needed(clf, 0.3),
        "rows, 0.3, prevalence 0.2": rows_needed(clf, 0.3, prevalence=0.2),
        "rows, 0.3, level 0.8": rows_needed(clf, 0.3, level=0.8),
    }
    for name, table in tables.items():
        words = {"rows": "rows", "narrowest": "narrowest"}
        answers |= under(name, renamed(table, words))
    for width in (0.1, 0.25):
        table = seen.labels_needed(width)
        words = {"rows": "rows", "labels": "labels", "at most": "at_most"}
        answers |= under(f"labels, {width}", renamed(table, words))
    return answers


def renamed(table, words) -> dict:
    """Return the columns of a table under our words."""
    chosen = pd.DataFrame({word: table[name] for word, name in words.items()})
    return of_table(chosen)


def suspicious() -> dict:
    import cape

    table = training_table()
    days = pd.date_range("2020-01-01", periods=len(table)).astype(str)
    X = features(table).assign(
        number=np.arange(len(table)),
        case=[f"case {i * 7919 % 10007}" for i in range(len(table))],
        leak=table["y"] * 2.0,
        day=days,
    )
    return of_suspicious(cape.check(X, table["y"], expect=False))


# Audits --------------------------------------------------------------------------


def audited() -> dict:
    from cape.metrics import audit

    table, y_pred, weights = decided()
    keyword = {"sensitive_features": table["group"], "n_resamples": 300}
    by_two = {**keyword, "sensitive_features": table[["group", "city"]]}
    calls = {
        "plain": audit(table["y"], y_pred, **keyword),
        "weights": audit(table["y"], y_pred, sample_weight=weights, **keyword),
        "labels alone": audit(table["y"], table["y"], **keyword),
        "two columns": audit(table["y"], y_pred, **by_two, level=0.8, pairs=False),
    }
    answers = {}
    for name, found in calls.items():
        answers |= under(name, of_audit(found))
    return answers


def decided() -> tuple:
    """Return a batch, decisions on it, and weights of its rows."""
    table = new_table()
    y_pred = numeric_model().predict(numbers(table), sensitive_features=table["group"])
    weights = np.random.default_rng(3).uniform(0.2, 3, len(table))
    return table, y_pred, weights


def measured() -> dict:
    from cape import metrics

    table, y_pred, weights = decided()
    groups = table["group"]
    names = [
        "demographic_parity_difference",
        "demographic_parity_ratio",
        "equal_opportunity_difference",
        "equal_opportunity_ratio",
        "equalized_odds_difference",
        "false_positive_rate_difference",
        "false_positive_rate_ratio",
        "precision_difference",
        "precision_ratio",
        "proportional_equality",
    ]
    answers = {}
    for kind, weight in {"plain": None, "weights": weights}.items():
        keyword = {"sensitive_features": groups, "sample_weight": weight}
        for name in names:
            measure = metrics.PARITY.get(name, metrics.proportional_equality)
            value = measure(table["y"], y_pred, **keyword)
            answers[f"{kind}: {name}"] = plain(value)
        by_group = metrics.fairness_table(table["y"], y_pred, **keyword)
        answers |= under(f"{kind}, table", of_table(by_group.to_frame("value")))
        counts = metrics.confusion_by_group(table["y"], y_pred, **keyword)
        answers |= under(f"{kind}, counts", of_counts(counts))
    return answers


# Rules ---------------------------------------------------------------------------


def rules() -> dict:
    from cape import rules

    kinds = {
        "prevalence": "prevalence",
        "proportional equality": "proportional_equality",
        "demographic parity": "demographic_parity",
        "equal opportunity": "equal_opportunity",
        "predictive equality": "predictive_equality",
        "equalized odds": "equalized_odds",
        "accuracy": "accuracy",
        "true positive rate parity": "true_positive_rate_parity",
        "false positive rate parity": "false_positive_rate_parity",
        "PE within 0.2": rules.ProportionalEquality(tolerance=0.2),
        "parity within 0.1": rules.DemographicParity(tolerance=0.1),
        "parity by ratio": rules.DemographicParity(ratio=0.8),
        "opportunity within 0.1": rules.EqualOpportunity(tolerance=0.1, cost_fn=3.0),
        "FPR within 0.05": rules.PredictiveEquality(tolerance=0.05),
        "odds within 0.1": rules.EqualizedOdds(tolerance=0.1, cost_fp=2.0),
        "costly": rules.Accuracy(cost_fp=1.0, cost_fn=5.0),
        "constrained": rules.Constrained(
            proportional_equality=0.5, equal_opportunity_difference=0.15
        ),
        "constrained too much": rules.Constrained(
            demographic_parity_ratio=0.99, false_positive_rate_difference=0.001
        ),
    }
    answers = {}
    table = new_table()
    clf = numeric_model()
    keyword = {"sensitive_features": table["group"]}
    X = numbers(table)
    for name, rule in kinds.items():
        adaptation = clf.adapt(X, **keyword, rule=rule)
        y_pred = clf.predict(X, **keyword, adaptation=adaptation)
        words = {}
        for group, adapted in adaptation.groups.items():
            words[f"{group}: member"] = adapted.classifier
            words[f"{group}: called positive"] = adapted.predicted_prevalence
            words[f"{group}: PD at most"] = plain(adapted.pd_bound)
        answers |= under(name, {**words, **of_decisions(y_pred)})
    return answers


# Streams -------------------------------------------------------------------------


def row_by_row(stream, X, **columns):
    """Let each row come alone."""
    y_pred = []
    for row in range(len(X)):
        here = slice(row, row + 1)
        of_row = {name: column[here] for name, column in columns.items()}
        y_pred.append(stream.predict(X[here], **of_row))
    return np.concatenate(y_pred)


def stream_with_labels() -> dict:
    from cape.watch._stream import RollingCape

    table = new_table()
    X = numbers(table)
    keyword = {"sensitive_features": table["group"]}
    ids = np.arange(len(table))
    stream = RollingCape(numeric_model(), window=150)
    answers = of_decisions(row_by_row(stream, X, **keyword, ids=ids))
    answers |= of_adaptation(stream.adapt())
    random = np.random.default_rng(4)
    rows = np.sort(random.choice(np.arange(400, 600), 60, replace=False))
    taken = stream.label(rows, table["y"].to_numpy()[rows])
    answers["labels taken"] = int(np.sum(taken))
    answers |= under("with labels", of_adaptation(stream.adapt()))
    again = drifted_table()
    y_pred = row_by_row(
        stream, numbers(again), sensitive_features=again["group"], ids=ids + 600
    )
    return answers | under("later", of_decisions(y_pred))


def stream_by_time() -> dict:
    import pickle
    from datetime import timedelta

    from cape.watch._stream import RollingCape

    table = new_table().iloc[:300]
    hours = np.arange(len(table)) * np.timedelta64(1, "h")
    times = np.datetime64("2026-01-01T00", "ns") + hours
    stream = RollingCape(
        numeric_model(), window=timedelta(days=5), rule="equal_opportunity", refresh=50
    )
    keyword = {"sensitive_features": table["group"], "times": times}
    y_pred = row_by_row(stream, numbers(table), **keyword)
    again = pickle.loads(pickle.dumps(stream))
    return {
        **of_decisions(y_pred),
        **of_adaptation(stream.adapt(level=0.9)),
        **under("read again", of_adaptation(again.adapt())),
    }


def frozen() -> dict:
    table = new_table()
    clf = default_model()
    still = clf.freeze(clf.adapt(features(table)))
    other = features(drifted_table())
    return {
        **of_decisions(still.predict(other)),
        **of_probabilities(still.predict_proba(other)),
        "score": plain(still.score(other, drifted_table()["y"])),
    }


# Sums, files of models and clusters ------------------------------------------------


def summed() -> dict:
    """Evidence of parts, added up and sent as JSON."""
    clf = default_model()
    table = new_table()
    rows = np.random.default_rng(5).choice(600, 100, replace=False)
    y = some_labels(table, rows)
    total = None
    for start in range(0, 600, 170):
        part = slice(start, start + 170)
        evidence = clf.evidence(features(table).iloc[part], y[part])
        total = evidence if total is None else total + evidence
    total = Evidence.from_json(total.to_json())
    adaptation = Adaptation.from_json(clf.adapt(evidence=total).to_json())
    return {
        **{f"{group}: counted": n for group, n in total.rows.items()},
        **of_adaptation(adaptation),
        **of_decisions(clf.predict(features(table), adaptation=adaptation)),
    }


def saved_and_loaded() -> dict:
    from cape.persist import load, save

    table = new_table()
    X = numbers(table)
    with tempfile.TemporaryDirectory() as folder:
        save(numeric_model(), Path(folder) / "model.cape")
        clf = load(Path(folder) / "model.cape")
    answers = of_batch(clf, X, sensitive_features=table["group"])
    assert answers == of_batch(numeric_model(), X, sensitive_features=table["group"])
    return answers


def with_dask() -> dict:
    import dask
    import dask.dataframe as dd

    from cape.elsewhere import dask as scale

    table = new_table()
    clf = numeric_model()
    ddf = dd.from_pandas(numbers(table).assign(group=table["group"]), npartitions=4)
    with dask.config.set(scheduler="synchronous"):
        evidence = scale.evidence(clf, ddf, sensitive_features="group")
        adaptation = clf.adapt(evidence=evidence)
        y_pred = scale.predict(clf, ddf, sensitive_features="group").compute()
    answers = of_adaptation(adaptation) | of_decisions(y_pred)
    in_memory = of_batch(clf, numbers(table), sensitive_features=table["group"])
    assert {word: in_memory[word] for word in answers} == answers
    return answers


# Files and the command line ----------------------------------------------------------


def write_tables() -> None:
    """Write the tables into the current folder."""
    training_table().to_csv("train.csv", index=False)
    new_table().to_csv("labelled.csv", index=False)
    features(new_table()).to_csv("new.csv", index=False)
    features(drifted_table()).to_csv("drifted.csv", index=False)


def fill_in(sheet, out) -> None:
    """Write the labels of rows into a sheet, as a person would."""
    drawn = pd.read_csv(sheet, dtype=str)
    places = drawn["cape_row"].astype(int) - 1
    drawn["y"] = new_table()["y"].to_numpy()[places]
    drawn.to_csv(out, index=False)


def files_with_defaults() -> dict:
    from cape_app.files import (
        count_file,
        load_model,
        predict_file,
        sample_file,
        train_file,
    )
    from cape_app.pages._batch import batch_facts

    answers = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_tables()
        train_file(
            "train.csv", "model.cape", label="y", group=["group"], learner="logistic"
        )
        model = load_model("model.cape")
        predicted = predict_file(model, "new.csv", "out.csv", rows=130)
        answers |= under("predicted", of_examination(predicted.examination))
        answers |= under("out", of_predictions("out.csv"))
        predict_file(model, "labelled.csv", "compared.csv", rule="equalized_odds")
        answers |= under("compared", of_predictions("compared.csv"))
        counts, labels, _ = count_file(
            "compared.csv", label="y", prediction="prediction", group=["group"]
        )
        answers |= under("counts", of_counts(counts))
        answers["labels"] = ", ".join(labels)
        for name in ("new.csv", "drifted.csv"):
            facts = batch_facts(predict_file(model, name).examination, name)
            answers |= under(f"monitor, {name}", of_monitored(facts["groups"]))
            answers[f"monitor, {name} | PE"] = plain(facts["expected_pe"])
        for name, how in {"equal": {"n": 80}, "width": {"width": 0.2}}.items():
            drawn = sample_file(model, "new.csv", f"{name}.csv", **how)
            answers |= under(f"drawn, {name}", dict(drawn.drawn))
            keys = pd.read_csv(f"{name}.csv")["cape_key"]
            answers[f"drawn, {name} | # keys"] = short_hash(keys)
            fill_in(f"{name}.csv", f"{name}_filled.csv")
            checked = predict_file(
                model, "new.csv", f"{name}_out.csv", checked=f"{name}_filled.csv"
            )
            answers |= under(f"checked, {name}", of_adaptation(checked.adaptation))
            answers |= under(f"checked, {name}", of_predictions(f"{name}_out.csv"))
    return answers


def command_line() -> dict:
    """What ``cape ... --json`` prints."""
    from typer.testing import CliRunner

    from cape_app.cli import app

    def run(*arguments) -> dict:
        done = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
        return json.loads(done.stdout)

    def page_of(*arguments) -> dict:
        run("predict", "m.cape", *arguments, "--report", "page.json", "--force")
        return json.loads(Path("page.json").read_text(encoding="utf-8"))

    answers = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_tables()
        to_model = ["--label", "y", "--group", "group", "--learner", "logistic"]
        trained = run("train", "train.csv", *to_model, "--out", "m.cape")
        words = {"rows": "rows", "prevalence": "prevalence", "AUC": "auc"}
        answers |= under("train", of_groups(trained, words))
        page = page_of("labelled.csv", "--out", "out.csv")
        answers |= under("predict", of_page(page))
        page = page_of("drifted.csv")
        answers |= under("predict, drifted", of_page(page))
        drawn = run("sample", "m.cape", "new.csv", "--rows", "80", "--out", "s.csv")
        words = {"rows": "rows", "drawn": "drawn"}
        answers |= under("sample", of_groups(drawn, words))
        fill_in("s.csv", "filled.csv")
        page = page_of("new.csv", "--checked", "filled.csv")
        answers |= under("checked", of_page(page))
        monitored = run("predict", "m.cape", "new.csv", "drifted.csv")
        for entry in monitored["groups"]:
            for batch in entry["batches"]:
                name = f"monitor, {batch['batch']}"
                in_group = {**entry, **batch}
                answers |= under(name, of_monitored([in_group]))
        columns = ["--label", "y", "--prediction", "prediction", "--group", "group"]
        audited = run("audit", "out.csv", *columns)
        answers |= under("audit", of_findings(audited["groups"]))
        answers |= under("audit", of_findings(audited["pairs"]))
    return answers


# Real shifts -------------------------------------------------------------------------


class Absent(Exception):
    """The folder of real data is not here."""


def read_real(name) -> pd.DataFrame:
    """Read a table of the folder of data."""
    folder = os.environ.get("CAPE_DATA")
    path = Path(folder or ".") / name
    if not folder or not path.exists():
        raise Absent(f"{name} is not here: set CAPE_DATA to a folder that has it")
    return pd.read_csv(path)


def by_period(table, is_training, is_new, group, label) -> tuple:
    """Return training rows and new rows, each as features, labels and groups."""
    halves = []
    for keep in (is_training, is_new):
        rows = table[keep]
        X = rows.drop(columns=[group, label])
        halves.append((X, rows[label].astype(int), rows[group].astype(str)))
    return tuple(halves)


def compas(group) -> tuple:
    table = read_real("compas/compas-scores-two-years.csv")
    table = table[table["race"].isin(["African-American", "Caucasian"])]
    year = table["compas_screening_date"].str[:4]
    columns = ["age", "priors_count", "juv_fel_count", "juv_misd_count"]
    columns += ["juv_other_count", "sex", "race", "c_charge_degree", "is_recid"]
    return by_period(table[columns], year == "2013", year == "2014", group, "is_recid")


def bank() -> tuple:
    table = read_real("bank/bank-full.csv.gz")
    table = table.assign(
        y=(table["y"] == "yes").astype(int),
        marital=np.where(table["marital"] == "married", "married", "not"),
    )
    table = table.drop(columns=["contact", "day", "month", "duration"])
    place = np.arange(len(table)) / len(table)
    return by_period(table, place < 0.6, place >= 0.8, "marital", "y")


def meps(year, next_year) -> tuple:
    tables = []
    for period in (year, next_year):
        table = read_real(f"meps/meps_fy{period}_people.csv.gz")
        visits = table[["obtotv", "optotv", "ertot", "hhtotd"]].clip(lower=0)
        chosen = table.loc[:, "agex":"faminc"].drop(columns=["educyr"], errors="ignore")
        white = np.where(chosen["racethx"] == 2, "White", "other")
        many = (visits.sum(axis=1) >= 10).astype(int)
        tables.append(chosen.assign(racethx=white, y=many, period=period))
    table = pd.concat(tables, ignore_index=True)
    period = table.pop("period")
    return by_period(table, period == year, period == next_year, "racethx", "y")


def brfss() -> tuple:
    years = [read_real(f"brfss/brfss_{year}_sample.csv.gz") for year in (2019, 2020)]
    table = pd.concat(years, ignore_index=True)
    is_new = np.arange(len(table)) >= len(years[0])
    return by_period(table, ~is_new, is_new, "SEX", "POOR_HEALTH")


def nass() -> tuple:
    table = read_real("nass/nass_1997_2002.csv.gz")
    year = table.pop("yearacc")
    return by_period(table, year == 1997, year == 2002, "sex", "severe_injury")


def arrests() -> tuple:
    table = read_real("arrests/toronto_arrests_1997_2002.csv.gz")
    year = table.pop("year")
    return by_period(table, year < 2000, year >= 2000, "colour", "released")


def gss() -> tuple:
    table = read_real("gss/gss_2000_2018.csv.gz")
    table = table[table["race"].isin(["White", "Black"])]
    year = table.pop("year")
    return by_period(table, year <= 2006, year >= 2014, "race", "legalise")


REAL = {
    "compas by race": partial(compas, "race"),
    "compas by sex": partial(compas, "sex"),
    "bank": bank,
    "meps 12-13": partial(meps, 2012, 2013),
    "meps 14-15": partial(meps, 2014, 2015),
    "brfss": brfss,
    "nass": nass,
    "arrests": arrests,
    "gss": gss,
}


def a_few(rows, n, seed) -> tuple:
    """Draw rows, so that entries stay fast."""
    X, y, groups = rows
    chosen = np.random.default_rng(seed).permutation(len(X))[:n]
    parts = (X.iloc[chosen], y.iloc[chosen], groups.iloc[chosen])
    return tuple(part.reset_index(drop=True) for part in parts)


def real(name) -> dict:
    """Train on one period; adapt to the next, without and with labels."""
    train, new = REAL[name]()
    X, y, groups = a_few(train, 1200, seed=0)
    learner = make_learner("logistic")
    clf = CapeClassifier(learner, preprocessing="once", random_state=0)
    clf.fit(X, y, sensitive_features=groups)
    X, y, groups = a_few(new, 900, seed=1)
    keyword = {"sensitive_features": groups}
    examination = examine(clf, X, **keyword)
    labels = y.astype(object).where(np.arange(len(y)) < 120, None)
    with_labels = clf.adapt(X, labels, **keyword)
    y_pred = clf.predict(X, **keyword, adaptation=examination.adaptation)
    return {
        **of_decisions(y_pred),
        **of_examination(examination),
        **under("with labels", of_adaptation(with_labels)),
    }


# All ---------------------------------------------------------------------------------

ENTRIES = {
    "defaults": defaults,
    "defaults, drift": defaults_with_drift,
    "defaults, fault": defaults_with_a_fault,
    "defaults, learner": default_learner,
    "defaults, four groups": four_groups,
    "defaults, level": at_another_level,
    "labels, plain": plain_labels,
    "labels, drawn": drawn_labels,
    "labels, no sample": labels_that_are_no_sample,
    "examine": examined,
    "examine, drift": examined_drift,
    "examine, labels": examined_with_labels,
    "examine, parts": parts_of_an_examination,
    "needed": needed,
    "suspicious columns": suspicious,
    "audit": audited,
    "metrics": measured,
    "rules": rules,
    "stream, labels": stream_with_labels,
    "stream, time": stream_by_time,
    "frozen": frozen,
    "summed evidence": summed,
    "saved and loaded": saved_and_loaded,
    "dask": with_dask,
    "files, defaults": files_with_defaults,
    "command line": command_line,
    **{f"real, {name}": partial(real, name) for name in REAL},
}
"""What makes each entry."""
