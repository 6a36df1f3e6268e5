"""Columns that should not be learned from are found, and good columns are not."""

import json
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import cape
from cape.datasets import make_synthetic

N = 400

check = partial(cape.check, expect=False)


def reason_of(values, kind, positive=None):
    """Return why a column is suspicious in this way; None if it is not."""
    values = pd.Series(values)
    if positive is None:
        positive = np.arange(len(values)) % 2 == 0
    found = check(pd.DataFrame({"x": values}), positive)
    reasons = [one.reason for one in found.findings if one.kind == kind]
    return reasons[0] if reasons else None


@pytest.fixture
def y():
    return np.random.default_rng(0).integers(0, 2, N)


@pytest.fixture
def table(y):
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, N),
            "row": range(N),
            "income": np.exp(random.normal(10, 1, N)),
            "case": [f"{i:06d}CF" for i in random.permutation(N)],
            "again": np.where(y == 1, "yes", "no"),
            "day": pd.Timestamp("2013-01-01")
            + pd.to_timedelta(random.integers(0, 365, N), unit="D"),
            "job": random.choice(["cook", "clerk", "nurse"], N),
        }
    )


EXPECTED = {
    "row": "row number",
    "case": "identifier",
    "again": "tells the answer",
    "day": "date",
}


def test_columns_are_named_in_the_order_of_the_table(table, y):
    found = check(table, y)
    assert found.columns == list(EXPECTED)
    assert found.table()["kind"].to_dict() == EXPECTED
    assert found.table().index.name == "column"
    content = json.loads(json.dumps(found.to_dict()))
    assert [entry["kind"] for entry in content["findings"]] == list(EXPECTED.values())
    assert content["rows"] == content["rows_in_table"] == N
    assert (found.rows, found.rows_in_table) == (N, N)
    assert list(table.drop(columns=found.columns)) == ["age", "income", "job"]


def test_nothing_found(table, y):
    found = check(table[["age", "income", "job"]], y)
    assert found.columns == []
    assert list(found.table().columns) == ["kind", "effect", "why"]
    assert found.to_dict()["findings"] == []
    assert len(found.table()) == 0


def test_arrays_and_polars_are_read_as_pandas_is(table, y):
    expected = check(table, y)
    assert check(pl.DataFrame(table.to_dict("list")), y) == expected
    assert check(table.set_index("income", drop=False), y) == expected
    from_array = check(table.to_numpy(dtype=object), y)
    assert check(table.to_numpy(dtype=object).tolist(), y) == from_array
    assert from_array.columns == [1, 3, 4, 5]
    assert [one.reason for one in from_array.findings] == [
        one.reason for one in expected.findings
    ]
    numbers = check(table[["age", "row"]].to_numpy(), y)
    assert numbers.table()["kind"].to_dict() == {1: "row number"}


def test_labels_of_any_type(table, y):
    expected = check(table, y)
    assert check(table, np.where(y == 1, "yes", "no")) == expected
    assert check(table, y.astype(bool).tolist()) == expected


def test_a_sample_finds_what_the_table_has():
    random = np.random.default_rng(0)
    n = 30_000
    y = random.integers(0, 2, n)
    table = pd.DataFrame(
        {
            "x": random.normal(size=n) + y,
            "row": np.arange(n) + 7,
            "id": np.cumsum(random.integers(1, 9, n)),
            "member": random.permutation(3 * n)[:n],
            "amount": random.integers(0, 10_000, n),
        }
    )
    found = check(table, y, max_rows=2000)
    assert found.table()["kind"].to_dict() == {
        "row": "row number",
        "id": "identifier",
        "member": "identifier",
    }
    assert (found.rows, found.rows_in_table) == (2000, n)
    assert check(table, y, max_rows=2000) == found
    other = check(table, y, max_rows=2000, random_state=1)
    assert other.columns == found.columns
    assert check(table, y).rows == 10_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": sparse.eye_array(N, format="csr")}, "got a sparse matrix"),
        ({"X": np.arange(N)}, r"X must be a table .* got an array of shape \(400,\)"),
        ({"X": None}, "X must be a table .* got None"),
        ({"X": np.zeros((N, 2, 2))}, r"X must be a table .* \(400, 2, 2\)"),
        ({"y": np.zeros(N)}, "y must hold two classes"),
        ({"y": [0, 1]}, "X.*400.*y.*2"),
        ({"max_rows": 0}, "max_rows must be at least 1, got 0"),
    ],
)
def test_mistakes(table, y, change, message):
    with pytest.raises(ValueError, match=message):
        check(**{"X": table, "y": y, **change})


