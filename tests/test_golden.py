"""Same seed, same answers: all entries of ``golden/answers.json`` come out again."""

import importlib
import json
import sys
from pathlib import Path

import pytest
import sklearn

FOLDER = Path(__file__).with_name("golden")


def _load():
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("make"), importlib.import_module(
            "golden_entries"
        )
    finally:
        sys.path.remove(str(FOLDER))


golden, entries = _load()
ANSWERS = json.loads(golden.FILE.read_text())

# scikit-learn grows slightly other boosted trees in each version.
OF_BOOSTED_TREES = {
    "paper, boosting",
    "threshold, boosting",
    "prefit",
    "defaults, learner",
}
GROWN_BY = "1.9."


@pytest.fixture(scope="module")
def same_arithmetic():
    return golden.arithmetic() == ANSWERS[golden.ARITHMETIC]


def _make(name):
    try:
        return golden.make(name)
    except entries.Absent as absent:
        pytest.skip(str(absent))


@pytest.mark.parametrize("name", golden.NAMES)
def test_answers_are_those_of_the_golden_file(name, same_arithmetic):
    if name in OF_BOOSTED_TREES and not sklearn.__version__.startswith(GROWN_BY):
        pytest.skip(f"the trees of these answers were grown by scikit-learn {GROWN_BY}")
    made = _make(name)
    expected = ANSWERS[name]
    assert list(made) == list(expected)
    if same_arithmetic and name in entries.ENTRIES:
        # To the last bit.
        assert made == expected
        return
    for key, value in expected.items():
        if "# " in key:
            # A hash of many numbers, in all their bits.
            continue
        if isinstance(value, str) or value is None:
            assert made[key] == value, key
        else:
            assert made[key] == pytest.approx(value, abs=2e-7), key


def test_every_entry_is_made_by_somebody():
    assert sorted(ANSWERS) == sorted([*golden.NAMES, golden.ARITHMETIC])
