"""Calls in machine code among threads, signals, forks and the end of the process."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from cubepy_cpu import probe, threads
from tests.unit.cpu.launches import busy, ones, saxpy

pytestmark = pytest.mark.skipif(bool(probe.why_not()), reason=probe.why_not())


@pytest.mark.parametrize("count", [64, 100_000])
def test_long_work_lets_other_threads_run(count: int) -> None:
    """Held back they would run once at most, at the very beginning, however long it takes."""
    out, ticks, stop = np.zeros(count, np.uint64), [0], threading.Event()
    launch = busy.over(count)
    rounds = 100_000_000 // count
    launch(out, 10)

    def tick() -> None:
        while not stop.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    ticker, most = threading.Thread(target=tick), 0
    ticker.start()
    for longer in range(7):  # until it takes long enough for a busy machine
        before = ticks[0]
        launch(out, rounds << longer)
        most = ticks[0] - before
        if most > 5:
            break
    stop.set()
    ticker.join()
    assert most > 5


def test_threads_launch_at_once() -> None:
    wrong: list[object] = []
    launch = saxpy.over(50_000)

    def work(seed: int) -> None:
        chance = np.random.default_rng(seed)
        for _ in range(60):
            count = int(chance.choice([1, 64, 3000, 50_000]))
            x, y = chance.normal(size=(2, count)).astype(np.float32)
            expected = np.float32(1.5) * x + y
            launch(1.5, x, y)
            if not np.array_equal(y, expected):
                wrong.append(count)

    launchers = [threading.Thread(target=work, args=(seed,)) for seed in range(12)]
    for thread in launchers:
        thread.start()
    for number in (1, 3, 2, None):
        time.sleep(0.01)
        threads.set_num_threads(number)
    for thread in launchers:
        thread.join()
    assert wrong == []


def test_a_layout_that_is_not_as_expected_switches_calls_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked = probe.why_not.__wrapped__
    assert looked() == ""
    for field in probe.FIELDS:
        if field == "TYPE_VECTORCALL":
            continue
        with monkeypatch.context() as patch:
            patch.setattr(probe, "FIELDS", {**probe.FIELDS, field: probe.FIELDS[field] + 8})
            assert "laid out differently" in looked(), field
    monkeypatch.setattr(sys, "gettotalrefcount", lambda: 0, raising=False)
    assert looked() == "this Python is a debug build"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert looked() == "the system is darwin, this Python is a debug build"


def run_script(script: str, **variables: str) -> str:
    """Run Python code in a process of its own, in a file so that its kernels have a source."""
    path = Path(variables.pop("folder")) / "script.py"
    path.write_text(script, encoding="utf-8")
    places = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": places, **variables}
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(path)],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


HEAD = """
import os, signal, sys, threading, time
import numpy as np
import cubepy as cb
from cubepy import Array, i32, u64

@cb.cube
def busy(out: Array[u64], rounds: i32):
    i = cb.ABSOLUTE_POS
    if i < len(out):
        v = u64(i) + u64(1)
        for _ in range(rounds):
            v = v * u64(6364136223846793005) + u64(1442695040888963407)
            if v == u64(0):
                break
        out[i] = v

out = np.zeros(2_000_000, np.uint64)
launch = busy.over(out.size)
small = busy.over(64)

def signal_when_begun(number):
    # Sent to this process by a thread that has seen `out` being written.
    def watch():
        while not out[0]:
            time.sleep(0.001)
        os.kill(os.getpid(), number)
    out[:] = 0
    threading.Thread(target=watch).start()
for _ in range(3):
    launch(out, 10)
    small(out, 10)
"""


def test_ctrl_c_ends_a_long_call(tmp_path: Path) -> None:
    printed = run_script(
        HEAD
        + """
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background job
try:
    signal_when_begun(signal.SIGINT)
    launch(out, 50_000)
except KeyboardInterrupt:
    print("interrupted", 0 < np.count_nonzero(out) < out.size)
small(out, 10)
launch(out, 1)
""",
        folder=str(tmp_path),
    )
    assert printed == "interrupted True\n"


def test_calls_go_on_in_the_child_of_a_fork(tmp_path: Path) -> None:
    printed = run_script(
        HEAD
        + """
for _ in range(3):
    child = os.fork()
    if child == 0:
        mine = np.zeros(out.size, np.uint64)
        small(mine, 3)
        launch(mine, 10)
        small(mine, 10)
        os._exit(7 if np.array_equal(mine, out) else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    launch(out, 10)
def handler(*_):
    children.append(os.fork())
children = []
signal.signal(signal.SIGALRM, handler)
signal_when_begun(signal.SIGALRM)
try:
    while not children:
        launch(out, 1000)
except cb.errors.LaunchError as error:
    small(out, 10)
    os._exit(7 if "forked" in str(error) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]))
""",
        folder=str(tmp_path),
    )
    assert printed == "7\n7\n7\n7\n"


@pytest.mark.parametrize("work", ["launch(out, 20_000)", "small(out, 10)"])
def test_the_interpreter_ends_while_daemons_call(work: str, tmp_path: Path) -> None:
    script = f"""
def forever():
    while True:
        {work}
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.3)
print("end")
"""
    assert run_script(HEAD + script, folder=str(tmp_path)) == "end\n"


def test_calls_can_be_switched_off(tmp_path: Path) -> None:
    script = HEAD + "print(type(launch).__mro__[1] is object, int(out[0]))"
    there = run_script(script, folder=str(tmp_path))
    absent = run_script(script, folder=str(tmp_path), CUBEPY_NATIVE="0")
    assert there.startswith("False")
    assert absent.startswith("True")
    assert there.split()[1] == absent.split()[1]


def test_signals_are_handled_between_calls() -> None:
    hits: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        launch, x, y = saxpy.over(64), ones(), ones()
        begun = time.perf_counter()
        while not hits and time.perf_counter() - begun < 5:
            launch(0.0, x, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert hits == [1]


def test_records_in_use_outlive_their_place() -> None:
    launch = busy.over(200_000)
    out = np.zeros(200_000, np.uint64)
    launch(out, 10)
    worker = threading.Thread(target=lambda: launch(out, 20_000))
    worker.start()
    little = np.zeros(4, np.uint64)
    for rounds in (np.int32(1), np.int64(1), np.int16(1), 1):
        for _ in range(3):
            launch(little, rounds)
    worker.join()
    launch(out, 10)
