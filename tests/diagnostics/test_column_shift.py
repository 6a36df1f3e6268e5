"""Columns that moved are named, columns of a pure prior shift are not."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from cape import CapeClassifier
from cape.datasets import _compas
from cape.datasets._files import data_folder
from cape.diagnostics import ColumnShift, column_shift
from cape_paper import meps_problem

pytestmark = pytest.mark.filterwarnings(
    "ignore::cape.AdaptationWarning", "ignore:Found unknown categories"
)


def _as_numbers(frame):
    """Read every number, date and text that looks like one; the rest is missing."""
    numbers = {}
    for name in frame:
        column = frame[name]
        if column.dtype.kind == "M":
            column = column.astype("int64") / 1e18
        numbers[name] = pd.to_numeric(column, errors="coerce")
    return pd.DataFrame(numbers).astype(float)


def tolerant_learner(table):
    """Make a learner that scores whatever comes, as a careless pipeline does."""
    texts = make_column_selector(dtype_include=["object", "str", "category"])(table)
    numbers = [name for name in table if name not in texts]
    levels = OneHotEncoder(handle_unknown="ignore", max_categories=20)
    as_texts = FunctionTransformer(lambda frame: frame.astype(str))
    read = make_pipeline(
        FunctionTransformer(_as_numbers),
        SimpleImputer(keep_empty_features=True),
        StandardScaler(),
    )
    columns = make_column_transformer(
        (make_pipeline(as_texts, levels), texts), (read, numbers)
    )
    return make_pipeline(columns, LogisticRegression(max_iter=200))


def fit(table, y, z):
    settings = {"pool": "threshold", "cv": 3, "random_state": 0}
    clf = CapeClassifier(tolerant_learner(table), **settings)
    return clf.fit(table, y, sensitive_features=z)


def invented(n, prevalences=(0.4, 0.5), seed=0):
    """Thirty columns: heights, dates, counts, texts with accents, and noise."""
    random = np.random.default_rng(seed)
    z = np.arange(n) % 2
    y = (random.random(n) < np.array(prevalences)[z]).astype(int)
    columns = {
        "height": random.normal(170 + 5 * y, 8),
        "income": np.exp(random.normal(8 + 0.5 * y, 0.8)),
        "date": pd.Timestamp("2013-01-01")
        + pd.to_timedelta(random.random(n) * 300, "D"),
        "city": random.choice(["Köln", "München", "Zürich"], n),
        "sex": random.choice(["Male", "Female"], n),
    }
    for number in range(25):
        columns[f"noise {number}"] = random.normal(size=n) + 0.2 * y * (number < 5)
    return pd.DataFrame(columns), y, z


@pytest.fixture(scope="module")
def clf():
    return fit(*invented(2000))


@pytest.fixture(scope="module")
def new():
    return invented(800, (0.2, 0.7), seed=1)


def shift_of(clf, table, z):
    return column_shift(clf, table, sensitive_features=z)


def check_named(clf, table, z, names):
    """Each column is named in each group, and no verdict says that all is well."""
    shift = shift_of(clf, table, z)
    adaptation = clf.adapt(table, sensitive_features=z)
    for group, adapted in adaptation.groups.items():
        moved = [finding.column for finding in shift.moved(group)]
        assert set(names) <= set(moved), (group, moved)
        assert adapted.verdict != "consistent"


def scaled(name, factor):
    return lambda table: table.assign(**{name: table[name] * factor})


def replaced(name, change):
    return lambda table: table.assign(**{name: change(table[name])})


FACTORS = (10, 60, 100, 1000, 0.1, 1 / 60, 0.01, 0.001)
FAULTS = {
    "date": (replaced("date", lambda x: x + pd.Timedelta("400D")), ["date"]),
    "recode": (replaced("sex", lambda x: x.str[0]), ["sex"]),
    "missing number": (replaced("height", lambda x: x * np.nan), ["height"]),
    "missing text": (replaced("city", lambda x: None), ["city"]),
    "constant": (replaced("noise 20", lambda x: x.iloc[0]), ["noise 20"]),
    "type": (replaced("height", lambda x: x.round(1).astype(str) + " cm"), ["height"]),
    "swapped": (
        lambda table: table.assign(height=table["income"], income=table["height"]),
        ["height", "income"],
    ),
    "encoding": (
        replaced("city", lambda x: x.map(lambda s: s.encode().decode("latin-1"))),
        ["city"],
    ),
    "new category": (
        replaced("city", lambda x: x.where(np.arange(len(x)) % 5 > 0, "Bern")),
        ["city"],
    ),
    **{f"height x {x:.3g}": (scaled("height", x), ["height"]) for x in FACTORS},
    **{f"income x {x:.3g}": (scaled("income", x), ["income"]) for x in FACTORS},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_one_of_30_columns_is_named(clf, new, name):
    spoil, names = FAULTS[name]
    table, _, z = new
    check_named(clf, spoil(table), z, names)


def test_columns_of_a_prior_shift_are_not_named(clf, new):
    table, _, z = new
    shift = shift_of(clf, table, z)
    assert shift.counted
    assert shift.moved(0) == shift.moved(1) == []
    assert "no sign that a column moved" in repr(shift)


def test_the_worst_comes_first(clf, new):
    table, _, z = new
    moved = table.assign(sex="M", height=table["height"] + 4)
    moved["noise 7"] += 2
    shift = shift_of(clf, moved, z)
    for findings in shift.groups.values():
        assert findings[0].column == "sex"
        assert findings[0].fault == "unseen"
        effects = [finding.effect for finding in findings if not finding.fault]
        assert effects == sorted(effects, reverse=True)
    assert "`sex`: 100% are values never seen in training: M" in repr(shift)
    table = shift.table()
    assert table["column"].tolist()[:2] == ["sex", "sex"]
    assert len(table) == 60


def test_evidence_and_rows_give_the_same(clf, new):
    table, _, z = new
    evidence = clf.evidence(table, sensitive_features=z)
    assert repr(column_shift(clf, evidence=evidence)) == repr(shift_of(clf, table, z))
    with pytest.raises(ValueError, match="exactly one of X and evidence"):
        column_shift(clf)


def test_the_dict_is_json(clf, new):
    table, _, z = new
    content = shift_of(clf, table.assign(sex="M"), z).to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["alpha"] == 0.01
    assert content["counted"] is True
    assert [group["group"] for group in content["groups"]] == ["0", "1"]


def test_a_model_that_ignores_drift_has_no_columns(train, batch, fitted):
    clf = fitted(pool="threshold", drift="ignore")
    shift = column_shift(clf, batch.X, sensitive_features=batch.z)
    assert not shift.counted
    assert repr(shift) == "ColumnShift(columns were not counted)"
    assert shift.table().empty
    assert repr(ColumnShift({})) == repr(shift)


@pytest.mark.parametrize("rows", [1, 2, 19])
def test_a_few_rows_are_never_at_fault(clf, new, rows):
    table, _, z = new
    shift = shift_of(clf, table[:rows].assign(sex="M"), z[:rows])
    for findings in shift.groups.values():
        assert not any(finding.fault for finding in findings)


# Real tables

MEPS_COLUMNS = ["AGE", "MARRY"]
REAL_FAULTS = {
    "x 60": lambda values: values * 60,
    "x 0.01": lambda values: values / 100,
    "missing": lambda values: values * np.nan,
    "type": lambda values: values.astype(str) + " y",
    "date": lambda values: pd.Timestamp("2020-01-01") + pd.to_timedelta(values, "D"),
}
TEXT_FAULTS = {
    "recode": lambda values: values.str[0],
    "encoding": lambda values: values.str.replace("a", "Ã¤"),
    "new category": lambda values: values.where(np.arange(len(values)) % 5 > 0, "new"),
}


def halves(table, y, z):
    """Train on every second row, and return the model and the other rows."""
    half = np.arange(len(table)) % 2 == 0
    clf = fit(table[half], y[half], z[half])
    return clf, table[~half], z[~half]


@pytest.fixture(scope="module")
def compas():
    file = data_folder() / _compas.FILE.path
    if not file.exists():
        pytest.skip("COMPAS is not here: set CAPE_DATA, or fetch it once")
    people = pd.read_csv(file)
    people = people[people["race"].isin(["African-American", "Caucasian"])]
    names = ["age", "sex", "priors_count", "juv_fel_count", "c_charge_degree"]
    return halves(
        people[names], people["is_recid"].to_numpy(), people["race"].to_numpy()
    )


@pytest.fixture(scope="module")
def meps():
    if not (data_folder() / "meps" / "meps_fy2015_panel19.csv").exists():
        pytest.skip("MEPS is not here: set CAPE_DATA to a folder that has it")
    table, y, z = meps_problem().train
    return halves(table.iloc[:4000, :30], y[:4000], z.to_numpy()[:4000])


@pytest.mark.parametrize("fault", [*REAL_FAULTS, *TEXT_FAULTS, "swapped"])
def test_a_fault_in_compas_is_named(compas, fault):
    clf, table, z = compas
    if fault == "swapped":
        spoilt = table.assign(age=table["priors_count"], priors_count=table["age"])
        check_named(clf, spoilt, z, ["age", "priors_count"])
    elif fault in TEXT_FAULTS:
        check_named(clf, replaced("sex", TEXT_FAULTS[fault])(table), z, ["sex"])
    else:
        check_named(clf, replaced("age", REAL_FAULTS[fault])(table), z, ["age"])


@pytest.mark.parametrize("fault", [*REAL_FAULTS, "swapped"])
def test_a_fault_in_meps_is_named(meps, fault):
    clf, table, z = meps
    first, second = MEPS_COLUMNS
    if fault == "swapped":
        spoilt = table.assign(**{first: table[second], second: table[first]})
        check_named(clf, spoilt, z, MEPS_COLUMNS)
    else:
        check_named(clf, replaced(first, REAL_FAULTS[fault])(table), z, [first])


@pytest.mark.parametrize("case", ["compas", "meps"])
def test_the_other_half_of_a_real_table_is_not_at_fault(case, request):
    clf, table, z = request.getfixturevalue(case)
    shift = shift_of(clf, table, z)
    for group in shift.groups:
        assert shift.moved(group) == []
