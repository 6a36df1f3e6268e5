"""Picture of real shifts: its frame has the numbers, its marks their meaning."""

import sys
from pathlib import Path

import pytest

from cape_paper._shift_chart import draw_shifts, frame_shifts

sys.path.insert(0, str(Path(__file__).parent))
from invented import invented_shift, invented_shifts


def test_the_frame_has_training_truth_and_estimate_of_every_shift():
    frame = frame_shifts(invented_shifts()).set_index(["shift", "what"])
    assert len(frame) == 6
    assert frame.loc[("compas, one", "training"), "share"] == 0.301
    assert frame.loc[("compas, one", "truth"), "share"] == 0.402
    estimate = frame.loc[("bank, two", "estimate")]
    assert estimate["share"] == pytest.approx(0.41)
    assert estimate["low"] == pytest.approx(0.42)
    assert estimate["high"] == pytest.approx(0.43)


def test_a_case_that_failed_still_shows_the_truth():
    entry = invented_shift("bank", "two", 0.0, failed=["CAPE"])
    frame = frame_shifts(invented_shifts(shifts=[entry]))
    assert frame["what"].tolist() == ["training", "truth"]


def test_marks_differ_in_colour_and_in_shape_and_shifts_keep_their_order():
    chart = draw_shifts(frame_shifts(invented_shifts())).to_dict()
    intervals, marks = chart["layer"]
    assert "datum.what === 'estimate'" in str(intervals["transform"])
    for channel in ("color", "shape"):
        values = marks["encoding"][channel]["scale"]["range"]
        assert len(set(values)) == 3
    # None: as in the frame, and not by the alphabet.
    assert marks["encoding"]["y"]["sort"] is None
    assert marks["encoding"]["x"]["scale"]["domain"] == [0, 1]