def test_compas_as_it_was_published(published_file):
    frame = pd.read_csv(published_file("compas/compas-scores-two-years.csv"))
    found = check(frame.drop(columns="is_recid"), frame["is_recid"])
    kinds = found.table()["kind"]
    assert {kind: kinds.index[kinds == kind].tolist() for kind in KINDS} == COMPAS


KINDS = ["row number", "tells the answer", "date", "identifier"]

COMPAS = {
    "row number": [],
    "tells the answer": [
        "r_case_number",
        "r_charge_degree",
        "r_days_from_arrest",
        "r_offense_date",
        "r_charge_desc",
        "r_jail_in",
        "r_jail_out",
        "is_violent_recid",
        "vr_case_number",
        "vr_charge_degree",
        "vr_offense_date",
        "vr_charge_desc",
        "event",
        "two_year_recid",
    ],
    "date": [
        "compas_screening_date",
        "dob",
        "c_jail_in",
        "c_jail_out",
        "c_offense_date",
        "c_arrest_date",
        "screening_date",
        "v_screening_date",
        "in_custody",
        "out_custody",
    ],
    "identifier": ["id", "name", "c_case_number"],
}


@pytest.mark.parametrize("rows", [300, 3000])
def test_no_false_alarm_in_the_bank(published_file, rows):
    frame = pd.read_csv(published_file("bank/bank-full.csv.gz"), nrows=rows)
    found = check(frame.drop(columns="y"), frame["y"])
    # In the first rows, some columns have a single value.
    assert {one.kind for one in found.findings} <= {"constant"}


# Reading a column

MANY_DAYS = pd.Series(pd.date_range("2013-01-01", periods=60))
MANY_DAYS[7] = pd.NaT
DAY_OBJECTS = [None if pd.isna(day) else day.date() for day in MANY_DAYS]


@pytest.mark.parametrize(
    "values",
    [
        MANY_DAYS,
        MANY_DAYS.dt.tz_localize("Europe/Berlin"),
        MANY_DAYS.dt.to_period("D"),
        pd.Series(DAY_OBJECTS, dtype=object),
        np.array(DAY_OBJECTS, dtype=object),
        pl.Series(DAY_OBJECTS).to_numpy(),
    ],
)
def test_dates_of_any_table_are_read(values):
    assert reason_of(values, "date") == ("dates",)


@pytest.mark.parametrize(
    ("again", "missing"),
    [
        (lambda y: pd.Series(y, dtype="Int64"), pd.NA),
        (lambda y: pd.Series(y, dtype=object), None),
        (lambda y: pd.Series(y.astype(str), dtype="string"), pd.NA),
        (lambda y: pd.Series(y.astype(str)).astype("category"), None),
        (lambda y: pd.Series(y == 1).astype("boolean"), pd.NA),
        (lambda y: pd.Series(pd.to_timedelta(y, unit="s")), None),
        # Any object has a text, also a list, which could not be counted.
        (lambda y: pd.Series([[label] for label in y], dtype=object), None),
    ],
)
def test_values_of_any_type_are_read(y, again, missing):
    values = again(y)
    values[3] = missing
    code, auc = reason_of(values, "tells the answer", y == 1)
    assert code == "auc" and auc > 0.99


# Row numbers and identifiers

SIZES = st.sampled_from([60, 300, 3000])
SEEDS = st.integers(0, 10_000)


def identified(values):
    return reason_of(values, "identifier")


