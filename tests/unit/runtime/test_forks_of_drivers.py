"""Children of a fork refuse the devices whose drivers their parent has, and can use all others."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cubepy.runtime import device
from tests.opencl_devices import on_each
from tests.wgpu_devices import on_wgpu

SCRIPT = """
import os, signal, sys
import numpy as np
import cubepy as cb
from cubepy import Array, i32
from cubepy.errors import LaunchError

@cb.cube
def doubled(x: Array[i32], out: Array[i32]):
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] * 2

name = sys.argv[1]
x, out = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
there = cb.device(name)
buffers = there.array(x), there.array(out)
hoisted = doubled.over(4, device=name)
for _ in range(3):
    hoisted(*buffers)
ways = {
    "written out": lambda: doubled.over(4, device=name)(x, out),
    "hoisted": lambda: hoisted(*buffers),
    "by the buffers": lambda: doubled.over(4)(*buffers),
    "reading": lambda: buffers[1].numpy(),
    "making": lambda: there.array(x),
    "looking up": lambda: cb.device(name).array(x),
}
child = os.fork()
if child == 0:
    signal.alarm(60)
    for way, use in ways.items():
        try:
            use()
        except LaunchError as error:
            print(way, "refused:", str(error).splitlines()[0])
    doubled.over(4, device="cpu")(x, out)
    print("cpu", out.tolist(), flush=True)
    os._exit(0)
print("status", os.waitpid(child, 0)[1])
print("parent", buffers[1].numpy().tolist())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("name", [*on_each(), *on_wgpu()])
def test_a_child_refuses_the_devices_of_its_parent(name: str, tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), name],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    *ways, cpu, status, parent = done.stdout.splitlines()
    said = f"refused: {device(name).name} was opened before this process was forked"
    assert [line.split(" refused")[0] for line in ways if said in line] == [
        "written out", "hoisted", "by the buffers", "reading", "making", "looking up",
    ]  # fmt: skip
    assert (cpu, status, parent) == ("cpu [0, 2, 4, 6]", "status 0", "parent [0, 2, 4, 6]")
