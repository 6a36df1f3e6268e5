"""Model files with altered content and a valid checksum: refused or right, no signal.

``python tests/persist/fuzz.py --number 5000 --seed 1`` (``make fuzz``) alters small
models of many learners, loads each in a child process and predicts with it. A child
that a signal ends, an error other than a `ValueError` that names the file while
loading, a prediction that is no label, and a file that takes more than a minute count
as failures; the files are kept. An error while predicting is a refusal.
"""

import argparse
import hashlib
import io
import json
import resource
import selectors
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

N_ROWS = 90
SECONDS = 60
MEMORY = 6 << 30


def table_of(kind, n=N_ROWS, seed=0):
    """Rows and labels: numbers, or a table with levels and texts."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = random.normal(size=(n, 3)) + y[:, None]
    if kind == "numbers":
        return X, y
    table = pd.DataFrame(X, columns=["one", "two", "three"])
    table["level"] = pd.Categorical(random.choice(["red", "green", "blue"], n))
    table["text"] = [f"{word} person {i % 7}" for i, word in enumerate(table["level"])]
    return table, y


def learners():
    """Small learners that between them reach all compiled code that is admitted."""
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
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, SplineTransformer
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    linear = LogisticRegression()
    histogram = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)
    by_category = HistGradientBoostingClassifier(
        max_iter=4, min_samples_leaf=3, categorical_features="from_dtype"
    )
    some_columns = make_column_transformer(("passthrough", ["level", "one"]))
    some_columns.set_output(transform="pandas")
    words = make_column_transformer((TfidfVectorizer(), "text"))
    hashed = make_column_transformer((HashingVectorizer(n_features=8), "text"))
    rare = OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist")
    levels = make_column_transformer(
        (OneHotEncoder(drop="first"), ["level"]), (rare, ["text"])
    )
    forest = RandomForestClassifier(3, random_state=np.random.RandomState(0))
    chance = DummyClassifier(
        strategy="stratified", random_state=np.random.RandomState(0)
    )
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
        "near by brute force": ("numbers", KNeighborsClassifier(3, algorithm="brute")),
        "neurons": ("numbers", MLPClassifier((3,), max_iter=3)),
        "clusters": ("numbers", make_pipeline(KMeans(3, n_init=1), linear)),
        "splines": ("numbers", make_pipeline(SplineTransformer(3), linear)),
        "words": ("table", make_pipeline(words, TruncatedSVD(2), linear)),
        "hashed words": ("table", make_pipeline(hashed, linear)),
        "levels": ("table", make_pipeline(levels, linear)),
        "stack": ("numbers", StackingClassifier(either, linear, cv=2)),
        "vote": ("numbers", VotingClassifier(either, voting="soft")),
        "chance": ("numbers", chance),
        "linear": ("numbers", linear),
    }


def save_models(folder, names):
    """Fit and save a model of each of some learners."""
    from cape import CapeClassifier, persist

    for name in names:
        kind, learner = learners()[name]
        X, y = table_of(kind)
        clf = CapeClassifier(learner, pool="threshold", cv=2, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clf.fit(X, y)
        persist.save(clf, folder / f"{name}.cape")


# ---------------------------------------------------------------- altered files


def unsealed(path):
    """The header and the parts of the model of a file."""
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
        model = archive.read("model.skops")
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return header, parts


def seal(path, header, parts):
    """Write a model file with a checksum that fits."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    model = buffer.getvalue()
    header = {**header, "sha256": hashlib.sha256(model).hexdigest()}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("model.skops", model)


def altered(parts, random):
    """A copy of the parts of a model with a few alterations."""
    parts = dict(parts)
    for _ in range(random.integers(1, 4)):
        if random.random() < 0.5:
            alter_array(parts, random)
        else:
            schema = json.loads(parts["schema.json"])
            alter_schema(schema, random)
            parts["schema.json"] = json.dumps(schema).encode()
    if random.random() < 0.2:
        name = random.choice(sorted(parts))
        content = bytearray(parts[name])
        content[random.integers(len(content))] ^= 1 << random.integers(8)
        parts[name] = bytes(content)
    return parts


def alter_array(parts, random):
    """Alter numbers, length, width, axes or type of an array."""
    arrays = sorted(name for name in parts if name.endswith(".npy"))
    name = random.choice(arrays)
    array = np.load(io.BytesIO(parts[name])).copy()
    # Tables of nodes hold what compiled code follows.
    if array.dtype.names and random.random() < 0.8:
        field = random.choice(array.dtype.names)
        alter_numbers(array[field], random)
    elif array.ndim and array.size and random.random() < 0.5:
        alter_numbers(array, random)
    else:
        array = reshaped(array, random)
    buffer = io.BytesIO()
    try:
        np.save(buffer, array, allow_pickle=False)
    except ValueError:
        return
    parts[name] = buffer.getvalue()


def alter_numbers(array, random):
    """Put an extreme or a near number in some places of an array."""
    if array.size == 0 or array.dtype.kind not in "biuf":
        return
    flat = array.reshape(-1) if array.flags.c_contiguous else array
    n_places = random.choice([1, array.size])
    for place in random.integers(array.size, size=n_places):
        extremes = [0, 1, 2, 3, 7, 100, 255, 70_000, 2**31 - 1, -1, -2, -(2**31), 2**62]
        value = random.choice(extremes)
        with np.errstate(all="ignore"):
            flat[place] = np.array(value).astype(array.dtype)