def test_row_numbers_are_found_in_a_sample_of_rows():
    table = pd.DataFrame({"x": np.arange(10_000) + 1})
    found = check(table, np.arange(10_000) % 2, max_rows=100)
    assert found.table()["kind"].tolist() == ["row number"]
    # The rows of another sample are not counted, but they are in order.
    rows = np.sort(np.random.default_rng(0).choice(10_000, 100, replace=False))
    assert identified(rows + 1) == ("in order", 100, "increase", 1.0)


@pytest.mark.parametrize(
    "values",
    [
        np.r_[np.arange(99.0), np.nan],
        np.arange(100)[::-1],
        np.arange(100) * 2,
        np.arange(40),
        np.repeat(7, 100),
        np.array([f"{i}" for i in range(100)]),
    ],
)
def test_what_does_not_count_the_rows(values):
    assert reason_of(values, "row number") is None


@settings(max_examples=15)
@given(SIZES, SEEDS, st.integers(3, 10**6), st.booleans(), st.booleans())
def test_whole_numbers_in_the_order_of_rows(n, seed, largest_step, down, with_gaps):
    random = np.random.default_rng(seed)
    numbers = np.cumsum(random.integers(1, largest_step, n)).astype(float)
    if down:
        numbers = -numbers
    if with_gaps:
        numbers[::13] = np.nan
    n_present = int(np.isfinite(numbers).sum())
    direction = "decrease" if down else "increase"
    assert identified(numbers) == ("in order", n_present, direction, 1.0)


@settings(max_examples=15)
@given(SEEDS, st.floats(1, 20))
def test_numbers_that_were_given_out_once(seed, sparsity):
    n_possible = int(sparsity * 1000)
    numbers = np.random.default_rng(seed).permutation(n_possible)[:1000]
    assert identified(numbers)[:3] == ("differ", 1000, 1000)
    # Five persons who come twice do not hide it.
    numbers[:5] = numbers[-5:]
    if sparsity < 5:
        assert identified(numbers)[:3] == ("differ", 995, 1000)


@settings(max_examples=15)
@given(
    SIZES,
    SEEDS,
    st.lists(st.floats(0.01, 1), min_size=1, max_size=300),
    st.integers(1, 50),
)
def test_numbers_that_were_drawn_or_measured_are_no_identifiers(n, seed, weights, step):
    # Any distribution: the bound of the birthday problem holds for all of them.
    random = np.random.default_rng(seed)
    shares = np.array(weights) / np.sum(weights)
    assert identified(step * random.choice(len(weights), n, p=shares)) is None
    incomes = np.exp(random.normal(10, 1, n))
    for values in (incomes, np.sort(incomes), incomes.round(), (100 * incomes).round()):
        assert identified(values) is None


def test_numbers_handed_out_at_random_from_a_wide_range():
    accounts = np.random.default_rng(0).integers(10**7, 10**8, 1000)
    assert identified(accounts) == ("differ", 1000, 1000)
    accounts[::50] = accounts[0]
    assert identified(accounts) == ("differ", 981, 1000)
    accounts[::5] = accounts[0]
    assert identified(accounts) is None


def test_text_of_which_nearly_all_values_differ():
    names = pd.Series([f"person {i}" for i in range(1000)])
    assert identified(names) == ("differ", 1000, 1000)
    names[:10] = "miguel hernandez"
    assert identified(names) == ("differ", 991, 1000)
    names[1::5] = "miguel hernandez"
    assert identified(names) is None
    assert identified(names.astype("category")) is None


@pytest.mark.parametrize(
    "values",
    [
        np.arange(49),
        np.full(100, np.nan),
        np.r_[np.arange(99.0), np.inf],
        np.arange(100) / 2,
        np.resize(np.arange(31), 3100),
        # Amounts: all different, and not spread evenly.
        np.random.default_rng(0).lognormal(14, 0.3, 5000).round(),
        np.random.default_rng(0).normal(10**7, 10**6, 5000).round(),
        pd.date_range("2013-01-01", periods=100),
        [f"the rent of month {i} was late" for i in range(100)],
    ],
)
def test_what_is_no_identifier(values):
    assert identified(pd.Series(values)) is None


