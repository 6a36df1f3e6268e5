"""Settings and data that many tests share."""

import subprocess
import sys
from types import SimpleNamespace

import hypothesis
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from cape import CapeClassifier, Estimate
from cape.datasets import make_synthetic
from cape.drift._find import GroupDrift
from cape.drift._mixture import MixtureFit
from cape.labels._use import LabelFindings
from cape.rules import GroupAdaptation
from cape.rules._adaptation import warn_if_doubtful as _adaptation_warnings

# Entries of the golden answers are imported by test_golden alone.
collect_ignore = ["golden"]

# pytest runs a worker a core: more threads would only wait for each other.
threadpool_limits(1)
hypothesis.settings.register_profile(
    "cape", max_examples=40, deadline=None, derandomize=True, database=None
)
hypothesis.settings.load_profile("cape")


def synthetic(n_samples, **settings):
    """Draw the paper's data as plain arrays: X, y and z."""
    d = make_synthetic(n_samples, **settings)
    return Bunch(
        X=d.data.to_numpy(),
        y=d.target.to_numpy(),
        z=d.sensitive_features.to_numpy(),
    )


@pytest.fixture(scope="session")
def turned():
    """Make labels that refute an estimate, while scores still tell the classes apart.

    In each group a third of the commoner class is turned round: the rows that are most
    like the other class.
    """

    def turn(X, y, z):
        likeness = X / X.std(axis=0)
        likeness = likeness @ (likeness[y == 1].mean(axis=0) - likeness.mean(axis=0))
        labels = y.copy()
        for group in np.unique(z):
            commoner = int(y[z == group].mean() > 0.5)
            rows = np.flatnonzero((z == group) & (y == commoner))
            rows = rows[np.argsort(likeness[rows])]
            third = len(rows) // 3
            labels[rows[:third] if commoner else rows[-third:]] = 1 - commoner
        return labels

    return turn


@pytest.fixture(scope="session")
def train():
    """Two groups of 300 rows, prevalence 0.5 in both."""
    return synthetic(600, random_state=0)


@pytest.fixture(scope="session")
def batch():
    """200 rows in which both groups have moved."""
    return synthetic(200, prevalences=(0.2, 0.8), random_state=3)


@pytest.fixture(scope="session")
def refuting(batch, turned):
    """Labels of the batch that refute what is estimated without them."""
    return turned(batch.X, batch.y, batch.z)


@pytest.fixture(scope="session")
def fitted(train):
    """Fit CAPE on ``train``, once for each setting that tests ask for."""
    known = {}

    def fit(**settings):
        key = repr(sorted(settings.items()))
        if key not in known:
            parameters = {"random_state": 0, "cv": 5, **settings}
            clf = CapeClassifier(LogisticRegression(), **parameters)
            known[key] = clf.fit(train.X, train.y, sensitive_features=train.z)
        return known[key]

    return fit


def make_adapted(*, labels=None, **given):
    """Make what was found of one group and picked for it."""
    values = {
        "rows": 500,
        "training_prevalence": 0.5,
        "estimate": Estimate(0.6, 0.5, 0.7),
        "without_labels": Estimate(0.2, 0.1, 0.8),
        "quantifier_estimate": Estimate(0.15, 0.1, 0.2),
        "mean_score": 0.3,
        "drift": 0.2,
        "held_back": 0.4,
        "borrowed": 0.0,
        "verdict": "consistent",
        "labels": LabelFindings(**({"rows": 0} if labels is None else labels)),
        "classifier": 1,
        "made_for": 0.5,
        "predicted_prevalence": 0.6,
        "pd_bound": 0.1,
    }
    return GroupAdaptation(**{**values, **given})


@pytest.fixture(scope="session")
def adapted():
    """Give `make_adapted` to tests."""
    return make_adapted


@pytest.fixture(scope="session")
def nothing_found():
    """Return what the tests of a group say if nothing but the prevalence moved."""
    return GroupDrift(MixtureFit(0.5, 0.0, 0, 1.0, 0.0), ())


@pytest.fixture(scope="session")
def warn_if_doubtful():
    """Warn of an adaptation as `adapt` and `predict` do."""
    return _adaptation_warnings


@pytest.fixture
def random():
    return np.random.RandomState(0)


