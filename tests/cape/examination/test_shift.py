"""What has moved: level and power of the tests, columns at fault, and the verdicts."""

import json
from dataclasses import replace
from html import escape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from cape import CapeClassifier, examine
from cape.datasets import make_synthetic
from cape.drift._find import ColumnDrift
from cape.examination import ColumnShift
from cape.examination._shift import judge_group, p_value_of_scores
from cape.quantify import ScoreHistogram, edges_for, make_quantifier, round_scores
from cape.training._group_model import GroupModel

pytestmark = pytest.mark.filterwarnings(
    "ignore::cape.AdaptationWarning", "ignore:Found unknown categories"
)

# Whether the prevalence has moved

EDGES = round_scores([0.25, 0.5, 0.75])
MIDDLES = round_scores([0.125, 0.375, 0.625, 0.875])


def of(counts):
    counts = np.asarray(counts, dtype=np.int64)
    return ScoreHistogram(EDGES, counts, counts * MIDDLES)


def model(positives, negatives, quantifier="acc", prevalence=None):
    """A model that knows its scores, and nothing else."""
    n1, n0 = positives.size, negatives.size
    return GroupModel(
        size=int(n1 + n0),
        prevalence=n1 / (n1 + n0) if prevalence is None else prevalence,
        positives=positives,
        negatives=negatives,
        positive=1,
        scoring_models=[],
        quantifier=make_quantifier(quantifier).fit(positives, negatives),
        pool=None,
    )


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any))
def test_counting_above_a_half_moves_as_a_test_of_two_shares(batch):
    found = p_value_of_scores(
        model(of([5, 10, 25, 40]), of([60, 40, 15, 5])), of(batch)
    )
    above, n = batch[2] + batch[3], sum(batch)
    share = 85 / 200
    noise = np.sqrt(share * (1 - share) * (1 / n + 1 / 200))
    expected = 2 * norm.sf(abs(above / n - share) / noise)
    assert found == pytest.approx(expected, abs=1e-12)


def scores(random, y):
    return round_scores(
        np.where(y, random.beta(4, 2, len(y)), random.beta(2, 4, len(y)))
    )


@pytest.mark.parametrize("quantifier", ["spa", "acc", "hdy"])
def test_level_and_power_of_a_move(quantifier):
    random = np.random.default_rng(0)
    still, moved = [], []
    for _ in range(60):
        y = random.random(600) < 0.4
        s = scores(random, y)
        edges = edges_for(s[y], s[~y])
        histograms = [ScoreHistogram.of(part, edges) for part in (s[y], s[~y])]
        found = model(*histograms, quantifier)
        for p_values, rho in ((still, 0.4), (moved, 0.6)):
            for n in (40, 400):
                new = scores(random, random.random(n) < rho)
                batch = ScoreHistogram.of(new, edges)
                p_values.append(p_value_of_scores(found, batch))
    assert np.mean(np.array(still) < 0.05) < 0.125  # 120 tests
    assert np.mean(np.array(moved[1::2]) < 0.05) > 0.8


def test_constant_scores_never_move():
    half = np.full(50, 2**31)
    histogram = ScoreHistogram.of(half, edges_for(half, half))
    with pytest.warns(UserWarning, match="cannot tell the classes apart"):
        constant = model(histogram, histogram, "spa")
    assert p_value_of_scores(constant, histogram) == 1.0


def test_the_table_of_moves(seen, clf, train):
    table = seen.moved.table()
    assert list(table.columns) == [
        "rows", "training_prevalence", "estimate", "p_value", "p_adjusted", "moved",
    ]  # fmt: skip
    assert seen.moved.moved and table["moved"].all()
    assert table["training_prevalence"].tolist() == [0.5, 0.5]
    content = json.loads(json.dumps(seen.moved.to_dict(), allow_nan=False))
    assert content["moved"] and len(content["groups"]) == 2
    calm = examine(clf, train.X[:100], sensitive_features=train.z[:100])
    assert not calm.moved.moved


