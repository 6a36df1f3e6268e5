"""Write oldest.cape, a default model saved with the oldest versions that we admit.

Run it in the environment of ``make test-oldest`` when the oldest versions or the format
of model files change:

    .venv-oldest/bin/python tests/cape/persist/make_oldest.py
"""

from pathlib import Path

from cape import CapeClassifier, persist
from cape.datasets import make_synthetic

FILE = Path(__file__).with_name("oldest.cape")


def main():
    """Fit the default model, and keep what it says of ten rows in the header."""
    X = make_synthetic(100, random_state=0).frame
    y = X.pop("y")
    X = X[["U", "V"]]
    # One group, so that the file stays small.
    clf = CapeClassifier(cv=2, random_state=0).fit(X, y)
    rows = X[:10].to_dict("list")
    adaptation = clf.adapt(X)
    probabilities = clf.predict_proba(X[:10], adaptation=adaptation)[:, 1]
    details = {"rows": rows, "probabilities": probabilities.tolist()}
    frozen = clf.freeze(adaptation)
    persist.save(frozen, FILE, details=details, overwrite=True)


if __name__ == "__main__":
    main()