def make_people(n, prevalences=None, seed=0):
    """Draw a table as people have them, with two groups.

    Its columns hold numbers, levels, flags and gaps.
    """
    random = np.random.default_rng(seed)
    if prevalences is None:
        prevalences = {"blue": 0.3, "green": 0.5}
    race = random.choice(["blue", "green"], size=n, p=[0.6, 0.4])
    share = pd.Series(race).map(prevalences).to_numpy()
    y = random.random(n) < share
    has_no_age = random.random(n) < 0.1
    age = np.round(random.normal(40 - 12 * y, 10))
    degree_of_positives = random.choice(["F", "M"], n, p=[0.8, 0.2])
    degree_of_negatives = random.choice(["F", "M"], n)
    frame = pd.DataFrame(
        {
            "age": np.where(has_no_age, np.nan, age),
            "degree": np.where(y, degree_of_positives, degree_of_negatives),
            "free": random.random(n) < 0.5,
            "race": race,
            "y": y.astype(int),
        }
    )
    frame.loc[frame.index % 11 == 0, "degree"] = None
    return frame


@pytest.fixture(scope="session")
def draw_people():
    """Give `make_people` to tests."""
    return make_people


def _light_learner(name):
    """Make a pipeline that trains faster than the tabular one; any name will do."""
    levels = ("levels", OneHotEncoder(handle_unknown="ignore"), ["degree"])
    gaps = ("gaps", SimpleImputer(), ["age"])
    return make_pipeline(ColumnTransformer([levels, gaps]), LogisticRegression())


@pytest.fixture(scope="session")
def people_folder(tmp_path_factory):
    """A training table, a batch in which both groups have moved, and a model file."""
    from cape_app.files import train_file

    folder = tmp_path_factory.mktemp("people")
    make_people(900).to_csv(folder / "train.csv", index=False)
    moved = make_people(700, {"blue": 0.7, "green": 0.2}, seed=1)
    moved.to_csv(folder / "new.csv", index=False)
    # The tabular pipeline has its own tests, and takes its time.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cape_app.files._train.make_learner", _light_learner)
        train_file(
            folder / "train.csv",
            folder / "m.cape",
            label="y",
            group=["race"],
            learner="logistic",
            settings={"cv": 2},
        )
    return folder


@pytest.fixture(scope="session")
def people_model(people_folder):
    """The model as ``cape train`` leaves it."""
    from cape_app.files import load_model

    return load_model(people_folder / "m.cape")


@pytest.fixture(scope="session")
def table_model():
    """Make the model of a file whose features are numbers, and the group ``z``."""
    from cape_app.files import TableModel
    from cape_app.files._columns import Columns

    def make(clf, features, details=None):
        kinds = dict.fromkeys(features, "number")
        columns = Columns("y", ("0", "1"), "number", ("z",), kinds)
        return TableModel(clf, columns, details or {})

    return make


@pytest.fixture(scope="session")
def summaries_of():
    """Give what commands make their pages and JSON of, one function a kind."""
    from cape_app.pages._audit import audit_summary
    from cape_app.pages._batch import batch_facts, batch_summary
    from cape_app.pages._model import file_provenance
    from cape_app.pages._over_time import batches_summary, watch_summary

    return SimpleNamespace(
        batch=batch_summary,
        audit=audit_summary,
        batches=batches_summary,
        facts=batch_facts,
        watch=watch_summary,
        provenance=file_provenance,
    )


@pytest.fixture(scope="session")
def confusion():
    """Make counts of a group from tp, fp, fn and tn."""
    from cape.metrics._rates import Confusion

    return lambda *cells: Confusion(*cells, rows=sum(cells))


@pytest.fixture(scope="session")
def observed():
    """Make what labels that came later say: counts of CAPE, and as trained."""
    from cape.examination._examination import Observed

    return Observed


@pytest.fixture(scope="session")
def make_notes():
    """Make a collector of the remarks of functions of `cape_app.files`."""
    from cape_app.files._notes import Notes

    return Notes


@pytest.fixture
def notes(make_notes):
    """Collect the remarks of functions of `cape_app.files`."""
    return make_notes()


@pytest.fixture
def environ(monkeypatch):
    """Set a variable of the environment, or take it away with None."""

    def change(name, value):
        if value is None:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, str(value))

    return change


@pytest.fixture
def hide_package(monkeypatch):
    """Make the import of a package fail as if it were not installed."""
    return lambda package: monkeypatch.setitem(sys.modules, package, None)


@pytest.fixture
def work_in(monkeypatch):
    """Make a folder the one that relative paths start from."""
    return lambda folder: monkeypatch.chdir(folder)


# A process that finds some packages no more than if they had never been installed.
HIDE = """
import importlib.util, sys
hidden = {hidden!r}
find_spec = importlib.util.find_spec

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

def without(name, package=None):
    return None if name in hidden else find_spec(name, package)

importlib.util.find_spec = without
sys.meta_path.insert(0, Hide())
"""


@pytest.fixture(scope="session")
def run_without():
    """Run code in a process that has not installed some packages."""

    def run(hidden, code):
        program = HIDE.format(hidden=hidden) + code
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )

    return run