# Whether it is a prior shift


def synthetic(n, prevalences, seed):
    d = make_synthetic(n, prevalences=prevalences, random_state=seed)
    return d.data.to_numpy(), d.target.to_numpy(), d.sensitive_features.to_numpy()


def p_values(clf, X, z):
    tests = examine(clf, X, sensitive_features=z).prior_shift
    return tests.table()["p_value"].tolist()


@pytest.mark.slow
def test_level_and_power_on_the_papers_generator():
    """Logistic regression, refitted; 5 is half the deviation of V within a class."""
    level, power = [], []
    for seed in range(24):
        X, y, z = synthetic(1600, (0.5, 0.5), seed)
        learner = LogisticRegression()
        clf = CapeClassifier(learner, pool="threshold", cv=5, random_state=seed)
        clf.fit(X, y, sensitive_features=z)
        for prevalences in ((0.2, 0.8), (0.5, 0.3)):
            X, _, z = synthetic(1000, prevalences, 1000 + seed)
            level += p_values(clf, X, z)
            power += p_values(clf, X + np.array([0, 5]), z)
    assert 0 < np.mean(np.array(level) < 0.05) < 0.13  # 96 tests
    assert np.mean(np.array(power) < 0.05) > 0.5


@pytest.mark.slow
def test_level_of_boosting_with_folds():
    learner = HistGradientBoostingClassifier(
        max_iter=15, max_leaf_nodes=6, min_samples_leaf=10
    )
    found = {"folds": [], "refit": []}
    for seed in range(14):
        X, y, z = synthetic(400, (0.5, 0.5), seed)
        X_new, _, z_new = synthetic(600, (0.3, 0.7), 1000 + seed)
        for scheme in found:
            clf = CapeClassifier(
                learner, pool="threshold", cv=5, scores=scheme, random_state=seed
            )
            clf.fit(X, y, sensitive_features=z)
            found[scheme] += p_values(clf, X_new, z_new)
    folds, refit = (np.mean(np.array(values) < 0.05) for values in found.values())
    # 28 tests; the long run is benchmarks/shift_test.py.
    assert folds < 0.2 and refit > folds


def test_a_shift_of_the_features_is_rejected(clf, batch, seen):
    far = examine(clf, batch.X + np.array([25, 0]), sensitive_features=batch.z)
    table = far.prior_shift.table()
    assert list(table.columns) == [
        "rows", "p_value", "p_adjusted", "effect", "rejected", "tested", "sound",
    ]  # fmt: skip
    assert far.prior_shift.rejected and (table["effect"] > 0.1).all()
    assert (table["p_adjusted"] >= table["p_value"]).all()
    assert not seen.prior_shift.rejected and seen.prior_shift.sound
    few = examine(clf, batch.X[:9], sensitive_features=batch.z[:9]).prior_shift
    assert not few.rejected and not few.table()["tested"].any()


# Columns


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
def trained():
    return fit(*invented(2000))


@pytest.fixture(scope="module")
def new():
    return invented(800, (0.2, 0.7), seed=1)


def shift_of(clf, table, z):
    return examine(clf, table, sensitive_features=z).columns


def check_named(clf, table, z, names):
    """Each column is named in each group, and no verdict says that all is well."""
    seen = examine(clf, table, sensitive_features=z)
    for group in seen.adaptation.groups:
        moved = [finding.column for finding in seen.columns.moved(group)]
        assert set(names) <= set(moved), (group, moved)
        assert seen.verdict(group).word != "consistent"


def replaced(name, change):
    return lambda table: table.assign(**{name: change(table[name])})


