"""``cape demo``, as a newcomer runs it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path


def test_demo_prints_a_table_and_leaves_a_picture(tmp_path):
    command = shutil.which("cape", path=os.fspath(Path(sys.executable).parent))
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    shown = subprocess.run(
        [command, "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env=one_thread,
    ).stdout
    numbers = {
        name: [float(n) for n in re.findall(r"\d\.\d{3}", line)]
        for line in shown.splitlines()
        for name in ("Max_Acc", "CAPE threshold", "CAPE")
        if line.strip().startswith(f"{name} ") and re.search(r"\d\.\d{3}", line)
    }
    assert set(numbers) == {"Max_Acc", "CAPE", "CAPE threshold"}
    *_, pd_0, pd_1, pe = numbers["CAPE"]
    *_, max_acc_pd_0, max_acc_pd_1, max_acc_pe = numbers["Max_Acc"]
    assert pd_0 < max_acc_pd_0
    assert pd_1 < max_acc_pd_1
    assert pe < max_acc_pe
    picture = tmp_path / "demo" / "cape-demo.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "demo/cape-demo.png" in shown