# Columns that tell the answer


def draw_labels(n, prevalence=0.5, seed=0):
    return np.random.default_rng(seed).random(n) < prevalence


def told(values, positive):
    return reason_of(values, "tells the answer", positive)


@pytest.mark.parametrize("as_type", [float, str, bool, "category", "Int64"])
def test_the_answer_under_another_name(as_type):
    positive = draw_labels(1000)
    again = pd.Series(positive).astype(int).astype(as_type)
    assert told(again, positive) == told(again, ~positive) == ("auc", 1.0)


@pytest.mark.parametrize("kind", ["number", "text", "date"])
def test_details_that_only_positives_have(kind):
    # Each case has a number of its own: only that there is one tells the answer.
    positive = draw_labels(1000)
    numbers = np.random.default_rng(1).permutation(1000)
    details = {
        "number": pd.Series(numbers / 7),
        "text": pd.Series([f"case {i}" for i in numbers]),
        "date": pd.Timestamp("2013-01-01") + pd.to_timedelta(pd.Series(numbers), "D"),
    }
    assert told(details[kind].where(positive), positive) == ("auc", 1.0)


def test_codes_in_no_order():
    positive = draw_labels(1000)
    random = np.random.default_rng(1)
    codes = np.where(
        positive, random.choice([1, 3, 5], 1000), random.choice([2, 4], 1000)
    )
    assert told(codes, positive) == ("auc", 1.0)


@pytest.mark.parametrize(("separation", "tells"), [(2.5, False), (3.3, True)])
def test_the_limit_is_an_auc_of_98_percent(separation, tells):
    # Two normal distributions: the AUC is Phi(separation / sqrt(2)), .961 and .990.
    positive = draw_labels(20_000)
    numbers = np.random.default_rng(1).normal(size=20_000) + separation * positive
    assert (told(numbers, positive) is not None) == tells
    assert (told(-numbers, positive) is not None) == tells


@pytest.mark.parametrize(
    ("values", "which"),
    [
        ((1.0, 0.0), ("with", 1.0)),
        (("yes", "no"), ("with", "yes")),
        ((True, False), ("with", "True")),
        (("a charge", None), ("with a value",)),
        ((3.5, None), ("with a value",)),
        ((None, 3.5), ("without a value",)),
    ],
)
def test_what_a_part_of_the_positives_has(values, which):
    positive = draw_labels(2000, 0.4)
    has_it = positive & (np.random.default_rng(1).random(2000) < 0.3)
    of_some, of_others = values
    column = [of_some if has else of_others for has in has_it]
    assert told(column, positive) == ("all positive", has_it.sum(), *which)
    # One negative among them, and it is a good predictor, but no answer.
    column[int(np.flatnonzero(~positive)[0])] = of_some
    assert told(column, positive) is None


def test_what_is_no_answer():
    # Nobody below 16 is employed: what rules the event out is known before.
    employed = draw_labels(2000, 0.5)
    luck = np.random.default_rng(1).random(20_000)
    assert told(~employed & (luck[:2000] < 0.3), employed) is None
    # Where nearly all are positive, a value without negatives is no wonder.
    positive = draw_labels(20_000, 0.8)
    assert told(positive & (luck < 0.3), positive) is None
    assert told([None] * 100, employed[:100]) is None
    assert told(["a"] * 100, employed[:100]) is None
    # Nine rows of a class tell nothing.
    few = np.arange(100) < 9
    assert told(few, few) is told(few, ~few) is None


@settings(max_examples=15)
@given(SEEDS, st.floats(0.1, 0.9), st.floats(0, 2))
def test_good_predictors_are_no_answers(seed, prevalence, separation):
    # AUCs of up to .92.
    random = np.random.default_rng(seed)
    positive = np.r_[[True] * 15, [False] * 15, random.random(500) < prevalence]
    numbers = random.normal(size=530) + separation * positive
    assert told(numbers, positive) is None
    assert told(numbers > 1, positive) is None
    assert told(np.where(numbers > 0.5, np.nan, numbers), positive) is None
    assert told(numbers.round().astype(str), positive) is None