def reshaped(array, random):
    """Another length, width, number of axes or type."""
    how = random.choice(["shorter", "longer", "narrower", "flat", "type", "empty"])
    if how == "shorter":
        return array[: len(array) // 2] if array.ndim else array
    if how == "longer":
        return np.concatenate([array, array]) if array.ndim else array
    if how == "narrower":
        return array[..., :-1].copy() if array.ndim else array
    if how == "flat":
        return array.reshape(-1)
    if how == "empty":
        return array[:0] if array.ndim else array
    if array.dtype.names:
        return array
    kind = random.choice(["i1", "i4", "i8", "u4", "f4", "f8", "?"])
    try:
        with np.errstate(all="ignore"):
            return array.astype(kind)
    except ValueError:
        return array


def alter_schema(schema, random):
    """Alter, remove, copy or exchange an entry of the schema."""
    places = []
    waiting = [schema]
    while waiting:
        holder = waiting.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in list(keys):
            places.append((holder, key))
            if isinstance(holder[key], (dict, list)):
                waiting.append(holder[key])
    holder, key = places[random.integers(len(places))]
    # A value twice as often as a whole branch, of which there are more.
    leaves = [place for place in places if place[1] == "content"]
    if random.random() < 0.6:
        holder, key = leaves[random.integers(len(leaves))]
    other_holder, other_key = places[random.integers(len(places))]
    how = random.choice(["value", "value", "value", "remove", "copy", "exchange"])
    if how == "value" and not isinstance(holder[key], (dict, list)):
        values = ["0", "1", "-1", "2", "100", "70000", "9e99", "null", "true", '"x"']
        values += ["4611686018427387904", "[]", "{}", "NaN", '"precomputed"', '"brute"']
        holder[key] = str(random.choice(values))
    elif how == "remove":
        del holder[key]
    elif how == "copy":
        holder[key] = json.loads(json.dumps(other_holder[other_key]))
    else:
        one, other = holder[key], other_holder[other_key]
        holder[key], other_holder[other_key] = (
            json.loads(json.dumps(other)),
            json.loads(json.dumps(one)),
        )


# ---------------------------------------------------------------- the child process


def child():
    """Load every file that a line of the input names, and answer with its outcome."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        kind, path = line.rstrip("\n").split("\t")
        print(outcome_of(kind, path), file=answers, flush=True)


def outcome_of(kind, path):
    """What becomes of a file: a word, and why."""
    from cape import persist

    try:
        clf = persist.load(path)
    except ValueError as error:
        names_it = path in str(error)
        return "refused" if names_it else f"NAMELESS {one_line(error)}"
    except Exception as error:
        return f"ESCAPED {one_line(error)}"
    X, _ = table_of(kind, n=40, seed=1)
    try:
        labels = clf.predict(X)
    except Exception:
        return "raised"
    if len(labels) != 40 or not np.isin(labels, clf.classes_).all():
        return "WRONG"
    return "predicted"


def one_line(error):
    return f"{type(error).__name__} {error}".replace("\n", " ")[:300]


class Child:
    """A process that answers for file after file, and is replaced if it dies."""

    def __init__(self):
        self.process = None

    def ask(self, kind, path):
        """Have a file loaded; an outcome in capitals is a failure."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__, "--child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        self.process.stdin.write(f"{kind}\t{path}\n")
        self.process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            in_time = selector.select(SECONDS)
        if not in_time:
            self.process.kill()
            self.close()
            return "HANGS"
        answer = self.process.stdout.readline()
        if answer == "":
            return f"SIGNAL {-self.close()}"
        return answer.rstrip("\n")

    def close(self):
        """End the process if there is one, and return what it ended with."""
        if self.process is None:
            return None
        with self.process as process:
            self.process = None
        return process.returncode


def fuzz(folder, number, seed, names=None):
    """Alter models, and yield the file, the learner and the outcome of each."""
    sources = list(names or learners())
    save_models(folder, sources)
    kinds = {name: kind for name, (kind, _) in learners().items()}
    content = {name: unsealed(folder / f"{name}.cape") for name in sources}
    process = Child()
    for name in sources:
        outcome = process.ask(kinds[name], str(folder / f"{name}.cape"))
        assert outcome == "predicted", f"{name} as it was saved: {outcome}"
    for step in range(number):
        random = np.random.default_rng([seed, step])
        name = sources[step % len(sources)]
        header, parts = content[name]
        path = folder / f"{seed}-{step}.cape"
        seal(path, header, altered(parts, random))
        outcome = process.ask(kinds[name], str(path))
        yield path, name, outcome
        if not outcome.split()[0].isupper():
            path.unlink()
    process.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--number", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--learner", action="append")
    arguments = parser.parse_args()
    if arguments.child:
        child()
        return 0
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    counts = Counter()
    for path, name, outcome in fuzz(
        folder, arguments.number, arguments.seed, arguments.learner
    ):
        counts[outcome.split()[0]] += 1
        if outcome.split()[0].isupper():
            sys.stdout.write(f"{path} ({name}): {outcome}\n")
            sys.stdout.flush()
    sys.stdout.write(f"seed {arguments.seed}: {dict(counts)}\n")
    return int(any(word.isupper() for word in counts))


if __name__ == "__main__":
    sys.exit(main())
