"""Evidence by SQL equals Python's, on tables with hostile contents.

DuckDB and SQLite count in every run of the tests, Postgres and Spark in those of ``make
test-sql``.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import warnings
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from cape import CapeClassifier, Scores
from cape.elsewhere import sql

START = dt.datetime(2019, 7, 3)
LEVELS = ["a", "A", "", " ", "it's", 'say "hi"', "NULL", "NaN", "1", "1.0", "\\", "--"]
LEVELS += ["é", "é", "名", "%s", ":x", "{}", "a\nb", "'; DROP TABLE t; --", "🦊"]
LEVELS += ["\r\n", "\t", "\u2028", "\u200b", "x" * 300, "true", "-0", "\\'", "$1", "?"]
ODD = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 5e-324, 1e300, -1e300]
ODD += [3.4028235677973366e38, -3.4028235677973366e38, 1e-46, 2.0**53]
NAMES = [
    "age",
    'it\'s "x"',
    "select",
    "value",
    "n",
    "ünï",
    "a b",
    "found",
    "cell",
    "`k`",
]

TYPES = ("double", "real", "bigint", "boolean", "decimal", "date", "timestamp", "text")
TYPES += ("category",)


class Table:
    """Columns as lists of Python's values, None for NULL, with their types in SQL."""

    def __init__(self):
        self.columns = {}
        self.types = {}

    def add(self, name, type_, values):
        self.columns[name] = values
        self.types[name] = type_

    def frame(self, *names):
        """Return columns as pandas holds them."""
        columns = {name: pd.Series(self.columns[name]) for name in names}
        for name in names:
            if self.types[name] == "category":
                columns[name] = columns[name].astype("category")
        return pd.DataFrame(columns)

    def rows(self):
        return list(zip(*self.columns.values(), strict=True))


def _with_gaps(random, values, share=0.1):
    return [None if random.random() < share else value for value in values]


def _column(random, type_, n, edges=()):
    """Draw values of a type; some lie where cells meet."""
    if type_ == "double":
        values = random.choice([random.normal(50, 20, n), random.lognormal(0, 3, n)])
        values = values.tolist()
        for place in range(0, n, 3):
            values[place] = random.choice([*ODD, *edges])
        return _with_gaps(random, map(float, values))
    if type_ == "real":
        return _with_gaps(random, np.float32(random.normal(0, 1, n)).tolist())
    if type_ == "bigint":
        high = int(random.choice([3, 90, 2**45, 2**63 - 1]))
        return _with_gaps(random, random.integers(-2, high, n).tolist())
    if type_ == "boolean":
        return _with_gaps(random, (random.random(n) < 0.3).tolist())
    if type_ == "decimal":
        cents = random.integers(-10_000, 10_000, n).tolist()
        return _with_gaps(random, [Decimal(number) / 100 for number in cents])
    seconds = random.normal(0, 10 ** random.integers(6, 10), n)
    if type_ == "date":
        days = (seconds / 86400).astype(int).tolist()
        return _with_gaps(random, [START.date() + dt.timedelta(day) for day in days])
    if type_ == "timestamp":
        spans = [dt.timedelta(seconds=int(s), microseconds=500_000) for s in seconds]
        return _with_gaps(random, [START + span for span in spans])
    levels = [*LEVELS, *(f"level {number}" for number in range(40))]
    odds = random.dirichlet(np.full(len(levels), 0.3))
    return _with_gaps(random, random.choice(levels, n, p=odds).tolist())