FACTORS = (10, 60, 0.01)
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
    **{
        f"height x {by:.3g}": (replaced("height", lambda x, by=by: x * by), ["height"])
        for by in FACTORS
    },
    "income x 0.01": (replaced("income", lambda x: x / 100), ["income"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_one_of_30_columns_is_named(trained, new, name):
    spoil, names = FAULTS[name]
    table, _, z = new
    check_named(trained, spoil(table), z, names)


def some(name, value, every):
    """Spoil one of so many rows, in every group."""

    def spoil(table):
        is_spoilt = np.random.default_rng(3).random(len(table)) < 1 / every
        return table.assign(**{name: table[name].mask(is_spoilt, value(table[name]))})

    return spoil


STRANGE = {
    "999": ("height", "mostly 999", some("height", lambda x: 999.0, 20)),
    "-999": ("income", "mostly -999", some("income", lambda x: -999.0, 10)),
    "1900": (
        "date",
        "mostly 1900-01-01",
        some("date", lambda x: pd.Timestamp("1900-01-01"), 10),
    ),
    "blank": ("sex", "never seen in training", some("sex", lambda x: x + " ", 10)),
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_values_in_a_few_rows_are_named_and_hold_every_group_back(
    trained, new, name
):
    column, told, spoil = STRANGE[name]
    table, _, z = new
    seen = examine(trained, spoil(table), sensitive_features=z)
    for group, action in seen.action.groups.items():
        assert (action.code, action.columns) == ("do_not_use", [column])
        (fault,) = [one for one in seen.columns.groups[group] if one.fault]
        assert told in fault.what_happened
    assert seen.action.columns == [column]


def test_values_a_little_beyond_those_of_training_are_no_fault(trained, new):
    table, _, z = new
    taller = some("height", lambda x: x.max() + 3, 10)(table)
    findings = shift_of(trained, taller, z).groups.values()
    assert not any(one.fault for columns in findings for one in columns)


def test_columns_of_a_prior_shift_are_not_named(trained, new):
    table, _, z = new
    shift = shift_of(trained, table, z)
    assert shift.counted
    assert shift.moved(0) == shift.moved(1) == []


def test_the_worst_comes_first(trained, new):
    table, _, z = new
    moved = table.assign(sex="M", height=table["height"] + 4)
    moved["noise 7"] += 2
    shift = shift_of(trained, moved, z)
    for findings in shift.groups.values():
        assert (findings[0].column, findings[0].fault) == ("sex", "unseen")
        assert findings[0].what_happened in repr(shift)
        effects = [column.fit.effect for column in findings if not column.fault]
        assert effects == sorted(effects, reverse=True)
    table = shift.table()
    assert table["column"].tolist()[:2] == ["sex", "sex"]
    assert len(table) == 60
    content = shift.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["alpha"] == 0.01 and content["counted"] is True


@pytest.mark.parametrize("rows", [1, 19])
def test_a_few_rows_are_never_at_fault(trained, new, rows):
    table, _, z = new
    shift = shift_of(trained, table[:rows].assign(sex="M"), z[:rows])
    for findings in shift.groups.values():
        assert not any(finding.fault for finding in findings)


def test_a_model_that_ignores_drift_has_no_columns(batch, fitted):
    clf = fitted(pool="threshold", drift="ignore")
    shift = shift_of(clf, batch.X, batch.z)
    assert not shift.counted and shift.table().empty
    assert repr(ColumnShift({})) == repr(shift)


def test_who_ignores_drift_is_told_of_columns_all_the_same(trained, new):
    table, _, z = new
    drifted = table.assign(height=table["height"] + 8)
    cautious = examine(trained, drifted, sensitive_features=z)
    ignored = examine(trained, drifted, sensitive_features=z, drift="ignore")
    assert ignored.columns == cautious.columns
    assert ignored.prior_shift == cautious.prior_shift
    assert ignored.verdict(0).word == "ignored"


REAL_FAULTS = {
    "x 60": ("age", lambda values: values * 60),
    "type": ("age", lambda values: values.astype(str) + " y"),
    "recode": ("sex", lambda values: values.str[0]),
    "new category": (
        "sex",
        lambda values: values.where(np.arange(len(values)) % 5 > 0, "new"),
    ),
}


@pytest.fixture(scope="module")
def compas(published_file):
    """A model of every second row of COMPAS, and the other rows."""
    people = pd.read_csv(published_file("compas/compas-scores-two-years.csv"))
    people = people[people["race"].isin(["African-American", "Caucasian"])]
    names = ["age", "sex", "priors_count", "juv_fel_count", "c_charge_degree"]
    y, z = people["is_recid"].to_numpy(), people["race"].to_numpy()
    half = np.arange(len(people)) % 2 == 0
    clf = fit(people[names][half], y[half], z[half])
    return clf, people[names][~half], z[~half]


@pytest.mark.parametrize("fault", REAL_FAULTS)
def test_a_fault_in_compas_is_named(compas, fault):
    clf, table, z = compas
    name, change = REAL_FAULTS[fault]
    check_named(clf, replaced(name, change)(table), z, [name])


def test_swapped_columns_and_the_other_half_of_compas(compas):
    clf, table, z = compas
    spoilt = table.assign(age=table["priors_count"], priors_count=table["age"])
    check_named(clf, spoilt, z, ["age", "priors_count"])
    shift = shift_of(clf, table, z)
    assert [shift.moved(group) for group in shift.groups] == [[], []]


# Verdicts


@pytest.fixture(scope="module")
def adapted(seen):
    """A group that moved, clearly and by nothing but a prior shift."""
    return replace(seen.adaptation.groups[0], verdict="consistent", held_back=0.0)


def column(name, *, moved=False, fault=""):
    cells = SimpleNamespace(name=name)
    p_value = 0.001 if moved else 0.5
    return ColumnDrift(cells, None, None, 100, None, fault, p_adjusted=p_value)


UNMOVED = (column("age"),)


def judge(adapted, columns=UNMOVED, **more):
    options = {"scores_tested": True, "auc": 0.7, "cautious": True, **more}
    return judge_group(adapted, columns, **options)


def test_all_is_clear_only_if_everything_was_looked_at(adapted):
    assert judge(adapted).clear
    # What was known before the batch speaks neither for nor against a prior shift.
    assert judge(replace(adapted, held_back=0.4)).clear
    for verdict in (
        judge(adapted, columns=[]),
        judge(adapted, scores_tested=False),
    ):
        assert verdict.word == "consistent" and not verdict.clear
        assert verdict.text != judge(adapted).text


@pytest.mark.parametrize("cautious", [True, False])
@pytest.mark.parametrize("word", ["consistent", "some_drift", "drifted", "uncertain"])
def test_a_fault_overrides_every_other_verdict(adapted, word, cautious):
    columns = [column(name, moved=True, fault="units") for name in "abcde"]
    verdict = judge(replace(adapted, verdict=word), columns, cautious=cautious)
    assert verdict.word == "fault" and not verdict.clear
    assert "`a`, `b`, `c` and 2 more" in verdict.text


def test_drift_that_was_ignored_is_not_called_consistent(adapted):
    moved = [column("age", moved=True)]
    assert judge(adapted, moved, cautious=False).word == "ignored"
    drifting = replace(adapted, verdict="some_drift")
    assert judge(drifting, cautious=False).word == "ignored"
    assert judge(adapted, cautious=False).word == "consistent"


def test_an_adaptation_has_the_reservation_of_the_verdict(adapted, seen):
    """`print(clf.adapt(X))` is all that many people read."""
    open_one = replace(adapted, verdict="uncertain")
    adaptation = replace(seen.adaptation, groups={"town": open_one, "country": adapted})
    words = judge(open_one).text
    assert " ".join(repr(adaptation).split()).count(words) == 1
    html = adaptation._repr_html_()
    assert escape(words) in html and escape(judge(adapted).text) in html