# Dates

DAYS = pd.Series(pd.date_range("2012-11-20", "2014-03-01", freq="2D"))


def dated(values):
    return reason_of(values, "date")


@pytest.mark.parametrize(
    "format_", ["%Y-%m-%d", "%d/%m/%Y", "%m-%d-%Y", "%d.%m.%y", "%d %b %Y", "%B %d, %Y"]
)
def test_text_that_reads_as_dates(format_):
    for tail in ("", " 06:03:42", " 6:03", "T06:03:42+01:00"):
        text = DAYS.dt.strftime(format_) + tail
        text = text.where(text.index % 10 != 3, None)
        assert dated(text) == ("text as dates", format_)


def test_a_few_mistakes_do_not_hide_dates():
    assert dated(DAYS.where(DAYS.index > 50)) == ("dates",)
    text = DAYS.dt.strftime("%d.%m.%Y")
    text[[7, 90]] = ["unknown", "-"]
    assert dated(text) == ("text as dates", "%d.%m.%Y")
    text[::5] = "unknown"
    text[1::5] = [f"unknown {i}" for i in range(len(text[1::5]))]
    assert dated(text) is None


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (DAYS.dt.strftime("%Y%m%d").astype(int), ("numbers as dates", "%Y%m%d")),
        (DAYS.dt.strftime("%Y%m").astype(int), ("numbers as dates", "%Y%m")),
        (DAYS.dt.year, ("years", 2012, 2014)),
        (DAYS.dt.strftime("%Y"), ("years", 2012, 2014)),
        (pd.Series([2012, 2014, 2016] * 30), ("years", 2012, 2016)),
        (
            DAYS.astype("datetime64[s]").astype("int64") + 0.25,
            ("since 1970", "seconds"),
        ),
        (DAYS.astype("datetime64[ms]").astype("int64"), ("since 1970", "milliseconds")),
        (DAYS.astype("datetime64[us]").astype("int64"), ("since 1970", "microseconds")),
        (DAYS.astype("datetime64[ns]").astype("int64"), ("since 1970", "nanoseconds")),
    ],
)
def test_numbers_that_read_as_dates(numbers, reason):
    assert dated(numbers) == reason
    assert dated(numbers.where(numbers.index % 7 != 2)) == reason


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(range(1930, 2000)),
        DAYS.dt.year + 0.5,
        DAYS.dt.year - 200,
        DAYS.dt.month,
        DAYS.dt.strftime("%b"),
        DAYS.dt.strftime("%H:%M:%S"),
        DAYS.dt.strftime("%Y%m%d").astype(int) + 0.5,
        DAYS.dt.strftime("%Y%m%d").astype(int) + 60,
        pd.Series([201301, 201302, 201303] * 30),
        pd.Series(["13011352CF10A", "13001275CF10A"]),
        pd.Series(["127.0.0.1", "10.0.0.1"]),
        pd.Series(["078-05-1120", "219-09-9999"]),
        pd.Series(["25 - 45", "Less than 25"]),
        pd.Series([np.nan, np.nan]),
        pd.Series([np.inf, *range(20)]),
        pd.Series([True, False]),
    ],
)
def test_what_is_no_date(values):
    assert dated(values) is None