class Case:
    """A fitted model, and a batch for it.

    Attributes
    ----------
    clf, batch, label, groups
        What `cape.elsewhere.sql.query` takes.
    """

    def __init__(self, seed, types=TYPES):
        random = np.random.default_rng(seed)
        self.random = random
        names = random.permutation(NAMES)[: random.integers(1, len(NAMES))].tolist()
        self.columns = {name: str(random.choice(types)) for name in names}
        self.points = bool(random.random() < 0.5)
        self.decisions = [None, (0, 1), (False, True), ("no", "yes")][seed % 4]
        self.classes = [(0, 1), ("bad", "good")][seed // 2 % 2]
        group_types = ["text", "bigint", "boolean"]
        n_groups = random.integers(0, 3)
        self.groups = {
            f"group_{i}": group_types[(seed + i) % 3] for i in range(n_groups)
        }
        self.in_table = bool(self.groups) and seed % 2 == 0
        self.missing = str(random.choice(["error", "group"]))
        self.reference = self._draw(400, {})
        self.hollow = names[0] if seed % 5 == 0 else None
        if self.hollow:
            values = self.reference.columns[self.hollow]
            self.reference.columns[self.hollow] = [None] * len(values)
        self.clf = self._fit()
        trained = next(iter(self.clf.models_.values()))
        edges = {}
        if trained.columns is not None:
            for cells in trained.columns.cells.columns:
                edges[cells.name] = _near(cells.edges)
        self.edges = trained.edges
        self.batch = self._draw(int(random.choice([1, 30, 300])), edges)
        if self.hollow:
            # Text that reads NaN is missing there.
            drawn = self.batch.columns[self.hollow]
            self.batch.columns[self.hollow] = [x if x != "NaN" else "x" for x in drawn]
        self.label = "label" if seed % 3 else None

    def _draw(self, n, edges):
        random = self.random
        table = Table()
        y = random.random(n) < 0.4
        score = random.normal(y * 1.5, 1, n)
        if self.points:
            score = (600 + 50 * score).tolist()
            for place in range(7, n, 9):
                score[place] = random.choice([np.inf, -np.inf, 1e300, 600.0, -1e18])
        else:
            score = (1 / (1 + np.exp(-score))).tolist()
            for place in range(7, n, 9):
                exact = random.choice(self.edges) if edges else random.integers(2**32)
                score[place] = (exact + random.choice([0.0, 0.5, -0.5])) / 2**32
            score[::11] = random.choice([0.0, -0.0, 1.0, 5e-324], len(score[::11]))
        table.add("p", "double", [float(number) for number in score])
        if self.decisions:
            decided = random.random(n) < 0.3 + 0.4 * y
            types = {int: "bigint", bool: "boolean", str: "text"}
            values = [self.decisions[int(is_yes)] for is_yes in decided]
            table.add("decided", types[type(values[0])], values)
        for name, type_ in self.columns.items():
            table.add(name, type_, _column(random, type_, n, edges.get(name, ())))
        labels = [self.classes[int(is_positive)] for is_positive in y]
        table.add("label", "text" if isinstance(labels[0], str) else "bigint", labels)
        for name, type_ in self.groups.items():
            values = {
                "text": ["it's", "B", "é"],
                "bigint": [7, 8, 9],
                "boolean": [False, True, True],
            }
            # The third is a group that the reference does not have.
            places = random.integers(0, 3 if edges else 2, n)
            drawn = [values[type_][place] for place in places]
            if self.missing != "error":
                drawn = _with_gaps(random, drawn, 0.05)
            table.add(name, type_, drawn)
        return table

    @property
    def _features(self):
        names = ["p", *self.columns]
        if self.decisions:
            names.append("decided")
        return names

    def _fit(self):
        clf = CapeClassifier(
            Scores("p", "decided" if self.decisions else None),
            group_columns=list(self.groups) if self.in_table else None,
            missing_groups=self.missing,
            unknown_groups="pooled",
            min_class_size=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return clf.fit(
                self.reference.frame(*self._all(self.reference)[0]),
                self.reference.columns["label"],
                sensitive_features=self._all(self.reference)[1],
            )

    def _all(self, table):
        if self.in_table:
            return [*self._features, *self.groups], None
        groups = table.frame(*self.groups) if self.groups else None
        return self._features, groups

    def expected(self):
        """The evidence that Python makes of the batch."""
        names, groups = self._all(self.batch)
        y = None
        if self.label:
            # Some rows are labelled.
            rng = np.random.default_rng(0)
            labels = _with_gaps(rng, self.batch.columns["label"], 0.7)
            self.batch.columns["label"] = labels
            y = labels
        return self.clf.evidence(self.batch.frame(*names), y, sensitive_features=groups)

    def options(self):
        """What `cape.elsewhere.sql.query` is called with, beside model and table."""
        groups = None if self.in_table or not self.groups else list(self.groups)
        return {"label": self.label, "groups": groups}


def _near(edges):
    """Doubles where single precision is rounded to another cell."""
    edges = edges[np.isfinite(edges)]
    before = np.nextafter(edges, np.float32(-np.inf)).astype(np.float64)
    middles = (before + edges) / 2
    middles = middles[np.isfinite(middles)]
    around = [np.nextafter(middles, end) for end in (-np.inf, np.inf)]
    return np.concatenate([middles, *around, edges]).tolist()


class DuckDB:
    dialect = "duckdb"
    types = {"decimal": "decimal(12, 2)", "category": "text"}

    def __init__(self):
        self._connection = duckdb.connect()

    def run(self, table, statement):
        self.fill(table)
        return self._connection.execute(statement).df()

    def fill(self, table):
        columns = []
        for name, type_ in table.types.items():
            quoted = name.replace('"', '""')
            columns.append(f'"{quoted}" {self.types.get(type_, type_)}')
        self.execute("drop table if exists batch")
        self.execute(f"create table batch ({', '.join(columns)})")
        marks = ", ".join([self.mark] * len(columns))
        rows = [tuple(map(self.value, row)) for row in table.rows()]
        self.execute_many(f"insert into batch values ({marks})", rows)

    mark = "?"

    def value(self, value):
        return value

    def execute(self, text):
        self._connection.execute(text)

    def execute_many(self, text, rows):
        self._connection.executemany(text, rows)

    def close(self):
        self._connection.close()


class SQLite(DuckDB):
    dialect = "sqlite"
    types = {"date": "text", "timestamp": "text", "decimal": "real"}
    types["category"] = "text"

    def __init__(self):
        self._connection = sqlite3.connect(":memory:")

    def value(self, value):
        if isinstance(value, (dt.date, Decimal)):
            return float(value) if isinstance(value, Decimal) else str(value)
        return value

    def run(self, table, statement):
        self.fill(table)
        found = self._connection.execute(statement)
        names = [column[0] for column in found.description]
        return pd.DataFrame(found.fetchall(), columns=names)


class Postgres(SQLite):
    """A server of its own, in a temporary folder and on a free port."""

    dialect = "postgres"
    types = {"double": "double precision", "decimal": "numeric(12, 2)"}
    types["category"] = "text"
    mark = "%s"

    def __init__(self, folder):
        import psycopg

        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        shutil.chown(folder, "postgres")
        self._do("initdb", "--encoding=UTF8", "--locale=C", "--auth=trust")
        options = f"-p {port} -k {folder} -c listen_addresses="
        self._do("pg_ctl", "start", "-w", "-o", options, "-l", f"{folder}/log")
        place = f"host={folder} port={port} user=postgres dbname=postgres"
        self._connection = psycopg.connect(
            place, autocommit=True, prepare_threshold=None
        )

    def _do(self, program, *arguments):
        # Debian has no link to these in the folders of commands.
        found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))[-1]
        command = [str(found), *arguments, "-D", f"{self._folder}/data"]
        user = {"user": "postgres"} if os.getuid() == 0 else {}
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, cwd=self._folder, **user
        )

    def value(self, value):
        return value

    def execute_many(self, text, rows):
        self._connection.cursor().executemany(text, rows)

    def close(self):
        super().close()
        self._do("pg_ctl", "stop", "-m", "fast")


