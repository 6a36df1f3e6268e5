"""Model files with random damage: every one of them is refused.

``python tests/cape/persist/fuzz.py --number 5000 --seed 1`` (``make fuzz``) damages
files of small models of many learners. Half of the files have altered bytes, and their
hash no longer fits. The others have another model inside and a hash that fits, but not
the signature of the key with which they are loaded. A file that is loaded, and an error
other than a `ValueError` that names the file, count as failures.
"""

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

N_ROWS = 90
KEY = b"the key of the fuzzer"


def table_of(kind, n=N_ROWS, seed=0):
    """Rows and labels: numbers, or a table with levels, dates and texts."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = random.normal(size=(n, 3)) + y[:, None]
    if kind == "numbers":
        return X, y
    table = pd.DataFrame(X, columns=["one", "two", "three"])
    table["level"] = pd.Categorical(random.choice(["red", "green", "blue"], n))
    table["text"] = [f"{word} person {i % 47}" for i, word in enumerate(table["level"])]
    table["day"] = pd.date_range("2020-01-01", periods=n)
    table.loc[::7, "one"] = np.nan
    return table, y


def learners():
    """Small learners that between them hold all that a file may hold."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.cluster import KMeans
    from sklearn.compose import make_column_transformer
    from sklearn.decomposition import TruncatedSVD
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import (
        AdaBoostClassifier,
        ExtraTreesClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        StackingClassifier,
        VotingClassifier,
    )
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, SplineTransformer
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier
    from skrub import tabular_pipeline

    linear = LogisticRegression()
    histogram = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)
    by_category = HistGradientBoostingClassifier(
        max_iter=4, min_samples_leaf=3, categorical_features="from_dtype"
    )
    some_columns = make_column_transformer(("passthrough", ["level", "two"]))
    some_columns.set_output(transform="pandas")
    words = make_column_transformer((TfidfVectorizer(), "text"))
    hashed = make_column_transformer((HashingVectorizer(n_features=8), "text"))
    rare = OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist")
    levels = make_column_transformer(
        (OneHotEncoder(drop="first"), ["level"]), (rare, ["text"])
    )
    forest = RandomForestClassifier(3, random_state=np.random.RandomState(0), n_jobs=1)
    chance = DummyClassifier(
        strategy="stratified", random_state=np.random.RandomState(0)
    )
    in_a_ball = KNeighborsClassifier(algorithm="ball_tree", weights="distance", p=3)
    search = GridSearchCV(linear, {"C": [0.1, 1]}, cv=2, scoring="roc_auc", n_jobs=1)
    either = [("tree", DecisionTreeClassifier(max_depth=3)), ("bayes", GaussianNB())]
    return {
        "histogram boosting": ("numbers", histogram),
        "boosting by category": ("table", make_pipeline(some_columns, by_category)),
        "boosting": ("numbers", GradientBoostingClassifier(n_estimators=3)),
        "forest": ("numbers", forest),
        "extra trees": ("numbers", ExtraTreesClassifier(3)),
        "ada boost": ("numbers", AdaBoostClassifier(n_estimators=3)),
        "support vectors": ("numbers", CalibratedClassifierCV(SVC(), cv=2)),
        "neighbours": ("numbers", KNeighborsClassifier(3)),
        "neighbours in a ball": ("numbers", in_a_ball),
        "neurons": ("numbers", MLPClassifier((3,), max_iter=3)),
        "clusters": ("numbers", make_pipeline(KMeans(3, n_init=1), linear)),
        "splines": ("numbers", make_pipeline(SplineTransformer(3), linear)),
        "words": ("table", make_pipeline(words, TruncatedSVD(2), linear)),
        "hashed words": ("table", make_pipeline(hashed, linear)),
        "levels": ("table", make_pipeline(levels, linear)),
        "stack": ("numbers", StackingClassifier(either, linear, cv=2)),
        "vote": ("numbers", VotingClassifier(either, voting="soft")),
        "chance": ("numbers", chance),
        "search": ("numbers", search),
        "threshold": ("numbers", TunedThresholdClassifierCV(linear, thresholds=3)),
        "linear": ("numbers", linear),
        "tables": ("table", tabular_pipeline(linear)),
        "boosted tables": ("table", tabular_pipeline(histogram)),
    }


def fit(name):
    """Fit CAPE with one of the learners, and return it with the rows."""
    from cape import CapeClassifier

    kind, learner = learners()[name]
    X, y = table_of(kind)
    clf = CapeClassifier(learner, pool="threshold", cv=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    return clf, X


def damaged(content, random):
    """A copy of the bytes of a file with other bits, or shorter or longer."""
    place = int(random.integers(len(content)))
    length = int(random.integers(1, 200))
    rest = content[place + length :]
    how = random.choice(["bit", "noise", "zeros", "cut", "lost", "twice", "more"])
    if how == "bit":
        flipped = content[place] ^ (1 << int(random.integers(8)))
        return content[:place] + bytes([flipped]) + content[place + 1 :]
    if how == "noise":
        return content[:place] + random.bytes(length) + rest
    if how == "zeros":
        return content[:place] + bytes(length) + rest
    if how == "cut":
        return content[:place]
    if how == "lost":
        return content[:place] + rest
    if how == "twice":
        return content[: place + length] + content[place:]
    return content + random.bytes(length)


def outcome_of(path, key):
    """What becomes of a file: refused, or a failure in capitals."""
    from cape import persist

    try:
        persist.load(path, key=key)
    except ValueError as error:
        return "refused" if str(path) in str(error) else f"NAMELESS {error}"
    except Exception as error:
        return f"ESCAPED {type(error).__name__} {error}"
    return "LOADED"


def fuzz(folder, number, seed, names=None):
    """Damage files, and yield the learner and the outcome of each."""
    from cape import persist
    from cape.persist._file import pack, read_parts

    contents = {}
    for name in names or learners():
        path = folder / f"{name}.cape"
        persist.save(fit(name)[0], path, key=KEY)
        persist.load(path, key=KEY)
        contents[name] = path.read_bytes(), read_parts(path, KEY)
    sources = list(contents)
    path = folder / "damaged.cape"
    for step in range(number):
        random = np.random.default_rng([seed, step])
        name = sources[step % len(sources)]
        content, parts = contents[name]
        key = KEY
        if step % 2:
            part = random.choice(sorted(parts))
            altered = {**parts, part: damaged(parts[part], random)}
            new_content = pack(altered, random.choice([None, b"another key"]))
        else:
            new_content = damaged(content, random)
            # Damage is found without the key, too.
            key = random.choice([None, KEY])
        if new_content == content:
            continue
        path.write_bytes(new_content)
        yield name, outcome_of(path, key)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--learner", action="append")
    arguments = parser.parse_args()
    counts = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        files = fuzz(Path(folder), arguments.number, arguments.seed, arguments.learner)
        for step, (name, outcome) in enumerate(files):
            counts[outcome.split()[0]] += 1
            if outcome != "refused":
                sys.stdout.write(f"file {step} ({name}): {outcome}\n")
    sys.stdout.write(f"seed {arguments.seed}: {dict(counts)}\n")
    return int(set(counts) != {"refused"})


if __name__ == "__main__":
    sys.exit(main())
