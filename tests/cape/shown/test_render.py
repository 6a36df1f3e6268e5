"""Pictures are drawn by a child, whose end is not that of the process."""

import os
import signal
import subprocess
import sys

import pytest

from cape.shown import _render

SPEC = {
    "data": {"values": [{"x": 1}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}


def test_a_picture_that_fails_leaves_the_next_one_as_it_is():
    before = _render.draw(SPEC, "svg")
    with pytest.raises(RuntimeError, match="Invalid specification"):
        _render.draw({"no": "picture"}, "svg")
    assert _render.draw(SPEC, "svg") == before
    assert _render.draw(SPEC, "png", scale=2).startswith(b"\x89PNG")


def test_a_child_that_has_ended_is_replaced():
    before = _render.draw(SPEC, "svg")
    _render._children[os.getpid()].kill()
    with pytest.raises(RuntimeError, match="memory"):
        _render.draw(SPEC, "svg")
    assert _render.draw(SPEC, "svg") == before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="sends a signal")
def test_an_interrupted_picture_does_not_answer_for_the_next():
    before = _render.draw(SPEC, "svg")
    other = {**SPEC, "data": {"values": [{"x": x} for x in range(20_000)]}}

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            _render.draw(other, "svg")
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert _render.draw(SPEC, "svg") == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_has_a_child_of_its_own():
    program = (
        "import os; from cape.shown import _render\n"
        f"spec = {SPEC!r}\n"
        "before = _render.draw(spec, 'svg')\n"
        "fork = os.fork()\n"
        "assert _render.draw(spec, 'svg') == before\n"
        "if fork:\n"
        "    assert os.waitpid(fork, 0)[1] == 0\n"
        "    assert _render.draw(spec, 'svg') == before\n"
    )
    subprocess.run([sys.executable, "-X", "dev", "-c", program], check=True, timeout=60)