class Spark(DuckDB):
    dialect = "spark"
    types = {"text": "string", "real": "float", "decimal": "decimal(12, 2)"}
    types["category"] = "string"

    def __init__(self):
        from pyspark.sql import SparkSession

        settings = {
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.timestampType": "TIMESTAMP_NTZ",
        }
        builder = SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        self._session = builder.getOrCreate()

    def run(self, table, statement):
        columns = []
        for name, type_ in table.types.items():
            quoted = name.replace("`", "``")
            columns.append(f"`{quoted}` {self.types.get(type_, type_)}")
        rows = self._session.createDataFrame(table.rows(), ", ".join(columns))
        rows.createOrReplaceTempView("batch")
        found = self._session.sql(statement)
        return pd.DataFrame(
            [tuple(row) for row in found.collect()], columns=found.columns
        )

    def close(self):
        self._session.stop()


@pytest.fixture(
    scope="module",
    params=[
        "duckdb",
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.sql),
        pytest.param("spark", marks=pytest.mark.sql),
    ],
)
def engine(request):
    classes = {"duckdb": DuckDB, "sqlite": SQLite, "postgres": Postgres, "spark": Spark}
    if request.param != "postgres":
        found = classes[request.param]()
        yield found
        found.close()
        return
    # Not a folder of pytest: the server's user may not enter these.
    with tempfile.TemporaryDirectory() as folder:
        found = Postgres(folder)
        yield found
        found.close()


