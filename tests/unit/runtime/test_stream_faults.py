"""Streams when the process forks, ends or is interrupted, or threads go: no hang, no wrong data."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

HEAD = """
import os, signal, sys, threading, time
import numpy as np
import cubepy as cb
from cubepy import Array, i32
from cubepy.errors import LaunchError
from cubepy.runtime import switches

@cb.cube
def spin(x: Array[i32], rounds: i32):
    i = cb.ABSOLUTE_POS
    v = x[i]
    for _ in range(rounds):
        v = v * 1664525 + 1013904223
    x[i] = v * 0 + x[i] + 1

device = cb.device("cpu")
stream = device.stream()
x = device.array(np.zeros(1 << 14, np.int32))
run = spin.over(1 << 14)
run(x, 1)
LONG, SHORT = 300_000, 10
"""


def run_script(folder: Path, script: str) -> str:
    (folder / "script.py").write_text(HEAD + script)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "runtimes"))),
    }
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(folder / "script.py")]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_work_of_the_parent_is_not_the_childs(tmp_path: Path) -> None:
    run_script(
        tmp_path,
        """
y = device.array(np.zeros(16, np.int32))
for _ in range(4):
    run.on(stream)(x, LONG)
event = stream.record()
child = os.fork()
if child == 0:
    try:
        event.wait()
        os._exit(1)
    except LaunchError as error:
        assert "forked" in str(error)
    assert switches.closed == 0
    spin.over(16).on(stream)(y, SHORT)
    stream.synchronize()
    os._exit(7 if set(y.numpy()) == {1} else 2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
stream.synchronize()
assert set(x.numpy()) == {5}
""",
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forks_at_any_moment(tmp_path: Path) -> None:
    run_script(
        tmp_path,
        """
stop = False
def busy():
    mine, y = device.stream(), device.array(np.zeros(64, np.int32))
    while not stop:
        spin.over(64).on(mine)(y, SHORT)
        y.numpy()
threads = [threading.Thread(target=busy) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(6):
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        y = device.array(np.zeros(16, np.int32))
        run(y, SHORT)
        spin.over(16).on(device.stream())(y, SHORT)
        os._exit(7 if set(y.numpy()) == {2} else 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
stop = True
for thread in threads:
    thread.join()
""",
    )


@pytest.mark.parametrize("count", [1, 200])
def test_the_interpreter_ends_with_work_queued(count: int, tmp_path: Path) -> None:
    begun = time.monotonic()
    run_script(tmp_path, f"for _ in range({count}):\n    run.on(stream)(x, LONG)\n")
    assert time.monotonic() - begun < 60


def test_what_a_thread_queued_is_done_though_the_thread_is_gone(tmp_path: Path) -> None:
    run_script(
        tmp_path,
        """
def give():
    for _ in range(5):
        run.on(stream)(x, LONG // 10)
thread = threading.Thread(target=give)
thread.start()
thread.join()
assert set(x.numpy()) == {6}
def launch_and_leave():
    run(y, LONG // 10)
y = device.array(np.zeros(1 << 14, np.int32))
for _ in range(20):
    thread = threading.Thread(target=launch_and_leave)
    thread.start()
    thread.join()
assert set(y.numpy()) == {20}
""",
    )


def test_ctrl_c_ends_the_wait_for_a_stream_and_not_its_work(tmp_path: Path) -> None:
    run_script(
        tmp_path,
        """
signal.signal(signal.SIGINT, signal.default_int_handler)
for _ in range(8):
    run.on(stream)(x, LONG)
try:
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    while True:
        stream.synchronize()
        run.on(stream)(x, LONG)
except KeyboardInterrupt:
    pass
stream.synchronize()
assert len(set(x.numpy())) == 1
before = x.numpy()[0]
run.on(stream)(x, SHORT)
assert x.numpy()[0] == before + 1
""",
    )