@settings(max_examples=15)
@given(st.lists(st.floats(-1e7, 1e7), min_size=10, max_size=50))
def test_measurements_are_no_dates(numbers):
    # One value that is no day of any calendar.
    assert dated(np.array([*numbers, 17.5])) is None


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("Jahr", [17, 18, 19, 20, 21], ("periods", 17, 21)),
        ("wave", [1, 2, 3], ("periods", 1, 3)),
        ("survey_month", [4, 5, 6], ("periods", 4, 6)),
        ("q", ["2023-Q1", "2023-Q2", "2024-Q1"], ("text as periods",)),
        ("q", ["Q1/2023", "Q2/2023"], ("text as periods",)),
        ("school", ["2021/22", "2022/23"], ("text as periods",)),
        ("m", ["Jan 2023", "Feb 2023", "Dez 2023"], ("text as periods",)),
        ("day", ["13.08.14", "14.08.14"], ("text as dates", "%d.%m.%y")),
        # They come again, or are no periods.
        ("month", range(1, 13), None),
        ("quarter", [1, 2, 3, 4], None),
        ("years_of_school", [8, 9, 10], None),
        ("birth_year", [1980, 1981, 1982], None),
        ("year", [17, 19, 21], None),
        ("rooms", [1, 2, 3], None),
        ("q", ["Q1", "Q2"], None),
        ("size", ["10/12", "12/14"], None),
    ],
)
def test_periods_by_their_name_or_form(name, values, reason):
    values = pd.Series([*values] * 30)
    found = check(pd.DataFrame({name: values}), draw_labels(len(values)))
    assert [one.reason for one in found.findings] == (
        [] if reason is None else [reason]
    )


def ids_of(name, values, rows=2000):
    random = np.random.default_rng(0)
    values = pd.Series(values).to_numpy()
    column = values[random.integers(0, len(values), rows)]
    found = check(pd.DataFrame({name: column}), random.integers(0, 2, rows))
    return [(one.kind, one.reason[0]) for one in found.findings]


@pytest.mark.parametrize("name", ["patient_id", "customerId", "Kundennummer", "member"])
def test_identifiers_that_come_again_by_their_name(name):
    assert ids_of(name, range(5000, 5500)) == [("identifier", "comes again")]
    # Branches have many rows each, and come again in the next table.
    assert ids_of(name, range(5000, 5040)) == []


def test_identifiers_that_come_again_by_their_form():
    codes = [f"W-{i:05d}" for i in range(400)]
    assert ids_of("ward", codes) == [("identifier", "codes")]
    assert ids_of("ward", codes[:40]) == []
    assert ids_of("city", [f"city {'x' * i}" for i in range(400)]) == []
    people = pd.DataFrame({"who": np.repeat(np.arange(300), 5)})
    (found,) = check(people, np.arange(1500) % 2).findings
    assert found.reason == ("comes again", 300, 1500)
    shuffled = people.sample(frac=1, random_state=0)
    assert check(shuffled, np.arange(1500) % 2).findings == ()


def test_free_text_and_constants():
    notes = [f"she called on day {i} about item {i * 7 % 100}" for i in range(300)]
    table = pd.DataFrame({"note": notes, "land": "DE", "hole": np.nan, "x": 0.0})
    table.loc[299, "x"] = 1.0
    found = check(table, np.arange(300) % 2, max_rows=200)
    assert found.table()["kind"].to_dict() == {
        "note": "free text",
        "land": "constant",
        "hole": "constant",
    }


def test_groups_and_what_to_expect():
    people = make_synthetic(1000, random_state=0)
    X, y, z = people.data, people.target, people.sensitive_features
    found = cape.check(X, y, sensitive_features=z)
    assert set(found.groups) == {str(group) for group in np.unique(z)}
    assert sum(group["rows"] for group in found.groups.values()) == len(y)
    expected = found.expected
    assert expected["rows"] == len(y) // 2 and 0.5 < expected["auc"] < 1
    for group in expected["groups"].values():
        assert 0 < group["width"] < 1 and (group["labels"] > 0) == (
            group["action"] == "label"
        )
    assert json.loads(json.dumps(found.to_dict()))["expected"] == expected
    assert "quick model" in repr(found) and "<table" in found._repr_html_()
    few = cape.check(X[:60], y[:60], sensitive_features=z[:60])
    assert few.expected == {} and "Too few rows" in repr(few)


def test_groups_that_are_small_or_identifiers():
    y = np.arange(3000) % 2
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(size=3000)})
    z = np.where(np.arange(3000) < 20, "few", "many")
    (found,) = check(X, y, sensitive_features=z).findings
    assert (found.effect, found.reason) == ("note", ("small groups", "few"))
    (found,) = check(X, y, sensitive_features=np.arange(3000) // 2).findings
    assert (found.effect, found.reason) == ("stop", ("many groups", 1500, 3000))
