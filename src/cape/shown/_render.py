"""Pictures drawn by a child process.

V8, which vl-convert draws with, ends its process where it finds too little address
space, such as below any ``ulimit -v``. A child that ends costs a picture and nothing
else. One child draws all pictures of a process: it starts with the first of them.
"""

from __future__ import annotations

import atexit
import base64
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from threading import Lock
from typing import Any

from cape.base._packages import require_extra

# A line of JSON comes for each picture, and a line answers it.
_PROGRAM = """
import base64, json, sys
sys.path[:] = json.loads(sys.stdin.readline())
import vl_convert
for line in sys.stdin:
    kind, spec, settings = json.loads(line)
    try:
        drawn = getattr(vl_convert, "vegalite_to_" + kind)(spec, **settings)
        content = drawn.encode() if isinstance(drawn, str) else drawn
        answer = {"drawn": base64.b64encode(content).decode()}
    # A panic of the drawing library is no Exception.
    except BaseException as error:
        answer = {"failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
"""

_children: dict[int, subprocess.Popen[bytes]] = {}
"""By the process that they draw for: a fork must not talk to the child of another."""

_one_at_a_time = Lock()


def draw(spec: Mapping[str, Any], kind: str, **settings: Any) -> bytes:
    """Draw a specification of vega-lite, without a browser and without a network.

    Parameters
    ----------
    spec : dict
    kind : {"svg", "png"}
    **settings
        Of ``vl_convert.vegalite_to_svg`` or ``vegalite_to_png``.

    Returns
    -------
    bytes
        The content of a file.

    Raises
    ------
    MissingExtra
        If vl-convert is not installed.
    RuntimeError
        If the picture cannot be drawn.
    """
    require_extra("app", "vl_convert", what="plot()")
    answer = b""
    with _one_at_a_time:
        try:
            answer = _ask([kind, spec, settings])
        except BrokenPipeError:
            # It has ended since the last picture.
            pass
        finally:
            if not answer:
                # After an interrupt, its next answer would be to this picture.
                _end_child()
    if not answer:
        raise RuntimeError("the process that draws ended: it may lack memory")
    content = json.loads(answer)
    if "failed" in content:
        raise RuntimeError(content["failed"])
    return base64.b64decode(content["drawn"])


def _ask(question: Any) -> bytes:
    """Send a line to the child, which is started if need be, and return its answer."""
    lines = [question]
    child = _children.get(os.getpid())
    if child is None:
        child = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for the parent, and its end is that of the child.
            start_new_session=True,
        )
        _children[os.getpid()] = child
        lines = [sys.path, question]
    # Both are pipes.
    assert child.stdin is not None and child.stdout is not None
    for line in lines:
        child.stdin.write(json.dumps(line).encode() + b"\n")
    child.stdin.flush()
    return child.stdout.readline()


@atexit.register
def _end_child() -> None:
    """End the child of this process."""
    child = _children.pop(os.getpid(), None)
    if child is not None:
        child.kill()
        child.communicate()