def check_equal(engine, seed):
    case = Case(seed)
    expected = case.expected()
    statement = sql.query(case.clf, "batch", engine.dialect, **case.options())
    counts = engine.run(case.batch, statement)
    assert sql.evidence(case.clf, counts) == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_database_counts_what_python_counts(engine, seed):
    check_equal(engine, seed)


@pytest.mark.slow
def test_200_hostile_tables(engine):
    for seed in range(100, 300):
        check_equal(engine, seed)


def test_numbers_where_training_had_0_and_1(engine):
    # Such a column may hold truth values, and is counted by value.
    random = np.random.default_rng(0)
    y = random.random(400) < 0.4
    frame = pd.DataFrame({"p": random.beta(2 + y, 3 - y)})
    frame["flag"] = random.integers(0, 2, 400).astype(float)
    clf = CapeClassifier(Scores("p")).fit(frame, y)
    edges = np.nextafter([0, 1], [1, 2], dtype=np.float32)
    flags = [*ODD, *_near(np.append(edges, [0, 1])), 0.5, 2.0, -1.0, None]
    if engine.dialect == "sqlite":
        # It writes 15 digits, which put a few numbers on the other side of an edge.
        flags = [x for x in flags if x is None or float(f"{x:.15g}") == x]
    batch = Table()
    batch.add("p", "double", [0.5] * len(flags))
    batch.add("flag", "double", flags)
    counts = engine.run(batch, sql.query(clf, "batch", engine.dialect))
    assert sql.evidence(clf, counts) == clf.evidence(batch.frame("p", "flag"))


@pytest.fixture(scope="module")
def counted():
    """A model of two groups, the counts of its batch, and what counts a table."""
    random = np.random.default_rng(0)
    y = random.random(600) < 0.4
    p = random.beta(2 + y, 3 - y)
    frame = pd.DataFrame({"g": random.choice(["a", "b"], 600), "p": p, "d": p > 0.5})
    frame["age"] = random.integers(18, 80, 600)
    clf = CapeClassifier(Scores("p", "d"), group_columns="g").fit(frame, y)

    def count(batch):
        with duckdb.connect() as connection:
            connection.register("batch", batch)
            return connection.execute(sql.query(clf, "batch")).df()

    return clf, frame, count


