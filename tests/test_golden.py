"""Same seed, same answers: all entries of ``golden/answers.json`` come out again."""

import importlib.util
import json
from pathlib import Path

import pytest
import sklearn

FOLDER = Path(__file__).with_name("golden")


def _load():
    spec = importlib.util.spec_from_file_location("golden_make", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


golden = _load()
ANSWERS = json.loads(golden.FILE.read_text())

# scikit-learn grows slightly other boosted trees in each version.
OF_BOOSTED_TREES = {"paper, boosting", "threshold, boosting", "prefit"}
GROWN_BY = "1.9."


@pytest.mark.parametrize("name", golden.NAMES)
def test_answers_are_those_of_the_golden_file(name):
    if name in OF_BOOSTED_TREES and not sklearn.__version__.startswith(GROWN_BY):
        pytest.skip(f"the trees of these answers were grown by scikit-learn {GROWN_BY}")
    made = golden.make(name)
    expected = ANSWERS[name]
    assert list(made) == list(expected)
    for key, value in expected.items():
        if isinstance(value, str):
            assert made[key] == value, key
        else:
            assert made[key] == pytest.approx(value, abs=2e-7), key


def test_every_entry_is_made_by_somebody():
    assert sorted(ANSWERS) == sorted(golden.NAMES)
