"""200 altered files in child processes; ``make fuzz`` tries thousands."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import fuzz

sys.path.pop(0)


def test_altered_files_are_refused_or_right_and_never_end_the_process(tmp_path):
    outcomes = []
    failures = []
    for path, learner, outcome in fuzz.fuzz(tmp_path, 200, seed=16):
        outcomes.append(outcome)
        if outcome.split()[0].isupper():
            failures.append(f"{learner}, {path.name}: {outcome}")
    assert failures == []
    # Both happen, or the alterations would be too gross or too small.
    assert outcomes.count("refused") > 20
    assert outcomes.count("predicted") > 20


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGNAL 11"),
        ("print('predicted', flush=True)", "predicted"),
    ],
)
def test_a_child_that_a_signal_ends_is_noticed(monkeypatch, tmp_path, code, outcome):
    child = tmp_path / "child.py"
    child.write_text(f"import os, signal, sys\nfor line in sys.stdin:\n    {code}\n")
    monkeypatch.setattr(fuzz, "__file__", str(child))
    process = fuzz.Child()
    # The second time by a new child, if the first has died.
    assert process.ask("numbers", "a.cape") == outcome
    assert process.ask("numbers", "b.cape") == outcome
    process.close()