@pytest.mark.parametrize(
    ("column", "value"), [("p", None), ("p", 1.5), ("d", None), ("g", None), ("g", "c")]
)
def test_what_python_refuses_is_refused(counted, column, value):
    clf, frame, count = counted
    batch = frame.astype({"d": object})
    batch.loc[3, column] = value
    batch["d"] = batch["d"].astype("boolean")
    with pytest.raises(ValueError, match=rf"\b{column}\b|group|sensitive_features"):
        sql.evidence(clf, count(batch))


def test_counts_must_be_whole_and_of_the_model(counted):
    clf, frame, count = counted
    counts = count(frame)
    with pytest.raises(ValueError, match="whole result"):
        sql.evidence(clf, counts[counts["part"] != 1])
    with pytest.raises(ValueError, match="none named n"):
        sql.evidence(clf, counts.drop(columns="n"))
    with pytest.raises(ValueError, match="of this model"):
        sql.evidence(clf, counts.assign(model="other"))
    with pytest.raises(ValueError, match="whole numbers in total"):
        sql.evidence(clf, counts.assign(total=1e17))
    twice = sql.evidence(clf, pd.concat([counts, counts]))
    once = clf.evidence(frame)
    assert twice == once + once


def test_eleven_group_columns_keep_their_order():
    random = np.random.default_rng(0)
    y = random.random(300) < 0.4
    names = [f"g{place}" for place in range(11)]
    frame = pd.DataFrame({"p": random.beta(2 + y, 3 - y)})
    first = random.random(300) < 0.3
    for place, name in enumerate(names):
        frame[name] = np.where(first, f"a{place}", f"b{place}")
    clf = CapeClassifier(Scores("p"), group_columns=names).fit(frame, y)
    with duckdb.connect() as connection:
        connection.register("batch", frame)
        counts = connection.execute(sql.query(clf, "batch")).df()
    assert sql.evidence(clf, counts) == clf.evidence(frame)


def weighted_case(seed):
    random = np.random.default_rng(seed)
    n = 400
    p, text = random.random(n), random.choice(["a", "b", "new"], n)
    columns = {"p": p, "z": random.choice(["x", "y"], n), "t": text}
    y = (random.random(n) < p).astype(int)
    weights = random.choice([0.0, 1.0, 1 / 3, 2.7e4, 1e-3, 7.123456789], n)
    frame = pd.DataFrame(columns).assign(age=random.normal(50, 9, n))
    known = frame.assign(t=np.where(text == "new", "a", text))
    clf = CapeClassifier(Scores("p"), group_columns="z").fit(known, y)
    labels = pd.Series(y).astype("Int64").mask(random.random(n) < 0.7)
    return clf, frame, labels, weights


@pytest.mark.parametrize("database", ["duckdb", "sqlite"])
def test_weights_are_summed_exactly(database):
    clf, frame, labels, weights = weighted_case(0)
    rows = frame.assign(y=labels, w=weights)
    statement = sql.query(clf, "rows_", database, "y", weight="w")
    if database == "duckdb":
        counts = duckdb.connect().register("rows_", rows).sql(statement).df()
    else:
        with sqlite3.connect(":memory:") as connection:
            rows.astype({"y": object}).to_sql("rows_", connection, index=False)
            counts = pd.read_sql(statement, connection)
    y = labels.astype(object).where(labels.notna(), None)
    in_python = clf.evidence(frame, y, sample_weight=weights)
    assert sql.evidence(clf, counts) == in_python


@pytest.mark.parametrize("bad", [-1.0, None, float("nan"), 1e-9, float("inf")])
def test_what_is_no_weight_is_refused(bad):
    clf, frame, _, weights = weighted_case(1)
    rows = frame.assign(w=[bad, *weights[1:]])
    statement = sql.query(clf, "rows_", weight="w")
    counts = duckdb.connect().register("rows_", rows).sql(statement).df()
    with pytest.raises(ValueError, match="weight must be 0 or from .* in 1 rows"):
        sql.evidence(clf, counts)
