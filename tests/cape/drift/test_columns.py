"""A column that is a mixture of its classes passes the test, another one does not."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cape import CapeClassifier, examine
from cape.drift._find import (
    ColumnDrift,
    find_faults,
    find_strange_values,
    strange_values,
)
from cape.drift._mixture import ColumnFit, fit_columns
from cape.evidence._columns import ColumnCells, TableCells

SHARES_OF_POSITIVES = np.array([0, 0, 0.01, 0.1, 0.2, 0.3, 0.3, 0.09])
SHARES_OF_NEGATIVES = np.array([0, 0, 0.09, 0.3, 0.3, 0.2, 0.1, 0.01])
NUMBER = ColumnCells("x", "number", np.arange(5.0), 2.0, 0.0, 4.0)
TEXT = ColumnCells("x", "text", levels=("a", "b", "c", "d"))


def draw(random, rho, rows, training=2000):
    positives = random.multinomial(training // 2, SHARES_OF_POSITIVES)
    negatives = random.multinomial(training // 2, SHARES_OF_NEGATIVES)
    mixture = rho * SHARES_OF_POSITIVES + (1 - rho) * SHARES_OF_NEGATIVES
    return positives, negatives, random.multinomial(rows, mixture)


def fit_column(cells, positives, negatives, batch, rho):
    """Test one column of one group."""
    counts = np.array([positives, negatives, batch])[:, None, None]
    fields = fit_columns([cells], counts, np.array([[rho]]))
    return ColumnFit(*(field.item() for field in fields.values()))


@pytest.mark.parametrize("cells", [NUMBER, TEXT], ids=["number", "text"])
@pytest.mark.parametrize("training", [200, 2000])
def test_the_level_is_kept_at_the_true_prevalence(cells, training):
    random = np.random.default_rng(0)
    rejected = []
    for _ in range(600):
        rho = random.uniform(0.1, 0.9)
        counts = draw(random, rho, 1000, training)
        rejected.append(fit_column(cells, *counts, rho).p_value < 0.05)
    # Three binomial standard errors above 5 %.
    assert np.mean(rejected) < 0.077


def test_a_prevalence_that_the_column_contradicts_is_rejected():
    random = np.random.default_rng(0)
    counts = draw(random, 0.3, 2000)
    fit = fit_column(NUMBER, *counts, 0.7)
    assert fit.p_value < 1e-6
    assert fit.prevalence == pytest.approx(0.3, abs=4 * fit.error)
    assert fit.effect > 0.05
    right = fit_column(NUMBER, *counts, 0.3)
    assert right.effect < 0.05


def test_the_prevalence_of_a_column_has_the_error_that_is_stated():
    random = np.random.default_rng(1)
    standardized = []
    for _ in range(300):
        fit = fit_column(NUMBER, *draw(random, 0.4, 800), 0.4)
        standardized.append((fit.prevalence - 0.4) / fit.error)
    assert np.mean(standardized) == pytest.approx(0, abs=0.2)
    assert np.std(standardized) == pytest.approx(1, abs=0.15)


def test_a_column_that_does_not_tell_the_classes_apart_speaks_for_no_prevalence():
    counts = np.array([0, 0, 0, 500, 500, 0, 0, 0])
    fit = fit_column(NUMBER, counts, counts, counts, 0.5)
    assert fit.df > 0
    assert fit.error == np.inf or fit.error > 10
    assert fit.p_value == pytest.approx(1)


@given(
    counts=st.lists(
        st.lists(st.integers(0, 30), min_size=8, max_size=8), min_size=3, max_size=3
    ),
    rho=st.floats(0.02, 0.98),
    cells=st.sampled_from([NUMBER, TEXT]),
)
def test_any_counts_give_a_p_value(counts, rho, cells):
    positives, negatives, batch = np.array(counts) + 1
    fit = fit_column(cells, positives, negatives, batch, rho)
    assert 0 <= fit.p_value <= 1
    assert 0 <= fit.effect <= 1
    assert fit.statistic >= 0
    assert fit.error > 0


def test_the_statistic_is_a_distance_in_units_of_the_covariance():
    """The formula of the notes with matrices, where no cell has to be merged."""
    positives, negatives, batch = draw(np.random.default_rng(0), 0.4, 5000, 20_000)
    rho = 0.45
    fit = fit_column(TEXT, positives, negatives, batch, rho)
    own = [2, 3, 4, 5]
    rare = [0, 1, 6, 7]
    counts = []
    for cells in (positives, negatives, batch):
        counts.append(np.append(cells[own], cells[rare].sum()).astype(float))
    n1, n0, rows = (cells.sum() for cells in counts)
    smoothed = [(cells + 0.5) / (cells + 0.5).sum() for cells in counts]
    p, n, _ = smoothed
    for _ in range(3):
        positive = counts[2] * rho * p / (rho * p + (1 - rho) * n)
        p = counts[0] + positive + 0.5
        n = counts[1] + counts[2] - positive + 0.5
        p, n = p / p.sum(), n / n.sum()
    covariance = (rho / rows + rho**2 / n1) * (np.diag(p) - np.outer(p, p))
    rest = 1 - rho
    covariance += (rest / rows + rest**2 / n0) * (np.diag(n) - np.outer(n, n))
    shares = [cells / cells.sum() for cells in counts]
    residual = shares[2] - rho * shares[0] - rest * shares[1]
    inverse = np.linalg.inv(covariance[:-1, :-1])
    assert fit.df == 4
    assert fit.statistic == pytest.approx(residual[:-1] @ inverse @ residual[:-1])
    direction = (smoothed[0] - smoothed[1])[:-1]
    assert fit.error == pytest.approx((direction @ inverse @ direction) ** -0.5)


@given(seed=st.integers(0, 1000))
def test_columns_and_groups_are_tested_as_each_by_itself(seed):
    random = np.random.default_rng(seed)
    rho = random.uniform(0.02, 0.98, (3, 2))
    counts = np.zeros((3, 3, 2, 10), dtype=int)
    for group, place in np.ndindex(3, 2):
        rows = int(random.integers(1, 300))
        counts[:, group, place, :8] = draw(random, rho[group, place], rows, 200)
    together = fit_columns([NUMBER, TEXT], counts, rho)
    for group, place in np.ndindex(3, 2):
        cells = [NUMBER, TEXT][place]
        alone = fit_column(cells, *counts[:, group, place, :8], rho[group, place])
        fields = {name: values[group, place] for name, values in together.items()}
        assert vars(alone) == pytest.approx(fields, nan_ok=True)


@pytest.mark.parametrize("rows", [1, 7])
def test_too_few_rows_cannot_be_tested(rows):
    random = np.random.default_rng(0)
    fit = fit_column(NUMBER, *draw(random, 0.5, rows), 0.5)
    assert vars(fit) == pytest.approx(vars(ColumnFit()), nan_ok=True)
    assert (fit.df, fit.p_value) == (0, 1)


def test_missing_values_are_tested():
    training = np.array([100, 0, 0, 100, 100, 100, 100, 0])
    batch = np.array([300, 0, 0, 50, 50, 50, 50, 0])
    assert fit_column(NUMBER, training, training, batch, 0.5).p_value < 1e-6


# Columns that are plainly not what they were are found without statistics.


RANDOM = np.random.default_rng(0)
N = 400
TRAINING = pd.DataFrame(
    {
        "height": RANDOM.normal(170, 10, N),
        "change": RANDOM.normal(0, 1, N),
        "count": RANDOM.integers(0, 4, N),
        "sex": RANDOM.choice(["Male", "Female"], N),
        "name": [f"person {i}" for i in range(N)],
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(RANDOM.random(N), "D"),
        "gaps": np.where(RANDOM.random(N) < 0.8, np.nan, 1.0),
        "nothing": np.full(N, np.nan),
    }
)
CELLS = TableCells.of(TRAINING)
UNITS = (10, 60, 100, 1000)


def in_batch(name, values, prevalence=0.5):
    """Return the fault of a column; the halves of training are the classes."""
    place = list(TRAINING).index(name)
    batch = TRAINING.iloc[: len(values)].copy()
    batch[name] = values
    shares = []
    for table in (TRAINING[: N // 2], TRAINING[N // 2 :], batch):
        counts = CELLS.of_column(CELLS.count(table).counts, place)
        shares.append(counts / counts.sum())
    return find_fault(CELLS.columns[place], *shares, len(values), prevalence)


def find_fault(cells, positives, negatives, batch, rows, prevalence=0.5):
    """Find the fault of one column of one group, and the factor of its unit."""
    shares = np.array([positives, negatives, batch])[:, None, None]
    size = np.array([[rows]])
    expected = prevalence * shares[0] + (1 - prevalence) * shares[1]
    faults, factors = find_faults([cells], shares, size, expected)
    return faults.item(), factors.item()


def fault_of(name, values):
    return in_batch(name, values)[0]


@pytest.mark.parametrize("name", list(TRAINING))
def test_training_is_not_at_fault(name):
    assert fault_of(name, TRAINING[name]) == ""


@pytest.mark.parametrize(
    ("name", "values", "fault"),
    [
        ("height", ["tall"] * 50, "type"),
        ("nothing", [1.0] * 50, "type"),
        ("sex", [1, 2] * 25, "type"),
        ("height", [np.nan] * 50, "missing"),
        ("sex", [None] * 50, "missing"),
        ("gaps", [np.nan] * 50, ""),
        ("sex", ["M", "F"] * 25, "unseen"),
        ("sex", ["Male", "Female", "F"] * 20, ""),
        ("name", [f"new {i}" for i in range(50)], ""),
        ("day", TRAINING["day"] + pd.Timedelta("400D"), "range"),
        ("change", TRAINING["change"] - 50, "range"),
        ("count", [3] * 50, "constant"),
        ("count", [0, 3] * 25, ""),
        ("height", [1e9] * 19, ""),
    ],
)
def test_faults(name, values, fault):
    assert fault_of(name, values) == fault


@pytest.mark.parametrize("factor", [*UNITS, *(1 / factor for factor in UNITS)])
def test_other_units(factor):
    assert in_batch("height", TRAINING["height"] * factor) == ("units", factor)
    assert in_batch("height", TRAINING["height"] * -factor) == ("range", 0)


@pytest.mark.parametrize("factor", [0.9, 1.1, 2])
def test_a_smaller_factor_is_no_unit(factor):
    assert fault_of("height", TRAINING["height"] * factor) in ("", "range")


def test_a_few_hundred_years_are_no_fault_of_a_mixture():
    """A class that lies elsewhere explains where most of the batch is."""
    values = np.concatenate([RANDOM.normal(10, 1, 200), RANDOM.normal(100, 1, 200)])
    cells = TableCells.of(pd.DataFrame({"x": values}))
    shares = []
    for rows in (slice(0, 200), slice(200, 400), slice(200, 400)):
        counts = cells.count(pd.DataFrame({"x": values[rows]})).counts
        shares.append(counts / counts.sum())
    assert find_fault(cells.columns[0], *shares, 200, 0.02) == ("", 0)


# What happened to a column is said in words that a person can act on.

N_PEOPLE = 600
RANDOM_PEOPLE = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "height": RANDOM_PEOPLE.normal(170, 10, N_PEOPLE),
        "priors_count": RANDOM_PEOPLE.poisson(2, N_PEOPLE),
        "sex": ["Male", "Female"] * (N_PEOPLE // 2),
        "date": pd.Timestamp("2013-01-01")
        + pd.to_timedelta(np.arange(N_PEOPLE) % 300, "D"),
        "nothing": np.full(N_PEOPLE, None),
        "name": [f"person {i}" for i in range(N_PEOPLE)],
    }
)
CELLS_OF_PEOPLE = TableCells.of(PEOPLE)


def words(name, values, effect=0.5):
    place = list(PEOPLE).index(name)
    batch = PEOPLE.iloc[: len(values)].copy()
    batch[name] = values
    counted = CELLS_OF_PEOPLE.count(batch)
    trained = (
        CELLS_OF_PEOPLE.of_column(CELLS_OF_PEOPLE.count(PEOPLE).counts, place)
        / N_PEOPLE
    )
    counts = CELLS_OF_PEOPLE.of_column(counted.counts, place)
    cells = CELLS_OF_PEOPLE.columns[place]
    shares = (trained, trained, counts / counts.sum())
    fault, factor = find_fault(cells, *shares, len(values))
    drift = ColumnDrift(
        cells=cells,
        batch=shares[2],
        expected=trained,
        rows=len(values),
        fit=ColumnFit(effect=effect),
        fault=fault,
        unit_factor=factor,
        unseen=counted.unseen.get(place, {}),
    )
    return f"`{drift.column}`: {drift.what_happened}"


LATER = PEOPLE["date"] + pd.Timedelta("400D")
EARLIER = PEOPLE["date"] - pd.Timedelta("400D")


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("date", LATER, "all values are later than 2013-10-"),
        ("date", EARLIER, "all values are earlier than 2013-01-"),
        (
            "height",
            PEOPLE["height"] * 100,
            "values are about 100 times those in training",
        ),
        ("height", PEOPLE["height"] * 1000, "values are about 1,000 times"),
        ("height", PEOPLE["height"] / 10, "values are about 0.1 times"),
        ("height", PEOPLE["height"] + 500, "all values are greater than 1"),
        ("height", ["tall"] * 90, "100% have a different type; training had numbers"),
        ("height", [np.nan] * 40 + [170.0] * 60, "40% are missing (0% expected)"),
        (
            "sex",
            ["M"] * 60 + ["F"] * 40,
            "100% are values never seen in training: M, F",
        ),
        ("sex", ["M"] * 29 + ["F"] * 31, "100% are values never seen in training: F"),
        ("sex", ["Male"] * 90 + ["Female"] * 10, "10% are 'Female' (50% expected)"),
        ("priors_count", [3, 9] * 40, "50% are greater than 5 (0% expected)"),
        ("priors_count", [3] * 90, "all values are at least 3 but below 4 (16%"),
        (
            "nothing",
            [1] * 90,
            "100% have a different type; training had no values",
        ),
        ("name", [f"person {i}" for i in range(90)], "50% of the values changed"),
    ],
)
def test_sentences(name, values, expected):
    sentence = words(name, values)
    assert sentence.startswith(f"`{name}`: {expected}")


@pytest.mark.parametrize("name", list(PEOPLE))
def test_training_is_described_too(name):
    sentence = words(name, PEOPLE[name], effect=0.0)
    assert sentence.startswith(f"`{name}`: ")
    assert "nan" not in sentence


def test_single_people_are_not_named():
    sentence = words("sex", [f"new {i}" for i in range(100)])
    assert sentence == "`sex`: 100% are values never seen in training"


def test_a_long_value_is_cut():
    sentence = words("sex", ["x" * 500] * 90)
    assert sentence.endswith(": " + "x" * 40)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("priors_count", [0] * 50 + [1, 2, 5] * 20),
        ("priors_count", [np.nan] * 3 + [3, 4] * 60),
        ("height", [152.0, 171.0, 188.0] * 30),
        ("date", PEOPLE["date"].to_numpy()[100:250]),
    ],
)
def test_the_share_beyond_an_edge_can_be_recomputed(name, values):
    # A median of counts would be interpolated, and no spreadsheet has it.
    sentence = words(name, values)
    found = re.search(
        r"(\d+)% are (?:below|before) (\S+) \((\d+)% expected\)", sentence
    )
    share, edge, expected = found.groups()
    edge = pd.Timestamp(edge) if name == "date" else float(edge)
    assert f"{(pd.Series(values) < edge).mean():.0%}" == f"{share}%"
    assert f"{(PEOPLE[name] < edge).mean():.0%}" == f"{expected}%"


def people_with_tails(random, rows, share):
    """Classes with tails and rare levels of their own."""
    y = random.random(rows) < share
    levels = np.where(y, random.zipf(1.6, rows), random.zipf(2.2, rows))
    return y, pd.DataFrame(
        {
            "income": np.exp(random.normal(size=rows) * (1 + y)),
            "t": random.standard_t(2, rows) + 2 * y,
            "often 0": np.where(random.random(rows) < 0.97, 0.0, 1 + y),
            "level": levels.clip(max=10**6).astype(str),
        }
    )


def test_strange_values_of_a_prior_shift_are_seldom_at_fault():
    """At most one batch in twenty, whatever classes have in their tails."""
    random = np.random.default_rng(0)
    at_fault = []
    for _ in range(40):
        y, training = people_with_tails(random, 600, random.uniform(0.1, 0.9))
        table = TableCells.of(training)
        of_classes = table.count_each(training, (~y).astype(int), 2)
        for rows in (60, 300, 3000):
            share = random.uniform(0.05, 0.95)
            _, new = people_with_tails(random, rows, share)
            counted = [*of_classes, table.count(new)]
            counts = np.array([part.counts for part in counted])[:, None]
            sums = strange_values(table.columns, table.by_column(counts))
            found = find_strange_values(table.columns, sums, np.array([[share]]))
            at_fault.append(found.any())
    assert np.mean(at_fault) <= 0.05


def test_what_weights_of_training_change_is_not_called_drift():
    random = np.random.default_rng(0)
    y = random.random(4000) < 0.4
    X = random.normal(0, 1, (4000, 2)) + y[:, None]
    z = np.arange(4000) % 2
    # Some kinds of rows stand for many, as in a survey.
    weights = np.where(X[:, 0] > 1, 5.0, 1.0)
    past, new = slice(2000), slice(2000, None)
    clf = CapeClassifier(LogisticRegression(), random_state=0)
    groups = {"sensitive_features": z[past]}
    for unequal in (False, True):
        given = weights[past] if unequal else np.full(2000, 3.0)
        clf.fit(X[past], y[past], **groups, sample_weight=given)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seen = examine(clf, X[new], sensitive_features=z[new])
        messages = [str(warning.message) for warning in caught]
        assert any("give both their weights" in text for text in messages) == unequal
        assert not any("other changes" in text for text in messages)
        assert ("give both their weights" in " ".join(seen.adaptation.notes)) == unequal
        for group, adapted in seen.adaptation.groups.items():
            assert adapted.verdict == ("weighted" if unequal else "consistent")
            assert (seen.action.groups[group].code == "use") != unequal
    assert any(drift.p_adjusted < 0.01 for drift in seen.adaptation.drifts.values())
    broken = X[new] * [1, 1000]
    with warnings.catch_warnings(action="ignore"):
        seen = examine(clf, broken, sensitive_features=z[new])
    assert seen.action.columns == ["x1"]
